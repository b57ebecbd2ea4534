//! Reads flows from options of `jumbolab send` and from tables `[flows.NAME]`
//! of a file, with the same names and meanings.
//!
//! Options are the defaults for the flows of the file.

mod ditg_script;
mod file;
#[cfg(test)]
mod fuzz;
mod iperf3;
mod preset;
mod protocol;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;
use keyfile::Section;
use meter::departures::{
    Bursts, Distribution, Measure, PathMtu, Seen, WrittenDistribution, mean_gap,
};
use os::socket;
use units::{Bytes, Rate, Seed, Span};
use wire::dscp;

use crate::driver::sessions::{
    Flow, HEADER_LEN, LARGEST_RECEIVE_BUFFER, LARGEST_REVERSED, Meter, Name, Options, Payload,
    Protocol, Source, sizes,
};
pub use ditg_script::read_ditg_script;
pub use file::{KEYS, read, read_file};
pub use iperf3::iperf3;
use preset::Preset;
use protocol::{check_system, protocol};

/// The default protocol.
const PROTOCOL: &str = "udp";
const LENGTH: &str = "10s";
/// The default datagram size in bytes, as in D-ITG [D-ITG].
const DATAGRAM: &str = "512";
const GAP: &str = "1ms";
/// The default size of a write, as in iperf3.
const WRITE: &str = "128KiB";
const AT_ONCE: &str = "0s";

/// The modes of path MTU discovery, as ping calls them.
const PMTUDISC: [(&str, PathMtu); 5] = [
    ("default", PathMtu::Machine),
    ("dont", PathMtu::Dont),
    ("want", PathMtu::Want),
    ("do", PathMtu::Do),
    ("probe", PathMtu::Probe),
];

/// The values of ECN [RFC3168 s5].
const ECN: [(&str, u8); 4] = [("not-ect", 0), ("ect1", 1), ("ect0", 2), ("ce", 3)];

/// The maximum number of segments of one GSO call [LinuxUapi udp.h].
const MOST_SEGMENTS: u16 = 64;

/// The flow `name` to the address `to`, described by `keys`.
///
/// # Errors
/// One line of text: the key, the error, and the expected value.
pub fn flow(name: &str, keys: &Section, to: IpAddr, seed: Seed) -> Result<Flow> {
    with_source(name, keys, to, seed).map(|(flow, _)| flow)
}

/// The same flow in the other direction: `to` sends it.
///
/// # Errors
/// Likewise, and if the flow cannot be asked for.
pub fn reversed(name: &str, keys: &Section, to: IpAddr, seed: Seed) -> Result<Flow> {
    let (flow, source) = with_source(name, keys, to, seed)?;
    let Some(transport) = flow.transport else {
        return Err(keys.reject(
            "protocol",
            "echo requests cross both directions already; leave --reverse and --bidir out",
        ));
    };
    if flow.meter == Meter::RoundTrip {
        return Err(keys.reject(
            "meter",
            "round trips cross both directions already; leave --reverse and --bidir out",
        ));
    }
    if keys.has("on_time") {
        return Err(keys.reject(
            "on_time",
            "the other end sends without pauses; leave it out with --reverse and --bidir",
        ));
    }
    if keys.has("payload") {
        return Err(keys.reject(
            "payload",
            "the other end sends zeros; leave it out with --reverse and --bidir",
        ));
    }
    if keys.has("flow_label") {
        return Err(keys.reject(
            "flow_label",
            "packets of the other end have the label of its kernel; leave it out with --reverse and --bidir",
        ));
    }
    if preset(keys)?.is_some_and(|preset| preset.bursts.is_some()) {
        return Err(keys.reject(
            "preset",
            "the other end sends without pauses; leave out -vad with --reverse and --bidir",
        ));
    }
    for (key, distribution) in [("gap", &source.gaps), ("message", &source.sizes)] {
        if matches!(
            distribution,
            Distribution::Empirical(_) | Distribution::Series(_)
        ) {
            let (key, what) = match keys.has(key) {
                true => (key, "file; write another distribution"),
                false => ("preset", "table of this preset; write dns or a call"),
            };
            let why = format!("the other end has no {what} with --reverse and --bidir");
            return Err(keys.reject(key, why));
        }
    }
    if transport == Protocol::Tcp && flow.largest > Some(LARGEST_REVERSED) {
        let most = LARGEST_REVERSED;
        let why = format!("with --reverse and --bidir, messages have {most} at most over TCP");
        return Err(keys.reject("message", why));
    }
    Ok(Flow {
        reverse: Some(source),
        ..flow
    })
}

