//! Output about jumbograms.

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::{Value, json};
use traffic::driver::jumbogram::{Arrived, Carried, Measured, Sent};
use units::Span;

use crate::args::{Method, Topology};

/// The results of an encapsulation.
pub(super) fn carried(carried: &Carried, size: u32, topology: Topology, as_json: bool) -> String {
    let whole = carried.arrived.iter().filter(|one| one.whole == Some(true));
    let whole = whole.count();
    if as_json {
        let messages: Vec<Value> = carried.arrived.iter().map(of_arrived).collect();
        return line(&json!({
            "kind": "jumbograms",
            "over": word(topology),
            "size_bytes": size,
            "packet_bytes": carried.packet,
            "jumbogram": carried.jumbogram,
            "sent": carried.sent,
            "received": carried.arrived.len(),
            "whole": whole,
            "packets": carried.packets,
            "forwarded": carried.forwarded,
            "messages": messages,
        }));
    }
    let mut text = format!(
        "{} of {} arrived complete {}: {}, {} bytes of payload each, {} packets received\n",
        whole,
        carried.sent,
        place(topology),
        what(carried.jumbogram, carried.packet),
        size,
        carried.packets,
    );
    if let Some(forwarded) = carried.forwarded {
        let _ = writeln!(text, "{forwarded} packets forwarded by the router");
    }
    for one in &carried.arrived {
        text += &of_one(one);
    }
    text
}

/// The results of a measurement.
pub(super) fn measured(
    found: &Measured,
    size: u32,
    topology: Topology,
    by: Method,
    as_json: bool,
) -> String {
    let gigabytes = bytes(found.bytes) / 1e9;
    let seconds = found.elapsed.as_secs_f64();
    let rate = 8e-6 * bytes(found.bytes) / seconds.max(1e-9);
    let [middle, high] = [50, 99].map(|share| percentile(&found.delays, share));
    let sum: f64 = found.delays.iter().map(|delay| delay.as_millis_f64()).sum();
    let mean = sum / bytes(found.delays.len() as u64).max(1.0);
    let per_gigabyte = |span: Span| span.as_secs_f64() / gigabytes.max(1e-12);
    let each = bytes(found.bytes) / bytes(found.packets).max(1.0);
    let how = match by {
        Method::Packet => "packet",
        Method::Socket => "socket",
        Method::Tcp => "tcp",
    };
    if as_json {
        return line(&json!({
            "kind": "jumbograms_measured",
            "over": word(topology),
            "by": how,
            "size_bytes": size,
            "packet_bytes": found.packet,
            "jumbogram": found.jumbogram,
            "delay_mean_s": mean / 1e3,
            "delay_p50_s": middle / 1e3,
            "delay_p99_s": high / 1e3,
            "delays": found.delays.len(),
            "throughput_bps": rate * 1e6,
            "size_over_delay_bps": 8e3 * f64::from(size) / mean.max(1e-9),
            "messages": found.messages,
            "bytes": found.bytes,
            "duration_s": seconds,
            "cpu_per_gb_s": per_gigabyte(found.programs),
            "cpu_machine_per_gb_s": per_gigabyte(found.machine),
            "packets": found.packets,
            "bytes_per_packet": each,
            "window": found.window,
            "lost": found.lost,
        }));
    }
    let what = match by {
        Method::Tcp => format!("TCP, messages of {size} bytes"),
        Method::Packet | Method::Socket => what(found.jumbogram, found.packet),
    };
    format!(
        "{what} {}\n  one at a time: delay {:.1} us median, {:.1} us p99, of {} messages\n  at full rate: {:.0} Mbit/s, {:.3} s of processor time per GB, {} messages in {} packets, {} lost\n",
        place(topology),
        middle * 1e3,
        high * 1e3,
        found.delays.len(),
        rate,
        per_gigabyte(found.programs),
        found.messages,
        found.packets,
        found.lost,
    )
}

/// The results of sending to a host.
pub(super) fn sent(sent: &Sent, size: u32, to: SocketAddr, as_json: bool) -> String {
    match as_json {
        true => line(&json!({
            "kind": "jumbograms_sent",
            "to": to.to_string(),
            "size_bytes": size,
            "packet_bytes": sent.packet,
            "jumbogram": sent.jumbogram,
            "sent": sent.messages,
        })),
        false => format!(
            "{} sent to {to}: {}, {size} bytes of payload each\n",
            sent.messages,
            what(sent.jumbogram, sent.packet)
        ),
    }
}

/// The receiver's line about a message.
pub(super) fn arrived(one: &Arrived, from: SocketAddr, as_json: bool) -> String {
    if !as_json {
        return format!("from {}: {}", from.ip(), of_one(one).trim_start());
    }
    let mut value = of_arrived(one);
    value["kind"] = "jumbogram_received".into();
    value["from"] = from.ip().to_string().into();
    line(&value)
}

fn of_arrived(one: &Arrived) -> Value {
    json!({
        "number": one.number,
        "bytes": one.bytes,
        "delay_s": bytes(one.delay_nanos) / 1e9,
        "digest": hexadecimal(one.digest),
        "whole": one.whole,
    })
}

fn of_one(one: &Arrived) -> String {
    let whole = match one.whole {
        Some(true) => "hash correct",
        Some(false) => "hash WRONG",
        None => "not hashed",
    };
    format!(
        "  number {}: {} bytes, {whole} ({}..), delay {:.1} us\n",
        one.number,
        one.bytes,
        hexadecimal(one.digest),
        bytes(one.delay_nanos) / 1e3
    )
}

fn what(jumbogram: bool, packet: u64) -> String {
    match jumbogram {
        true => format!("jumbograms of {packet} bytes"),
        false => format!("ordinary packets of {packet} bytes"),
    }
}

const fn word(topology: Topology) -> &'static str {
    match topology {
        Topology::Loopback => "loopback",
        Topology::Namespaces => "namespaces",
        Topology::Router => "router",
    }
}

const fn place(topology: Topology) -> &'static str {
    match topology {
        Topology::Loopback => "over loopback",
        Topology::Namespaces => "between two namespaces",
        Topology::Router => "through a router",
    }
}

/// The percentile `share` of sorted `delays`, in ms.
fn percentile(delays: &[Span], share: usize) -> f64 {
    let rank = (delays.len() * share).div_ceil(100).saturating_sub(1);
    delays.get(rank).map_or(0.0, |delay| delay.as_millis_f64())
}

fn bytes(count: u64) -> f64 {
    count as f64
}

fn hexadecimal(bytes: [u8; 8]) -> String {
    format!("{:016x}", u64::from_be_bytes(bytes))
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
