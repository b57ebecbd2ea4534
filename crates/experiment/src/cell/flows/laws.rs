//! Reads the laws of a flow of datagrams.

use std::path::Path;

use anyhow::Result;
use keyfile::quantity::{choices, rate, share, size, span};
use keyfile::{Node, Origin, Parsed, Value, refusal};
use meter::departures::{Bursts, Law, Measure, mean_gap};
use plan::setting::{Link, Network};
use units::{Bytes, Span};

use super::super::message::written;
use crate::reader::{Reader, Spanned};

/// The keys that are read here, below those of the flow.
const OF_MESSAGES: [&str; 2] = ["message", "message_law"];
const OF_GAPS: [&str; 5] = ["gap", "rate", "payload_rate", "load", "gap_law"];

/// Keys that define the schedule or require one.
const WHEN: [&str; 8] = [
    "gap",
    "rate",
    "payload_rate",
    "load",
    "gap_law",
    "gap_seen",
    "on",
    "off",
];

/// Laws whose mean is given by another key: those with one parameter, or with
/// an additional shape.
const SHAPES: [&str; 7] = [
    "constant",
    "exponential",
    "uniform",
    "poisson",
    "pareto:SHAPE",
    "gamma:SHAPE",
    "weibull:SHAPE",
];

/// The laws of a flow of datagrams.
pub(super) struct Laws {
    /// Picoseconds from one datagram to the next.
    pub(super) gaps: Law,
    /// Bytes of payload.
    pub(super) payloads: Law,
    /// The on and off periods, if there are any.
    pub(super) bursts: Option<Bursts>,
}

/// The laws of `flow` through `network`.
pub(super) fn read(reader: &mut Reader<'_>, flow: &str, network: &Network) -> Result<Laws> {
    let payloads = payloads(reader, flow, network)?;
    let gaps = gaps(reader, flow, network, &payloads)?;
    let bursts = bursts(reader, flow)?;
    Ok(Laws {
        gaps,
        payloads: payloads.law,
        bursts,
    })
}

/// As [`read`], for messages that leave as fast as possible without a schedule.
pub(super) fn read_unpaced(reader: &mut Reader<'_>, flow: &str, network: &Network) -> Result<Laws> {
    for key in WHEN {
        if reader.find(&format!("flows.{flow}.{key}"))?.is_some() {
            return read(reader, flow, network);
        }
    }
    Ok(Laws {
        gaps: Law::Constant(0.0),
        payloads: payloads(reader, flow, network)?.law,
        bursts: None,
    })
}

/// The law of the payloads.
struct Payloads {
    law: Law,
    /// Their mean in whole bytes; `None` without a mean.
    mean: Option<Bytes>,
}

fn payloads(reader: &mut Reader<'_>, flow: &str, network: &Network) -> Result<Payloads> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let most = model::largest_message(network.ip);
    let range = |size: Bytes| size > Bytes::ZERO && size <= most;
    let between = format!("a datagram has 1 to {} bytes", most.get());
    if let Some(seen) = reader.optional(&key("message_seen"), several(size))? {
        refuse_beside(reader, flow, &OF_MESSAGES, "message_seen")?;
        if !seen.value.iter().all(|&size| range(size)) {
            return Err(seen.refuse(between));
        }
        let values: Vec<f64> = seen.value.into_iter().map(bytes).collect();
        return Ok(Payloads::of(Law::Empirical(values.into()), most));
    }
    if let Some(found) = whole_law(reader, &key("message"), Measure::Sizes)? {
        refuse_beside(reader, flow, &["message_law"], "message")?;
        let (least, largest) = found.value.range();
        let bounded = largest.is_finite() && !(least >= 1.0 && largest <= bytes(most));
        if bounded || found.value.mean() <= 0.0 {
            return Err(found.refuse(between));
        }
        return Ok(Payloads::of(found.value, most));
    }
    let written = reader.read(&key("message"), written)?;
    let smallest = network.links.iter().map(|link| link.mtu).min();
    let (message, comes_to) = written.value.bytes(smallest);
    if !range(message) {
        return Err(written.refuse(format!("{comes_to}{between}")));
    }
    let of_mean = shaped(bytes(message), Measure::Sizes);
    let law = reader.read(&key("message_law"), of_mean)?.value;
    let mean = Some(message);
    Ok(Payloads { law, mean })
}