fn with_source(name: &str, keys: &Section, to: IpAddr, seed: Seed) -> Result<(Flow, Source)> {
    let called = Name::new(name).ok_or_else(|| {
        keys.reject_table(
            "a name has 1 to 32 letters, digits, dots, dashes and underscores; write another one",
        )
    })?;
    let preset = preset(keys)?;
    let usual = preset.as_ref().map_or(PROTOCOL, |preset| preset.protocol);
    let transport = protocol(keys, usual)?;
    let options = options(keys, transport, to)?;
    let meter = meter(keys, transport)?;
    let stream = transport == Some(Protocol::Tcp);
    let messages = match (keys.text("message")?, &preset) {
        (None, Some(preset)) => preset.sizes.clone(),
        (None, None) if stream => distribution(keys, "message", WRITE, Measure::Sizes)?,
        (None, None) => distribution(keys, "message", DATAGRAM, Measure::Sizes)?,
        (Some(message), _) => distribution(keys, "message", message, Measure::Sizes)?,
    };
    let largest = check_sizes(keys, &messages, (transport, meter), to, &options)?;
    let (gaps, paced) = gaps(keys, &messages, preset.as_ref(), stream)?;
    let start = keys.quantity("start")?.unwrap_or(Span::ZERO);
    let packets = keys.number("packets", 1, u64::MAX)?;
    let bytes = size(keys, "bytes")?;
    let (stop, length): (Option<Span>, Option<Span>) =
        (keys.quantity("stop")?, keys.quantity("duration")?);
    let omit = keys.quantity("omit")?.unwrap_or(Span::ZERO);
    let length = match (stop, length) {
        (Some(stop), _) if stop <= start => {
            return Err(keys.reject("stop", "it stops before it begins; write a later time"));
        }
        (Some(stop), _) if stop <= start + omit => {
            let why = "the flow stops before this time is over; write a shorter one";
            return Err(keys.reject("omit", why));
        }
        (Some(stop), _) => Some(stop - start),
        (None, Some(length)) => Some(omit + length),
        (None, None) if packets.is_some() || bytes.is_some() => None,
        (None, None) => Some(omit + LENGTH.parse().expect("it is written as a time is")),
    };
    let source = Source {
        gaps,
        sizes: messages,
        seed: seed.derive(&format!("flow/{name}")),
        packets,
        bytes: bytes.map(Bytes::get),
    };
    let mut schedule = source.schedule(transport, meter, to);
    let usual = preset.as_ref().and_then(|preset| preset.bursts.clone());
    if let Some(bursts) = bursts(keys)?.or(usual) {
        if !paced {
            return Err(keys.reject(
                "on_time",
                "with gaps of zero a period never ends; write `gap` or `payload_rate`",
            ));
        }
        schedule = schedule
            .bursts(bursts)
            .map_err(|bad| keys.reject("on_time", bad))?;
    }
    let flow = Flow {
        name: called,
        transport,
        meter,
        schedule,
        paced,
        delay: start,
        omit,
        length,
        largest,
        payload: payload(keys, largest)?,
        codec: preset
            .and_then(|preset| preset.codec)
            .filter(|_| transport.is_some_and(Protocol::is_of_datagrams) && meter == Meter::OneWay),
        options,
        limit: None,
        reverse: None,
    };
    Ok((flow, source))
}

