//! Jumbograms as an ordinary user, over loopback of a separate namespace.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Dir, holds};
use crate::lookup::Object;
use crate::traffic::Receiver;
use crate::undisturbed::{Disturbed, until_undisturbed};

#[test]
fn datagrams_of_all_sizes_arrive_whole_and_as_one_packet_each() {
    let dir = Dir::new();
    for (size, packet) in [
        (48, 96),
        (1_452, 1_500),
        (65_527, 65_575),
        (65_528, 65_584),
        (65_536, 65_592),
        (190_000, 190_056),
        (4_193_280, 4_193_336),
    ] {
        let line = format!("send --jumbogram --message {size} --packets 2 --json");
        let output = dir.run(&line).fine().json().remove(0);
        assert_eq!(output["packet_bytes"], packet, "{output}");
        assert_eq!(output["jumbogram"], size > 65_527, "{output}");
        for count in ["sent", "whole", "packets"] {
            assert_eq!(output[count], 2, "{count} of {output}");
        }
        assert_eq!(output["messages"][1]["bytes"], size);
        assert_eq!(
            output["messages"][0]["digest"],
            output["messages"][1]["digest"]
        );
    }
    let text = dir.run("send --jumbogram --message 190000").fine().stdout;
    for words in [
        "1 of 1 arrived complete over loopback",
        "190056",
        "hash correct",
    ] {
        assert!(text.contains(words), "{text}");
    }
    dir.expect_no_process();
}

