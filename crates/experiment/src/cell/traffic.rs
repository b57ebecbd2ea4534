//! Reads `[traffic]`.

use anyhow::Result;
use keyfile::quantity::{either, on_off, size, size_or, span, switch, word};
use keyfile::{Node, Origin, Parsed, Table, Value, rejection};
use plan::setting::{Costs, Echo, Host, LARGEST_MESSAGE, Link, Network, Shape, Traffic, Transfer};
use plan::{Backend, Hosts};
use units::{Bytes, IpMtu, IpVersion, Span, Transport};
use wire::message::HEADER_LEN;

use super::message::{Message, written};
use super::{command, flows, latency_breakdown, probe, request_response, tcp};
use crate::auto_burst;
use crate::keys::{self, KeyNode};
use crate::reader::{Reader, Spanned};

/// Why a transfer over links without a rate is not simulated.
pub(crate) const NO_LIMIT: &str = "not simulated: without a rate only the costs of hosts limit a transfer, and these hosts have none; write network.rate, or --set host=fit:DIR with a run of host-costs";

/// The header of each message in bytes, which identifies the message.
pub const MESSAGE_HEADER: Bytes = Bytes::new(HEADER_LEN as u64);

/// The minimum message size: two headers, so that a last message shorter than
/// its header can take bytes from the previous one.
pub const LEAST_MESSAGE: Bytes = Bytes::new(2 * HEADER_LEN as u64);

/// The maximum socket buffer: the kernel takes a C `int` and doubles it.
pub const LARGEST_SOCKET_BUFFER: Bytes = Bytes::new(1_000_000_000);

/// The kinds of traffic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Transfer,
    Command,
    Flows,
    LatencyBreakdown,
    RequestResponse,
    Probe,
}

const KINDS: &[(&str, Kind)] = &[
    ("transfer", Kind::Transfer),
    ("command", Kind::Command),
    ("flows", Kind::Flows),
    ("latency-breakdown", Kind::LatencyBreakdown),
    ("request-response", Kind::RequestResponse),
    ("probe", Kind::Probe),
];

/// The traffic of a trial over `network`, whose links have these MTUs.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
    host: &Host,
    mtus: &[Spanned<IpMtu>],
    backend: Backend,
) -> Result<Traffic> {
    let kind = reader.read("traffic.kind", word(KINDS))?;
    let named = KINDS.iter().find(|(_, other)| *other == kind.value);
    reader.kind = named.map(|(name, _)| *name);
    reject_others(reader, tree)?;
    if kind.value != Kind::Flows {
        flows::reject(tree)?;
    }
    if kind.value != Kind::Probe {
        reject_faults(&kind, network)?;
    }
    match kind.value {
        Kind::Transfer => {
            on_a_path(&kind, tree, network, "a transfer")?;
            transfer(reader, tree, network, host, mtus, backend).map(Traffic::Transfer)
        }
        Kind::Command => command::read(reader, network.shape).map(Traffic::Command),
        Kind::Flows => flows::read(reader, tree, network, host, backend),
        Kind::LatencyBreakdown => {
            latency_breakdown::read(reader, network, mtus).map(Traffic::LatencyBreakdown)
        }
        Kind::RequestResponse => {
            on_a_path(&kind, tree, network, "request-response traffic")?;
            if network.links.iter().any(|link| link.watch.is_any()) {
                return Err(kind.reject(
                    "the simulator keeps no packets of request-response traffic; remove what is recorded or watched of links",
                ));
            }
            request_response::read(reader, tree, network, host, backend)
                .map(Traffic::RequestResponse)
        }
        Kind::Probe => {
            on_a_path(&kind, tree, network, "a probed path")?;
            on_a_probed_path(&kind, network, host)?;
            let timeout = timeout(reader, "investigation")?;
            probe::read(reader, network, timeout).map(Traffic::Probe)
        }
    }
}

/// Rejects traffic between two ends in networks that are not a path.
fn on_a_path(kind: &Spanned<Kind>, tree: &Table, network: &Network, what: &str) -> Result<()> {
    match network.graph {
        None => Ok(()),
        Some(_) => Err(kind.reject_with(
            &origin_of(tree, "network"),
            format!("{what} needs a path from a sender to a receiver; write kind = \"flows\""),
        )),
    }
}

/// Rejects what probes do not meet: their hosts have no costs, and their packets are
/// those of no other recording.
fn on_a_probed_path(kind: &Spanned<Kind>, network: &Network, host: &Host) -> Result<()> {
    let why = if network.shape == Shape::Switched {
        "probes find routers: write shape = \"chain\", and drop_above for a switch of smaller MTU"
    } else if network.domain.is_some() {
        "nothing aggregates probes; remove [domain]"
    } else if host.costs != Costs::default() {
        "hosts take no time for probes; remove their costs"
    } else if network.links.iter().any(says_too_big) {
        "a wire has no address to answer from; write oversize = \"drop\", or a smaller mtu, which routers report"
    } else if network.links.iter().any(|link| link.watch.is_any()) {
        "no packets of probes are kept; remove what is recorded or watched of links"
    } else {
        return Ok(());
    };
    Err(kind.reject(why))
}