fn options(keys: &Section, transport: Option<Protocol>, to: IpAddr) -> Result<Options> {
    if keys.has("control") && transport.is_none() {
        let why = "echo requests need no receiver; leave it out";
        return Err(keys.reject("control", why));
    }
    let like = "an address of this host, for instance 192.0.2.1";
    let bind: Option<IpAddr> = keys.parsed("source", like)?;
    if bind.is_some_and(|bind| bind.is_ipv4() != to.is_ipv4()) {
        let version = if to.is_ipv4() { "IPv4" } else { "IPv6" };
        let why = format!("the receiver is {to}; write an {version} address of this host");
        return Err(keys.reject("source", why));
    }
    let source_port = keys.number("source_port", 1, u16::MAX.into())?;
    let receive_buffer = size(keys, "receive_buffer")?;
    if receive_buffer.is_some_and(|size| size > LARGEST_RECEIVE_BUFFER) {
        return Err(keys.reject(
            "receive_buffer",
            "a receiver gives 64 MiB at most; write less",
        ));
    }
    let number = |key, least, most| -> Result<Option<u64>> { keys.number(key, least, most) };
    let small = |value: Option<u64>| value.and_then(|value| u16::try_from(value).ok());
    let tiny = |value: Option<u64>| value.and_then(|value| u8::try_from(value).ok());
    let path_mtu = keys.word("pmtudisc", "default", &PMTUDISC)?;
    let options = Options {
        socket: socket::Options {
            bind: local(to, bind, small(source_port)),
            // The last connection of the port may not be forgotten yet.
            reuse_address: source_port.is_some() && transport == Some(Protocol::Tcp),
            device: keys.text("interface")?.map(str::to_owned),
            dscp: keys.read_by("dscp", dscp::parse)?.unwrap_or(0),
            ecn: keys.word("ecn", "not-ect", &ECN)?,
            flow_label: flow_label(keys, to)?,
            ttl: tiny(number("ttl", 1, 255)?),
            path_mtu,
            no_delay: !keys.truth("nagle", false)?,
            segment: small(number("mss", 48, 32_767)?),
            congestion: keys.text("congestion")?.map(str::to_owned),
            send_buffer: size(keys, "send_buffer")?,
            receive_buffer,
            ..socket::Options::default()
        },
        destination_port: small(number("destination_port", 1, u16::MAX.into())?).unwrap_or(0),
        segmentation: small(number("gso", 1, MOST_SEGMENTS.into())?).unwrap_or(1),
        merge: keys.truth("gro", false)?,
        spin: true,
        busy: keys.truth("busy_poll", false)?,
        drifts: false,
        ..Options::default()
    };
    check_system(keys, transport, &options)?;
    Ok(options)
}

/// The flow label, in decimal or hexadecimal digits.
fn flow_label(keys: &Section, to: IpAddr) -> Result<Option<u32>> {
    if keys.has("flow_label") && to.is_ipv4() {
        let why = format!("packets to {to} have none: only those of IPv6 do; leave it out");
        return Err(keys.reject("flow_label", why));
    }
    keys.read_by("flow_label", |text| {
        let label = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let label = label.ok().filter(|label| (1..=0xf_ffff).contains(label));
        label.ok_or("write a number of 20 bits, from 1 to 0xfffff")
    })
}