impl Payloads {
    fn of(law: Law, most: Bytes) -> Self {
        let mean = Some(law.mean()).filter(|mean| mean.is_finite());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not below zero, and no more than a datagram has"
        )]
        let mean = mean.map(|mean| Bytes::new(mean.min(bytes(most)).ceil() as u64));
        Self { law, mean }
    }
}

/// The law of the gaps between datagrams like `payloads`.
fn gaps(
    reader: &mut Reader<'_>,
    flow: &str,
    network: &Network,
    payloads: &Payloads,
) -> Result<Law> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let none = "datagrams need some time between them; write for instance \"1ms\"";
    if let Some(seen) = reader.optional(&key("gap_seen"), several(span))? {
        refuse_beside(reader, flow, &OF_GAPS, "gap_seen")?;
        if seen.value.iter().all(|&gap| gap == Span::ZERO) {
            return Err(seen.refuse(none));
        }
        let values: Vec<f64> = seen.value.into_iter().map(picos).collect();
        return Ok(Law::Empirical(values.into()));
    }
    if let Some(found) = whole_law(reader, &key("gap"), Measure::Gaps)? {
        refuse_beside(
            reader,
            flow,
            &["rate", "payload_rate", "load", "gap_law"],
            "gap",
        )?;
        if found.value.mean() < 1.0 {
            return Err(found.refuse(none));
        }
        return Ok(found.value);
    }
    let mean = gap(reader, flow, network, payloads)?;
    let of_mean = shaped(mean, Measure::Gaps);
    Ok(reader.read(&key("gap_law"), of_mean)?.value)
}

/// The on and off periods of the flow.
fn bursts(reader: &mut Reader<'_>, flow: &str) -> Result<Option<Bursts>> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let period = |reader: &mut Reader<'_>, key: &str| {
        let law = law_at(reader, key, Measure::Gaps)?;
        reader.optional(key, law)
    };
    let on = period(reader, &key("on"))?;
    let off = period(reader, &key("off"))?;
    match (on, off) {
        (None, None) => Ok(None),
        (Some(on), Some(off)) => {
            let bursts = Bursts {
                on: on.value.clone(),
                off: off.value,
            };
            bursts
                .check()
                .map_err(|bad| on.refuse(format!("a flow {bad}")))?;
            Ok(Some(bursts))
        }
        (Some(alone), None) => Err(alone.refuse("periods of sending need others; write off too")),
        (None, Some(alone)) => Err(alone.refuse("periods of silence need others; write on too")),
    }
}

/// The law at `path`, if it is a complete law and not only a mean.
fn whole_law(
    reader: &mut Reader<'_>,
    path: &str,
    measure: Measure,
) -> Result<Option<Spanned<Law>>> {
    match reader.find(path)? {
        Some(Node {
            value: Value::Text(text),
            ..
        }) if text.contains(':') => {
            let law = law_at(reader, path, measure)?;
            reader.optional(path, law)
        }
        _ => Ok(None),
    }
}

/// The parser of a law at `path`. Files are relative to the file that names
/// them, or to the working directory for the command line.
fn law_at(
    reader: &mut Reader<'_>,
    path: &str,
    measure: Measure,
) -> Result<impl Fn(&Value) -> Parsed<Law> + use<>> {
    let folder = match reader.find(path)? {
        Some(Node {
            origin: Origin::File { path, .. },
            ..
        }) => Path::new(path.as_ref()).parent(),
        _ => None,
    };
    let folder = folder.unwrap_or_else(|| Path::new("")).to_owned();
    let files = reader.files.clone();
    Ok(move |value: &Value| {
        let text = match value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            _ => return Err("write a law in quotes, for instance \"exponential:1s\"".to_owned()),
        };
        let written = files.law(&text, measure, &folder)?;
        let canonical = Value::Text(written.to_string());
        Ok((written.law, canonical))
    })
}

