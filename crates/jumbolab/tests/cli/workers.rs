//! A worker that is killed ends its run at once.

use std::fs;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::{Dir, Outcome, holds};

/// A trial that lasts for minutes, and notices by itself after an hour that nothing moves.
const LONG: &str = "\
format = 1
name = \"workers\"
[network]
shape = \"routed\"
link = \"emulated\"
rate = \"8mbit\"
ip = 4
timing_error = \"1min\"
[traffic]
size = \"2GB\"
cpu_bytes = 0
timeout = \"1h\"
[sweep]
\"network.mtu\" = [1400]
[trials]
repeat = 2
retry_limit = \"none\"
";

/// The workers of this run.
const ROLES: [&str; 3] = ["emulator", "node", "stall-meter"];

/// The process id of a worker of this test.
fn worker(dir: &Dir, role: &str) -> Option<Pid> {
    let role = format!("\0{role}\0");
    let is_it = |process: &String| {
        let line = fs::read(format!("{process}/cmdline")).unwrap_or_default();
        line.ends_with(role.as_bytes())
    };
    let process = dir.processes().into_iter().find(is_it)?;
    process.rsplit('/').next()?.parse().ok().map(Pid::from_raw)
}

#[test]
fn a_worker_that_is_killed_ends_its_run_at_once_and_is_named() {
    for role in ROLES {
        let dir = Dir::new();
        dir.write("workers.toml", LONG);
        let mut command = dir.command();
        command.args(["run", "workers.toml", "-o", "r", "-q"]);
        let output = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child: Child = output.spawn().unwrap();
        let has = |role: &&str| worker(&dir, role).is_some();
        assert!(holds(|| ROLES.iter().all(has)));
        kill(worker(&dir, role).unwrap(), Signal::SIGKILL).unwrap();
        let is_over = holds(|| child.try_wait().unwrap().is_some());
        if !is_over {
            child.kill().unwrap();
        }
        let outcome = Outcome::of(child.wait_with_output().unwrap());
        assert!(is_over, "{role}: {}", outcome.stderr);
        outcome.rejected(&["worker", &format!("`{role}`")]);
        dir.expect_no_process();
    }
}
