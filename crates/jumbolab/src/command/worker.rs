//! The program as a worker of itself, inside the sandbox.

use std::env;
use std::io;
use std::process::ExitCode;

use crate::output;

/// The role this process was started in, if it is a worker.
pub(crate) fn role() -> Option<String> {
    let mut arguments = env::args().skip(1);
    (arguments.next()? == live::worker::ARGUMENT).then(|| arguments.next().unwrap_or_default())
}

/// Does what the role asks, until the parent is gone.
pub(crate) fn run(role: &str) -> ExitCode {
    let result = match role {
        "anchor" => {
            live::worker::anchor();
            Ok(())
        }
        lab::agent::ROLE => lab::agent::serve(io::stdin().lock(), io::stdout().lock()),
        role => Err(anyhow::anyhow!("there is no worker `{role}`")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}
