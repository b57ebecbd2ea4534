//! Trials with the user's programs: a shell script here, iperf3 in the peer
//! tier.
#![allow(unsafe_code, reason = "a signal is sent to a process of the test")]

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Dir, Outcome, holds, journal};

const TOOL: &str = "\
format = 1
name = \"tool\"
[network]
rate = \"200mbit\"
[traffic]
kind = \"command\"
sender = \"sh ./tool.sh {sender} {receiver}\"
read = { throughput = \"/a~1b/1 * 1e-6\", bytes = \"/bytes\" }
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 2
";

/// Runs the experiment with this `tool.sh`, and gives its trials.
fn trials(dir: &Dir, tool: &str, settings: &str, count: usize) -> Vec<Value> {
    dir.write("tool.sh", tool);
    dir.write("tool.toml", TOOL);
    dir.run(&format!("run tool.toml -o r {settings}")).ran();
    dir.expect_no_process();
    dir.trials("r", count)
}

#[test]
fn what_a_program_reports_is_what_a_trial_measures() {
    let dir = Dir::new();
    let tool = r#"grep -q eth0 /proc/net/dev && echo "{\"a/b\": [0, 150e6], \"bytes\": 1000000, \"of\": \"$*\"}""#;
    for trial in trials(&dir, tool, "", 4) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
        assert_eq!(trial["metrics"]["throughput"], 150.0, "{trial}");
        let (cpu, seconds) = (
            &trial["metrics"]["cpu_total"],
            &trial["evidence"]["cpu_seconds"],
        );
        // Seconds for 10^6 bytes, as seconds for 10^9.
        let (cpu, seconds) = (cpu.as_f64().unwrap(), seconds.as_f64().unwrap());
        assert!((cpu / 1e3 - seconds).abs() < 1e-9, "{trial}");
        let evidence = &trial["evidence"];
        assert_eq!(
            evidence["command_sender"],
            "sh ./tool.sh 2001:2::1 2001:2::2"
        );
        assert_eq!(
            (&evidence["exit_code"], &evidence["command_receiver"]),
            (&Value::from(0), &Value::Null)
        );
        // A tick that the hypervisor steals has a large weight in so short a
        // time.
        let flags = trial["flags"].as_array().into_iter().flatten();
        let others: Vec<_> = flags.filter(|flag| *flag != "disturbed").collect();
        assert!(others.is_empty(), "{trial}");
    }
}

#[test]
fn what_a_program_leaves_in_its_trials_folder_is_kept() {
    let dir = Dir::new();
    let tool = r#"echo "of $1" > "$2/left.txt" && echo '{"a/b": [0, 1], "bytes": 1}'"#;
    let sender = "sh ./tool.sh {receiver} {folder}";
    dir.write("tool.sh", tool);
    dir.write("tool.toml", TOOL);
    let sender = format!("traffic.sender={sender}");
    let mut command = dir.command();
    command.args(["run", "tool.toml", "-o", "r", "--set", &sender]);
    // A further attempt has a folder of its own.
    command.args(["--set", "trials.retry_limit=none"]);
    Outcome::of(command.output().unwrap()).ran();
    for trial in dir.trials("r", 4) {
        let files = trial["evidence"]["files"].as_array().unwrap();
        assert_eq!(files.len(), 1, "{trial}");
        let name = files[0].as_str().unwrap();
        let id = trial["id"].as_str().unwrap();
        assert_eq!(name, format!("files/{id}/left.txt"));
        let path = dir.path().join("r").join(name);
        assert_eq!(fs::read_to_string(path).unwrap(), "of 2001:2::2\n");
    }
}

#[test]
fn goodput_above_the_limit_is_kept_and_flagged() {
    let dir = Dir::new();
    let tool = r#"echo '{"a/b": [0, 250e6], "bytes": 1}'"#;
    for trial in trials(&dir, tool, "--repeat 1", 2) {
        assert_eq!(trial["metrics"]["throughput"], 250.0, "{trial}");
        assert_eq!(trial["flags"][0], "above-limit", "{trial}");
    }
}

