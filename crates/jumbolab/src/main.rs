//! `jumbolab`: what a bigger MTU buys, answered with evidence.

mod args;
mod command;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;
use lab::worker;

use args::{Args, Command};

fn main() -> ExitCode {
    let result = match worker::role() {
        Some(role) => worker::run(&role).map(done),
        None => match Args::parse().command {
            Command::List(list) => command::list::run(&list).map(done),
            Command::Run(run) => command::run::run(&run).map(done),
            Command::Report(report) => command::report::run(&report).map(done),
            Command::Doctor(doctor) => command::doctor::run(&doctor).map(done),
            Command::Shell(shell) => command::shell::run(shell),
            Command::Decode(decode) => command::decode::run(&decode).map(done),
            Command::Emulate(emulate) => command::emulate::run(&emulate).map(done),
            Command::Send(send) => command::send::run(&send).map(done),
            Command::Recv(recv) => command::recv::run(&recv).map(done),
        },
    };
    match result {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// The exit code of what either fails or is done.
fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}
