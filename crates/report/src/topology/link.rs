//! The properties of a link.

use plan::Backend;
use plan::setting::{Heading, Impairments, Link, LinkKind, Network, Queue};
use queue::law::Curve;
use queue::{Candidates, Interpretation, Limit, Spec, Unit, Victim};
use units::{Framing, Rate, Span};

use super::faults;
use super::property::{Property, spaced};

/// The properties of `link` in the order of a drawing: rate, MTU, delay, queue,
/// and whatever is not usual.
pub(super) fn properties(backend: Backend, network: &Network, link: &Link) -> Vec<Property> {
    let impairments = &link.impairments;
    let is_bucket = !backend.profile().paces_every_link && network.link == LinkKind::Kernel;
    let queue = match (is_bucket, link.rate) {
        (true, None) => None,
        (true, Some(_)) => Some("token bucket".to_owned()),
        (false, _) => Some(discipline(&link.queue())),
    };
    let buffer = queue.is_some().then(|| buffer(link));
    let mut properties = vec![
        Property::one(
            "",
            link.rate.map_or_else(|| "no rate limit".to_owned(), rate),
        ),
        Property::one("MTU", link.mtu.get().to_string()),
        Property::unless("delay", "0", span(impairments.delay)),
        Property::unless("queue", "none", queue),
        Property::unless("buffer", "none", buffer),
        Property::unless("framing", "Ethernet", framing(link.framing)),
    ];
    properties.extend(impaired(impairments));
    let cross = link.cross.map(|cross| {
        let heading = match cross.heading {
            Heading::Forward => "forward",
            Heading::Reverse => "reverse",
            Heading::Both => "both ways",
        };
        format!("{} {heading}", rate(cross.rate))
    });
    properties.push(Property::unless("cross traffic", "none", cross));
    properties
}

/// The effects on frames.
fn impaired(impairments: &Impairments) -> Vec<Property> {
    let percent = |share: f64| (share > 0.0).then(|| format!("{} %", rounded(share * 100.0)));
    let bit_errors = impairments.bit_error_rate;
    let narrow = impairments.narrow.map(|narrow| {
        let told = if narrow.answers { "" } else { ", silently" };
        format!("{} bytes{told}", narrow.mtu.get())
    });
    vec![
        Property::unless("carries", "its MTU", narrow),
        Property::unless("jitter", "0", span(impairments.jitter)),
        Property::unless("loss", "0", percent(impairments.loss)),
        Property::unless(
            "bit error rate",
            "0",
            (bit_errors > 0.0).then(|| format!("{bit_errors:e}")),
        ),
        Property::unless("reordering", "0", percent(impairments.reorder)),
        Property::unless("duplicates", "0", percent(impairments.duplicate)),
        Property::unless("faults", "none", faults::words(&impairments.faults)),
    ]
}

/// A discipline and the parameters that decide most.
fn discipline(spec: &Spec) -> String {
    let target = |span: Span| spaced(&span.to_string());
    match spec {
        Spec::DropTail { .. } => "drop-tail".to_owned(),
        Spec::DropFront { .. } => "drop-front".to_owned(),
        Spec::Priority { classes, each } => format!("{classes} classes, {}", discipline(each)),
        Spec::Red(red) => {
            let victim = match red.victim {
                Victim::Arriving => "",
                Victim::Front => " dropping the oldest",
                Victim::Random => " dropping at random",
            };
            format!(
                "{}{victim}",
                curve("RED", &red.curve, red.adaptive, red.unit)
            )
        }
        Spec::AdaptiveRed(red) => format!("Adaptive RED {}", target(red.target)),
        Spec::Codel(codel) => format!("CoDel {}", target(codel.target)),
        Spec::Pie(pie) => format!("PIE {}", target(pie.target)),
        Spec::FqCodel(fair) => format!("FQ-CoDel {}", target(fair.codel.target)),
        Spec::Rio(rio) => curve("RIO", &rio.outside, false, Unit::Frames),
        Spec::Mred(mred) => {
            let interpretation = match (mred.interpretation, mred.candidates) {
                (Interpretation::Letter(_), _) => " to the letter",
                (Interpretation::Inner, Candidates::Arriving) => "",
                (Interpretation::Inner, Candidates::Head) => " from the oldest frame",
                (Interpretation::Inner, Candidates::Queue) => " from any frame",
            };
            format!(
                "{}{interpretation}",
                curve("MRED", &mred.curve, mred.adaptive, mred.unit)
            )
        }
    }
}

/// The name of a curve with its thresholds, and how it differs from RED as it was
/// first described.
fn curve(name: &str, curve: &Curve, is_adaptive: bool, unit: Unit) -> String {
    let (min, max) = (rounded(curve.min), rounded(curve.max));
    let unit = match unit {
        Unit::Frames => "",
        Unit::Bytes => " B",
        Unit::Inner => " packets",
    };
    let adaptive = if is_adaptive { "adaptive " } else { "" };
    let gentle = if curve.gentle { "gentle " } else { "" };
    format!("{adaptive}{gentle}{name} {min} to {max}{unit}")
}

/// The capacity of the queue, as it was asked for.
fn buffer(link: &Link) -> String {
    match (link.impairments.packets, &link.impairments.queue) {
        (Some(packets), _) => format!("{packets} packets"),
        (None, Queue::Discipline(spec)) => match spec.limit() {
            Limit::Bytes(bytes) => spaced(&bytes.to_string()),
            Limit::Packets(packets) => format!("{packets} packets"),
        },
        (None, Queue::DropTail | Queue::DropFront) => spaced(&link.buffer.to_string()),
    }
}

fn framing(framing: Framing) -> Option<String> {
    match framing {
        Framing::Ethernet => None,
        Framing::None => Some("none".to_owned()),
    }
}

/// A time above zero.
fn span(span: Span) -> Option<String> {
    (span > Span::ZERO).then(|| spaced(&span.to_string()))
}

/// A rate in its usual form: `1 Gbit/s`, `1.5 Mbit/s`.
pub(super) fn rate(rate: Rate) -> String {
    let bits = rate.bits_per_second() as f64;
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let unit = units.into_iter().find(|(scale, _)| bits >= *scale);
    let (scale, name) = unit.unwrap_or((1.0, "bit/s"));
    format!("{} {name}", rounded(bits / scale))
}

/// A number with at most three decimals.
pub(super) fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
