//! Flows that the receiver sends: `--reverse` and `--bidir`.
#![expect(
    clippy::disallowed_methods,
    reason = "the test opens sockets as an untrusted client"
)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use meter::departures::Distribution;
use traffic::machine::control::Fault;
use wire::control::{Flow, LONGEST_CONGESTION, Meter, Name, Protocol, Reason, Reverse, Traffic};

use super::super::harness::{Dir, Outcome};
use super::super::lookup::Object;
use super::own_sender::{COOKIE, OwnSender};
use super::{Receiver, interrupt};

#[test]
fn the_receiver_sends_over_both_protocols_and_both_versions_of_ip() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--json");
    for host in ["127.0.0.1", "::1"] {
        for protocol in ["udp", "tcp"] {
            for way in ["--reverse", "--bidir"] {
                let line = format!(
                    "{host} --protocol {protocol} {way} --message 100 --gap 100us --packets 200 --json"
                );
                let flows = receiver.send(&dir, &line).fine().json();
                let names: Vec<&str> = flows
                    .iter()
                    .map(|flow| flow["flow"].as_str().unwrap())
                    .collect();
                match way {
                    "--reverse" => assert_eq!(names, ["flow"]),
                    _ => assert_eq!(names, ["flow", "flow-reverse"]),
                }
                assert_eq!(flows.last().unwrap()["reverse"], true);
                for flow in &flows {
                    for (key, value) in [
                        ("offered", 200),
                        ("sent", 200),
                        ("received", 200),
                        ("received_bytes", 20_000),
                        ("lost", 0),
                    ] {
                        assert_eq!(flow.count(key), value, "{key}: {flow}");
                    }
                    let delays = flow["delay_s"].count("count");
                    assert_eq!(delays + flow.count("negative_delays"), 200, "{flow}");
                    assert_eq!(flow["timing_error_s"].count("count"), 200);
                }
            }
        }
    }
    let flows = receiver.stop().fine().json();
    let sent = flows.iter().filter(|flow| flow["reverse"] == true);
    assert!(
        sent.clone().all(|flow| flow.count("sent") == 200),
        "{flows:?}"
    );
    assert_eq!((sent.count(), flows.len()), (8, 12));
}

#[test]
fn what_the_receiver_is_asked_for_it_does() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    // A distribution, a seed, an end by time and options of the socket.
    let line = "::1 --protocol tcp --message uniform:1000,3000 --gap exponential:1ms --duration 300ms --congestion reno --json";
    let [one, other] = ["", "--reverse"].map(|way| {
        let line = format!("{line} {way}");
        receiver.send(&dir, &line).fine().json().remove(0)
    });
    // Both directions draw the same messages.
    assert_eq!(one.count("offered"), other.count("offered"));
    assert_eq!(other["congestion_control"], "reno");
    assert!(other.count("segments") > 0, "{other}");
    // Times in headers count from the same start as arrivals: a median delay of half the
    // flow would mean that they do not.
    let median = other["delay_s"]["p50"].as_f64().unwrap();
    assert!(median < 0.1, "{other}");
    let merged = "::1 --gso 8 --gro --message 500 --gap 0s --packets 4000 --reverse --json";
    let flow = receiver.send(&dir, merged).fine().json().remove(0);
    assert_eq!(flow.count("sent"), 4000);
    assert!(flow.count("merged") > 0, "{flow}");
}

#[test]
fn intervals_of_reversed_flows_have_both_parts() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let line = "::1 --bidir --gap 1ms --duration 450ms --interval 100ms";
    let outcome = receiver.send(&dir, line).fine();
    let lines = outcome.stdout.lines();
    let reversed = lines.filter(|line| line.starts_with("[flow-reverse]"));
    let whole = reversed.filter(|line| !line.contains(" - ") && line.contains("bit/s"));
    assert!(whole.count() >= 2, "{}", outcome.stdout);
}

