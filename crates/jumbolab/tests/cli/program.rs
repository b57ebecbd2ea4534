//! Starts the program in a folder and checks its outcome.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The command that runs the binary in `folder`. `JUMBOLAB_BIN` names a copy of
/// it, for users who cannot read the build folder.
pub(crate) fn program(folder: &Path) -> Command {
    let built = env!("CARGO_BIN_EXE_jumbolab");
    let program = std::env::var_os("JUMBOLAB_BIN").unwrap_or_else(|| built.into());
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts that the command ran, whether or not its results are sound. For
    /// short trials, which other work may disturb and whose results are not judged.
    #[track_caller]
    #[allow(dead_code, reason = "some test programs have no such trials")]
    pub(crate) fn ran(self) -> Self {
        let is_done = matches!(self.code, Some(0 | 1));
        assert!(is_done, "{:?} {}{}", self.code, self.stdout, self.stderr);
        self
    }

    /// Asserts success, with sound results.
    #[track_caller]
    #[allow(dead_code, reason = "some test programs judge no results")]
    pub(crate) fn fine(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }
}
