//! Traffic of `kind = "command"`: the user's own programs.

use plan::metric::{RETRANSMISSIONS, THROUGHPUT};

use super::*;

const TOOL: &str = "\
format = 1
name = \"tool\"
aliases.mtu = \"network.mtu\"
sweep.mtu = [1500, 9000]
[traffic]
kind = \"command\"
receiver = \"iperf3 -s -1\"
sender = \"iperf3 -c {receiver} -t 1 -J\"
[traffic.read]
throughput = \"/end/sum_received/bits_per_second * 1e-6\"
retransmissions = \"/end/sum_sent/retransmits\"
";

#[track_caller]
fn command(plan: &Plan) -> &Command {
    match &setting(plan, 0).traffic {
        Traffic::Command(command) => command,
        other => panic!("{other:?}"),
    }
}

#[test]
fn commands_and_their_readings_are_planned_and_round_trip() {
    let plan = plan(TOOL, &["traffic.read.bytes=/end/sum_received/bytes"]);
    check_round_trip(&plan);
    let command = command(&plan);
    assert_eq!(command.sender.to_string(), "iperf3 -c {receiver} -t 1 -J");
    assert_eq!(
        command.receiver.as_ref().unwrap().to_string(),
        "iperf3 -s -1"
    );
    let reading = |pointer: &str, factor| Reading {
        pointer: pointer.into(),
        factor,
    };
    assert_eq!(
        command.read,
        [
            (
                &THROUGHPUT,
                reading("/end/sum_received/bits_per_second", 1e-6)
            ),
            (&RETRANSMISSIONS, reading("/end/sum_sent/retransmits", 1.0)),
        ]
    );
    assert_eq!(command.bytes, Some(reading("/end/sum_received/bytes", 1.0)));
    assert_eq!(command.timeout, Span::from_millis(30_000));
    assert_eq!(plan.cells.len(), 2);
}

#[test]
fn the_hash_follows_the_command_and_not_how_a_factor_is_written() {
    let hash = |sets: &[&str]| plan(TOOL, sets).hash;
    let factor = "traffic.read.throughput=/end/sum_received/bits_per_second  *  0.000001";
    assert_eq!(hash(&[factor]), hash(&[]));
    for other in [
        "traffic.sender=iperf3 -c {receiver} -t 2 -J",
        "traffic.receiver=iperf3 -s",
        "traffic.timeout=10s",
        "traffic.read.rtt=/rtt",
        "traffic.read.throughput=/end/sum_received/bits_per_second",
    ] {
        assert_ne!(hash(&[other]), hash(&[]), "{other}");
    }
}

#[test]
fn command_lines_can_be_swept() {
    let sets = ["traffic.sender=a {sender},b", "mtu=1500"];
    let plan = plan(TOOL, &sets);
    assert_eq!(
        factors(&plan),
        [
            "mtu=1500 traffic.sender=a {sender}",
            "mtu=1500 traffic.sender=b"
        ]
    );
    check_round_trip(&plan);
}

#[test]
fn a_size_stands_in_command_lines_or_nowhere() {
    let sender = "traffic.sender=a {size} {receiver}";
    let plan = plan(TOOL, &[sender, "traffic.size=1452,4MB", "mtu=1500"]);
    assert_eq!(
        factors(&plan),
        ["mtu=1500 traffic.size=1452", "mtu=1500 traffic.size=4MB"]
    );
    assert_eq!(command(&plan).size, Some(Bytes::new(1_452)));
    check_round_trip(&plan);
    check_rejected(
        TOOL,
        &["traffic.size=1452"],
        "--set traffic.size=1452: traffic.size = 1452: no command line has {size} in it; remove it",
    );
    check_rejected(
        TOOL,
        &[sender],
        "--set traffic.sender=a {size} {receiver}: traffic.sender = \"a {size} {receiver}\": {size} stands for traffic.size; write for instance size = 1452",
    );
}

