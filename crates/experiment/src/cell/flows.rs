//! Reads `[flows]`: scheduled messages and connections.

mod datagrams;
mod distributions;
mod sockets;

use std::collections::BTreeSet;

use anyhow::Result;
use keyfile::quantity::{name, number, size_or, span, word};
use keyfile::{Node, Table, Value, rejection};
use plan::setting::{Flow, Flows, Host, Network, PathMtu, Role, Sends, Traffic};
use plan::{Backend, Hosts};
use units::{IpVersion, Span, Transport};

use super::tcp::{self, Connections};
use crate::keys;
use crate::reader::{Reader, Spanned, first_key};

/// The maximum number of flows in an experiment.
const MOST_FLOWS: u32 = 10_000;

/// The maximum number of flows between kernels: each has a thread and a socket
/// at both ends, and they share the machine's CPUs.
const MOST_SOCKETS: u64 = 64;

/// The maximum number of flows of datagrams in a network that is no path: each has a
/// socket at its sender, and a process is to have 1024 files at most.
const MOST_SENDERS: u64 = 1_000;

/// The maximum length of a flow's name.
const LONGEST_NAME: usize = 32;

/// Common data of all flows.
struct Common<'a> {
    network: &'a Network,
    backend: Backend,
    congestion: &'a str,
    duration: Span,
    /// The window of connections between kernels, in segments, unless a flow has its own.
    window: Option<u32>,
}

/// The flows in `tree`, which use `network`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
    host: &Host,
    backend: Backend,
) -> Result<Traffic> {
    let duration = reader.read("traffic.duration", span)?;
    if duration.value == Span::ZERO {
        return Err(duration.reject("nothing is sent in no time; write for instance \"1s\""));
    }
    let names: Vec<String> = match tree.table("flows") {
        Some(table) => table.iter().map(|(name, _)| name.to_owned()).collect(),
        None => Vec::new(),
    };
    let many = || "[flows.big] load = \"30%\", and at most 10000 of them";
    if names.is_empty() {
        return Err(reader.missing("flows", many()));
    }
    let sockets = sockets::read(reader, backend)?;
    let common = Common {
        network,
        backend,
        congestion: &host.congestion,
        duration: duration.value,
        window: match (backend.profile().hosts, &network.graph) {
            (Hosts::Kernels, Some(_)) => tcp::window(reader, "tcp", None)?,
            (Hosts::Kernels | Hosts::Simulated, _) => None,
        },
    };
    let mut connections = None;
    let flows: Vec<Flow> = names
        .iter()
        .map(|name| flow(reader, name, &common, &mut connections))
        .collect::<Result<_>>()?;
    let all: u64 = flows.iter().map(|flow| u64::from(flow.count)).sum();
    if all > u64::from(MOST_FLOWS) {
        return Err(reader.missing("flows", many()));
    }
    if sockets.is_some() {
        let of_network =
            |flow: &&Flow| network.graph.is_some() && matches!(flow.sends, Sends::Datagrams { .. });
        let (senders, others): (Vec<&Flow>, Vec<&Flow>) = flows.iter().partition(of_network);
        hold(
            reader,
            &senders,
            MOST_SENDERS,
            "of datagrams in a network between kernels",
        )?;
        hold(reader, &others, MOST_SOCKETS, "between kernels")?;
    }
    unique(reader, &flows)?;
    Ok(Traffic::Flows(Flows {
        duration: duration.value,
        flows,
        sockets,
    }))
}

/// Rejects more than `most` flows of a `kind`, at the flow with the most copies.
fn hold(reader: &mut Reader<'_>, flows: &[&Flow], most: u64, kind: &str) -> Result<()> {
    if flows.iter().map(|flow| u64::from(flow.count)).sum::<u64>() <= most {
        return Ok(());
    }
    let why = format!("at most {most} flows {kind}; write fewer, or add --on sim");
    let many = flows.iter().max_by_key(|flow| flow.count);
    let path = many.map_or_else(String::new, |flow| format!("flows.{}.count", flow.name));
    Err(match reader.find(&path)? {
        Some(Node { value, origin }) => rejection(origin, &path, value, why),
        None => reader.missing("flows", &why),
    })
}

/// Rejects `[flows]` with other kinds of traffic.
pub(super) fn reject(tree: &Table) -> Result<()> {
    match tree.get("flows") {
        None => Ok(()),
        Some(Node { value, origin }) => {
            let why = "only traffic of kind = \"flows\" has this table; remove it";
            Err(rejection(origin, "flows", value, why))
        }
    }
}

