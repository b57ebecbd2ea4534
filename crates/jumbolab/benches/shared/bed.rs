//! The bed of the gateway's tests: two sites with a host and a gateway each, and a core.

use std::error::Error;
use std::process::{Command, Stdio};

/// Runs the `scripts` behind the bed, in namespaces of their own and for at most a minute.
/// Returns what they printed.
///
/// # Errors
/// A command failed; the error is what was printed about it.
pub(crate) fn run(
    scripts: &[&str],
    variables: &[(&str, String)],
) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let script = include_str!("../../tests/gateway/bed.sh").to_owned() + &scripts.concat();
    let rootless = if os::privileged() { "" } else { "Ur" };
    let output = Command::new("unshare")
        .args([&format!("-{rootless}nmp"), "--kill-child", "--fork"])
        .args(["--mount-proc", "timeout", "60", "sh", "-c", &script])
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .env("BENCH", std::env::current_exe()?)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
