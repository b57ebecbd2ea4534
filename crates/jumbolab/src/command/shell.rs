//! `jumbolab shell`.

use std::env;
use std::ffi::OsString;

use anyhow::Result;
use backends::shell::{self, ShellRequest};
use experiment::Experiment;

use crate::args::Shell;
use crate::exit::Ending;
use crate::output;

/// The default program if the environment names no shell.
const SHELL: &str = "/bin/sh";

pub(crate) fn run(args: Shell) -> Result<Ending> {
    let mut experiment = Experiment::load(&args.experiment)?;
    for assignment in &args.set {
        experiment.set(assignment)?;
    }
    let plan = backends::backend::plan(experiment, shell::BACKEND)?;
    let (setting, note) = shell::choose(&plan)?;
    let command = match args.command.is_empty() {
        true => vec![users_shell()],
        false => args.command,
    };
    let request = ShellRequest::new(setting, &args.node, command, &args.with)?;
    let mut shell = shell::Shell::open(request)?;
    if let Some(note) = note {
        output::info(&note);
    }
    output::info(shell.outline()?.trim_end());
    let exit = shell.run()?;
    if let Some(complaint) = &exit.complaint {
        output::report_error(complaint);
    }
    Ok(Ending::Program(exit.code))
}

fn users_shell() -> OsString {
    env::var_os("SHELL")
        .filter(|shell| !shell.is_empty())
        .unwrap_or_else(|| SHELL.into())
}
