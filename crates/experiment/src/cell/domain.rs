//! Reads `[domain]`: the places and settings of aggregation.

mod routes;

use std::net::IpAddr;

use anyhow::Result;
use keyfile::quantity::{probability, size, span, switch, word};
use keyfile::{Node, Parsed, Table, Value, rejection};
use plan::setting::{Destination, Domain, Graph, Network, Role, Shape};
use queue::{AggregatorSettings, BadAggregator, Encapsulation, Tick, Trigger};
use units::{Bytes, Framing, IpVersion, Span};

use crate::reader::{Reader, Spanned};

/// The table, and the key of a host's address.
const ROOT: &str = "domain";

/// The maximum length of a bundle; its length field has 16 bits.
const LARGEST: Bytes = Bytes::new(0xffff);

/// Bytes of a bundle in front of its entries, and of each entry
/// [Mulahuwaish s2.A].
const HEADER: Bytes = Bytes::new(6);
const ENTRY: Bytes = Bytes::new(4);

/// Bytes of the headers that carry a bundle [RFC791 s3.1] [RFC8200 s3]
/// [RFC768] [RFC3032].
const IPV4: Bytes = Bytes::new(20);
const IPV6: Bytes = Bytes::new(40);
const UDP: Bytes = Bytes::new(8);
const LABEL: Bytes = Bytes::new(4);

/// The encapsulation of bundles.
#[derive(Clone, Copy)]
enum Outer {
    Ip,
    Udp,
    Label,
}

const OUTERS: &[(&str, Outer)] = &[
    ("ip", Outer::Ip),
    ("udp", Outer::Udp),
    ("label", Outer::Label),
];

/// A trigger without its time.
#[derive(Clone, Copy)]
enum Kind {
    Timer,
    EgressBusy,
    Full,
}

const TRIGGERS: &[(&str, Kind)] = &[
    ("egress-busy", Kind::EgressBusy),
    ("timer", Kind::Timer),
    ("full", Kind::Full),
];

const DESTINATIONS: &[(&str, Destination)] = &[
    ("egress", Destination::Egress),
    ("first-packet", Destination::FirstPacket),
    ("label", Destination::Label),
];

const TICKS: &[(&str, Tick)] = &[("1us", Tick::Micro), ("10us", Tick::TenMicros)];

/// The domain of `network`, if `tree` has one.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
) -> Result<Option<Domain>> {
    let graph = network.graph.as_ref();
    let addresses = graph.map_or(Ok(Vec::new()), |graph| addresses(reader, tree, graph))?;
    let Some((table, origin)) = reader.table(ROOT)? else {
        return match addresses.into_iter().next() {
            None => Ok(None),
            Some((_, address)) => Err(address
                .reject("only a domain goes by addresses; write [domain] too, or leave them out")),
        };
    };
    let reject = |why: &str| Err(rejection(origin, ROOT, &Value::Table(table.clone()), why));
    let graph = match graph {
        Some(graph) if network.shape == Shape::Explicit => graph,
        _ => return reject("its edges and hosts have names; write shape = \"explicit\""),
    };
    let edges = edges(reader, graph)?;
    let encapsulation = reader.read("domain.encapsulation", word(OUTERS))?;
    let aggregate = aggregate(reader, network.ip, encapsulation.value)?;
    let destination = destination(reader, &encapsulation)?;
    reject_labels_in(reader, network, destination)?;
    let routes = routes::read(reader, tree, graph, &edges, destination)?;
    let shaping = reader.read("domain.shaping", switch)?;
    let addresses = addresses.into_iter();
    Ok(Some(Domain {
        edges,
        aggregate,
        addresses: addresses
            .map(|(place, found)| (place, found.value))
            .collect(),
        routes,
        destination,
        shaping: shaping.value,
    }))
}

/// Rejects captures of bare IP packets if bundles have labels.
fn reject_labels_in(
    reader: &mut Reader<'_>,
    network: &Network,
    destination: Destination,
) -> Result<()> {
    for link in &network.links {
        let path = format!("links.{}.watch.capture", link.name);
        if destination == Destination::Label
            && link.watch.capture
            && link.framing == Framing::None
            && let Some(Node { value, origin }) = reader.find(&path)?
        {
            let why = "without frames a capture holds IP alone, and no labels; write framing = \"ethernet\"";
            return Err(rejection(origin, &path, value, why));
        }
    }
    Ok(())
}

/// The forwarding key of bundles: a label if the encapsulation has one, and only
/// then.
fn destination(reader: &mut Reader<'_>, encapsulation: &Spanned<Outer>) -> Result<Destination> {
    let has_label = matches!(encapsulation.value, Outer::Label);
    let usual = if has_label { "label" } else { "egress" };
    let found = reader.read_or("domain.destination", usual, word(DESTINATIONS))?;
    match (found.value == Destination::Label, has_label) {
        (true, false) => Err(found.reject_with(
            &encapsulation.origin,
            "a bundle in IP has no label; write encapsulation = \"label\" too",
        )),
        (false, true) => Err(found.reject_with(
            &encapsulation.origin,
            "behind a label there is no address; write \"label\", or another encapsulation",
        )),
        _ => Ok(found.value),
    }
}