#[test]
fn ctrl_c_stops_the_receiver_from_sending() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    for protocol in ["udp", "tcp"] {
        let line = format!(
            "::1 --protocol {protocol} --reverse --message 1000 --gap 1ms --duration 1min --interval 100ms --json-stream"
        );
        let mut sender = receiver.begin(&dir, &line);
        receiver.says("from port");
        let mut printed = String::new();
        let mut stdout = sender.stdout.take().unwrap();
        let mut room = [0; 4096];
        while !printed.contains("\"interval\"") {
            let count = stdout.read(&mut room).unwrap();
            assert!(count > 0, "{printed}");
            printed.push_str(&String::from_utf8_lossy(&room[..count]));
        }
        let begun = Instant::now();
        interrupt(&sender);
        stdout.read_to_string(&mut printed).unwrap();
        let outcome = Outcome::of(sender.wait_with_output().unwrap());
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
        let result = printed.lines().last().unwrap();
        let result: serde_json::Value = serde_json::from_str(result).unwrap();
        assert!(result["sent"].as_u64() > Some(0), "{result}");
        // On a busy machine the receive buffer may overflow; nothing else is lost.
        let overflowed = result.get("overflowed").cloned();
        assert_eq!(result["lost"], overflowed.unwrap_or_default(), "{result}");
    }
    receiver.stop().fine();
}

#[test]
fn a_receiver_limits_the_rate_that_it_sends_or_sends_nothing() {
    let dir = Dir::new();
    let none = Receiver::start(&dir, "--max-payload-rate 0");
    none.send(&dir, "::1 --reverse --packets 3")
        .rejected(&["--max-payload-rate 0", "--reverse"]);
    none.send(&dir, "::1 --packets 3").fine();
    let slow = Receiver::start(&dir, "--max-payload-rate 8mbit");
    for protocol in ["udp", "tcp"] {
        let line = format!(
            "::1 --protocol {protocol} --reverse --message 1000 --gap 0s --duration 300ms --json"
        );
        let flow = slow.send(&dir, &line).fine().json().remove(0);
        // A thousand a second.
        assert!((1..=310).contains(&flow.count("sent")), "{flow}");
    }
}

#[test]
fn combinations_without_meaning_are_rejected_by_name() {
    let dir = Dir::new();
    for (options, words) in [
        (
            "--reverse --protocol icmp",
            ["--protocol icmp", "--reverse"],
        ),
        (
            "--bidir --meter round-trip",
            ["--meter round-trip", "--bidir"],
        ),
        (
            "--reverse --packet-log a.jlog",
            ["--packet-log", "--reverse"],
        ),
        (
            "--reverse --on-time 1s --off-time 1s",
            ["--on-time 1s", "--reverse"],
        ),
    ] {
        dir.run(&format!("send ::1 {options}")).rejected(&words);
    }
}

/// A flood without end, as fast as possible.
fn flood(transport: Protocol) -> Reverse {
    Reverse {
        flow: Flow {
            flow: 0,
            name: Name::new("flood").unwrap(),
            transport,
            meter: Meter::OneWay,
            busy: false,
            merge: false,
            dscp: 0,
            buffer: 0,
            largest: 1000,
            port: 0,
            at: [0; 16],
            codec: None,
            cookie: COOKIE,
        },
        traffic: Traffic {
            seed: 1,
            delay: 0,
            length: 0,
            omit: 0,
            packets: 0,
            bytes: 0,
            gaps: Distribution::Constant(0.0).to_wire().unwrap(),
            sizes: Distribution::Constant(1000.0).to_wire().unwrap(),
            paced: false,
            nagle: false,
            ecn: 0,
            ttl: 0,
            path_mtu: 0,
            segmentation: 1,
            send_buffer: 0,
            congestion: [0; LONGEST_CONGESTION],
        },
    }
}

#[test]
fn nothing_is_sent_to_an_address_without_the_cookie_or_before_the_start() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let mut peer = OwnSender::connect(&receiver);
    let port = peer.reverse(flood(Protocol::Udp)).unwrap();
    let open = |address: &str| {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        socket.connect(("127.0.0.1", port)).unwrap();
        let wait = Duration::from_millis(300);
        socket.set_read_timeout(Some(wait)).unwrap();
        socket
    };
    // Another cookie from the right address, and the cookie from another address.
    let [wrong, elsewhere, right] = ["127.0.0.1", "127.0.0.2", "127.0.0.1"].map(open);
    wrong.send(&[0; 16]).unwrap();
    elsewhere.send(&COOKIE).unwrap();
    peer.client.begin();
    peer.control.write_all(peer.client.output()).unwrap();
    peer.client.output().clear();
    let mut room = [0; 2000];
    assert!(wrong.recv(&mut room).is_err() && elsewhere.recv(&mut room).is_err());
    // Now the address is proven: its cookie comes back, and then the flow.
    right.send(&COOKIE).unwrap();
    assert_eq!(right.recv(&mut room).unwrap(), COOKIE.len());
    assert_eq!(right.recv(&mut room).unwrap(), 1000);
    assert!(wrong.recv(&mut room).is_err() && elsewhere.recv(&mut room).is_err());
}

