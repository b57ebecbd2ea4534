//! Machines for tests of what goes over ssh; `bed.sh` says what a script can use.

use std::process::{Command, Stdio};

const BED: &str = include_str!("bed.sh");

/// The most seconds of a script.
const LONGEST: &str = "150";

/// Runs a script of `bash` between its machines, as root. Returns the lines that it
/// prints, standard error included. The shell is the first process of a PID namespace:
/// all others end with it.
pub(crate) fn see(script: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{BED}\nexec 2>&1\n{script}");
    let output = Command::new("timeout")
        .args(["-s", "KILL", LONGEST, "unshare", "-nmpf", "--mount-proc"])
        .args(["--kill-child", "bash", "-c", &script])
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    said.lines().map(str::to_owned).collect()
}
