//! Reads `[flows]`: datagrams on schedules.

use anyhow::Result;
use proto::traffic::{Law, mean_gap};
use units::{Bytes, Span};

use crate::experiment::quantity::{name, number, rate, share, size, span, switch, word};
use crate::experiment::reader::{Found, Meaning, Reader, refusal};
use crate::experiment::tree::{Node, Table, Value};
use crate::experiment::{Flow, Flows, Link, Network, Role, Traffic};
use crate::plan::World;

use super::message::written;

/// The most flows of an experiment.
const MOST_FLOWS: usize = 10_000;

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Constant,
    Exponential,
    Uniform,
}

const LAWS: &[(&str, Shape)] = &[
    ("constant", Shape::Constant),
    ("exponential", Shape::Exponential),
    ("uniform", Shape::Uniform),
];

/// The flows in `tree`, which run through `network`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    tree: &Table,
    network: &Network,
    kind: &Found<super::traffic::Kind>,
    world: World,
) -> Result<Traffic> {
    if world != World::Sim {
        return Err(kind.refuse(
            "only the world `sim` has flows until this one has a generator (docs/roadmap.md): --on sim",
        ));
    }
    let duration = reader.read("traffic.duration", "1s", span)?;
    if duration.value == Span::ZERO {
        return Err(duration.refuse("nothing is sent in no time; write for instance \"1s\""));
    }
    let names: Vec<String> = match tree.table("flows") {
        Some(table) => table.iter().map(|(name, _)| name.to_owned()).collect(),
        None => Vec::new(),
    };
    if names.is_empty() || names.len() > MOST_FLOWS {
        return Err(reader.missing(
            "flows",
            "[flows.big] load = \"30%\", and at most 10000 of them",
        ));
    }
    let flows = names
        .iter()
        .map(|name| flow(reader, name, network, duration.value))
        .collect::<Result<_>>()?;
    Ok(Traffic::Flows(Flows {
        duration: duration.value,
        flows,
    }))
}

/// Refuses `[flows]` where traffic is of another kind.
pub(super) fn refuse(tree: &Table) -> Result<()> {
    match tree.get("flows") {
        None => Ok(()),
        Some(Node { value, origin }) => {
            let why = "only traffic of kind = \"flows\" has this table; remove it";
            Err(refusal(origin, "flows", value, why))
        }
    }
}

fn flow(reader: &mut Reader<'_>, called: &str, network: &Network, duration: Span) -> Result<Flow> {
    if let Err(why) = name(32)(&Value::from(called)) {
        let example = format!("another name than `{called}`: {why}");
        return Err(reader.missing("flows", &example));
    }
    let key = |key: &str| format!("flows.{called}.{key}");
    let from = host(reader, &key("from"), network, "sender")?;
    let to = host(reader, &key("to"), network, "receiver")?;
    if from.value == to.value {
        return Err(to.refuse("a flow from a host to itself; name two hosts"));
    }
    let (payloads, message) = payloads(reader, called, network)?;
    let gaps = gaps(reader, called, network, message)?;
    let start = reader.read(&key("start"), "0s", span)?;
    let stop = reader.optional(&key("stop"), span)?;
    if start.value >= duration {
        return Err(start.refuse(format!(
            "traffic.duration ends at {duration}, before it begins"
        )));
    }
    if let Some(stop) = stop.as_ref().filter(|stop| stop.value <= start.value) {
        return Err(stop.refuse("it stops before it begins"));
    }
    let packets = reader.optional(&key("packets"), number(1, i64::MAX))?;
    let class = reader.read(&key("class"), 0, number(0, 255))?;
    let precedence = reader.read(&key("precedence"), 0, number(0, 255))?;
    Ok(Flow {
        name: called.to_owned(),
        from: from.value,
        to: to.value,
        start: start.value,
        stop: stop.map(|stop| stop.value),
        gaps,
        payloads,
        packets: packets.map(|packets| packets.value.unsigned_abs()),
        dont_fragment: reader.read(&key("dont_fragment"), "off", switch)?.value,
        class: u8::try_from(class.value).unwrap_or(u8::MAX),
        precedence: u8::try_from(precedence.value).unwrap_or(u8::MAX),
    })
}

/// The law of the payloads, and their mean in whole octets.
fn payloads(reader: &mut Reader<'_>, flow: &str, network: &Network) -> Result<(Law, Bytes)> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let most = model::largest_message(network.ip);
    let range = |size: Bytes| size > Bytes::ZERO && size <= most;
    let between = format!("a datagram has 1 to {} octets", most.get());
    if let Some(seen) = reader.optional(&key("message_seen"), several(size))? {
        refuse_beside(reader, flow, &["message", "message_law"], "message_seen")?;
        if !seen.value.iter().all(|&size| range(size)) {
            return Err(seen.refuse(between));
        }
        let total = seen.value.iter().fold(Bytes::ZERO, |sum, &one| sum + one);
        let mean = total.get().div_ceil(seen.value.len() as u64);
        let law = Law::Empirical(seen.value.into_iter().map(octets).collect());
        return Ok((law, Bytes::new(mean)));
    }
    let written = reader.read(&key("message"), 1000, written)?;
    let smallest = network.links.iter().map(|link| link.mtu).min();
    let (message, comes_to) = written.value.octets(smallest);
    if !range(message) {
        return Err(written.refuse(format!("{comes_to}{between}")));
    }
    let shape = reader.read(&key("message_law"), "constant", word(LAWS))?;
    Ok((law(shape.value, octets(message)), message))
}

