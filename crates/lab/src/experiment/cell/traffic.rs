//! Reads `[traffic]`.

use anyhow::Result;
use units::{Bytes, IpMtu, IpVersion, Span};

use crate::experiment::quantity::{size, size_or, span, switch, word};
use crate::experiment::reader::{Found, Reader};
use crate::experiment::tree::Value;
use crate::experiment::{Protocol, Traffic};

/// Octets that a message begins with: what tells messages apart.
pub const MESSAGE_HEADER: Bytes = Bytes::new(28);

/// The largest message, so that one always fits in memory: 16 MiB.
pub const LARGEST_MESSAGE: Bytes = Bytes::new(16 << 20);

/// The largest socket buffer: the kernel takes a C `int` and doubles it.
pub const LARGEST_SOCKET_BUFFER: Bytes = Bytes::new(1_000_000_000);

/// What a trial carries over links of these MTUs.
pub(super) fn read(
    reader: &mut Reader<'_>,
    ip: IpVersion,
    mtus: &[Found<IpMtu>],
) -> Result<Traffic> {
    let kind = reader.read("traffic.kind", "transfer", |value| match value {
        Value::Text(text) if text == "transfer" => Ok(((), value.clone())),
        _ => Err("write \"transfer\", the only kind of this build (docs/roadmap.md)".into()),
    })?;
    let () = kind.value;
    let protocol = reader
        .read(
            "traffic.protocol",
            "tcp",
            word(&[("tcp", Protocol::Tcp), ("udp", Protocol::Udp)]),
        )?
        .value;
    let size_of = reader.read("traffic.size", "5MB", size)?;
    if size_of.value < MESSAGE_HEADER {
        return Err(size_of.refuse(format!(
            "a message has at least {} octets",
            MESSAGE_HEADER.get()
        )));
    }
    let message = message(reader, protocol, ip, mtus)?;
    let preroll = reader.read("traffic.preroll", "256kB", size)?.value;
    let cpu_size = reader.read("traffic.cpu_size", "40MB", size)?.value;
    let send_buffer = socket_buffer(reader, "traffic.send_buffer")?;
    let receive_buffer = socket_buffer(reader, "traffic.receive_buffer")?;
    let nagle = reader.read("traffic.nagle", "off", switch)?.value;
    let timeout = reader.read("traffic.timeout", "30s", span)?;
    if timeout.value == Span::from_picos(0) {
        return Err(timeout.refuse("no transfer ends in no time; write for instance \"30s\""));
    }
    Ok(Traffic {
        protocol,
        size: size_of.value,
        message,
        preroll,
        cpu_size,
        send_buffer,
        receive_buffer,
        nagle,
        timeout: timeout.value,
    })
}

/// The message in octets: `mtu-N` is taken from the smallest MTU of the path.
fn message(
    reader: &mut Reader<'_>,
    protocol: Protocol,
    ip: IpVersion,
    mtus: &[Found<IpMtu>],
) -> Result<Bytes> {
    enum Message {
        BelowMtu(u32),
        Octets(Bytes),
    }
    let found = reader.read("traffic.message", "mtu-72", |value| {
        let below = match value {
            Value::Text(text) => text.strip_prefix("mtu"),
            _ => None,
        };
        match below {
            Some(rest) => match number_below(rest) {
                Some(octets) => {
                    let canonical = format!("mtu-{octets}");
                    Ok((Message::BelowMtu(octets), Value::Text(canonical)))
                }
                None => Err("write for instance \"mtu-72\"".into()),
            },
            None => size(value)
                .map(|(octets, canonical)| (Message::Octets(octets), canonical))
                .map_err(|why| format!("{why}, or \"mtu-72\"")),
        }
    })?;
    let smallest = mtus.iter().min_by_key(|mtu| mtu.value);
    let mtu = smallest.map_or(0, |mtu| mtu.value.get());
    let (octets, comes_to) = match found.value {
        Message::Octets(octets) => (octets, String::new()),
        Message::BelowMtu(below) => {
            let octets = i64::from(mtu) - i64::from(below);
            let comes_to = format!("{octets} octets on MTU {mtu}; ");
            (Bytes::new(u64::try_from(octets).unwrap_or(0)), comes_to)
        }
    };
    // The length fields of UDP and of IPv4 have 16 bits [RFC768] [RFC791 s3.1];
    // IPv6 does not count its own header [RFC8200 s3].
    let (most, what) = match (protocol, ip) {
        (Protocol::Tcp, _) => (LARGEST_MESSAGE.get(), "a message"),
        (Protocol::Udp, IpVersion::V4) => (65_507, "a message in UDP over IPv4"),
        (Protocol::Udp, IpVersion::V6) => (65_527, "a message in UDP over IPv6"),
    };
    let least = MESSAGE_HEADER.get();
    if (least..=most).contains(&octets.get()) {
        return Ok(octets);
    }
    let nearest = octets.get().clamp(least, most);
    let why = format!(
        "{comes_to}{what} has {least} to {most} octets: for instance --set traffic.message={nearest}"
    );
    Err(match smallest {
        Some(mtu) => found.refuse_with(&mtu.origin, why),
        None => found.refuse(why),
    })
}

/// N of `-N`.
fn number_below(text: &str) -> Option<u32> {
    let digits = text.trim().strip_prefix('-')?.trim();
    let plain = digits.starts_with(|first: char| first.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

fn socket_buffer(reader: &mut Reader<'_>, path: &str) -> Result<Option<Bytes>> {
    let found = reader.read(path, "auto", size_or("auto"))?;
    let bounds = Bytes::new(1)..=LARGEST_SOCKET_BUFFER;
    match found.value {
        Some(size) if !bounds.contains(&size) => Err(found.refuse(format!(
            "write \"auto\" or a size up to {LARGEST_SOCKET_BUFFER}"
        ))),
        size => Ok(size),
    }
}
