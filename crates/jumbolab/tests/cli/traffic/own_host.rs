//! What the local host rejects, or other receivers on it have taken.

use std::net::TcpStream;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::harness::Dir;
use super::Receiver;

#[test]
fn a_log_whose_name_another_receiver_has_taken_gets_the_next_free_name() {
    let dir = Dir::new();
    let folder = dir.path().join("logs");
    std::fs::create_dir(&folder).unwrap();
    #[expect(clippy::disallowed_methods, reason = "logs are named after the time")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for second in now.as_secs()..now.as_secs() + 60 {
        for number in ["", "-2"] {
            let name = format!("{second}-1-127.0.0.1{number}.jlog");
            std::fs::write(folder.join(name), "taken").unwrap();
        }
    }
    let receiver = Receiver::start(
        &dir,
        "--packet-log-dir logs --once --max-packet-log-size 100kB",
    );
    receiver
        .send(&dir, "127.0.0.1 --packets 5 --gap 1ms")
        .fine();
    let names = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let ours = names.filter(|name| name.to_str().unwrap().ends_with("-1-127.0.0.1-3.jlog"));
    assert_eq!(ours.count(), 1);
}

#[test]
fn a_session_for_which_the_kernel_has_no_thread_is_said() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--no-reflector");
    let id = receiver.process().to_string();
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let size = size.unwrap().trim().trim_end_matches(" kB");
    // There is room for small things, but not for a stack.
    let most = (size.parse::<u64>().unwrap() + 1_000) * 1_024;
    let limited = Command::new("prlimit")
        .args(["--pid", &id, &format!("--as={most}")])
        .status();
    assert!(limited.unwrap().success());
    #[expect(
        clippy::disallowed_methods,
        reason = "the sender is one of the test's own"
    )]
    let _connection = TcpStream::connect(("127.0.0.1", receiver.port)).unwrap();
    let line = receiver.says("thread");
    assert!(
        line.contains("127.0.0.1") && !line.contains("panic"),
        "{line}"
    );
}