#[test]
fn two_commands_send_and_receive_where_the_link_carries_it() {
    let dir = Dir::new();
    // Both in one namespace, whose loopback gets an MTU and no more help.
    let script = "\
        ip link set lo mtu 200000; \
        \"$0\" recv --jumbogram --once --json --port 4000 & receiver=$!; \
        until grep -q :0FA0 /proc/net/udp6; do kill -0 $receiver; done; \
        \"$0\" send ::1 --port 4000 --jumbogram --message 190000 --json; \
        wait $receiver";
    let output = dir.in_namespaces(script).fine().json();
    let of = |kind: &str| -> &Value {
        let found = output.iter().find(|value| value["kind"] == kind);
        found.unwrap_or_else(|| panic!("{kind} is not in {output:?}"))
    };
    assert_eq!(of("jumbograms_sent")["packet_bytes"], 190_056);
    let received = of("jumbogram_received");
    assert_eq!(received["bytes"], 190_000);
    assert_eq!(received["whole"], true);
    assert_eq!(received["from"], "::1");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test opens the sockets of an unknown sender itself"
)]
fn unknown_senders_neither_end_a_receiver_of_jumbograms_nor_fill_its_output() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--jumbogram --open --once --json");
    let garbage = [b'x'; 100];
    // IPv4 is not received: the port is closed there.
    let four = UdpSocket::bind("127.0.0.1:0").unwrap();
    four.connect(("127.0.0.1", receiver.port)).unwrap();
    four.set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    four.send(&garbage).unwrap();
    let error = four.recv(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let six = UdpSocket::bind("[::1]:0").unwrap();
    for _ in 0..100 {
        six.send_to(&garbage, ("::1", receiver.port)).unwrap();
    }
    // It has read them all.
    let port = format!(":{:04X} ", receiver.port);
    let is_read = || {
        let sockets = std::fs::read_to_string("/proc/net/udp6").unwrap();
        let line = sockets.lines().find(|line| line.contains(&port)).unwrap();
        line.contains(" 00000000:00000000 ")
    };
    assert!(holds(is_read));
    let outcome = receiver.stop().fine();
    assert!(outcome.stdout.lines().count() < 50, "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("other damaged datagrams"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_measurement_carries_each_message_in_a_packet_and_counts_what_is_lost() {
    let dir = Dir::new();
    for (line, jumbogram) in [
        ("--jumbogram --message 190000", true),
        ("--jumbogram --message 1452", false),
        ("--jumbogram --message 8952 --method socket", false),
    ] {
        let line = format!("send {line} --duration 100ms --json");
        // Fewer are in flight than the kernel's queues hold. Other tests fill
        // the same queues and may leave no room for a few packets.
        let output = until_undisturbed(&line, 5, || {
            let output = dir.run(&line).fine().json().remove(0);
            let (lost, messages) = (output.figure("lost"), output.figure("messages"));
            if lost <= messages / 20.0 {
                Ok(output)
            } else {
                Err(Disturbed(format!(
                    "{lost} of {messages} packets found no room"
                )))
            }
        })
        .unwrap();
        let number = |key: &str| output.figure(key);
        assert_eq!(output["jumbogram"], jumbogram);
        let messages = number("messages");
        assert!(messages > 0.0, "{output}");
        // A lost message may or may not have been counted on the link.
        let packets = messages..=messages + number("lost");
        assert!(packets.contains(&number("packets")), "{output}");
        assert_eq!(number("bytes"), messages * number("size_bytes"));
        assert!(number("delays") >= 20.0 && number("delay_p50_s") > 0.0);
        assert!(number("delay_p50_s") <= number("delay_p99_s"));
        let rate = 8.0 * number("bytes") / number("duration_s");
        assert!((number("throughput_bps") / rate - 1.0).abs() < 1e-6);
        assert!(number("cpu_per_gb_s") > 0.0);
    }
}

#[test]
fn super_packets_of_tcp_grow_beyond_64_kib_where_they_are_allowed_to() {
    let dir = Dir::new();
    let each = |size: u32| {
        let line =
            format!("send --jumbogram --message {size} --method tcp --duration 200ms --json");
        let output = dir.run(&line).fine().json().remove(0);
        output["bytes_per_packet"].as_f64().unwrap()
    };
    let (ordinary, big) = (each(65_536), each(500_000));
    assert!(ordinary < 65_536.0, "{ordinary}");
    assert!(big > 65_536.0, "{big} against {ordinary}");
}

#[test]
fn what_no_backend_carries_is_rejected_in_one_line() {
    let dir = Dir::new();
    dir.write("there.pcapng", "");
    for (line, words) in [
        ("--jumbogram --message 5MB", &["4 MiB", "48 to 4193280"][..]),
        ("--jumbogram --message 5GB", &["48 to 4193280"]),
        ("--jumbogram --message 47", &["48 to 4193280"]),
        ("--jumbogram --message many", &["--message many"]),
        // Loopback as every machine has it, MTU 65 536.
        (
            "::1 --jumbogram --message 190000",
            &["65536", "65576", "leave HOST out"],
        ),
        ("127.0.0.1 --jumbogram --message 190000", &["IPv6"]),
        (
            "::1 --jumbogram --message 1452 --duration 1s",
            &["--packets"],
        ),
        (
            "--jumbogram --message 65528 --method socket --duration 100ms",
            &["does not support it", "--method"],
        ),
        ("--jumbogram --message 190000 --method tcp", &["--duration"]),
        (
            "--jumbogram --message 190000 --method tcp --topology router --duration 1s",
            &["--topology"],
        ),
        ("--jumbogram --message 190000 --packets 0", &["--packets 0"]),
        (
            "--jumbogram --message 190000 --packets 1 --duration 1s",
            &["leave one out"],
        ),
        ("--jumbogram --message 190000 --gap 1ms", &["--gap"]),
        (
            "--jumbogram --message 190000 --capture there.pcapng",
            &["there.pcapng", "new file"],
        ),
    ] {
        dir.run(&format!("send {line}")).rejected(words);
    }
    for line in [
        "::1 --topology router",
        "--jumbogram --message 1452 --dscp 3",
    ] {
        let outcome = dir.run(&format!("send {line}"));
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
    }
    assert_eq!(dir.run("recv --jumbogram --listen 127.0.0.1").code, Some(2));
}

#[test]
fn a_capture_holds_the_headers_of_what_was_carried() {
    let dir = Dir::new();
    dir.run("send --jumbogram --message 190000 --packets 2 --capture c.pcapng")
        .fine();
    let bytes = std::fs::read(dir.path().join("c.pcapng")).unwrap();
    // A hop-by-hop header, and in it the option with 190 016 bytes.
    let needle = [17, 0, 0xc2, 4, 0, 2, 0xe6, 0x40];
    let found = bytes.windows(8).filter(|window| *window == needle).count();
    assert!((2..=4).contains(&found), "{found}");
}