#[test]
fn nothing_is_sent_to_another_address_that_does_not_return_a_second_cookie() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--listen 127.0.0.1 --listen 127.0.0.2");
    let mut peer = OwnSender::connect(&receiver);
    let mut asked = flood(Protocol::Udp);
    asked.flow.at = Ipv4Addr::new(127, 0, 0, 2).to_ipv6_mapped().octets();
    let port = peer.reverse(asked).unwrap();
    let socket = UdpSocket::bind("127.0.0.3:0").unwrap();
    socket.connect(("127.0.0.2", port)).unwrap();
    let wait = Some(Duration::from_millis(300));
    socket.set_read_timeout(wait).unwrap();
    peer.client.begin();
    peer.control.write_all(peer.client.output()).unwrap();
    peer.client.output().clear();
    let mut room = [0; 2000];
    // One answer to each cookie, no longer than it, and never the flow.
    for _ in 0..3 {
        socket.send(&COOKIE).unwrap();
        assert_eq!(socket.recv(&mut room).unwrap(), COOKIE.len());
        assert_ne!(room[..COOKIE.len()], COOKIE);
        socket.send(&[0; 16]).unwrap();
        assert!(socket.recv(&mut [0; 2000]).is_err());
    }
    let second = room[..COOKIE.len()].to_vec();
    socket.send(&second).unwrap();
    assert_eq!(socket.recv(&mut room).unwrap(), COOKIE.len());
    assert_eq!(room[..COOKIE.len()], second);
    assert_eq!(socket.recv(&mut room).unwrap(), 1000);
}

#[test]
fn whoever_asks_for_a_flood_and_falls_silent_gets_it_for_five_seconds() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--max-payload-rate 80kbit");
    let mut peer = OwnSender::connect(&receiver);
    let port = peer.reverse(flood(Protocol::Udp)).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    socket.send(&COOKIE).unwrap();
    let begun = Instant::now();
    peer.client.begin();
    let rejected = peer.hear();
    assert_eq!(rejected, Err(Fault::Rejected(Reason::Late)));
    assert!(begun.elapsed() < Duration::from_secs(10));
    receiver.says("sent nothing for 5 s");
}

#[test]
fn flows_that_a_receiver_does_not_send_are_rejected() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let changed: [fn(&mut Reverse); 8] = [
        |asked| asked.flow.meter = Meter::RoundTrip,
        |asked| asked.flow.busy = true,
        |asked| asked.flow.largest = 10,
        |asked| asked.flow.largest = u32::MAX,
        |asked| asked.traffic.sizes = Distribution::Constant(2000.0).to_wire().unwrap(),
        |asked| asked.traffic.segmentation = 0,
        |asked| asked.traffic.send_buffer = u32::MAX,
        |asked| asked.traffic.gaps.parameters = [f64::NAN.to_bits(); 2],
    ];
    for transport in [Protocol::Udp, Protocol::Tcp] {
        for change in changed {
            let mut asked = flood(transport);
            change(&mut asked);
            let answer = OwnSender::connect(&receiver).reverse(asked);
            assert_eq!(answer, Err(Fault::Rejected(Reason::Limit)), "{asked:?}");
        }
    }
    // No module of the kernel is loaded for others.
    let mut asked = flood(Protocol::Tcp);
    asked.traffic.congestion[..7].copy_from_slice(b"unknown");
    let answer = OwnSender::connect(&receiver).reverse(asked);
    assert_eq!(answer, Err(Fault::Rejected(Reason::Limit)));
}

#[test]
fn two_flows_of_one_name_are_rejected() {
    let dir = Dir::new();
    dir.write(
        "flows.toml",
        "[flows.\"up\"]\ngap = \"1ms\"\n[flows.\"up-reverse\"]\ngap = \"2ms\"\n",
    );
    dir.run("send ::1 --flow-file flows.toml --bidir")
        .rejected(&["flow up-reverse", "--bidir", "another one"]);
}