/// The written addresses of nodes.
fn addresses(
    reader: &mut Reader<'_>,
    tree: &Table,
    graph: &Graph,
) -> Result<Vec<(usize, Spanned<IpAddr>)>> {
    let mut all: Vec<(usize, Spanned<IpAddr>)> = Vec::new();
    for (place, node) in graph.nodes.iter().enumerate() {
        let path = format!("nodes.{}.address", node.name);
        if tree.at(&["nodes".into(), node.name.clone()]).is_none() {
            continue;
        }
        let Some(found) = reader.optional(&path, address)? else {
            continue;
        };
        if node.role != Role::Host {
            return Err(found.reject("only hosts have addresses here; remove it"));
        }
        if let Some((other, _)) = all.iter().find(|(_, other)| other.value == found.value) {
            let other = &graph.nodes[*other].name;
            return Err(found.reject(format!("node `{other}` has it; write another one")));
        }
        all.push((place, found));
    }
    Ok(all)
}

fn edges(reader: &mut Reader<'_>, graph: &Graph) -> Result<Vec<usize>> {
    const EXAMPLE: &str = "edges = [\"r1\", \"r2\"]";
    let Some(found) = reader.words("domain.edges")? else {
        return Err(reader.missing("domain.edges", EXAMPLE));
    };
    let mut edges = Vec::new();
    for name in &found.value {
        let place = graph.nodes.iter().position(|node| node.name == *name);
        let why = match place {
            None => format!("there is no node `{name}` in [nodes]"),
            Some(place) if graph.nodes[place].role != Role::Router => {
                format!("`{name}` is no router; packets are aggregated by routers")
            }
            Some(place) if edges.contains(&place) => {
                format!("`{name}` is listed twice; keep one of them")
            }
            Some(place) => {
                edges.push(place);
                continue;
            }
        };
        return Err(found.reject(why));
    }
    match edges.is_empty() {
        true => Err(found.reject(format!("a domain has an edge at least; write {EXAMPLE}"))),
        false => Ok(edges),
    }
}

/// The aggregation settings, if packets are aggregated.
fn aggregate(
    reader: &mut Reader<'_>,
    ip: IpVersion,
    outer: Outer,
) -> Result<Option<AggregatorSettings>> {
    let on = reader.read("domain.aggregate", switch)?;
    let mtu = reader.read("domain.mtu", size)?;
    let kind = reader.read("domain.trigger", word(TRIGGERS))?;
    let max_wait = reader.read("domain.max_wait", span)?;
    let share = reader.read("domain.share", probability)?;
    let tick = reader.read("domain.time_unit", word(TICKS))?;
    let ip = match ip {
        IpVersion::V4 => IPV4,
        IpVersion::V6 => IPV6,
    };
    let outer = match outer {
        Outer::Ip => ip,
        Outer::Udp => ip + UDP,
        Outer::Label => LABEL,
    };
    let settings = AggregatorSettings {
        mtu: mtu.value,
        whole: mtu.value,
        trigger: trigger(kind.value, max_wait.value),
        encapsulation: Encapsulation {
            header: outer + HEADER,
            entry: ENTRY,
            framing: Bytes::ZERO,
        },
        tick: tick.value,
        share: share.value,
    };
    if mtu.value > LARGEST {
        let most = LARGEST.get();
        return Err(mtu.reject(format!("a bundle has at most {most} bytes; write less")));
    }
    match settings.check() {
        Ok(()) => Ok(on.value.then_some(settings)),
        Err(bad @ BadAggregator::Mtu { .. }) => Err(mtu.reject(bad)),
        Err(bad @ BadAggregator::Share) => Err(share.reject(bad)),
        Err(bad @ BadAggregator::Timer) => Err(max_wait.reject_with(&kind.origin, bad)),
    }
}

const fn trigger(kind: Kind, max_wait: Span) -> Trigger {
    match kind {
        Kind::Timer => Trigger::Timer(max_wait),
        Kind::EgressBusy => Trigger::EgressBusy(max_wait),
        Kind::Full => Trigger::Full,
    }
}

fn address(value: &Value) -> Parsed<IpAddr> {
    const EXAMPLE: &str = "write an address, for instance \"10.2.0.3\" or \"2001:db8::3\"";
    let Value::Text(text) = value else {
        return Err(EXAMPLE.into());
    };
    let address: IpAddr = text.trim().parse().map_err(|_| EXAMPLE)?;
    Ok((address, Value::Text(address.to_string())))
}
