//! Installs the other programs where possible.

use std::process::{Command, Stdio};

use crate::program::{PROGRAMS, Program};

/// The available programs, after missing ones were requested from apt. Programs
/// that are still missing are listed on the terminal.
pub(crate) fn programs() -> Vec<Program> {
    let missing = packages();
    if !missing.is_empty() && os::privileged() {
        println!("installing {}", missing.join(" "));
        let apt = |words: &[&str]| {
            let status = Command::new("apt-get")
                .args(words)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status();
            status.is_ok_and(|status| status.success())
        };
        let install = [&["-y", "install"], missing.as_slice()].concat();
        // Fetch package lists only if installation fails without them.
        if !apt(&install) {
            apt(&["update"]);
            apt(&install);
        }
    }
    let missing = packages();
    if !missing.is_empty() {
        println!(
            "left out, because missing; type: apt-get install {}",
            missing.join(" ")
        );
    }
    PROGRAMS
        .into_iter()
        .filter(|program| is_here(*program))
        .collect()
}

/// The packages of missing programs.
fn packages() -> Vec<&'static str> {
    PROGRAMS
        .into_iter()
        .filter(|program| !is_here(*program))
        .map(Program::package)
        .collect()
}

/// Whether the program can be started, whatever its exit status.
fn is_here(program: Program) -> bool {
    let mut command = Command::new(program.file());
    command.arg("-h").stdin(Stdio::null());
    command.output().is_ok()
}