#[test]
fn keys_of_the_other_kind_are_rejected_by_name() {
    let messages = "\"transfer\" or \"latency-breakdown\"";
    let sockets = "\"transfer\" or \"flows\" or \"latency-breakdown\" or \"request-response\"";
    for (key, kinds) in [
        (
            "protocol",
            "\"transfer\" or \"latency-breakdown\" or \"request-response\"",
        ),
        ("message", messages),
        ("warmup", "\"transfer\""),
        ("cpu_bytes", "\"transfer\""),
        ("send_buffer", sockets),
        ("receive_buffer", sockets),
        ("nagle", sockets),
    ] {
        let set = format!("traffic.{key}=1");
        let line = format!(
            "--set {set}: traffic.{key} = 1: only traffic of kind = {kinds} has this key; remove it"
        );
        check_rejected(TOOL, &[&set], &line);
    }
    for key in ["sender", "receiver"] {
        let set = format!("traffic.{key}=a");
        let line = format!(
            "--set {set}: traffic.{key} = \"a\": only traffic of kind = \"command\" has this key; remove it"
        );
        check_rejected(SMALL, &[&set], &line);
    }
    check_rejected(
        SMALL,
        &["traffic.read.rtt=/a"],
        "--set traffic.read.rtt=/a: traffic.read = { rtt = \"/a\" }: only traffic of kind = \"command\" has this key; remove it",
    );
    check_rejected(
        TOOL,
        &["traffic.kind=video"],
        "--set traffic.kind=video: traffic.kind = \"video\": write \"transfer\", \"command\", \"flows\", \"latency-breakdown\", \"request-response\" or \"probe\"",
    );
}

#[test]
fn what_cannot_be_run_or_read_is_rejected() {
    let pointer = "write a JSON pointer and perhaps a factor, for instance \"/end/sum_received/bits_per_second * 1e-6\"";
    for (key, value, why) in [
        ("sender", "sh -c 'half", "unclosed quote"),
        ("receiver", " ", "write one line of text in quotes"),
        ("receiver", "''", "write a program and its arguments"),
        (
            "sender",
            "nc {router}",
            "{router} stands for an address, and only shape = \"routed\" has a router; write another node",
        ),
        (
            "timeout",
            "0s",
            "no command ends in no time; write for instance \"30s\"",
        ),
        ("read.rtt", "end", pointer),
        ("read.rtt", "/a~2", pointer),
        ("read.rtt", "/a * b", pointer),
        ("read.rtt", "/a * 0", pointer),
        ("read.rtt", "/a * inf", pointer),
    ] {
        let set = format!("traffic.{key}='{value}'").replace("'sh -c 'half'", "\"sh -c 'half\"");
        let set = set.replace("''''", "\"''\"");
        let value = format!("\"{value}\"");
        check_rejected(
            TOOL,
            &[&set],
            &format!("--set {set}: traffic.{key} = {value}: {why}"),
        );
    }
    check_rejected(
        TOOL,
        &["traffic.read.thruput=/a"],
        "--set traffic.read.thruput=/a: traffic.read.thruput = \"/a\": unknown key",
    );
    check_rejected(
        TOOL,
        &["traffic.read.bytes=/a", "traffic.read.cpu_total=/b"],
        "--set traffic.read.cpu_total=/b: traffic.read.cpu_total = \"/b\": with `bytes` it is metered here; remove `cpu_total` or `bytes`",
    );
    let bare =
        "format = 1\nname = \"tool\"\nsweep.\"network.mtu\" = [1500]\ntraffic.kind = \"command\"\n";
    check_rejected(
        bare,
        &[],
        "experiments/x.toml:1: traffic.sender is missing; write for instance sender = \"iperf3 -c {receiver} -t 1 -J\"",
    );
    check_rejected(
        bare,
        &["traffic.sender=a"],
        "experiments/x.toml:1: traffic.read is missing; write for instance read = { throughput = \"/end/sum_received/bits_per_second * 1e-6\" }",
    );
}
