//! The state of watched paths in the text format of OpenMetrics [OpenMetrics].

use link::Direction;
use probe::machine::{DirectionResult, Loss, PathReport, Verdict};
use units::Bytes;

use super::super::openmetrics::{Exposition, Kind};

/// A watched path.
pub(super) struct Watched {
    /// The labels that name it.
    pub(super) labels: Vec<(&'static str, String)>,
    /// The latest result.
    pub(super) report: PathReport,
    /// Changes that were noticed.
    pub(super) changes: u64,
}

/// A metric: its name without the prefix, its type, unit and meaning, and its value for
/// a path and direction.
struct Metric {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    values: fn(&Watched) -> Vec<(&'static str, f64)>,
}

const METRICS: [Metric; 12] = [
    Metric {
        name: "path_mtu_bytes",
        kind: Kind::Gauge,
        help: "Largest packet that passed.",
        values: |path| {
            let known = directions(path)
                .into_iter()
                .filter_map(|(direction, found)| Some((direction.name(), bytes(found.mtu?))));
            known.collect()
        },
    },
    Metric {
        name: "asked_bytes",
        kind: Kind::Gauge,
        help: "Size that the path should support.",
        values: |path| vec![("", bytes(path.report.asked))],
    },
    Metric {
        name: "clean",
        kind: Kind::Gauge,
        help: "1 if the path supports the size and nothing else is wrong with it, otherwise 0.",
        values: |path| {
            let is_clean = path.report.verdict == Verdict::Clean;
            vec![("", f64::from(u8::from(is_clean)))]
        },
    },
    Metric {
        name: "round_trip_seconds",
        kind: Kind::Gauge,
        help: "Smallest round trip of small packets.",
        values: |path| seconds(&path.report),
    },
    Metric {
        name: "loss_ratio",
        kind: Kind::Gauge,
        help: "Share of small packets without an answer.",
        values: |path| {
            let loss = path.report.loss.iter();
            loss.map(|loss| ("", loss.share)).collect()
        },
    },
    Metric {
        name: "one_way_loss_ratio",
        kind: Kind::Gauge,
        help: "Share of small packets lost in a direction, which a reflector counted.",
        values: |path| one_way(path, |loss| loss.share),
    },
    Metric {
        name: "one_way_loss_low_ratio",
        kind: Kind::Gauge,
        help: "Lower end of the 95 % interval of one_way_loss_ratio.",
        values: |path| one_way(path, |loss| loss.low),
    },
    Metric {
        name: "one_way_loss_high_ratio",
        kind: Kind::Gauge,
        help: "Upper end of the 95 % interval of one_way_loss_ratio.",
        values: |path| one_way(path, |loss| loss.high),
    },
    Metric {
        name: "large_loss_ratio",
        kind: Kind::Gauge,
        help: "Share of the largest packets that pass which got no answer.",
        values: |path| large(path, |loss| loss.share),
    },
    Metric {
        name: "large_loss_low_ratio",
        kind: Kind::Gauge,
        help: "Lower end of the 95 % interval of large_loss_ratio.",
        values: |path| large(path, |loss| loss.low),
    },
    Metric {
        name: "large_loss_high_ratio",
        kind: Kind::Gauge,
        help: "Upper end of the 95 % interval of large_loss_ratio.",
        values: |path| large(path, |loss| loss.high),
    },
    Metric {
        name: "changes",
        kind: Kind::Counter,
        help: "Changes of what the path supports since the watch began.",
        values: |path| vec![("", path.changes as f64)],
    },
];

fn directions(path: &Watched) -> [(Direction, DirectionResult); 2] {
    let report = &path.report;
    [
        (Direction::Forward, report.forward),
        (Direction::Reverse, report.reverse),
    ]
}

fn one_way(path: &Watched, value: fn(&Loss) -> f64) -> Vec<(&'static str, f64)> {
    let known = directions(path)
        .into_iter()
        .filter_map(|(direction, found)| Some((direction.name(), value(found.loss.as_ref()?))));
    known.collect()
}

fn large(path: &Watched, value: fn(&Loss) -> f64) -> Vec<(&'static str, f64)> {
    let large = path.report.losses.last();
    large
        .map(|one| ("", value(&one.loss)))
        .into_iter()
        .collect()
}

/// All metrics of the paths.
pub(super) fn text(paths: &[Watched]) -> String {
    let mut text = Exposition::new("jumbolab_probe_");
    for metric in &METRICS {
        text.begin(metric.kind, metric.name, metric.help);
        for path in paths {
            let labels = path.labels.iter();
            let labels: Vec<(&str, &str)> = labels.map(|(name, value)| (*name, &**value)).collect();
            for (direction, value) in (metric.values)(path) {
                let direction = (!direction.is_empty()).then_some(("direction", direction));
                let labels: Vec<_> = labels.iter().copied().chain(direction).collect();
                text.sample(&labels, value);
            }
        }
    }
    text.end()
}

fn seconds(report: &PathReport) -> Vec<(&'static str, f64)> {
    let round_trip = report.round_trip.iter();
    round_trip.map(|span| ("", span.as_secs_f64())).collect()
}

fn bytes(size: Bytes) -> f64 {
    size.get() as f64
}
