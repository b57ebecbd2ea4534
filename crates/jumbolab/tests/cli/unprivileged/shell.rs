//! `jumbolab shell`: programs of the user in the nodes of a test network.
#![allow(unsafe_code, reason = "signals are sent to processes of the test")]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use crate::harness::{Dir, Outcome, holds};

/// One cell of os-comparison.
const CELL: [&str; 6] = [
    "--set",
    "mtu=9000",
    "--set",
    "offloads=off",
    "--set",
    "scenario=LU-LU",
];

/// Runs `words` in `node` of the test network of [`CELL`].
fn shell(dir: &Dir, node: &str, settings: &[&str], words: &[&str]) -> Outcome {
    let mut command = dir.command();
    command
        .args(["shell", "os-comparison", node])
        .args(CELL)
        .args(settings)
        .arg("--")
        .args(words);
    Outcome::of(command.output().unwrap())
}

/// Starts `script` in the sender; returns once it reports that it is ready.
fn begun(dir: &Dir, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = dir.command();
    command
        .args(["shell", "os-comparison", "sender"])
        .args(CELL)
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, said)
}

/// The effect of Ctrl-C in a terminal.
fn interrupt(child: &Child) {
    let group = i32::try_from(child.id()).unwrap();
    // SAFETY: a plain system call to a process group of this test.
    assert_eq!(unsafe { libc::kill(-group, libc::SIGINT) }, 0);
}

#[test]
fn a_program_runs_in_its_node_and_gives_its_output_and_exit_code() {
    let dir = Dir::new();
    let script = r#"echo "$JUMBOLAB_NODE $JUMBOLAB_SENDER $JUMBOLAB_RECEIVER $1 $2"; exit 7"#;
    let words = ["sh", "-c", script, "sh", "{receiver}-{sender}", "{other}"];
    let outcome = shell(&dir, "receiver", &["--set", "shape=pair"], &words);
    assert_eq!(outcome.code, Some(7), "{}", outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "receiver 2001:2::1 2001:2::2 2001:2::2-2001:2::1 {other}\n"
    );
    assert_eq!(
        outcome.stderr,
        "sender    eth0  mtu 9000  2001:2::1\nreceiver  eth0  mtu 9000  2001:2::2\n"
    );
    dir.expect_no_process();
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
}

#[test]
fn every_node_has_its_own_interfaces() {
    for (shape, node, interfaces) in [
        ("shape=pair", "sender", &["lo", "eth0"][..]),
        ("shape=routed", "router", &["lo", "eth0", "eth1"]),
        (
            "shape=switched",
            "switch",
            &["lo", "bridge", "eth0", "eth1"],
        ),
    ] {
        let dir = Dir::new();
        let outcome = shell(&dir, node, &["--set", shape], &["cat", "/proc/net/dev"]).fine();
        let lines = outcome.stdout.lines().skip(2);
        let mut names: Vec<&str> = lines
            .filter_map(|line| line.split(':').next())
            .map(str::trim)
            .collect();
        let mut wanted = interfaces.to_vec();
        names.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(names, wanted, "{shape} {node}");
    }
}

#[test]
fn exit_codes_are_those_of_shells() {
    let dir = Dir::new();
    dir.write("text", "no program");
    for (words, code, complaint) in [
        (&["sh", "-c", "kill -TERM $$"][..], 128 + 15, ""),
        (
            &["./absent"],
            127,
            "error: starting `./absent`: no such file",
        ),
        (
            &["./text"],
            126,
            "error: starting `./text`: permission denied",
        ),
    ] {
        let outcome = shell(&dir, "sender", &["--set", "shape=pair"], words);
        assert_eq!(outcome.code, Some(code), "{words:?} {}", outcome.stderr);
        let more: Vec<&str> = outcome.stderr.lines().skip(2).collect();
        assert_eq!(more.len(), usize::from(!complaint.is_empty()), "{more:?}");
        assert!(more.concat().contains(complaint), "{more:?}");
    }
}

#[test]
fn of_several_cells_the_first_is_built_and_said() {
    let dir = Dir::new();
    let outcome = dir.run("shell os-comparison sender -- true").fine();
    let line = outcome.stderr.lines().next().unwrap();
    assert!(
        line.contains("scenario=LU-LU offloads=off mtu=1500"),
        "{line}"
    );
    assert!(line.contains("--set offloads=on --set mtu=9000"), "{line}");
}

#[test]
fn what_cannot_be_is_rejected_in_one_line() {
    let dir = Dir::new();
    dir.run("shell os-comparison switch -- true")
        .rejected(&["switch", "sender, router, receiver"]);
    dir.run("shell os-comparisn sender -- true")
        .rejected(&["os-comparison"]);
    dir.run("shell os-comparison sender --set scenario=WS-WS -- true")
        .rejected(&["needs a Windows host"]);
    dir.run("shell os-comparison sender --set shape=pair -- echo {router}")
        .rejected(&["{router}", "routed"]);
    dir.run("shell os-comparison sender --with receiver -- true")
        .rejected(&["--with receiver", "iperf3 -s"]);
    dir.run("shell os-comparison sender --with there=true -- true")
        .rejected(&["--with there=true", "sender, router, receiver"]);
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
    dir.expect_no_process();
}

#[test]
fn companions_speak_on_stderr_and_end_with_the_program() {
    let dir = Dir::new();
    let with = [
        "--with",
        "receiver=sh -c 'echo from the receiver; sleep 1000 & wait'",
    ];
    let outcome = shell(&dir, "sender", &with, &["echo", "done"]).fine();
    assert_eq!(outcome.stdout, "done\n");
    assert!(
        outcome.stderr.ends_with("from the receiver\n"),
        "{}",
        outcome.stderr
    );
    dir.expect_no_process();
    let with = ["--with", "receiver=sh -c 'exit 3'"];
    let outcome = shell(&dir, "sender", &with, &["echo", "done"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    let complaint = outcome.stderr.lines().last().unwrap();
    assert!(
        complaint.contains("--with receiver") && complaint.contains("exit status: 3"),
        "{complaint}"
    );
    dir.expect_no_process();
}

#[test]
fn ctrl_c_is_the_programs_and_not_ours() {
    let dir = Dir::new();
    let script = r#"trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 1; done"#;
    let (mut child, mut said) = begun(&dir, script);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "caught\n");
    let (mut child, _said) = begun(&dir, "echo ready; exec sleep 1000");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    dir.expect_no_process();
}

#[test]
fn nothing_survives_us_not_even_what_the_program_left_behind() {
    let dir = Dir::new();
    let script = "setsid sleep 1000 & sleep 1000 & echo ready; wait";
    let (mut child, _said) = begun(&dir, script);
    // One that becomes another program at this moment says nothing of itself.
    let there = holds(|| dir.processes().len() >= 4);
    assert!(there, "{:?}", dir.processes());
    child.kill().unwrap();
    child.wait().unwrap();
    dir.expect_no_process();
    let (mut child, _said) = begun(&dir, "setsid sleep 1000 & echo ready");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    dir.expect_no_process();
}