fn flow(
    reader: &mut Reader<'_>,
    called: &str,
    common: &Common<'_>,
    connections: &mut Option<Connections>,
) -> Result<Flow> {
    let &Common {
        network,
        backend,
        duration,
        ..
    } = common;
    if let Err(why) = name(LONGEST_NAME)(&Value::from(called)) {
        let example = format!("another name than `{called}`: {why}");
        return Err(reader.missing("flows", &example));
    }
    let key = |key: &str| format!("flows.{called}.{key}");
    let count = reader.optional(&key("count"), number(1, i64::from(MOST_FLOWS)))?;
    let count = count.map_or(1, |found| u32::try_from(found.value).unwrap_or(MOST_FLOWS));
    let from = host(reader, &key("from"), network, "sender", count)?;
    let to = host(reader, &key("to"), network, "receiver", count)?;
    if matches!(backend.profile().hosts, Hosts::Kernels)
        && network.graph.is_none()
        && from.value != "sender"
    {
        return Err(from.reject(
            "between kernels flows of a path go from the sender to the receiver; leave it out",
        ));
    }
    let itself = |number| Flow::end(&from.value, number) == Flow::end(&to.value, number);
    if (1..=count).any(itself) {
        return Err(to.reject("a flow from a host to itself; name two hosts"));
    }
    // Resolved only if written: this key is newer than some plans.
    let protocols = word(&[("udp", Transport::Udp), ("tcp", Transport::Tcp)]);
    let protocol = reader.optional(&key("protocol"), protocols)?;
    let protocol = protocol.map_or(Transport::Udp, |found| found.value);
    let sends = match (protocol, backend.profile().hosts) {
        (Transport::Udp, _) => {
            let why = "only a flow of protocol = \"tcp\" has this key; remove it";
            reject_keys(reader, called, &["watch", "tcp"], why)?;
            datagrams::read(reader, called, network, backend)?
        }
        (Transport::Tcp, Hosts::Kernels) => {
            let why = "what is sent over TCP is cut into packets by the kernel; remove it";
            reject_keys(reader, called, &["dont_fragment"], why)?;
            let window = match &network.graph {
                Some(_) => tcp::window(reader, &key("tcp"), common.window)?,
                None => {
                    reject_keys(reader, called, &["tcp.window"], keys::KERNELS_TCP)?;
                    None
                }
            };
            datagrams::read_messages(reader, called, network, window)?
        }
        (Transport::Tcp, Hosts::Simulated) => {
            let of_messages: Vec<&str> = keys::OF_MESSAGES.iter().map(|key| key.name).collect();
            let why =
                "TCP sends when it may, not on a schedule; remove it, or write protocol = \"udp\"";
            reject_keys(reader, called, &of_messages, why)?;
            connection(reader, called, common, connections)?
        }
    };
    // Resolved only if written, too.
    let meter = reader.optional(
        &key("meter"),
        word(&[("one-way", false), ("round-trip", true)]),
    )?;
    let path_mtu = path_mtu(reader, &key("path_mtu"), &sends, network.ip, backend)?;
    let start = reader.read(&key("start"), span)?;
    let stop = reader.optional(&key("stop"), span)?;
    if start.value >= duration {
        return Err(start.reject(format!(
            "traffic.duration ends at {duration}, before it begins; write an earlier start, or a longer duration"
        )));
    }
    let start_interval = reader.optional(&key("start_interval"), span)?;
    let within = reader.optional(&key("start_jitter"), span)?;
    let later =
        |found: &Option<Spanned<Span>>| found.as_ref().map_or(Span::ZERO, |found| found.value);
    let last = (later(&start_interval).as_picos())
        .checked_mul(u64::from(count - 1))
        .and_then(|picos| picos.checked_add(later(&within).as_picos()))
        .and_then(|picos| picos.checked_add(start.value.as_picos()))
        .map(Span::from_picos)
        .filter(|last| *last <= duration);
    let (start_interval, start_jitter) = match (last, start_interval, within) {
        (None, Some(found), _) | (None, None, Some(found)) => {
            return Err(found.reject(format!(
                "traffic.duration ends at {duration}, before the last of {count} flows begins; write a longer duration"
            )));
        }
        (_, start_interval, within) => (later(&start_interval), later(&within)),
    };
    if let Some(stop) = stop.as_ref().filter(|stop| Some(stop.value) <= last) {
        return Err(stop.reject("it stops before it begins; write a later time"));
    }
    let class = reader.read(&key("class"), number(0, 255))?;
    let precedence = reader.read(&key("precedence"), number(0, 255))?;
    Ok(Flow {
        name: called.to_owned(),
        count,
        start_interval,
        start_jitter,
        from: from.value,
        to: to.value,
        start: start.value,
        stop: stop.map(|stop| stop.value),
        sends,
        path_mtu,
        round_trip: meter.is_some_and(|found| found.value),
        class: u8::try_from(class.value).unwrap_or(u8::MAX),
        precedence: u8::try_from(precedence.value).unwrap_or(u8::MAX),
    })
}