/// The law of the gaps in front of datagrams of `message` octets on average.
fn gaps(reader: &mut Reader<'_>, flow: &str, network: &Network, message: Bytes) -> Result<Law> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    if let Some(seen) = reader.optional(&key("gap_seen"), several(span))? {
        let others = ["gap", "rate", "load", "gap_law"];
        refuse_beside(reader, flow, &others, "gap_seen")?;
        if seen.value.iter().all(|&gap| gap == Span::ZERO) {
            return Err(seen.refuse("datagrams need some time between them"));
        }
        return Ok(Law::Empirical(seen.value.into_iter().map(picos).collect()));
    }
    let mean = gap(reader, flow, network, message)?;
    let shape = reader.read(&key("gap_law"), "exponential", word(LAWS))?;
    Ok(law(shape.value, mean))
}

/// Several quantities in one text, with spaces between them.
fn several<T>(one: impl Fn(&Value) -> Meaning<T>) -> impl Fn(&Value) -> Meaning<Vec<T>> {
    move |value| {
        let words: Vec<Value> = match value {
            Value::Text(text) => text.split_whitespace().map(Value::from).collect(),
            value => vec![value.clone()],
        };
        let all: Vec<T> = words
            .iter()
            .map(|word| Ok(one(word)?.0))
            .collect::<Result<_, String>>()?;
        match all.is_empty() {
            true => Err("write what was seen, with spaces between".to_owned()),
            false => Ok((all, value.clone())),
        }
    }
}

/// Refuses keys of `flow` that say what `key` says.
fn refuse_beside(reader: &mut Reader<'_>, flow: &str, others: &[&str], key: &str) -> Result<()> {
    for other in others {
        let path = format!("flows.{flow}.{other}");
        if let Some(Node { value, origin }) = reader.find(&path)? {
            let why = format!("{key} says this as well; keep one of them");
            return Err(refusal(origin, &path, value, why));
        }
    }
    Ok(())
}

/// A law of this shape whose mean is `mean`.
fn law(shape: Shape, mean: f64) -> Law {
    match shape {
        Shape::Constant => Law::Constant(mean),
        Shape::Exponential => Law::Exponential(mean),
        Shape::Uniform => Law::Uniform(0.0, 2.0 * mean),
    }
}

/// The host at `path`; of a path, and where a name is left out, its own end.
fn host(
    reader: &mut Reader<'_>,
    path: &str,
    network: &Network,
    end: &str,
) -> Result<Found<String>> {
    let graph = network.as_graph();
    let hosts = graph.nodes.iter().filter(|node| node.role == Role::Host);
    let hosts: Vec<&str> = hosts.map(|node| node.name.as_str()).collect();
    let end = match hosts.contains(&end) {
        true => end.to_owned(),
        false => format!("{end}1"),
    };
    let host = |value: &Value| match value {
        Value::Text(text) if hosts.contains(&text.as_str()) => Ok((text.clone(), value.clone())),
        _ => {
            let some: Vec<&str> = hosts.iter().copied().take(16).collect();
            Err(format!("write the name of a host: {}", some.join(", ")))
        }
    };
    reader.read(path, end.as_str(), host)
}

/// The mean time from one datagram to the next, in picoseconds: as written, or
/// as a rate on the wire, or as a share of the slowest link of the network.
fn gap(reader: &mut Reader<'_>, flow: &str, network: &Network, message: Bytes) -> Result<f64> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let gap = reader.optional(&key("gap"), span)?;
    let of_rate = reader.optional(&key("rate"), rate)?;
    let load = reader.optional(&key("load"), share)?;
    let slowest = network
        .links
        .iter()
        .filter_map(|link| Some((link, link.rate?)))
        .min_by_key(|(_, rate)| *rate);
    let wire = |link: &Link| octets_on_wire(link, network, message);
    match (gap, of_rate, load) {
        (Some(gap), None, None) if gap.value > Span::ZERO => Ok(picos(gap.value)),
        (Some(gap), None, None) => Err(gap.refuse("datagrams need some time between them")),
        (None, Some(found), None) => {
            let link = slowest
                .map(|(link, _)| link)
                .or_else(|| network.links.first());
            let size = link.map_or(message, wire);
            Ok(mean_gap(size, found.value))
        }
        (None, None, Some(found)) if found.value > 0.0 => match slowest {
            Some((link, rate)) => Ok(mean_gap(wire(link), rate) / found.value),
            None => Err(found.refuse("a share of what? no link has a rate; write gap or rate")),
        },
        (None, None, Some(found)) => Err(found.refuse("a flow of nothing; leave it out")),
        (None, None, None) => Err(reader.missing(&key("load"), "load = \"30%\"")),
        (Some(_), Some(other), _) => {
            Err(other.refuse("gap, rate and load say the same; keep one of them"))
        }
        (_, _, Some(other)) => {
            Err(other.refuse("gap, rate and load say the same; keep one of them"))
        }
    }
}

fn octets_on_wire(link: &Link, network: &Network, message: Bytes) -> Bytes {
    model::message_wire_size(message, link.mtu, network.ip, link.framing)
}

#[expect(clippy::cast_precision_loss, reason = "gaps below hours are exact")]
fn picos(span: Span) -> f64 {
    span.as_picos() as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "datagrams have 16 bits of octets"
)]
fn octets(size: Bytes) -> f64 {
    size.get() as f64
}
