//! Every key is either used or rejected with name and position.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;
use units::Time;

const HERE: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

fn keys(pairs: &[(&str, &str)]) -> Section {
    let mut keys = Section::default();
    for (key, value) in pairs {
        keys.option(key, value);
    }
    keys
}

fn built(pairs: &[(&str, &str)]) -> Result<Flow> {
    flow("one", &keys(pairs), HERE, Seed::new(1))
}

#[test]
fn a_flow_that_says_nothing_sends_512_bytes_every_millisecond_for_ten_seconds() {
    let flow = built(&[]).unwrap();
    assert_eq!(flow.transport, Some(Protocol::Udp));
    assert_eq!((flow.length, flow.paced), (Some(Span::from_secs(10)), true));
    let first: Vec<_> = flow.schedule.take(2).collect();
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    assert_eq!(first, [(at(1), Bytes::new(512)), (at(2), Bytes::new(512))]);
}

#[test]
fn a_stream_that_says_nothing_leaves_as_fast_as_it_can() {
    let flow = built(&[("protocol", "tcp")]).unwrap();
    assert!(!flow.paced);
    assert_eq!(flow.largest, Some(Bytes::new(128 << 10)));
}

#[test]
fn a_rate_is_that_of_payloads() {
    let flow = built(&[("payload_rate", "1mbit"), ("message", "uniform:100,150")]).unwrap();
    let (at, _) = flow.schedule.clone().next().unwrap();
    assert_eq!(at, Time::ZERO + Span::from_micros(1_000));
}

#[test]
fn sizes_beyond_a_protocol_are_rejected_and_none_is_clamped() {
    let four = IpAddr::V4(Ipv4Addr::LOCALHOST);
    for (to, protocol, fits, beyond) in [
        (HERE, "udp", "65527", "65528"),
        (four, "udp", "65507", "65508"),
        (HERE, "icmp", "65527", "65528"),
        (four, "icmp", "65507", "65508"),
        (HERE, "tcp", "16MiB", "17MiB"),
        (HERE, "udp", "1", "0"),
        (HERE, "icmp", "28", "27"),
        (HERE, "icmp", "uniform:28,100", "uniform:27,100"),
    ] {
        let build = |message| {
            let keys = keys(&[("protocol", protocol), ("message", message)]);
            flow("one", &keys, to, Seed::new(1))
        };
        assert!(build(fits).is_ok(), "{protocol} {fits}");
        let error = build(beyond).unwrap_err().to_string();
        assert!(error.contains("bytes") && error.contains(beyond), "{error}");
    }
}

#[test]
fn every_distribution_is_read_for_sizes_and_for_gaps() {
    for (message, gap) in [
        ("constant:100", "constant:1ms"),
        ("uniform:100,200", "uniform:1ms,2ms"),
        ("exponential:500", "exponential:1ms"),
        ("normal:500,50", "normal:1ms,100us"),
        ("poisson:500", "poisson:5ms"),
        ("pareto:1.5,100", "pareto:1.5,1ms"),
        ("cauchy:500,50", "cauchy:1ms,100us"),
        ("gamma:2,250", "gamma:2,500us"),
        ("weibull:0.8,500", "weibull:0.8,1ms"),
    ] {
        let flow = built(&[
            ("message", message),
            ("gap", gap),
            ("on_time", gap),
            ("off_time", gap),
        ])
        .unwrap();
        assert!(flow.paced, "{gap}");
    }
}

