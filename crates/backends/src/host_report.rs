//! The doctor on another machine: it is copied there and asked.

use std::process::Stdio;

use anyhow::{Context, Result, bail};
use os::ssh::{Destination, Ssh};
use serde::Deserialize;
use serde_json::{Value, json};
use units::Span;

use crate::doctor::{Check, Group};

/// The time for all checks there.
const TIME: Span = Span::from_secs(120);

/// The time for a look at `sudo`.
const LOOK: Span = Span::from_secs(10);

const GROUP: Group = Group::Host;

/// The checks of another machine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct HostReport {
    pub kernel: String,
    /// Whether the user is real root there.
    pub root: bool,
    /// The checks, those of the connection first.
    pub checks: Vec<Check>,
}

impl HostReport {
    /// All checks of the machine `host` as one JSON object (docs/reference/json.md).
    pub fn to_json(&self, host: &str) -> Value {
        json!({
            "kind": "doctor",
            "host": host,
            "version": env!("CARGO_PKG_VERSION"),
            "kernel": self.kernel,
            "root": self.root,
            "checks": self.checks,
        })
    }
}

/// Connects to a machine and aggregates what it can do. The program is copied there if it
/// is not there.
///
/// # Errors
/// It cannot be reached, or cannot run the program: one line with the remedy.
pub fn examine(destination: &Destination) -> Result<HostReport> {
    let ssh = Ssh::connect(destination, None)?;
    let program = ssh.program()?;
    let privilege = privilege(&ssh)?;
    let output = ssh.output(&[&program, "doctor", "--json"], Stdio::null(), TIME)?;
    // 1: something is missing there.
    if !matches!(output.code, Some(0 | 1)) {
        let said = output
            .complaint
            .lines()
            .last()
            .unwrap_or("it printed nothing");
        bail!(
            "host {destination}: `{program} doctor` failed: {}",
            plain(said)
        );
    }
    let mut report = parse(&output.bytes)
        .with_context(|| format!("host {destination}: reading what `{program} doctor` printed"))?;
    let found = Check::ok(GROUP, "program", format!("this version, as {program}"));
    report.checks.splice(0..0, [found, privilege]);
    Ok(report)
}

/// The checks that the doctor there printed, without characters that control a
/// terminal: the machine may be that of somebody else.
fn parse(bytes: &[u8]) -> Result<HostReport> {
    let mut report: HostReport = serde_json::from_slice(bytes)?;
    report.kernel = plain(&report.kernel);
    for check in &mut report.checks {
        check.name = plain(&check.name);
        check.finding = plain(&check.finding);
        check.remedy = check.remedy.as_deref().map(plain);
        check.advice = check.advice.as_deref().map(plain);
    }
    Ok(report)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Whether a run may change interfaces there.
fn privilege(ssh: &Ssh) -> Result<Check> {
    let check = |finding: &str| Check::ok(GROUP, "privilege", finding);
    if ssh.user() == 0 {
        return Ok(check("root: MTU and offloads can be changed"));
    }
    let sudo = ssh.output(&["sudo", "-n", "true"], Stdio::null(), LOOK)?;
    Ok(match sudo.code {
        Some(0) => check(
            "an ordinary user who may use sudo without a password: MTU and offloads can be changed with become = \"sudo\"",
        ),
        _ => check("an ordinary user without sudo: MTU and offloads stay as they are").noted_with(
            "sudo visudo",
            "there, to allow the user sudo without a password for the time of the measurements",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_a_strange_machine_cannot_control_the_terminal() {
        let text = r#"{"kernel": "6.1\u001b[31m", "root": true, "version": "0.1.0", "checks": [
            {"group": "clock", "name": "source\u0007", "status": "note", "finding": "tsc\u001b]0;x",
             "remedy": "true\r", "advice": null, "values": {"mtu": 1500}}]}"#;
        let report = parse(text.as_bytes()).unwrap();
        let check = &report.checks[0];
        let shown = [
            report.kernel.as_str(),
            &check.name,
            &check.finding,
            check.remedy.as_deref().unwrap(),
        ];
        assert_eq!(shown, ["6.1[31m", "source", "tsc]0;x", "true"]);
        assert_eq!(check.values["mtu"], 1500);
        assert!(parse(b"Welcome!").is_err());
    }
}
