//! `jumbolab`: measures, simulates and diagnoses MTUs and jumbo frames.

mod args;
mod command;
mod exit;
mod output;
mod progress;

use std::process::ExitCode;

use worlds::worker;

use args::Command;
use exit::done;

/// A command that runs out of memory ends with a line and exit code 2.
#[global_allocator]
static MEMORY: os::Allocator = os::Allocator;

fn main() -> ExitCode {
    match os::limits::check() {
        Ok(()) => run(),
        Err(error) => exit::code(Err(error.into())),
    }
}

/// Out of line: its frame is larger than a small stack.
#[inline(never)]
fn run() -> ExitCode {
    // If this fails, a full file ends the program without a message.
    let _ = os::interrupt::report_file_size_limit();
    if output::is_for_programs() {
        // If this fails, a run goes on after the program that started it.
        let _ = os::interrupt::stop_with_parent();
    }
    exit::code(match worker::role() {
        Some(role) => worker::run(&role).map(done),
        None => match args::parse().command {
            Command::List(list) => command::list::run(&list).map(done),
            Command::Show(show) => command::show::run(&show).map(done),
            Command::Run(run) => command::run::run(&run),
            Command::Robustness(search) => command::robustness::run(&search).map(done),
            Command::Report(report) => command::report::run(&report),
            Command::Claims(claims) => command::claims::run(&claims).map(done),
            Command::Shell(shell) => command::shell::run(shell),
            Command::Predict(predict) => command::predict::run(&predict).map(done),
            Command::Probe(probe) => command::probe::run(&probe),
            Command::Emulate(emulate) => command::emulate::run(&emulate),
            #[cfg(feature = "gateway")]
            Command::Gateway(gateway) => command::gateway::run(&gateway),
            Command::Send(send) => command::send::run(&send),
            Command::Recv(recv) => command::recv::run(&recv),
            Command::Decode(decode) => command::decode::run(&decode),
            Command::Agent(_) => command::agent::run().map(done),
            Command::Doctor(doctor) => command::doctor::run(&doctor),
            Command::Completions(wanted) => command::completions::run(&wanted).map(done),
            Command::Man(man) => command::man::run(&man).map(done),
        },
    })
}
