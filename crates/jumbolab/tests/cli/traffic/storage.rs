//! Secrets and packet logs in files that are too large, too few, or of a wrong kind.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::super::harness::{Dir, Outcome};
use super::{Receiver, interrupt};

#[test]
fn a_secret_is_in_a_regular_file_within_limits_that_its_owner_alone_can_open() {
    let dir = Dir::new();
    dir.write_private("short", "1234567\n");
    dir.write_private("long", &"x".repeat(4_097));
    dir.write_private("empty", "\n");
    dir.write("open", "correct horse battery\n");
    dir.write_private("group", "correct horse battery\n");
    let group = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(dir.path().join("group"), group).unwrap();
    // Its reader would wait for a writer.
    let made = Command::new("mkfifo").arg(dir.path().join("pipe")).status();
    assert!(made.unwrap().success());
    for command in ["recv --port 0", "send ::1"] {
        for (file, words) in [
            (
                "/dev/zero",
                &["--secret-file /dev/zero", "not a regular file"][..],
            ),
            ("pipe", &["--secret-file pipe", "not a regular file"]),
            (".", &["--secret-file .", "not a regular file"]),
            ("long", &["long", "larger than 4096 bytes"]),
            ("short", &["short", "8 to 4096 bytes", "gateway keygen"]),
            ("empty", &["empty", "8 to 4096 bytes"]),
            ("open", &["--secret-file open", "type: chmod 600 open"]),
            ("group", &["--secret-file group", "type: chmod 600 group"]),
        ] {
            dir.run(&format!("{command} --secret-file {file}"))
                .rejected(words);
        }
    }
    dir.write_private("closed", "correct horse battery\n");
    dir.run("send 127.0.0.1 --port 1 --secret-file closed")
        .rejected(&["no receiver listens there"]);
}

#[test]
fn a_file_that_may_be_a_secret_is_not_quoted() {
    let dir = Dir::new();
    for secret in ["4f1c09aabbccddee00112233", "correct horse battery"] {
        dir.write_private("key", &format!("{secret}\n"));
        dir.write("list", &format!("{secret}\n"));
        for command in ["probe --mesh", "predict wait --traffic-mix"] {
            let shown = dir.run(&format!("{command} list")).stderr;
            let quotes = |text: &str| secret.split(' ').any(|word| text.contains(word));
            assert!(quotes(&shown), "{command}: {shown}");
            let hidden = dir.run(&format!("{command} key"));
            assert_eq!(hidden.code, Some(2));
            assert!(!quotes(&hidden.stderr), "{}", hidden.stderr);
            assert!(
                hidden.stderr.contains("may be a secret"),
                "{}",
                hidden.stderr
            );
        }
    }
}

/// A receiver on a disk where files have room for so many pieces of 512 bytes.
pub(super) fn receiver_with_room(dir: &Dir, pieces: u32, options: &str) -> Receiver {
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
    let mut receiver = receiver_with_room(&dir, 8, "--packet-log-dir logs");
    let sender = receiver.begin(&dir, "::1 --message 64 --gap 50us --duration 20s");
    let said = receiver.says(".jlog");
    assert!(said.contains("served on without a log"), "{said}");
    interrupt(&sender);
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    assert!(outcome.stdout.contains("0 lost"), "{}", outcome.stdout);
    // The log is not complete.
    assert_eq!(receiver.stop().code, Some(1));
}

#[test]
fn a_session_that_cannot_begin_its_log_is_rejected_and_leaves_no_file() {
    for (room, options) in [
        (0, "--packet-log-dir logs"),
        (1_000, "--packet-log-dir logs --max-packet-log-size 60kB"),
    ] {
        let dir = Dir::new();
        let mut receiver = receiver_with_room(&dir, room, options);
        receiver
            .send(&dir, "::1 --packets 3")
            .rejected(&["rejects", "packet log"]);
        receiver.says("rejected");
        let left = std::fs::read_dir(dir.path().join("logs")).unwrap();
        assert_eq!(left.count(), 0, "{options}");
    }
}

#[test]
fn the_logs_of_all_sessions_share_their_limit() {
    let dir = Dir::new();
    let receiver = Receiver::start(
        &dir,
        "--packet-log-dir logs --max-packet-log-size 150KiB --max-duration 2h",
    );
    for _ in 0..2 {
        receiver.send(&dir, "::1 --packets 3 --gap 1ms").fine();
    }
    receiver
        .send(&dir, "::1 --packets 3")
        .rejected(&["rejects"]);
    assert_eq!(
        std::fs::read_dir(dir.path().join("logs")).unwrap().count(),
        2
    );
}