#[test]
fn programs_begin_with_the_congestion_control_that_was_asked_for() {
    let dir = Dir::new();
    let tool = r#"grep -qx reno /proc/sys/net/ipv4/tcp_congestion_control &&
        echo '{"a/b": [0, 1], "bytes": 1}'"#;
    for trial in trials(&dir, tool, "--repeat 1 --set host.congestion=reno", 2) {
        assert_eq!(trial["failure"], Value::Null, "{trial}");
        assert_eq!(trial["evidence"]["congestion_default"], "reno", "{trial}");
    }
}

#[test]
fn a_run_that_is_stopped_takes_its_programs_with_it() {
    let dir = Dir::new();
    dir.write("tool.sh", "setsid sleep 1000 & sleep 1000 & : >begun; wait");
    dir.write("tool.toml", TOOL);
    let mut command = dir.command();
    command.args(["run", "tool.toml", "-o", "r"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let begun = holds(|| {
        assert_eq!(child.try_wait().unwrap(), None, "it ended early");
        dir.path().join("begun").exists()
    });
    assert!(begun, "the program has not begun");
    let process = i32::try_from(child.id()).unwrap();
    // SAFETY: a plain system call to a child of this test.
    assert_eq!(unsafe { libc::kill(process, libc::SIGINT) }, 0);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    dir.expect_no_process();
    assert!(journal(&dir.path().join("r")).is_empty());
}

#[test]
fn a_program_that_fails_is_a_failed_trial_with_its_own_words() {
    for (tool, settings, reason) in [
        (
            "echo no route >&2; echo more >&2; exit 3",
            "",
            "sender: exit status: 3: no route",
        ),
        (
            r#"echo '{"error": "nobody there"}'; exit 1"#,
            "",
            "sender: exit status: 1: nobody there",
        ),
        ("kill -9 $$", "", "sender: signal: 9 (SIGKILL)"),
        ("echo nothing", "", "sender: its stdout is not JSON"),
        ("echo '{}'", "", "sender: its JSON has nothing at /a~1b/1"),
        (
            r#"echo '{"a/b": [0, "x"], "bytes": 1}'"#,
            "",
            "sender: its JSON has no number at /a~1b/1",
        ),
        (
            r#"echo '{"a/b": [0, 1], "bytes": 0}'"#,
            "",
            "sender: its JSON has no byte count at /bytes",
        ),
        (
            "echo waiting >&2; sleep 1000",
            "--set traffic.timeout=300ms",
            "sender: not finished within 300ms: waiting",
        ),
        ("exec yes", "", "sender: more than 16777216 bytes on stdout"),
        (
            "exit 0",
            "--set traffic.receiver=/bin/false",
            "receiver: exit status: 1",
        ),
    ] {
        let dir = Dir::new();
        for trial in trials(&dir, tool, &format!("--repeat 1 {settings}"), 2) {
            let failure = trial["failure"].as_str().unwrap_or_default();
            assert!(failure.starts_with(reason), "{tool}: {trial}");
            assert_eq!(trial["metrics"].as_object().unwrap().len(), 0, "{trial}");
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_rejected_before_anything_is_written() {
    let dir = Dir::new();
    dir.write("tool.toml", TOOL);
    for (set, told) in [
        (
            "traffic.sender=nosuchtool",
            "traffic.sender: this machine has no program `nosuchtool`",
        ),
        (
            "traffic.receiver=./nosuchtool",
            "traffic.receiver: this machine has no program `./nosuchtool`",
        ),
    ] {
        let outcome = dir.run(&format!("run tool.toml --set {set}"));
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        // Behind the list of what the experiment does.
        let last = outcome.stderr.lines().last().unwrap_or_default();
        assert!(last.contains(told), "{}", outcome.stderr);
    }
    assert_eq!(dir.entries(), ["tool.toml"]);
}
