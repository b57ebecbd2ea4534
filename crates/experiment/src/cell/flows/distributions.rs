//! Reads the distributions of a flow of datagrams.

use std::path::Path;

use anyhow::Result;
use keyfile::quantity::{choices, rate, share, size, span};
use keyfile::{Node, Origin, Parsed, Value, rejection};
use meter::departures::{Bursts, Distribution, Measure, mean_gap};
use plan::setting::{Link, Network};
use units::{Bytes, Span};

use super::super::message::written;
use crate::reader::{Reader, Spanned};

/// The keys that are read here, below those of the flow.
const OF_MESSAGES: [&str; 2] = ["message", "message_distribution"];
const OF_GAPS: [&str; 5] = ["gap", "rate", "payload_rate", "load", "gap_distribution"];

/// Keys that define the schedule or require one.
const WHEN: [&str; 8] = [
    "gap",
    "rate",
    "payload_rate",
    "load",
    "gap_distribution",
    "gap_samples",
    "on",
    "off",
];

/// Distributions whose mean is given by another key: those with one parameter, or with
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

/// The distributions of a flow of datagrams.
pub(super) struct Distributions {
    /// Picoseconds from one datagram to the next.
    pub(super) gaps: Distribution,
    /// Bytes of payload.
    pub(super) payloads: Distribution,
    /// The on and off periods, if there are any.
    pub(super) bursts: Option<Bursts>,
}

/// The distributions of `flow` through `network`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    flow: &str,
    network: &Network,
) -> Result<Distributions> {
    let payloads = payloads(reader, flow, network)?;
    let gaps = gaps(reader, flow, network, &payloads)?;
    let bursts = bursts(reader, flow)?;
    Ok(Distributions {
        gaps,
        payloads: payloads.distribution,
        bursts,
    })
}

/// As [`read`], for messages that leave as fast as possible without a schedule.
pub(super) fn read_unpaced(
    reader: &mut Reader<'_>,
    flow: &str,
    network: &Network,
) -> Result<Distributions> {
    for key in WHEN {
        if reader.find(&format!("flows.{flow}.{key}"))?.is_some() {
            return read(reader, flow, network);
        }
    }
    Ok(Distributions {
        gaps: Distribution::Constant(0.0),
        payloads: payloads(reader, flow, network)?.distribution,
        bursts: None,
    })
}

/// The distribution of the payloads.
struct Payloads {
    distribution: Distribution,
    /// Their mean in whole bytes; `None` without a mean.
    mean: Option<Bytes>,
}

fn payloads(reader: &mut Reader<'_>, flow: &str, network: &Network) -> Result<Payloads> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let most = model::largest_message(network.ip);
    let range = |size: Bytes| size > Bytes::ZERO && size <= most;
    let between = format!("a datagram has 1 to {} bytes", most.get());
    if let Some(seen) = reader.optional(&key("message_samples"), several(size))? {
        reject_beside(reader, flow, &OF_MESSAGES, "message_samples")?;
        if !seen.value.iter().all(|&size| range(size)) {
            return Err(seen.reject(between));
        }
        let values: Vec<f64> = seen.value.into_iter().map(bytes).collect();
        return Ok(Payloads::of(Distribution::Empirical(values.into()), most));
    }
    if let Some(found) = whole_distribution(reader, &key("message"), Measure::Sizes)? {
        reject_beside(reader, flow, &["message_distribution"], "message")?;
        let (least, largest) = found.value.range();
        let bounded = largest.is_finite() && !(least >= 1.0 && largest <= bytes(most));
        if bounded || found.value.mean() <= 0.0 {
            return Err(found.reject(between));
        }
        return Ok(Payloads::of(found.value, most));
    }
    let written = reader.read(&key("message"), written)?;
    let smallest = network.links.iter().map(|link| link.mtu).min();
    let (message, comes_to) = written.value.bytes(smallest);
    if !range(message) {
        return Err(written.reject(format!("{comes_to}{between}")));
    }
    let of_mean = shaped(bytes(message), Measure::Sizes);
    let distribution = reader.read(&key("message_distribution"), of_mean)?.value;
    let mean = Some(message);
    Ok(Payloads { distribution, mean })
}

impl Payloads {
    fn of(distribution: Distribution, most: Bytes) -> Self {
        let mean = Some(distribution.mean()).filter(|mean| mean.is_finite());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not below zero, and no more than a datagram has"
        )]
        let mean = mean.map(|mean| Bytes::new(mean.min(bytes(most)).ceil() as u64));
        Self { distribution, mean }
    }
}

/// The distribution of the gaps between datagrams like `payloads`.
fn gaps(
    reader: &mut Reader<'_>,
    flow: &str,
    network: &Network,
    payloads: &Payloads,
) -> Result<Distribution> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let none = "datagrams need some time between them; write for instance \"1ms\"";
    if let Some(seen) = reader.optional(&key("gap_samples"), several(span))? {
        reject_beside(reader, flow, &OF_GAPS, "gap_samples")?;
        if seen.value.iter().all(|&gap| gap == Span::ZERO) {
            return Err(seen.reject(none));
        }
        let values: Vec<f64> = seen.value.into_iter().map(picos).collect();
        return Ok(Distribution::Empirical(values.into()));
    }
    if let Some(found) = whole_distribution(reader, &key("gap"), Measure::Gaps)? {
        reject_beside(
            reader,
            flow,
            &["rate", "payload_rate", "load", "gap_distribution"],
            "gap",
        )?;
        if found.value.mean() < 1.0 {
            return Err(found.reject(none));
        }
        return Ok(found.value);
    }
    let mean = gap(reader, flow, network, payloads)?;
    let of_mean = shaped(mean, Measure::Gaps);
    Ok(reader.read(&key("gap_distribution"), of_mean)?.value)
}

