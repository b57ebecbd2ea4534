//! What the own host refuses, or other receivers on it have taken.

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
    let receiver = Receiver::start(&dir, "--log logs --once --max-log-size 100kB");
    receiver
        .send(&dir, "127.0.0.1 --packets 5 --gap 1ms")
        .fine();
    let names = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let ours = names.filter(|name| name.to_str().unwrap().ends_with("-1-127.0.0.1-3.jlog"));
    assert_eq!(ours.count(), 1);
}
