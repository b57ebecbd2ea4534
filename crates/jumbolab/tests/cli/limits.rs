//! Limits of the system that leave the program too little: each ends in one line and exit
//! code 2.

use std::fs;
use std::process::Command;

use crate::harness::{Dir, Outcome};

const SIMULATED: &str = "\
format = 1
name = \"limits\"
backend = \"sim\"
[traffic]
protocol = \"udp\"
size = \"50kB\"
[sweep]
\"network.mtu\" = [1280, 4000]
[trials]
repeat = 3
";

/// The size of a stack that no address space has room for: the system rejects each thread.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "140737488355328");

#[test]
fn a_thread_that_the_system_rejects_is_an_error_in_words() {
    for (line, words) in [
        ("run limits.toml -o r -q", "starting a thread"),
        ("run limits.toml -o s -q --threads 1", "starting a thread"),
        (
            "send 127.0.0.1 --protocol icmp --duration 1s",
            "starting a thread",
        ),
    ] {
        let dir = Dir::new();
        dir.write("limits.toml", SIMULATED);
        let mut command = dir.command();
        command
            .args(line.split(' '))
            .env(NO_THREADS.0, NO_THREADS.1);
        let outcome = Outcome::of(command.output().unwrap());
        outcome.rejected(&[words, "resource temporarily unavailable"]);
    }
}

/// The program with `line` after the commands `before` of a shell.
fn limited(dir: &Dir, before: &str, line: &str) -> Outcome {
    let mut command = Command::new("sh");
    let script = format!("{before}; exec \"$0\" {line}");
    let program = env!("CARGO_BIN_EXE_jumbolab");
    command
        .args(["-c", &script, program])
        .current_dir(dir.path());
    Outcome::of(command.output().unwrap())
}

#[test]
fn a_small_stack_is_rejected_with_what_to_type() {
    let dir = Dir::new();
    dir.write("limits.toml", SIMULATED);
    for line in ["run limits.toml -o r", "list", "recv"] {
        for size in [200, 1000] {
            let outcome = limited(&dir, &format!("ulimit -s {size}"), line);
            outcome.rejected(&[&format!("stack is {size} KiB"), "ulimit -s 8192"]);
        }
    }
    let outcome = limited(&dir, "ulimit -s 1024", "run limits.toml -o r -q");
    outcome.fine();
}

/// The least address space in KiB with which the program begins: it says so of a limit that
/// is too small.
fn least_space(dir: &Dir) -> u64 {
    let file = fs::metadata(env!("CARGO_BIN_EXE_jumbolab")).unwrap();
    let mut limits = (0..=file.len() / 1024 + 40_000).rev().step_by(8_000);
    let rejected = limits.find_map(|limit| {
        let outcome = limited(dir, &format!("ulimit -v {limit}"), "list");
        (outcome.code != Some(0)).then_some(outcome)
    });
    let rejected = rejected.unwrap();
    rejected.rejected(&["address space", "ulimit -v unlimited"]);
    let (_, rest) = rejected.stderr.split_once("at least ").unwrap();
    rest.split_once(' ').unwrap().0.parse().unwrap()
}

#[test]
fn memory_that_runs_out_is_an_error_in_words() {
    let dir = Dir::new();
    let least = least_space(&dir);
    dir.write("limits.toml", SIMULATED);
    // Enough for a run on one thread.
    let limit = format!("ulimit -v {}", least + 60_000);
    limited(&dir, &limit, "run limits.toml -o r -q --threads 1").fine();
    // A plan that is read as a whole.
    let plan = fs::read_to_string(dir.path().join("r/plan.toml")).unwrap();
    let comment = "# much\n".repeat(7_000_000);
    dir.write("r/plan.toml", &format!("{comment}{plan}"));
    let outcome = limited(&dir, &format!("ulimit -v {least}"), "report r");
    outcome.rejected(&["no more memory", "ulimit -v"]);
}

#[test]
fn a_run_that_was_rejected_its_threads_is_resumed() {
    let dir = Dir::new();
    dir.write("limits.toml", SIMULATED);
    let mut command = dir.command();
    command.args(["run", "limits.toml", "-o", "r", "-q"]);
    command.env(NO_THREADS.0, NO_THREADS.1);
    Outcome::of(command.output().unwrap()).rejected(&["--resume"]);
    dir.run("run limits.toml -o r --resume").fine();
    assert_eq!(dir.trials("r", 6).len(), 6);
}
