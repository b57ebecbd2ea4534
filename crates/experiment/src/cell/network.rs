//! Reads `[network]`, `[links]` and `[nodes]`.

mod counted;
mod cross;
mod graph;
mod link;
mod medium;
mod needs;
mod queueing;
mod watch;

use anyhow::Result;
use keyfile::quantity::{number, span_or, switch, word};
use keyfile::{KeyPath, Node, Parsed, Table, Value, fault, rejection};
use plan::setting::{Addresses, Link, LinkKind, MtuMethod, Network, Shape, Traffic};
use plan::{Backend, Hosts};
use units::{Framing, IpMtu, IpVersion, Span};

use super::UnusedKey;
use crate::reader::{Reader, Spanned};
pub(super) use counted::read as read_counted;
pub(crate) use link::AUTO;
use link::Keys;
pub use link::{LARGEST_BUFFER, auto_burst};
use needs::EMULATED_ONLY;

/// The maximum number of routers or switches on a path.
pub(crate) const MOST_DEVICES: usize = 16;

const SHAPES: &[(&str, Shape)] = &[
    ("pair", Shape::Pair),
    ("routed", Shape::Routed),
    ("switched", Shape::Switched),
    ("chain", Shape::Chain),
    ("dumbbell", Shape::Dumbbell),
    ("explicit", Shape::Explicit),
];

const KINDS: &[(&str, LinkKind)] = &[
    ("kernel", LinkKind::Kernel),
    ("emulated", LinkKind::Emulated),
    ("mixed", LinkKind::Mixed),
];

/// The network, the MTUs of its links with their places, and written parameters
/// of queues that it does not have.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    backend: Backend,
) -> Result<(Network, Vec<Spanned<IpMtu>>, Vec<UnusedKey>)> {
    let written = reader.read("network.shape", word(SHAPES))?;
    let shape = written.value;
    let devices = devices(reader, shape)?;
    let kind = reader.read("network.link", word(KINDS))?.value;
    let has_kernels = matches!(backend.profile().hosts, Hosts::Kernels);
    if has_kernels && !Shape::PATHS.contains(&shape) && kind != LinkKind::Emulated {
        return Err(written.reject(
            "between kernels its links are emulated; write link = \"emulated\" too, below [on.netns.network] or in [network], or --on sim",
        ));
    }
    let ip = reader.read("network.ip", ip_version)?.value;
    let addresses = addresses(reader, shape, ip, backend)?;
    if let (Some(Node { value, origin }), true) = (tree.get("nodes"), shape != Shape::Explicit) {
        let why = "only shape = \"explicit\" has this table; remove it";
        return Err(rejection(origin, "nodes", value, why));
    }
    let (graph, names) = match shape {
        Shape::Dumbbell => {
            let names = graph::OF_DUMBBELL.map(str::to_owned);
            (Some(graph::dumbbell(reader)?), names.to_vec())
        }
        Shape::Explicit => {
            let (graph, names) = graph::explicit(reader, tree)?;
            (Some(graph), names)
        }
        _ => (None, shape.link_names(devices)),
    };
    // The simulator treats all links as emulated.
    let paced = match backend.profile().paces_every_link {
        true => LinkKind::Emulated,
        false => kind,
    };
    let defaults = Keys::read(reader, "network", ip, None, backend)?;
    let everywhere = cross::AllLinksCrossTraffic::read(reader)?;
    let (mut links, mut mtus, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let keys = Keys::read(
            reader,
            &format!("links.{name}"),
            ip,
            Some(&defaults),
            backend,
        )?;
        if let Some(framing) = keys
            .framing
            .as_ref()
            .filter(|found| found.value == Framing::None)
            && matches!(backend.profile().hosts, Hosts::Kernels)
            && graph.is_none()
        {
            return Err(framing.reject(
                "between kernels only the links of a `dumbbell` and of an `explicit` network are other than Ethernet",
            ));
        }
        let mut link = keys.link(name, paced, backend, &defaults)?;
        link.cross = cross::read(reader, &link, ip, paced, &everywhere)?;
        link.recorded = recorded(reader, &link.name, paced)?;
        link.watch = watch::read(reader, &link.name)?;
        links.push(link);
        mtus.push(keys.mtu.clone());
        own.push(keys);
    }
    everywhere.is_of_use(&links)?;
    let unused = defaults.unused_parameters(&own);
    let cut_through = cut_through(reader, shape, paced, &links)?;
    let network = Network {
        cut_through,
        shape,
        link: kind,
        ip,
        addresses,
        links,
        graph,
        domain: None,
        timing_error: timing_error(reader, paced)?,
        // Read later, when the traffic is known.
        isolate_trials: false,
        mtu_method: mtu_method(reader)?,
    };
    Ok((network, mtus, unused))
}

/// The limit that keeps packets to the MTU. plan.toml has the key only if the experiment writes it.
fn mtu_method(reader: &mut Reader<'_>) -> Result<MtuMethod> {
    let words = word(&[
        ("interface", MtuMethod::Interface),
        ("mss", MtuMethod::Segment),
    ]);
    let found = reader.optional("network.mtu_method", words)?;
    Ok(found.map_or(MtuMethod::Interface, |found| found.value))
}