/// The on and off periods of the flow.
fn bursts(reader: &mut Reader<'_>, flow: &str) -> Result<Option<Bursts>> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let period = |reader: &mut Reader<'_>, key: &str| {
        let distribution = distribution_at(reader, key, Measure::Gaps)?;
        reader.optional(key, distribution)
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
                .map_err(|bad| on.reject(format!("a flow {bad}")))?;
            Ok(Some(bursts))
        }
        (Some(alone), None) => Err(alone.reject("periods of sending need others; write off too")),
        (None, Some(alone)) => Err(alone.reject("periods of silence need others; write on too")),
    }
}

/// The distribution at `path`, if it is a complete distribution and not only a mean.
fn whole_distribution(
    reader: &mut Reader<'_>,
    path: &str,
    measure: Measure,
) -> Result<Option<Spanned<Distribution>>> {
    match reader.find(path)? {
        Some(Node {
            value: Value::Text(text),
            ..
        }) if text.contains(':') => {
            let distribution = distribution_at(reader, path, measure)?;
            reader.optional(path, distribution)
        }
        _ => Ok(None),
    }
}

/// The parser of a distribution at `path`. Files are relative to the file that names
/// them, or to the working directory for the command line.
fn distribution_at(
    reader: &mut Reader<'_>,
    path: &str,
    measure: Measure,
) -> Result<impl Fn(&Value) -> Parsed<Distribution> + use<>> {
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
            _ => {
                return Err(
                    "write a distribution in quotes, for instance \"exponential:1s\"".to_owned(),
                );
            }
        };
        let written = files.distribution(&text, measure, &folder)?;
        let canonical = Value::Text(written.to_string());
        Ok((written.distribution, canonical))
    })
}

/// A distribution by its shape, scaled to the mean `mean`.
fn shaped(mean: f64, measure: Measure) -> impl Fn(&Value) -> Parsed<Distribution> {
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
        let unit = |distribution: fn(f64, f64) -> Distribution, shape: f64| {
            let one = distribution(shape, 1.0);
            one.check().map_err(|bad| format!("{name} {bad}"))?;
            match one.mean().is_finite() {
                true => Ok(distribution(shape, mean / one.mean())),
                false => Err(format!(
                    "{name} has a mean only with a shape above 1; write gap or message as a whole distribution"
                )),
            }
        };
        let distribution = match (name, shape) {
            ("constant", None) => Distribution::Constant(mean),
            ("exponential", None) => Distribution::Exponential(mean),
            ("uniform", None) => Distribution::Uniform(0.0, 2.0 * mean),
            ("poisson", None) => Distribution::Poisson(mean, measure.counted()),
            ("pareto", Some(shape)) => unit(Distribution::Pareto, shape)?,
            ("gamma", Some(shape)) => unit(Distribution::Gamma, shape)?,
            ("weibull", Some(shape)) => unit(Distribution::Weibull, shape)?,
            _ => return Err(wrong()),
        };
        distribution
            .check()
            .map_err(|bad| format!("{name} {bad}"))?;
        let canonical = match shape {
            None => name.to_owned(),
            Some(shape) => format!("{name}:{shape}"),
        };
        Ok((distribution, Value::Text(canonical)))
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
fn reject_beside(reader: &mut Reader<'_>, flow: &str, others: &[&str], key: &str) -> Result<()> {
    for other in others {
        let path = format!("flows.{flow}.{other}");
        if let Some(Node { value, origin }) = reader.find(&path)? {
            let why = format!("{key} sets this as well; leave one of them out");
            return Err(rejection(origin, &path, value, why));
        }
    }
    Ok(())
}

/// The mean time between datagrams in picoseconds: as written, or derived from
/// a rate of payload or on the link, or from a share of the slowest link of the
/// network.
fn gap(reader: &mut Reader<'_>, flow: &str, network: &Network, payloads: &Payloads) -> Result<f64> {
    let key = |key: &str| format!("flows.{flow}.{key}");
    let endless = "messages of this distribution have no mean; write gap";
    if let Some(found) = reader.optional(&key("payload_rate"), rate)? {
        reject_beside(reader, flow, &["gap", "rate", "load"], "payload_rate")?;
        let message = payloads.mean.ok_or_else(|| found.reject(endless))?;
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
            Err(gap.reject("datagrams need some time between them; write for instance \"1ms\""))
        }
        (None, Some(found), None) => {
            let link = slowest
                .map(|(link, _)| link)
                .or_else(|| network.links.first());
            let message = payloads.mean.ok_or_else(|| found.reject(endless))?;
            let size = link.map_or(message, |link| wire(link, message));
            Ok(mean_gap(size, found.value))
        }
        (None, None, Some(found)) if found.value > 0.0 => match slowest {
            Some((link, rate)) => {
                let message = payloads.mean.ok_or_else(|| found.reject(endless))?;
                Ok(mean_gap(wire(link, message), rate) / found.value)
            }
            None => Err(found.reject("a share of what? no link has a rate; write gap or rate")),
        },
        (None, None, Some(found)) => Err(found.reject("a flow of nothing; leave it out")),
        (None, None, None) => Err(reader.missing(&key("load"), "load = \"30%\"")),
        (Some(_), Some(other), _) => {
            Err(other.reject("gap, rate and load set the same; leave two of them out"))
        }
        (_, _, Some(other)) => {
            Err(other.reject("gap, rate and load set the same; leave two of them out"))
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
