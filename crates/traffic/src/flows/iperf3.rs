//! The test of an iperf3 server that the options of `jumbolab send --iperf3` ask for.

use std::net::IpAddr;

use anyhow::{Result, anyhow, ensure};
use keyfile::Section;
use os::socket;
use units::{Bytes, Rate, Span, Transport};

use super::protocol::check_keys;
use super::{KEYS, LENGTH, options, size};
use crate::machine::iperf3::{Bounds, Direction, MOST_STREAMS, Request};

/// The options of a flow that iperf3 has, too.
const KNOWN: [&str; 15] = [
    "protocol",
    "message",
    "payload_rate",
    "omit",
    "duration",
    "packets",
    "bytes",
    "dscp",
    "source",
    "interface",
    "nagle",
    "mss",
    "congestion",
    "send_buffer",
    "meter",
];

/// iperf3's defaults of a datagram and of its rate.
const DATAGRAM: Bytes = Bytes::new(1460);
const DATAGRAM_RATE: u64 = 1_000_000;

/// iperf3's default of a write, and its largest block and datagram.
const WRITE: Bytes = Bytes::new(128 << 10);

/// The longest test of iperf3.
const LONGEST: Span = Span::from_secs(86_400);

/// The test, and the options of its sockets.
///
/// # Errors
/// One line of text: the option, the error, and the expected value.
pub fn iperf3(
    keys: &Section,
    streams: u16,
    direction: Direction,
    to: IpAddr,
) -> Result<(Request, socket::Options)> {
    for key in KEYS {
        if keys.has(key) && !KNOWN.contains(&key) {
            return Err(keys.reject(key, "with --iperf3 there is no such option; leave it out"));
        }
    }
    keys.word("meter", "one-way", &[("one-way", ())])?;
    let transports = [("udp", Transport::Udp), ("tcp", Transport::Tcp)];
    let transport = keys.word("protocol", "udp", &transports)?;
    let most = MOST_STREAMS;
    ensure!(
        streams > 0 && u64::from(streams) <= most,
        "--flows {streams}: iperf3 has 1 to {most} flows; write one of these numbers"
    );
    let set = ["duration", "packets", "bytes"]
        .into_iter()
        .filter(|key| keys.has(key));
    let set: Vec<&str> = set.collect();
    if let [_, second, ..] = set[..] {
        return Err(keys.reject(
            second,
            "a test of iperf3 has one end; write one of `duration`, `packets` and `bytes`",
        ));
    }
    let length: Option<Span> = keys.quantity("duration")?;
    if length.is_some_and(|length| length == Span::ZERO || length > LONGEST) {
        return Err(keys.reject(
            "duration",
            "iperf3 tests for up to 86400s; write such a time",
        ));
    }
    let omit: Span = keys.quantity("omit")?.unwrap_or(Span::ZERO);
    if !omit
        .as_picos()
        .is_multiple_of(Span::from_secs(1).as_picos())
    {
        return Err(keys.reject("omit", "iperf3 omits whole seconds; write for instance 2s"));
    }
    if omit > Span::ZERO && (keys.has("packets") || keys.has("bytes")) {
        let why = "with --iperf3, it needs an end by time; write `duration` instead of `packets` and `bytes`";
        return Err(keys.reject("omit", why));
    }
    let usual: Span = LENGTH.parse().expect("it is written as a time is");
    let usual = set.is_empty().then_some(usual);
    let is_udp = transport == Transport::Udp;
    let block: Option<Bytes> = size(keys, "message")?;
    let rate: Option<Rate> = keys.quantity("payload_rate")?;
    check_keys(keys, "udp")?;
    let socket = options(keys, Some(transport.into()), to)?.socket;
    let usual_rate = if is_udp { DATAGRAM_RATE } else { 0 };
    let block = block.unwrap_or(if is_udp { DATAGRAM } else { WRITE });
    let request = Request {
        transport,
        direction,
        streams,
        block: usize::try_from(block.get()).unwrap_or(usize::MAX),
        omit,
        length: length.or(usual),
        bytes: size(keys, "bytes")?.map(Bytes::get),
        blocks: keys.number("packets", 1, u64::MAX)?,
        rate: rate.map_or(usual_rate, Rate::bits_per_second),
        burst: 1,
        // Tests of many datagrams need the longer numbers, and every version has them.
        wide: is_udp,
        window: socket.send_buffer.map(Bytes::get),
        segment: socket.segment,
        no_delay: socket.no_delay && !is_udp,
        dscp: socket.dscp,
        congestion: socket.congestion.clone(),
        unfragmented: false,
        wants_text: false,
    };
    // The limits of iperf3 are those of its server.
    let bounds = Bounds {
        longest: LONGEST,
        sends: true,
    };
    let limited = Request::of(&request.parameters(), bounds);
    limited.map_err(|rejection| anyhow!("--iperf3: {}", rejection.why))?;
    Ok((request, socket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn read(options: &[(&str, &str)]) -> Result<Request> {
        let mut keys = Section::default();
        for (key, value) in options {
            keys.option(key, value);
        }
        let to = Ipv4Addr::LOCALHOST.into();
        iperf3(&keys, 2, Direction::Reverse, to).map(|(request, _)| request)
    }

    #[test]
    fn options_of_a_flow_become_parameters_of_iperf3() {
        let request = read(&[
            ("protocol", "tcp"),
            ("message", "64KiB"),
            ("bytes", "1MB"),
            ("payload_rate", "10mbit"),
            ("dscp", "EF"),
        ]);
        let asked = request.unwrap().parameters();
        assert_eq!((asked.len, asked.num, asked.time), (65_536, 1_000_000, 0));
        assert_eq!((asked.bandwidth, asked.tos), (10_000_000, 184));
        assert!(asked.tcp && asked.reverse && asked.nodelay && asked.parallel == 2);
        let usual = read(&[]).unwrap().parameters();
        assert_eq!(
            (usual.len, usual.bandwidth, usual.time),
            (1460, 1_000_000, 10)
        );
        assert!(usual.udp && usual.udp_counters_64bit == 1);
    }

    #[test]
    fn options_that_iperf3_lacks_are_rejected_by_name() {
        for (options, named) in [
            (&[("gap", "1ms")][..], "gap"),
            (&[("ttl", "5")], "ttl"),
            (&[("meter", "round-trip")], "meter"),
            (&[("protocol", "icmp")], "protocol"),
            (&[("message", "uniform:40,100")], "message"),
            (&[("message", "15")], "bytes, and 16 to 65507"),
            (&[("duration", "2s"), ("bytes", "1MB")], "bytes"),
            (&[("duration", "0s")], "duration"),
            (&[("omit", "1500ms")], "whole seconds"),
            (&[("omit", "1s"), ("bytes", "1MB")], "omit"),
            (&[("omit", "601s")], "600 s"),
            (&[("protocol", "tcp"), ("mss", "9217")], "segments of 9217"),
        ] {
            let why = read(options).unwrap_err().to_string();
            assert!(why.contains(named) && !why.contains('\n'), "{why}");
        }
    }
}
