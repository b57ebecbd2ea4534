//! The experiments that are part of the program.

use super::Experiment;
use super::tree::Value;

/// A commented experiment to start from.
pub const TEMPLATE: &str = include_str!("../../../experiments/template.toml");

/// Names and texts, in the order of `jumbolab list`.
const SHIPPED: &[(&str, &str)] = &[
    (
        "os-comparison",
        include_str!("../../../experiments/os-comparison.toml"),
    ),
    (
        "jumbo-at-distance",
        include_str!("../../../experiments/jumbo-at-distance.toml"),
    ),
    (
        "mtu-and-queues",
        include_str!("../../../experiments/mtu-and-queues.toml"),
    ),
    (
        "red-increase",
        include_str!("../../../experiments/red-increase.toml"),
    ),
    (
        "red-decrease",
        include_str!("../../../experiments/red-decrease.toml"),
    ),
    (
        "kernel-and-simulator",
        include_str!("../../../experiments/kernel-and-simulator.toml"),
    ),
    (
        "red-claims",
        include_str!("../../../experiments/red-claims.toml"),
    ),
    (
        "aqm-congestion",
        include_str!("../../../experiments/aqm-congestion.toml"),
    ),
    (
        "jumbogen-scaling",
        include_str!("../../../experiments/jumbogen-scaling.toml"),
    ),
    (
        "aqm-readings",
        include_str!("../../../experiments/aqm-readings.toml"),
    ),
    (
        "aqm-ablations",
        include_str!("../../../experiments/aqm-ablations.toml"),
    ),
    (
        "buffer-sizing",
        include_str!("../../../experiments/buffer-sizing.toml"),
    ),
    (
        "mtu-and-loss",
        include_str!("../../../experiments/mtu-and-loss.toml"),
    ),
    (
        "jumbogram-throughput",
        include_str!("../../../experiments/jumbogram-throughput.toml"),
    ),
    (
        "jumbogram-ditg",
        include_str!("../../../experiments/jumbogram-ditg.toml"),
    ),
    (
        "jumbogram-simulated",
        include_str!("../../../experiments/jumbogram-simulated.toml"),
    ),
    (
        "jumbogram-files",
        include_str!("../../../experiments/jumbogram-files.toml"),
    ),
    (
        "latency-breakdown",
        include_str!("../../../experiments/latency-breakdown.toml"),
    ),
    (
        "rtt-by-packet-size",
        include_str!("../../../experiments/rtt-by-packet-size.toml"),
    ),
    (
        "hops-and-load",
        include_str!("../../../experiments/hops-and-load.toml"),
    ),
    ("stall", include_str!("../../../experiments/stall.toml")),
    (
        "jumbograms",
        include_str!("../../../experiments/jumbograms.toml"),
    ),
    (
        "rtt-under-load",
        include_str!("../../../experiments/rtt-under-load.toml"),
    ),
    (
        "fragmentation",
        include_str!("../../../experiments/fragmentation.toml"),
    ),
    (
        "receiver-timer",
        include_str!("../../../experiments/receiver-timer.toml"),
    ),
    ("replay", include_str!("../../../experiments/replay.toml")),
];

/// A shipped experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name for `run`.
    pub name: &'static str,
    /// The question, in one line.
    pub title: String,
}

/// All shipped experiments.
pub fn shipped() -> impl Iterator<Item = Shipped> {
    SHIPPED.iter().map(|&(name, text)| {
        let experiment = Experiment::parse(text, name).ok();
        let title = experiment.and_then(|experiment| {
            let title = &experiment.tree.get("title")?.value;
            match title {
                Value::Text(title) => Some(title.clone()),
                _ => None,
            }
        });
        Shipped {
            name,
            title: title.unwrap_or_default(),
        }
    })
}

/// The shipped experiment of this name.
pub(super) fn text(name: &str) -> Option<(&'static str, &'static str)> {
    SHIPPED.iter().find(|(other, _)| *other == name).copied()
}

impl Shipped {
    /// The entry as one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::json!({ "name": self.name, "title": self.title }).to_string()
    }
}