/// The sender's handling of the path MTU; `dont_fragment` is an older key for
/// one of the values.
fn path_mtu(
    reader: &mut Reader<'_>,
    path: &str,
    sends: &Sends,
    ip: IpVersion,
    backend: Backend,
) -> Result<PathMtu> {
    let Some(found) = reader.optional(path, word(PathMtu::WORDS))? else {
        return Ok(PathMtu::Machine);
    };
    let why = match (sends, backend.profile().hosts, found.value) {
        (
            Sends::Datagrams {
                dont_fragment: true,
                ..
            },
            ..,
        ) => "dont_fragment = \"on\" means \"do\"; leave one of them out",
        (Sends::Messages { .. } | Sends::Bytes { .. }, ..) => {
            "only datagrams have it: TCP finds the path's MTU itself"
        }
        (_, Hosts::Simulated, PathMtu::Dont) if ip == IpVersion::V6 => {
            "no router cuts packets of IPv6; write \"want\", or ip = 4"
        }
        (_, Hosts::Kernels | Hosts::Simulated, _) => return Ok(found.value),
    };
    Err(found.reject(why))
}

/// The settings of a TCP flow; `[tcp]` is read with the first of them.
fn connection(
    reader: &mut Reader<'_>,
    called: &str,
    common: &Common<'_>,
    connections: &mut Option<Connections>,
) -> Result<Sends> {
    let key = |key: &str| format!("flows.{called}.{key}");
    let all = match connections.take() {
        Some(all) => all,
        None => tcp::read(reader, common.congestion)?,
    };
    let all = connections.insert(all);
    let settings = tcp::of_flow(reader, called, all, common.congestion)?;
    let bytes = reader.read(&key("bytes"), size_or("none"))?;
    if bytes.value.is_some_and(|bytes| bytes.get() == 0) {
        return Err(bytes.reject("a flow of nothing; leave it out"));
    }
    let watch = reader.optional(&key("watch.interval"), span)?;
    if let Some(found) = &watch
        && found.value == Span::ZERO
    {
        return Err(found.reject("no time lies between two looks; write for instance \"10ms\""));
    }
    Ok(Sends::Bytes {
        settings,
        bytes: bytes.value,
        watch: watch.map(|found| found.value),
    })
}

/// Rejects keys of `flow` for the reason `why`.
fn reject_keys(reader: &mut Reader<'_>, flow: &str, keys: &[&str], why: &str) -> Result<()> {
    for key in keys {
        let path = format!("flows.{flow}.{key}");
        if let Some(node) = reader.find(&path)? {
            let (path, Node { value, origin }) = first_key(&path, node);
            return Err(rejection(origin, &path, value, why));
        }
    }
    Ok(())
}

/// Rejects a name that equals the name of a flow's copy.
fn unique(reader: &mut Reader<'_>, flows: &[Flow]) -> Result<()> {
    let single = |name: &str| {
        flows
            .iter()
            .any(|flow| flow.count == 1 && flow.name == name)
    };
    for flow in flows.iter().filter(|flow| flow.count > 1) {
        for name in flow.names() {
            let path = format!("flows.{}.count", flow.name);
            if single(&name)
                && let Some(Node { value, origin }) = reader.find(&path)?
            {
                let why = format!("one of them would be called `{name}`, and so is another flow");
                return Err(rejection(origin, &path, value, why));
            }
        }
    }
    Ok(())
}

/// The host at `path`, or one for each of `count` flows. On a path, the default
/// is the path's own end.
fn host(
    reader: &mut Reader<'_>,
    path: &str,
    network: &Network,
    end: &str,
    count: u32,
) -> Result<Spanned<String>> {
    let graph = network.as_graph();
    let hosts = graph.nodes.iter().filter(|node| node.role == Role::Host);
    let hosts: Vec<&str> = hosts.map(|node| node.name.as_str()).collect();
    let end = match hosts.contains(&end) {
        true => end.to_owned(),
        false => format!("{end}1"),
    };
    let named = |text: &str| {
        let sorted: BTreeSet<&str> = hosts.iter().copied().collect();
        (1..=count).all(|number| sorted.contains(Flow::end(text, number).as_str()))
    };
    let host = |value: &Value| match value {
        Value::Text(text) if named(text) => Ok((text.clone(), value.clone())),
        _ => {
            let some: Vec<&str> = hosts.iter().copied().take(16).collect();
            let names = some.join(", ");
            Err(match value {
                Value::Text(text) if text.contains('*') => format!(
                    "`*` is the number of a flow, here 1 to {count}, and each must be a host's: {names}"
                ),
                _ => format!("write the name of a host: {names}"),
            })
        }
    };
    reader.read_or(path, end.as_str(), host)
}
