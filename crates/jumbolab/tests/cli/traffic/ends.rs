//! Early ends of flows, and rejected flows.

use super::super::harness::{Dir, Outcome};
use super::super::lookup::Object;
use super::{Receiver, interrupt};

#[test]
fn ctrl_c_at_the_sender_keeps_what_was_measured() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--once");
    // So slow that the receive buffer bridges a pause of the machine.
    let sender = receiver.begin(&dir, "::1 --gap 10ms --duration 50min --json");
    receiver.says("UDP, one way");
    interrupt(&sender);
    let outcome = Outcome::of(sender.wait_with_output().unwrap()).stopped();
    let flow = outcome.json().remove(0);
    assert_eq!(flow.count("sent"), flow.count("received"), "{flow}");
    assert_eq!(
        receiver.end().fine().stdout.matches("UDP, one way").count(),
        1
    );
}

#[test]
fn a_receiver_that_stops_ends_its_senders_with_what_was_measured() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let sender = receiver.begin(&dir, "::1 --duration 50min");
    receiver.says("UDP, one way");
    receiver.stop().fine();
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("the receiver rejects: it was stopped")
    );
    assert!(outcome.stdout.contains("sent"), "{}", outcome.stdout);
}

#[test]
fn what_cannot_be_sent_is_rejected_in_one_line() {
    let dir = Dir::new();
    dir.write("bad.toml", "[flows.x]\nmesage = 3\n");
    let receiver = Receiver::start(&dir, "--max-flows 2 --max-duration 5s");
    for (line, words) in [
        (
            "::1 --flow-file bad.toml",
            &["bad.toml:2", "did you mean `message`?"][..],
        ),
        ("::1 --flow-file none.toml", &["none.toml"]),
        ("::1 --flows 3 --duration 1s", &["allows 2 flows"]),
        ("::1 --duration 6s", &["allows sessions of 5s"]),
        ("::1 -4", &["no IPv4 address"]),
        (
            "::1 --protocol tcp --congestion none-such --packets 3",
            &["none-such"],
        ),
        ("::1 --source 192.0.2.1 --packets 3", &["192.0.2.1"]),
        ("::1 --interface none0 --packets 3", &["none0"]),
        ("no.such.host.invalid", &["no.such.host.invalid"]),
    ] {
        receiver.send(&dir, line).rejected(words);
    }
    dir.write(
        "echoes.toml",
        "[flows.ping]\nprotocol = \"icmp\"\n[flows.voice]\nmessage = 160\n",
    );
    receiver
        .send(&dir, "::1 --flow-file echoes.toml --duration 1s")
        .rejected(&["echo flows", "send them separately"]);
    dir.run("send 127.0.0.1 --port 1")
        .rejected(&["no receiver listens there", "jumbolab recv"]);
    receiver.send(&dir, "::1 --packets 3 --gap 1ms").fine();
}
