//! Secrets and packet logs in files that are too large, too few, or of a wrong kind.

use std::process::{Command, Stdio};

use super::super::harness::{Dir, Outcome, holds};
use super::{Receiver, interrupt};

#[test]
fn secrets_have_a_limit_and_their_readers_are_told() {
    let dir = Dir::new();
    dir.write_private("short", "1234567\n");
    dir.write_private("long", &"x".repeat(4_097));
    dir.write_private("empty", "\n");
    for command in ["recv --port 0", "send ::1"] {
        for (file, words) in [
            ("/dev/zero", &["/dev/zero", "larger than 4096 octets"][..]),
            ("long", &["long", "larger than 4096 octets"]),
            ("short", &["short", "8 to 4096 octets", "umask 077"]),
            ("empty", &["empty", "8 to 4096 octets"]),
            ("/dev/null", &["8 to 4096 octets"]),
            (".", &["--secret ."]),
        ] {
            dir.run(&format!("{command} --secret {file}"))
                .refused(words);
        }
    }
    dir.write("open", "correct horse battery\n");
    let outcome = dir.run("send 127.0.0.1 --port 1 --secret open");
    assert!(
        outcome.stderr.contains("chmod 600 open"),
        "{}",
        outcome.stderr
    );
    dir.write_private("closed", "correct horse battery\n");
    dir.run("send 127.0.0.1 --port 1 --secret closed")
        .refused(&["no receiver listens there"]);
}

#[test]
fn ctrl_c_ends_a_receiver_that_waits_for_a_secret() {
    let dir = Dir::new();
    let made = Command::new("mkfifo").arg(dir.path().join("fifo")).status();
    assert!(made.unwrap().success());
    // A shell that starts the tests in the background leaves SIGINT ignored.
    let receiver = Command::new("env")
        .arg("--default-signal=INT")
        .arg(dir.command().get_program())
        .args(["recv", "--port", "0", "--secret", "fifo"])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It sleeps, as no process writes to the pipe.
    let state = format!("/proc/{}/stat", receiver.id());
    let sleeps = || {
        std::fs::read_to_string(&state)
            .unwrap()
            .contains("(jumbolab) S")
    };
    assert!(holds(sleeps));
    interrupt(&receiver);
    let outcome = Outcome::of(receiver.wait_with_output().unwrap());
    assert_ne!(outcome.code, Some(0));
}

/// A receiver on a disk where files have room for so many pieces of 512 octets.
fn receiver_with_room(dir: &Dir, pieces: u32, options: &str) -> Receiver {
    let program = dir.command().get_program().to_owned();
    let mut command = Command::new("sh");
    // Writes above the limit fail as they do on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f {pieces}; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(program);
    command.current_dir(dir.path()).stdin(Stdio::null());
    Receiver::start_as(command, options)
}

#[test]
fn a_full_disk_is_said_while_the_flow_lasts() {
    let dir = Dir::new();
    let mut receiver = receiver_with_room(&dir, 8, "--log logs");
    let sender = receiver.begin(&dir, "::1 --message 64 --gap 50us --for 20s");
    let said = receiver.says(".jlog");
    assert!(said.contains("served on without a log"), "{said}");
    interrupt(&sender);
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    assert!(outcome.stdout.contains("0 lost"), "{}", outcome.stdout);
    // The log is not complete.
    assert_eq!(receiver.stop().code, Some(1));
}

#[test]
fn a_session_that_cannot_begin_its_log_is_refused_and_leaves_no_file() {
    for (room, options) in [(0, "--log logs"), (1_000, "--log logs --max-log-size 60kB")] {
        let dir = Dir::new();
        let mut receiver = receiver_with_room(&dir, room, options);
        receiver
            .send(&dir, "::1 --packets 3")
            .refused(&["refuses", "packet log"]);
        receiver.says("refused");
        let left = std::fs::read_dir(dir.path().join("logs")).unwrap();
        assert_eq!(left.count(), 0, "{options}");
    }
}

#[test]
fn the_logs_of_all_sessions_share_their_limit() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--log logs --max-log-size 150KiB --max-duration 2h");
    for _ in 0..2 {
        receiver.send(&dir, "::1 --packets 3 --gap 1ms").fine();
    }
    receiver.send(&dir, "::1 --packets 3").refused(&["refuses"]);
    assert_eq!(
        std::fs::read_dir(dir.path().join("logs")).unwrap().count(),
        2
    );
}
