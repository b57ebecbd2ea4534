//! `jumbolab`: measures, simulates and diagnoses MTUs and jumbo frames.

mod args;
mod command;
mod exit;
mod output;
mod progress;

use std::process::ExitCode;

use {args::Command, exit::done};

/// A command that runs out of memory ends with a line and exit code 2.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: os::Allocator = os::Allocator;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Err(error) = os::limits::check() {
        return exit::code(Err(error.into()));
    }
    run()
}

/// Out of line: its frame is larger than a small stack.
#[inline(never)]
fn run() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(role) = on_linux() {
        return exit::code(backends::worker::run(&role).map(done));
    }
    exit::code(match args::parse().command {
        Command::List(list) => command::list::run(&list).map(done),
        Command::Show(show) => command::show::run(&show).map(done),
        Command::Run(run) => command::run::run(&run),
        Command::Sensitivity(search) => command::sensitivity::run(&search).map(done),
        Command::Report(report) => command::report::run(&report),
        Command::Claims(claims) => command::claims::run(&claims).map(done),
        Command::Predict(predict) => command::predict::run(&predict).map(done),
        Command::Probe(probe) => command::probe::run(&probe),
        Command::Send(send) => command::send::run(&send),
        Command::Recv(recv) => command::recv::run(&recv),
        Command::Decode(decode) => command::decode::run(&decode),
        Command::Doctor(doctor) => command::doctor::run(&doctor),
        Command::Agent(agent) => command::agent::run(&agent).map(done),
        Command::Completions(wanted) => command::completions::run(&wanted).map(done),
        Command::Man(man) => command::man::run(&man).map(done),
        #[cfg(target_os = "linux")]
        Command::OnLinux(command) => command::on_linux(command),
    })
}

/// Prepares the process for its signals; the role of a worker, if it is one.
#[cfg(target_os = "linux")]
fn on_linux() -> Option<String> {
    // If this fails, a full file ends the program without a message.
    let _ = os::signals::report_file_size_limit();
    if output::is_for_programs() {
        // If this fails, a run goes on after the program that started it.
        let _ = os::signals::stop_with_parent();
    }
    backends::worker::role()
}
