//! Failed and disturbed trials are run again.
#![allow(unsafe_code, reason = "signals are sent to a process of the test")]

use std::fs;
use std::process::Stdio;

use os::clock;
use serde_json::Value;
use units::Span;

use crate::harness::{Dir, Outcome, holds, journal};

/// Trials of a program that fails until there is a file `mended`.
const PROGRAM: &str = "\
format = 1
name = \"program\"
[traffic]
kind = \"command\"
sender = \"sh ./tool.sh\"
read = { throughput = \"/rate\" }
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 2
retry_limit = \"none\"
";

#[test]
fn a_resumed_run_repeats_failed_trials_on_request_only() {
    let dir = Dir::new();
    dir.write("program.toml", PROGRAM);
    let tool = r#"test -e mended || { echo broken >&2; exit 1; }; echo '{"rate": 1}'"#;
    dir.write("tool.sh", tool);
    dir.run("run program.toml -o r");
    let attempts = || journal(&dir.path().join("r"));
    let first = attempts();
    assert_eq!(first.len(), 4, "{first:?}");
    for trial in &first {
        let failure = trial["failure"].as_str().unwrap();
        assert!(failure.contains("broken"), "{failure}");
    }
    dir.write("mended", "");
    dir.run("run program.toml -o r --resume");
    assert_eq!(attempts(), first, "nobody asked to repeat them");
    dir.run("run program.toml -o r --resume --retry").fine();
    let both = attempts();
    assert_eq!((both.len(), &both[..4]), (8, &first[..]));
    for trial in dir.trials("r", 4) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
        assert_eq!(trial["attempt"], 2, "{trial}");
    }
    dir.run("run program.toml -o r --resume --retry").fine();
    assert_eq!(attempts(), both, "none has failed");
}

#[test]
fn a_run_whose_interval_is_wider_than_the_baseline_ends_with_1_and_says_what_to_do() {
    let dir = Dir::new();
    dir.write("program.toml", PROGRAM);
    // Both cells have 1 in every other repeat, and 100 in the others.
    let tool = r#"n=$(cat n || echo 0); echo $((n + 1)) >n
test $((n / 2 % 2)) = 0 && echo '{"rate": 1}' || echo '{"rate": 100}'"#;
    dir.write("tool.sh", tool);
    let run = dir.run("run program.toml --repeat 4 -o r");
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "no result for goodput: the interval is wider than the baseline",
        "Run more trials (--repeat 16), or run on an idle machine.",
    ] {
        assert!(words.contains(said), "`{said}` is not in: {words}");
    }
    let lines = dir.run("report r --json").json();
    let state = &lines.last().unwrap()["state"];
    assert_eq!(state, "failed");
}

/// A flow over a link whose frames may be 100 ms late.
const FLOW: &str = "\
format = 1
name = \"flow\"
[network]
shape = \"pair\"
link = \"emulated\"
rate = \"20mbit\"
timing_error = \"100ms\"
[traffic]
kind = \"flows\"
duration = \"1s\"
[flows.one]
message = 500
gap = \"2ms\"
[sweep]
\"network.mtu\" = [1500]
[trials]
repeat = 1
retry_limit = \"1000%, 1min\"
";

/// The time for which the emulator is stopped: more than it may be late.
const STOPPED: Span = Span::from_millis(300);

#[test]
fn a_trial_that_failed_because_it_was_disturbed_is_repeated_at_the_end() {
    let dir = Dir::new();
    dir.write("flow.toml", FLOW);
    let mut command = dir.command();
    command.args(["run", "flow.toml", "-o", "r"]);
    let mut child = (command.stdout(Stdio::null()).stderr(Stdio::piped()))
        .spawn()
        .unwrap();
    // Until the first trial has ended the emulator is stopped again and again.
    let attempts = || journal(&dir.path().join("r"));
    let failed = holds(|| {
        if let Some(emulator) = emulator(&dir) {
            signal(emulator, libc::SIGSTOP);
            clock::sleep(STOPPED);
            signal(emulator, libc::SIGCONT);
        }
        !attempts().is_empty() || child.try_wait().unwrap().is_some()
    });
    assert!(failed, "the run stands still");
    Outcome::of(child.wait_with_output().unwrap()).fine();
    let first = &attempts()[0];
    let failure = first["failure"].as_str().expect("the first trial fails");
    assert!(failure.contains("could not keep up"), "{failure}");
    assert_eq!(first["disturbed"][0]["pass"], "trial", "{first}");
    let last = dir.trials("r", 1).remove(0);
    assert_eq!(last["failure"], Value::Null, "{last}");
    assert!(last["attempt"].as_u64() > Some(1), "{last}");
    assert!(last["metrics"]["throughput"].as_f64() > Some(0.0), "{last}");
    dir.expect_no_process();
}

/// The emulator of the test, if it is running.
fn emulator(dir: &Dir) -> Option<i32> {
    let is_emulator = |process: &String| {
        let line = fs::read(format!("{process}/cmdline")).unwrap_or_default();
        let mut words = line.split(|&byte| byte == 0).skip(1);
        words.next() == Some(b"--worker") && words.next() == Some(b"emulator")
    };
    let process = dir.processes().into_iter().find(is_emulator)?;
    process.strip_prefix("/proc/")?.parse().ok()
}

/// Sends a signal to a process, which may have ended.
fn signal(process: i32, signal: i32) {
    // SAFETY: the process had the environment of the test when it was found, and
    // its parent, the run, has not waited for it.
    unsafe { libc::kill(process, signal) };
}
