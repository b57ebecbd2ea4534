//! Traffic of applications.

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::Receiver;

#[test]
fn presets_set_protocol_sizes_and_gaps_and_options_replace_parts_of_them() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for (line, protocol, messages, bytes) in [
        (
            "voip-g729-2-crtp --packets 20",
            "udp",
            20,
            20 * 22..=20 * 22,
        ),
        (
            "voip-g711-1-vad --duration 100ms --off-time 1us --on-time 1h",
            "udp",
            9,
            9 * 92..=9 * 92,
        ),
        ("telnet --packets 100 --gap 1ms", "tcp", 100, 2_400..=3_500),
        ("quake3 --packets 50", "udp", 50, 50 * 53..=50 * 74),
        (
            "counter-strike-active --packets 8",
            "udp",
            8,
            8 * 22..=8 * 60,
        ),
        (
            "counter-strike-idle --packets 8 --message 30",
            "udp",
            8,
            240..=240,
        ),
        (
            "dns --packets 20 --payload-rate 1mbit --protocol tcp",
            "tcp",
            20,
            2_000..=6_380,
        ),
    ] {
        let line = format!("127.0.0.1 --preset {line} --json");
        let flow = receiver.send(&dir, &line).fine().json().remove(0);
        assert_eq!(flow["protocol"], protocol, "{line}");
        for key in ["offered", "sent", "received"] {
            assert_eq!(flow.count(key), messages, "{line}, {key}: {flow}");
        }
        assert_eq!(flow.count("rejected"), 0, "{line}");
        assert!(
            bytes.contains(&flow.count("received_bytes")),
            "{line}: {flow}"
        );
    }
    receiver.stop().fine();
}

#[test]
fn the_preset_of_a_table_comes_before_options_and_behind_its_own_keys() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    dir.write(
        "flows.toml",
        "[flows.one]\npreset = \"voip-g711-1\"\n[flows.two]\npreset = \"voip-g711-1\"\nmessage = 64\n[flows.three]\n",
    );
    let line = "127.0.0.1 --flow-file flows.toml --message 50 --gap 1ms --packets 5 --json";
    let flows = receiver.send(&dir, line).fine().json();
    for (name, bytes) in [("one", 92), ("two", 64), ("three", 50)] {
        let found = flows.iter().find(|flow| flow["flow"] == name);
        let found = found.expect("every table is a flow");
        assert_eq!(found.count("received_bytes"), 5 * bytes, "{found}");
    }
}

#[test]
fn an_unknown_preset_and_one_that_the_other_end_cannot_send_are_rejected() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for (line, why) in [
        ("--preset help", "write telnet, dns, quake3"),
        ("--preset voip-g711-3", "voip-g711-2"),
        ("--preset quake3 --reverse", "write dns or a call"),
        ("--preset voip-g711-1-vad --bidir", "leave out -vad"),
    ] {
        let outcome = receiver.send(&dir, &format!("::1 {line}"));
        outcome.rejected(&["--preset", why]);
    }
    let line = "::1 --preset voip-g723-1 --bidir --packets 3 --json";
    let flows = receiver.send(&dir, line).fine().json();
    assert_eq!(flows.len(), 2);
    for flow in flows {
        assert_eq!(flow.count("received_bytes"), 3 * 42, "{flow}");
    }
}

#[test]
fn decode_rates_the_calls_of_a_receivers_log_and_rejects_other_logs() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--packet-log-dir logs");
    let line = "::1 --preset voip-g729-2 --gap 1ms --packets 50 --packet-log sent.jlog";
    let said = receiver.send(&dir, line).fine().stdout;
    assert!(said.contains("call        MOS 4.0"), "{said}");
    let line = "::1 --message 64 --gap 1ms --packets 5 --meter round-trip --packet-log trips.jlog";
    let said = receiver.send(&dir, line).fine().stdout;
    assert!(!said.contains("MOS"), "{said}");
    receiver.stop().fine();
    let logs = std::fs::read_dir(dir.path().join("logs")).unwrap();
    let logs = logs.map(|log| log.unwrap().file_name().into_string().unwrap());
    // That of the first session.
    let log = logs.min().unwrap();
    let page = dir.run(&format!("decode logs/{log} --codec g729-2")).fine();
    assert!(
        page.stdout.contains("call       MOS 4.0"),
        "{}",
        page.stdout
    );
    let row = dir.run(&format!("decode logs/{log} --codec g723-1 --json"));
    let row = row.fine().json().remove(0);
    assert_eq!(row["codec"], "g723-1");
    assert_eq!(row.figure("burst_ratio"), 1.0);
    assert!((3.0..3.95).contains(&row.figure("mos")), "{row}");
    for log in ["sent.jlog", "trips.jlog"] {
        let outcome = dir.run(&format!("decode {log} --codec g711-1"));
        outcome.rejected(&["--codec g711-1", log, "write the log of a receiver"]);
    }
    let outcome = dir.run(&format!(
        "decode logs/{log} --codec g711-1 --definitions ditg"
    ));
    outcome.rejected(&["--codec g711-1", "leave --definitions ditg out"]);
}