/// Whether the wire itself answers packets that are too big.
fn says_too_big(link: &Link) -> bool {
    let narrow = link.impairments.narrow;
    narrow.is_some_and(|narrow| narrow.answers)
}

/// Rejects faults of links that only probes meet.
fn reject_faults(kind: &Spanned<Kind>, network: &Network) -> Result<()> {
    let mut links = network.links.iter();
    match links.find(|link| !link.impairments.faults.is_empty()) {
        None => Ok(()),
        Some(link) => Err(kind.reject(format!(
            "only probes see the faults of the link {}; write kind = \"probe\", or remove them",
            link.name
        ))),
    }
}

/// Rejects keys of other kinds of traffic.
fn reject_others(reader: &Reader<'_>, tree: &Table) -> Result<()> {
    let table = tree.table("traffic");
    for (name, Node { value, origin }) in table.into_iter().flat_map(Table::iter) {
        let path = format!("traffic.{name}");
        let having = keys::find(&path).map_or_else(Vec::new, KeyNode::kinds);
        let has_it = |kind: &str| having.contains(&kind);
        if having.is_empty() || reader.kind.is_some_and(has_it) {
            continue;
        }
        let kinds = KINDS.iter().filter(|(name, _)| has_it(name));
        let kinds: Vec<String> = kinds.map(|(name, _)| format!("\"{name}\"")).collect();
        let why = format!(
            "only traffic of kind = {} has this key; remove it",
            kinds.join(" or ")
        );
        return Err(rejection(origin, &path, value, why));
    }
    Ok(())
}

/// The place of the table `name`, if it is written.
fn origin_of(tree: &Table, name: &str) -> Origin {
    tree.get(name)
        .map_or(Origin::Default, |node| node.origin.clone())
}

/// The time limit of a trial's traffic.
pub(super) fn timeout(reader: &mut Reader<'_>, what: &str) -> Result<Span> {
    let timeout = reader.read("traffic.timeout", span)?;
    match timeout.value == Span::ZERO {
        true => Err(timeout.reject(format!(
            "no {what} ends in no time; write for instance \"30s\""
        ))),
        false => Ok(timeout.value),
    }
}

fn transfer(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
    host: &Host,
    mtus: &[Spanned<IpMtu>],
    backend: Backend,
) -> Result<Transfer> {
    let Network { ip, ref links, .. } = *network;
    let protocol = reader.read(
        "traffic.protocol",
        word(&[("tcp", Transport::Tcp), ("udp", Transport::Udp)]),
    )?;
    let protocol = protocol.value;
    if backend.profile().needs_a_rate && links.iter().all(|link| link.rate.is_none()) {
        let costs = &host.costs;
        let cost_time = costs.send_per_packet.max(costs.send_per_byte) > Span::ZERO;
        match (protocol, cost_time) {
            (Transport::Tcp, true) => {}
            (Transport::Tcp, false) => reader.unmeasured.push(("network.rate".into(), NO_LIMIT)),
            (Transport::Udp, _) => {
                let example = "rate = \"1gbit\"; nothing else paces simulated datagrams";
                return Err(reader.missing("network.rate", example));
            }
        }
    }
    let size_of = reader.read("traffic.size", size)?;
    if size_of.value < MESSAGE_HEADER {
        return Err(size_of.reject(format!(
            "a message has at least {} bytes; write more",
            MESSAGE_HEADER.get()
        )));
    }
    let message = message(reader, protocol, ip, mtus)?;
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
    let (drains, is_metered) = match backend.profile().hosts {
        Hosts::Kernels => (true, true),
        Hosts::Simulated => (tcp.is_some(), false),
    };
    let warmup = part(reader, "traffic.warmup", drains)?;
    let warmup = warmup.unwrap_or_else(|| auto_warmup(links));
    let cpu_bytes = part(reader, "traffic.cpu_bytes", is_metered)?;
    let cpu_bytes = cpu_bytes.unwrap_or_else(|| auto_cpu_bytes(links));
    let send_buffer = socket_buffer(reader, "traffic.send_buffer")?;
    let receive_buffer = socket_buffer(reader, "traffic.receive_buffer")?;
    let nagle = reader.read("traffic.nagle", switch)?.value;
    let echo = reader.read("traffic.echo", echo)?;
    Ok(Transfer {
        protocol,
        size: size_of.value,
        message,
        warmup,
        cpu_bytes,
        send_buffer,
        receive_buffer,
        nagle,
        echo: echo.value,
        timeout: timeout(reader, "transfer")?,
        tcp: tcp.map(tcp::Connections::into_settings),
    })
}