#[test]
fn what_cannot_be_is_rejected_with_what_would_be_right() {
    for (pairs, words) in [
        (
            &[("protocol", "quic")][..],
            "--protocol quic: write one of udp, tcp, sctp, udplite, icmp",
        ),
        (
            &[("dscp", "64")],
            "--dscp 64: write a number from 0 to 63, or a name: EF, AF11 to AF43, CS0 to CS7",
        ),
        (&[("mss", "1000")], "--mss 1000: only flows of protocol tcp"),
        (
            &[("gso", "8"), ("protocol", "tcp")],
            "only flows of protocol udp",
        ),
        (&[("gso", "64"), ("message", "2000")], "--gso 64"),
        (
            &[("gap", "1ms"), ("payload_rate", "1mbit")],
            "write one of the two",
        ),
        (&[("on_time", "1s")], "--on-time 1s: write `off_time`, too"),
        (
            &[("start", "2s"), ("stop", "1s")],
            "--stop 1s: it stops before it begins",
        ),
        (
            &[("protocol", "icmp"), ("meter", "one-way")],
            "--meter one-way: echoes go both ways",
        ),
        (&[("source", "here")], "--source here: write an address"),
        (
            &[("source", "192.0.2.1")],
            "--source 192.0.2.1: the receiver is ::1; write an IPv6 address of this host",
        ),
        (
            &[("receive_buffer", "65MiB")],
            "--receive-buffer 65MiB: a receiver gives 64 MiB at most; write less",
        ),
        (
            &[("gap", "exponential:0s")],
            "--gap exponential:0s: the gaps are too short",
        ),
        (
            &[("message", "walrus:1")],
            "--message walrus:1: there is no such distribution",
        ),
        (&[("bytes", "0")], "--bytes 0: must be above 0"),
    ] {
        let error = built(pairs).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let error = flow("a b", &keys(&[]), HERE, Seed::new(1)).unwrap_err();
    assert!(error.to_string().contains("letters, digits"), "{error}");
}

#[test]
fn flows_of_a_file_have_what_they_say_and_otherwise_the_options() {
    let text = "[flows.voice]\nmessage = 160\ngap = \"20ms\"\ndscp = 46\n[flows.bulk]\nprotocol = \"tcp\"\nnagle = true\n";
    let typed = keys(&[
        ("duration", "2s"),
        ("message", "1kB"),
        ("payload_rate", "1mbit"),
    ]);
    let flows = read(text, "my.toml", &typed).unwrap();
    let names: Vec<&str> = flows.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["voice", "bulk"]);
    let built: Vec<Flow> = flows
        .iter()
        .map(|(name, keys)| flow(name, keys, HERE, Seed::new(1)).unwrap())
        .collect();
    assert_eq!(
        (built[0].largest, built[0].options.socket.dscp),
        (Some(Bytes::new(160)), 46)
    );
    assert_eq!(
        (built[1].largest, !built[1].options.socket.no_delay),
        (Some(Bytes::new(1000)), true)
    );
    assert!(
        built
            .iter()
            .all(|flow| flow.length == Some(Span::from_secs(2)))
    );
}

#[test]
fn an_end_of_its_own_counts_instead_of_the_length_of_all() {
    let text = "[flows.x]\nduration = \"1s\"\n[flows.y]\nstart = \"1s\"\n";
    let flows = read(text, "my.toml", &keys(&[("stop", "3s")])).unwrap();
    let lengths = flows.iter().map(|(name, keys)| {
        let flow = flow(name, keys, HERE, Seed::new(1)).unwrap();
        (flow.delay, flow.length)
    });
    let lengths: Vec<_> = lengths.collect();
    let seconds = |seconds| Some(Span::from_secs(seconds));
    assert_eq!(
        lengths,
        [(Span::ZERO, seconds(1)), (Span::from_secs(1), seconds(2))]
    );
}

#[test]
fn a_bad_file_is_rejected_by_line() {
    for (text, words) in [
        ("", "my.toml:1: no flows"),
        ("[flows]\n", "no flows; write"),
        ("a = 1\n[flows.x]\n", "my.toml:1: a = 1: unknown key"),
        (
            "[flows.x]\n\nmesage = 1\n",
            "my.toml:3: flows.x.mesage = 1: unknown key; did you mean `message`?",
        ),
        (
            "[flows.x]\nmessage = {}\n",
            "my.toml:2: flows.x.message = {}: write text",
        ),
        (
            "[flows]\nx = 1\n",
            "my.toml:2: flows.x = 1: write a table [flows.x]",
        ),
        ("[flows.x\n", "my.toml:1:"),
        (
            "[flows.x]\ngap = \"1ms\"\npayload_rate = \"1mbit\"\n",
            "my.toml:3: flows.x.payload_rate = 1mbit: there is gap, too; write one of the two",
        ),
        (
            "[flows.x]\nduration = \"1s\"\nstop = \"1s\"\n",
            "my.toml:2: flows.x.duration = 1s: there is stop, too; write one of the two",
        ),
    ] {
        let read = read(text, "my.toml", &Section::default());
        let error = read.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_flow_that_cannot_be_asked_for_is_rejected_by_its_key() {
    let reverse = |pairs: &[(&str, &str)]| reversed("one", &keys(pairs), HERE, Seed::new(1));
    let flow = reverse(&[("protocol", "tcp"), ("packets", "3"), ("message", "1MiB")]).unwrap();
    assert_eq!(flow.reverse.unwrap().packets, Some(3));
    for (pairs, words) in [
        (&[("protocol", "icmp")][..], "--protocol icmp: "),
        (&[("meter", "round-trip")], "--meter round-trip: "),
        (&[("on_time", "1s"), ("off_time", "1s")], "--on-time 1s: "),
        (
            &[("protocol", "tcp"), ("message", "2MiB")],
            "--message 2MiB: ",
        ),
    ] {
        let error = reverse(pairs).unwrap_err().to_string();
        assert!(
            error.starts_with(words) && error.contains("--reverse"),
            "{error}"
        );
    }
}