/// A law by its shape, scaled to the mean `mean`.
fn shaped(mean: f64, measure: Measure) -> impl Fn(&Value) -> Parsed<Law> {
    move |value| {
        let wrong = || format!("write {}", choices(SHAPES));
        let Value::Text(text) = value else {
            return Err(wrong());
        };
        let (name, shape) = match text.split_once(':') {
            None => (text.as_str(), None),
            Some((name, shape)) => (
                name,
                Some(shape.trim().parse::<f64>().map_err(|_| wrong())?),
            ),
        };
        let unit = |law: fn(f64, f64) -> Law, shape: f64| {
            let one = law(shape, 1.0);
            one.check().map_err(|bad| format!("{name} {bad}"))?;
            match one.mean().is_finite() {
                true => Ok(law(shape, mean / one.mean())),
                false => Err(format!(
                    "{name} has a mean only with a shape above 1; write gap or message as a whole law"
                )),
            }
        };
        let law = match (name, shape) {
            ("constant", None) => Law::Constant(mean),
            ("exponential", None) => Law::Exponential(mean),
            ("uniform", None) => Law::Uniform(0.0, 2.0 * mean),
            ("poisson", None) => Law::Poisson(mean, measure.counted()),
            ("pareto", Some(shape)) => unit(Law::Pareto, shape)?,
            ("gamma", Some(shape)) => unit(Law::Gamma, shape)?,
            ("weibull", Some(shape)) => unit(Law::Weibull, shape)?,
            _ => return Err(wrong()),
        };
        law.check().map_err(|bad| format!("{name} {bad}"))?;
        let canonical = match shape {
            None => name.to_owned(),
            Some(shape) => format!("{name}:{shape}"),
        };
        Ok((law, Value::Text(canonical)))
    }
}

/// Several quantities in one text, separated by spaces.
fn several<T>(one: impl Fn(&Value) -> Parsed<T>) -> impl Fn(&Value) -> Parsed<Vec<T>> {
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

/// Rejects keys of `flow` that conflict with `key`.
fn refuse_beside(reader: &mut Reader<'_>, flow: &str, others: &[&str], key: &str) -> Result<()> {
    for other in others {
        let path = format!("flows.{flow}.{other}");
        if let Some(Node { value, origin }) = reader.find(&path)? {
            let why = format!("{key} sets this as well; leave one of them out");
            return Err(refusal(origin, &path, value, why));
        }
    }
    Ok(())
}

/// The mean time between datagrams in picoseconds: as written, or derived from
/// a rate of payload or on the link, or from a share of the slowest link of the
/// network.
fn gap(reader: &mut Reader<'_>, flow: &str, network: &Network, payloads: &Payloads) -> Result<f64> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let endless = "messages of this law have no mean; write gap";
    if let Some(found) = reader.optional(&key("payload_rate"), rate)? {
        refuse_beside(reader, flow, &["gap", "rate", "load"], "payload_rate")?;
        let message = payloads.mean.ok_or_else(|| found.refuse(endless))?;
        return Ok(mean_gap(message, found.value));
    }
    let gap = reader.optional(&key("gap"), span)?;
    let of_rate = reader.optional(&key("rate"), rate)?;
    let load = reader.optional(&key("load"), share)?;
    let slowest = network
        .links
        .iter()
        .filter_map(|link| Some((link, link.rate?)))
        .min_by_key(|(_, rate)| *rate);
    let wire = |link: &Link, message| bytes_on_wire(link, network, message);
    match (gap, of_rate, load) {
        (Some(gap), None, None) if gap.value > Span::ZERO => Ok(picos(gap.value)),
        (Some(gap), None, None) => {
            Err(gap.refuse("datagrams need some time between them; write for instance \"1ms\""))
        }
        (None, Some(found), None) => {
            let link = slowest
                .map(|(link, _)| link)
                .or_else(|| network.links.first());
            let message = payloads.mean.ok_or_else(|| found.refuse(endless))?;
            let size = link.map_or(message, |link| wire(link, message));
            Ok(mean_gap(size, found.value))
        }
        (None, None, Some(found)) if found.value > 0.0 => match slowest {
            Some((link, rate)) => {
                let message = payloads.mean.ok_or_else(|| found.refuse(endless))?;
                Ok(mean_gap(wire(link, message), rate) / found.value)
            }
            None => Err(found.refuse("a share of what? no link has a rate; write gap or rate")),
        },
        (None, None, Some(found)) => Err(found.refuse("a flow of nothing; leave it out")),
        (None, None, None) => Err(reader.missing(&key("load"), "load = \"30%\"")),
        (Some(_), Some(other), _) => {
            Err(other.refuse("gap, rate and load set the same; leave two of them out"))
        }
        (_, _, Some(other)) => {
            Err(other.refuse("gap, rate and load set the same; leave two of them out"))
        }
    }
}

fn bytes_on_wire(link: &Link, network: &Network, message: Bytes) -> Bytes {
    model::message_wire_size(message, link.mtu, network.ip, link.framing)
}

fn picos(span: Span) -> f64 {
    span.as_picos() as f64
}

fn bytes(size: Bytes) -> f64 {
    size.get() as f64
}