/// An optional part of a trial: 0, `auto`, or at least a message. `there`: the
/// backend has this part.
fn part(reader: &mut Reader<'_>, path: &str, there: bool) -> Result<Option<Bytes>> {
    let found = reader.read(path, size_or("auto"))?;
    match found.value {
        Some(size) if size > Bytes::ZERO && !there => Err(found.reject(
            "the simulator has no buckets to drain and no processors to meter; write \"auto\" or 0",
        )),
        None if !there => Ok(Some(Bytes::ZERO)),
        Some(size) if size > Bytes::ZERO && size < MESSAGE_HEADER => {
            let least = MESSAGE_HEADER.get();
            Err(found.reject(format!(
                "write \"auto\", 0, or at least the {least} bytes of a message's header"
            )))
        }
        size => Ok(size),
    }
}

/// The warm-up for `auto`: 1 MB, or eight times the links' bucket depth by
/// [`auto_burst`]. Deeper buckets set by the user do not lengthen it.
fn auto_warmup(links: &[Link]) -> Bytes {
    let deepest = links
        .iter()
        .map(|link| auto_burst(link.mtu, link.rate))
        .max();
    Bytes::new(1_000_000).max(deepest.unwrap_or_default() * 8)
}

/// The metered transfer for `auto`: the bytes that the slowest link carries in
/// 320 ms, within 1 MB and 40 MB, so that the kernel's ticks of 10 ms resolve
/// some per cent.
fn auto_cpu_bytes(links: &[Link]) -> Bytes {
    let (least, most) = (Bytes::new(1_000_000), Bytes::new(40_000_000));
    let slowest = links.iter().filter_map(|link| link.rate).min();
    slowest.map_or(most, |rate| {
        rate.carries(Span::from_millis(320)).clamp(least, most)
    })
}

/// The write of a stream for `auto`: a full segment at MTU 1500, without 40 bytes
/// of IPv6, 20 of TCP and 12 of its timestamps. It is the same at every MTU, so that
/// a larger MTU does not save system calls as well.
const WRITE: Bytes = Bytes::new(1428);

/// The message for `auto`: [`WRITE`]; a datagram is a packet and grows with the MTU.
fn auto_message(protocol: Transport) -> Message {
    match protocol {
        Transport::Tcp => Message::Bytes(WRITE),
        Transport::Udp => Message::BelowMtu(72),
    }
}

/// The message size in bytes: `mtu-N` is relative to the smallest MTU of the
/// path.
pub(super) fn message(
    reader: &mut Reader<'_>,
    protocol: Transport,
    ip: IpVersion,
    mtus: &[Spanned<IpMtu>],
) -> Result<Bytes> {
    let found = reader.read("traffic.message", |value| either(value, "auto", written))?;
    let smallest = mtus.iter().min_by_key(|mtu| mtu.value);
    let message = found.value.unwrap_or_else(|| auto_message(protocol));
    let (bytes, comes_to) = message.bytes(smallest.map(|mtu| mtu.value));
    // The length fields of UDP and of IPv4 have 16 bits [RFC768] [RFC791 s3.1];
    // IPv6 does not count its own header [RFC8200 s3].
    let (most, what) = match (protocol, ip) {
        (Transport::Tcp, _) => (LARGEST_MESSAGE.get(), "a message"),
        (Transport::Udp, IpVersion::V4) => (65_507, "a message in UDP over IPv4"),
        (Transport::Udp, IpVersion::V6) => (65_527, "a message in UDP over IPv6"),
    };
    let least = LEAST_MESSAGE.get();
    if (least..=most).contains(&bytes.get()) {
        return Ok(bytes);
    }
    let nearest = bytes.get().clamp(least, most);
    let why = format!(
        "{comes_to}{what} has {least} to {most} bytes: for instance --set traffic.message={nearest}"
    );
    Err(match smallest {
        Some(mtu) => found.reject_with(&mtu.origin, why),
        None => found.reject(why),
    })
}

/// Parses the echo mode: `on`, `off` or a third value.
fn echo(value: &Value) -> Parsed<Echo> {
    match value {
        Value::Boolean(truth) => {
            let echo = if *truth { Echo::Headers } else { Echo::Off };
            Ok((echo, on_off(*truth).into()))
        }
        value => word(&[
            ("on", Echo::Headers),
            ("off", Echo::Off),
            ("whole", Echo::Whole),
        ])(value),
    }
}

pub(super) fn socket_buffer(reader: &mut Reader<'_>, path: &str) -> Result<Option<Bytes>> {
    let found = reader.read(path, size_or("auto"))?;
    let bounds = Bytes::new(1)..=LARGEST_SOCKET_BUFFER;
    match found.value {
        Some(size) if !bounds.contains(&size) => Err(found.reject(format!(
            "write \"auto\" or a size up to {LARGEST_SOCKET_BUFFER}"
        ))),
        size => Ok(size),
    }
}