/// Whether the outcomes of a link's packets are recorded.
fn recorded(reader: &mut Reader<'_>, link: &str, kind: LinkKind) -> Result<bool> {
    let record = reader.optional(&format!("links.{link}.record"), switch)?;
    match record {
        Some(on) if on.value && kind != LinkKind::Emulated => {
            Err(on.reject(format!("a recording {EMULATED_ONLY}")))
        }
        record => Ok(record.is_some_and(|on| on.value)),
    }
}

/// Whether every trial has a new test network.
pub(super) fn read_fresh(
    reader: &mut Reader<'_>,
    traffic: &Traffic,
    backend: Backend,
) -> Result<bool> {
    let isolate_trials = reader.optional("network.isolate_trials", switch)?;
    let Some(found) = isolate_trials.filter(|found| found.value) else {
        return Ok(false);
    };
    match (traffic, backend.profile().hosts) {
        (Traffic::Flows(_), Hosts::Kernels) => Ok(true),
        // They always start without cached state.
        (Traffic::Flows(_), Hosts::Simulated) => Ok(false),
        _ => Err(found.reject("only traffic of kind = \"flows\" has it; remove it")),
    }
}

/// The allowed timing error of emulated links, if written.
fn timing_error(reader: &mut Reader<'_>, kind: LinkKind) -> Result<Option<Span>> {
    let timing_error = reader.optional("network.timing_error", span_or("auto"))?;
    match timing_error {
        Some(found) if found.value.is_some() && kind == LinkKind::Kernel => Err(found
            .reject("no frame leaves the kernel's links late; leave it out, or write \"auto\"")),
        found => Ok(found.and_then(|found| found.value)),
    }
}

/// The number of nodes between sender and receiver.
fn devices(reader: &mut Reader<'_>, shape: Shape) -> Result<usize> {
    let most = i64::try_from(MOST_DEVICES).unwrap_or(i64::MAX);
    let devices = reader.read("network.devices", number(0, most))?;
    let variable = matches!(shape, Shape::Switched | Shape::Chain);
    if devices.value != 1 && !variable {
        return Err(
            devices.reject("only shape = \"switched\" and \"chain\" have devices; leave it out")
        );
    }
    Ok(usize::try_from(devices.value).unwrap_or(1))
}

/// Whether switches forward a frame once its header has arrived.
fn cut_through(
    reader: &mut Reader<'_>,
    shape: Shape,
    kind: LinkKind,
    links: &[Link],
) -> Result<bool> {
    let found = reader.read("network.cut_through", switch)?;
    let rates_agree = links.windows(2).all(|pair| pair[0].rate == pair[1].rate);
    let why = match found.value {
        true if kind != LinkKind::Emulated => "`cut_through` needs link = \"emulated\"",
        true if shape != Shape::Switched => {
            "only switches forward a frame before all of it is there; write shape = \"switched\""
        }
        true if !rates_agree => {
            "a switch cannot forward a frame faster than it comes; give all links one rate"
        }
        true if links.iter().any(|link| link.rate.is_none()) => {
            "a link without a rate is done with a frame at once; give the links a rate"
        }
        cut_through => return Ok(cut_through),
    };
    Err(found.reject(why))
}

fn ip_version(value: &Value) -> Parsed<IpVersion> {
    match value {
        Value::Integer(4) => Ok((IpVersion::V4, 4.into())),
        Value::Integer(6) => Ok((IpVersion::V6, 6.into())),
        _ => Err("write 4 or 6".into()),
    }
}

fn addresses(
    reader: &mut Reader<'_>,
    shape: Shape,
    ip: IpVersion,
    backend: Backend,
) -> Result<Addresses> {
    let words = word(&[
        ("auto", None),
        ("static", Some(Addresses::Static)),
        ("router", Some(Addresses::Router)),
    ]);
    let addresses = reader.read("network.addresses", words)?;
    let advertised = shape == Shape::Routed && ip == IpVersion::V6;
    let has_addresses = match backend.profile().hosts {
        Hosts::Kernels => true,
        Hosts::Simulated => false,
    };
    match addresses.value {
        _ if !has_addresses => Ok(Addresses::Static),
        Some(Addresses::Router) if !advertised => Err(addresses.reject(
            "Router Advertisements are IPv6's and need shape = \"routed\"; write \"auto\" or \"static\"",
        )),
        Some(addresses) => Ok(addresses),
        None if advertised => Ok(Addresses::Router),
        None => Ok(Addresses::Static),
    }
}

/// Rejects tables below `[links]` that are not links of the network.
pub(super) fn known_links(tree: &Table, network: &Network) -> Result<()> {
    let names: Vec<&str> = network
        .links
        .iter()
        .map(|link| link.name.as_str())
        .collect();
    let unknown = tree
        .table("links")
        .and_then(|links| links.iter().find(|(name, _)| !names.contains(name)));
    match unknown {
        None => Ok(()),
        Some((name, node)) => {
            let shape = SHAPES.iter().find(|(_, other)| *other == network.shape);
            Err(fault(
                &node.origin,
                format!(
                    "{}: the links of shape = \"{}\" are {}",
                    KeyPath(vec!["links".into(), name.into()]),
                    shape.map_or("", |(word, _)| word),
                    names.join(" and ")
                ),
            ))
        }
    }
}
