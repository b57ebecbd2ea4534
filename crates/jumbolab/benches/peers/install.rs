//! The other programs, installed where that is possible.

use std::process::{Command, Stdio};

use crate::program::{PROGRAMS, Program};

/// The programs that are here, after those that were missing were asked of
/// apt. What stays missing is said.
pub(crate) fn programs() -> Vec<Program> {
    let missing = packages();
    if !missing.is_empty() && live::privileged() {
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
        // Lists may be missing, and need not be fetched where they are there.
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

/// The packages of what is missing.
fn packages() -> Vec<&'static str> {
    PROGRAMS
        .into_iter()
        .filter(|program| !is_here(*program))
        .map(Program::package)
        .collect()
}

/// Whether it can be started, whatever it says about it.
fn is_here(program: Program) -> bool {
    let mut command = Command::new(program.file());
    command.arg("-h").stdin(Stdio::null());
    command.output().is_ok()
}