/// The local address of a flow to `to`: with an address or a port that was written.
fn local(to: IpAddr, address: Option<IpAddr>, port: Option<u16>) -> Option<SocketAddr> {
    let any = match to {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let is_written = address.is_some() || port.is_some();
    is_written.then(|| SocketAddr::new(address.unwrap_or(any), port.unwrap_or(0)))
}

fn meter(keys: &Section, transport: Option<Protocol>) -> Result<Meter> {
    let meters = [("one-way", Meter::OneWay), ("round-trip", Meter::RoundTrip)];
    match transport {
        Some(_) => keys.word("meter", "one-way", &meters),
        None => match keys.word("meter", "round-trip", &meters)? {
            Meter::RoundTrip => Ok(Meter::RoundTrip),
            Meter::OneWay => Err(keys.reject(
                "meter",
                "echoes go both ways; write round-trip, or leave it out",
            )),
        },
    }
}

/// The file whose bytes messages of up to `largest` bytes have behind their header.
fn payload(keys: &Section, largest: Option<Bytes>) -> Result<Option<Payload>> {
    let Some(path) = keys.text("payload")? else {
        return Ok(None);
    };
    if largest.is_some_and(|largest| largest <= Bytes::new(HEADER_LEN as u64)) {
        let why = format!(
            "the messages have no room behind the {HEADER_LEN} bytes of their header; write a larger message"
        );
        return Err(keys.reject("payload", why));
    }
    let payload = Payload::of(Path::new(path));
    let payload =
        payload.map_err(|error| keys.reject("payload", format!("cannot read it: {error}")));
    payload.map(Some)
}

fn distribution(keys: &Section, key: &str, text: &str, measure: Measure) -> Result<Distribution> {
    let seen = |path: &str| {
        let opened = files::open_regular(Path::new(path));
        let file = opened.map_err(|error| format!("cannot read {path}: {error}"))?;
        Ok((path.to_owned(), Seen::read(file, path, measure)?))
    };
    WrittenDistribution::parse(text, measure, seen)
        .map(|written| written.distribution)
        .map_err(|why| keys.reject(key, why))
}

/// The preset that `keys` name.
fn preset(keys: &Section) -> Result<Option<Preset>> {
    keys.read_by("preset", Preset::parse)
}

/// The gaps of a flow, and whether they are positive.
fn gaps(
    keys: &Section,
    messages: &Distribution,
    preset: Option<&Preset>,
    stream: bool,
) -> Result<(Distribution, bool)> {
    let gaps = match (keys.text("gap")?, keys.quantity::<Rate>("payload_rate")?) {
        (Some(_), Some(_)) => {
            return Err(keys.reject(
                "payload_rate",
                "`gap` sets the departures, too; write one of the two",
            ));
        }
        (Some(gap), None) => distribution(keys, "gap", gap, Measure::Gaps)?,
        (None, Some(rate)) => {
            Distribution::Constant(mean_gap_of(messages, rate).ok_or_else(|| {
                keys.reject(
                    "payload_rate",
                    "the sizes of this distribution have no mean; write `gap` instead",
                )
            })?)
        }
        (None, None) if let Some(preset) = preset => preset.gaps.clone(),
        (None, None) => distribution(
            keys,
            "gap",
            if stream { AT_ONCE } else { GAP },
            Measure::Gaps,
        )?,
    };
    let paced = gaps != Distribution::Constant(0.0);
    if paced && gaps.mean() < 1.0 {
        // In picoseconds: the distribution yields almost no gaps.
        return Err(keys.reject(
            "gap",
            "the gaps are too short; write longer ones, or 0s to send as fast as possible",
        ));
    }
    Ok((gaps, paced))
}

/// The mean gap at which messages reach the payload rate `rate`.
fn mean_gap_of(messages: &Distribution, rate: Rate) -> Option<f64> {
    let mean = messages.mean();
    let byte = mean_gap(Bytes::new(1), rate);
    (mean.is_finite() && mean > 0.0).then_some(mean * byte)
}

fn bursts(keys: &Section) -> Result<Option<Bursts>> {
    match (keys.text("on_time")?, keys.text("off_time")?) {
        (None, None) => Ok(None),
        (Some(on), Some(off)) => Ok(Some(Bursts {
            on: distribution(keys, "on_time", on, Measure::Gaps)?,
            off: distribution(keys, "off_time", off, Measure::Gaps)?,
        })),
        (Some(_), None) => Err(keys.reject(
            "on_time",
            "write `off_time`, too: the time between two bursts",
        )),
        (None, Some(_)) => {
            Err(keys.reject("off_time", "write `on_time`, too: the length of a burst"))
        }
    }
}

/// Rejects sizes that the protocol cannot carry if the distribution states its extremes;
/// returns the largest size in that case. With other distributions, such messages are
/// rejected and counted one by one.
fn check_sizes(
    keys: &Section,
    messages: &Distribution,
    (transport, meter): (Option<Protocol>, Meter),
    to: IpAddr,
    options: &Options,
) -> Result<Option<Bytes>> {
    let (least, most) = sizes(transport, meter, to);
    let extremes = match messages {
        Distribution::Constant(size) => Some((*size, *size)),
        Distribution::Uniform(least, most) => Some((*least, *most)),
        _ => None,
    };
    let Some((smallest, largest)) = extremes else {
        return Ok(None);
    };
    let [least_f64, most_f64] = [least, most].map(float);
    if smallest < least_f64 || largest > most_f64 {
        let what = match transport {
            Some(Protocol::Udp) => "a UDP datagram",
            Some(Protocol::UdpLite { .. }) => "a UDP-Lite datagram",
            Some(Protocol::Tcp) => "a message over TCP",
            Some(Protocol::Sctp { .. }) => "a message over SCTP",
            None => "an echo request",
        };
        let version = if to.is_ipv4() { "IPv4" } else { "IPv6" };
        let header = match meter {
            Meter::OneWay => String::new(),
            Meter::RoundTrip => format!(", {HEADER_LEN} of them the header of Jumbolab"),
        };
        let why = format!(
            "{what} to {version} must have {} to {} bytes{header}; write a size between",
            least.get(),
            most.get(),
        );
        return Err(keys.reject("message", why));
    }
    if largest * f64::from(options.segmentation) > most_f64 {
        let why = format!(
            "these messages together exceed the {} bytes of a call; write a smaller number",
            most.get()
        );
        return Err(keys.reject("gso", why));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between the limits of a protocol"
    )]
    let largest = largest as u64;
    Ok(Some(Bytes::new(largest)))
}

/// A size above zero.
fn size(keys: &Section, key: &str) -> Result<Option<Bytes>> {
    match keys.quantity(key)? {
        Some(Bytes::ZERO) => Err(keys.reject(key, "must be above 0; write for instance 1MB")),
        size => Ok(size),
    }
}

fn float(size: Bytes) -> f64 {
    size.get() as f64
}

#[cfg(test)]
mod tests;
