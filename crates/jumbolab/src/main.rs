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
        Some(role) => worker::run(&role),
        None => match Args::parse().command {
            Command::List(list) => command::list::run(&list),
            Command::Run(run) => command::run::run(&run),
            Command::Report(report) => command::report::run(&report),
            Command::Doctor(doctor) => command::doctor::run(&doctor),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}
