//! Reads `[traffic]` of `kind = "request-response"`: messages of many sizes,
//! one at a time.

use anyhow::Result;
use keyfile::quantity::{size, span, switch, word};
use keyfile::{Parsed, Table, Value};
use plan::setting::{
    Answer, Host, LARGEST_MESSAGE, Network, ReadMode, RequestResponse, Sizes, WriteMode,
};
use plan::{Backend, Hosts};
use units::{Bytes, IpVersion, Span, Transport};

use super::tcp;
use super::traffic::{LEAST_MESSAGE, socket_buffer, timeout};
use crate::reader::Reader;

/// The maximum number of sizes in a trial: all sizes of IPv4.
const MOST_SIZES: u32 = 70_000;

/// Linux's maximum delay of acknowledgements [Linux].
const LONGEST_DELAY: Span = Span::from_millis(200);

/// The request-response traffic in `tree` through `network`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
    host: &Host,
    backend: Backend,
) -> Result<RequestResponse> {
    let protocols = word(&[("tcp", Transport::Tcp), ("udp", Transport::Udp)]);
    let protocol = reader.read("traffic.protocol", protocols)?.value;
    if backend.profile().needs_a_rate && network.links.iter().all(|link| link.rate.is_none()) {
        let example = "rate = \"1gbit\"; nothing else takes a simulated message any time";
        return Err(reader.missing("network.rate", example));
    }
    let sizes = sizes(reader, protocol, network.ip)?;
    let bytes = reader.read("traffic.size", size)?;
    if bytes.value.get() < u64::from(sizes.to) {
        let least = sizes.to;
        return Err(bytes.reject(format!(
            "of each size at least one message is sent; write {least} or more"
        )));
    }
    let answers = word(&[
        ("ack", Answer::Acknowledgement),
        ("data+ack", Answer::Whole),
        ("pieces", Answer::Pieces),
    ]);
    let answer = reader.read("traffic.answer", answers)?;
    let read_modes = word(&[("whole", ReadMode::Whole), ("once", ReadMode::Once)]);
    let read_mode = reader.read("traffic.read_mode", read_modes)?;
    let write_modes = word(&[("whole", WriteMode::Whole), ("parts", WriteMode::Parts)]);
    let write_mode = reader.read("traffic.write_mode", write_modes)?;
    if protocol == Transport::Udp && read_mode.value == ReadMode::Once {
        return Err(
            read_mode.reject("a datagram is read as a whole or not at all; write \"whole\"")
        );
    }
    if protocol == Transport::Udp && write_mode.value == WriteMode::Parts {
        return Err(write_mode.reject("each write is a datagram of its own; write \"whole\""));
    }
    let delayed_ack = reader.read("traffic.delayed_ack", span_or_auto)?;
    let pause = reader.read("traffic.pause", span)?;
    if let Some(delay) = delayed_ack.value
        && delay > LONGEST_DELAY
    {
        return Err(delayed_ack.reject("no kernel delays them by more than 200ms; write less"));
    }
    let tcp = match backend.profile().hosts {
        Hosts::Simulated if protocol == Transport::Tcp => {
            Some(tcp::read(reader, &host.congestion)?)
        }
        // Ignored with other protocols, like all TCP keys.
        Hosts::Simulated if tree.get("tcp").is_some() => {
            tcp::read(reader, &host.congestion)?;
            None
        }
        Hosts::Simulated | Hosts::Kernels => None,
    };
    Ok(RequestResponse {
        protocol,
        sizes,
        bytes: bytes.value,
        answer: answer.value,
        read_mode: read_mode.value,
        write_mode: write_mode.value,
        send_buffer: socket_buffer(reader, "traffic.send_buffer")?,
        receive_buffer: socket_buffer(reader, "traffic.receive_buffer")?,
        nagle: reader.read("traffic.nagle", switch)?.value,
        delayed_ack: delayed_ack.value,
        pause: pause.value,
        deadline: some(reader, "traffic.deadline")?,
        retransmit_after: some(reader, "traffic.retransmit_after")?,
        timeout: timeout(reader, "request-response")?,
        tcp: tcp.map(tcp::Connections::into_settings),
    })
}

/// The message sizes, all valid for the transport.
fn sizes(reader: &mut Reader<'_>, protocol: Transport, ip: IpVersion) -> Result<Sizes> {
    // The length fields of UDP and of IPv4 have 16 bits [RFC768] [RFC791 s3.1];
    // IPv6 does not count its own header [RFC8200 s3].
    let (most, what) = match (protocol, ip) {
        (Transport::Tcp, _) => (LARGEST_MESSAGE.get(), "a message"),
        (Transport::Udp, IpVersion::V4) => (65_507, "a message in UDP over IPv4"),
        (Transport::Udp, IpVersion::V6) => (65_527, "a message in UDP over IPv6"),
    };
    let mut one = |key: &str, least: u64| {
        let found = reader.read(key, size)?;
        let bytes = found.value.get();
        match u32::try_from(bytes) {
            Ok(number) if (least..=most).contains(&bytes) => Ok(number),
            _ => {
                let nearest = bytes.clamp(least, most);
                Err(found.reject(format!(
                    "{what} has {least} to {most} bytes: for instance --set {key}={nearest}"
                )))
            }
        }
    };
    let least = LEAST_MESSAGE.get();
    let from = one("traffic.min_size", least)?;
    let to = one("traffic.max_size", u64::from(from))?;
    let at = one("traffic.reference_size", least)?;
    let step = reader.read("traffic.size_step", size)?;
    if step.value == Bytes::ZERO {
        return Err(step.reject("sizes grow by 1 byte or more; write for instance \"10B\""));
    }
    let bytes = u32::try_from(step.value.get()).unwrap_or(u32::MAX);
    if (to - from) / bytes >= MOST_SIZES {
        return Err(step.reject(format!(
            "a trial has {MOST_SIZES} sizes at most; write a larger step"
        )));
    }
    let step = bytes;
    Ok(Sizes { from, to, step, at })
}

fn span_or_auto(value: &Value) -> Parsed<Option<Span>> {
    match value {
        Value::Text(text) if text == "auto" => Ok((None, value.clone())),
        value => span(value).map(|(span, written)| (Some(span), written)),
    }
}

/// A positive time.
fn some(reader: &mut Reader<'_>, key: &str) -> Result<Span> {
    let found = reader.read(key, span)?;
    match found.value {
        Span::ZERO => Err(found.reject("nothing happens in no time; write for instance \"1s\"")),
        span => Ok(span),
    }
}
