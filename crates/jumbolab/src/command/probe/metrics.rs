//! The state of watched paths in the text format of OpenMetrics [OpenMetrics].

use link::Direction;
use probe::machine::{DirectionResult, Loss, PathReport, Verdict};
use units::Bytes;

use super::super::openmetrics::{Exposition, Kind};
use super::watch::Path;

/// A metric: its name without the prefix, its type, unit and meaning, and its value for
/// a path and direction.
struct Metric {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    values: fn(&Path) -> Vec<(&'static str, f64)>,
}

const METRICS: [Metric; 9] = [
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
        help: "Size that the path should carry.",
        values: |path| vec![("", bytes(path.latest.report.asked))],
    },
    Metric {
        name: "clean",
        kind: Kind::Gauge,
        help: "1 if the path carries the size and nothing else is wrong with it, otherwise 0.",
        values: |path| {
            let is_clean = path.latest.report.verdict == Verdict::Clean;
            vec![("", f64::from(u8::from(is_clean)))]
        },
    },
    Metric {
        name: "round_trip_seconds",
        kind: Kind::Gauge,
        help: "Smallest round trip of small packets.",
        values: |path| seconds(&path.latest.report),
    },
    Metric {
        name: "loss_ratio",
        kind: Kind::Gauge,
        help: "Share of small packets without an answer.",
        values: |path| {
            let loss = path.latest.report.loss.iter();
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
        name: "changes",
        kind: Kind::Counter,
        help: "Changes of what the path carries since the watch began.",
        values: |path| vec![("", path.changes as f64)],
    },
];

fn directions(path: &Path) -> [(Direction, DirectionResult); 2] {
    let report = &path.latest.report;
    [
        (Direction::Forward, report.forward),
        (Direction::Reverse, report.reverse),
    ]
}

fn one_way(path: &Path, value: fn(&Loss) -> f64) -> Vec<(&'static str, f64)> {
    let known = directions(path)
        .into_iter()
        .filter_map(|(direction, found)| Some((direction.name(), value(found.loss.as_ref()?))));
    known.collect()
}

/// All metrics of the paths to a host.
pub(super) fn text(host: &str, paths: &[Path]) -> String {
    let mut text = Exposition::new("jumbolab_probe_");
    for metric in &METRICS {
        text.begin(metric.kind, metric.name, metric.help);
        for path in paths {
            let far_end = path.latest.report.far_end.to_string();
            for (direction, value) in (metric.values)(path) {
                let labels = [
                    ("host", host),
                    ("far_end", far_end.as_str()),
                    ("direction", direction),
                ];
                let of_both = usize::from(direction.is_empty());
                text.sample(&labels[..labels.len() - of_both], value);
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
