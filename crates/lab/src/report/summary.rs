//! The answer first: what the highest level of the compared factor changes.

use model::Transport;
use units::{Bytes, Framing, IpMtu};

use crate::compare::{Comparison, Difference, baseline};
use crate::experiment::{Protocol, Setting};
use crate::plan::{Cell, Factors, Level, Plan};
use crate::report::figure;
use crate::report::grid::framing_uncounted;

/// What is said of each kind of cell, and in which words.
const ANSWERS: [(&str, &str); 2] = [("throughput", "goodput"), ("cpu_total", "CPU per gigabyte")];

/// A sentence for each combination of the other factors that was measured:
/// what the last level of the compared factor changes against its baseline,
/// and how much of that is arithmetic.
pub(super) fn sentences(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let Some(last) = last_level(plan) else {
        return Vec::new();
    };
    plan.cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.setting.is_ok() && is_last(plan, cell, &last))
        .filter_map(|(position, cell)| sentence(plan, comparisons, position, cell, &last))
        .collect()
}

/// The last level of the compared factor, unless it is the baseline.
fn last_level(plan: &Plan) -> Option<Level> {
    let mut levels = plan
        .cells
        .iter()
        .filter_map(|cell| cell.factors.level(&plan.compare.factor));
    levels
        .next_back()
        .filter(|level| **level != plan.compare.baseline)
        .cloned()
}

fn is_last(plan: &Plan, cell: &Cell, last: &Level) -> bool {
    cell.factors.level(&plan.compare.factor) == Some(last) && cell.factors.level("copy").is_none()
}

fn sentence(
    plan: &Plan,
    comparisons: &[Comparison],
    position: usize,
    cell: &Cell,
    last: &Level,
) -> Option<String> {
    let answers: Vec<String> = ANSWERS
        .iter()
        .filter_map(|(metric, words)| {
            let of_cell =
                |other: &&Comparison| other.cell == position && other.metric.name == *metric;
            let comparison = comparisons.iter().find(of_cell)?;
            let mut answer = answer(words, comparison)?;
            if *metric == "throughput"
                && let Some(percent) = framing_gain(plan, cell)
            {
                answer += &format!(" (headers and framing alone: {percent:+.1} %)");
            }
            Some(answer)
        })
        .collect();
    let factor = &plan.compare.factor;
    let comparison = format!("{factor} {last} against {}", plan.compare.baseline);
    let kind = others(plan, &cell.factors);
    (!answers.is_empty()).then(|| format!("{kind}{comparison}: {}.", answers.join(", ")))
}

/// One metric in words; nothing where nothing was measured.
fn answer(words: &str, comparison: &Comparison) -> Option<String> {
    let change = figure::change(comparison);
    match comparison.difference? {
        Difference::Found => Some(format!("{words} {change} %")),
        Difference::NotFound => Some(format!("{words}: no difference found ({change} %)")),
        Difference::Unknown => Some(format!("{words}: too few trials")),
    }
}

/// The other factors of a cell that tell it from other measured cells.
fn others(plan: &Plan, factors: &Factors) -> String {
    let measured = || plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let told: Vec<String> = factors
        .0
        .iter()
        .filter(|(name, level)| {
            *name != plan.compare.factor
                && measured().any(|cell| cell.factors.level(name) != Some(level))
        })
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("With {}, ", told.join(", ")),
    }
}

/// What the smaller share of headers and framing gives by itself, in per
/// cent, where both cells have the same slowest link and its bucket counts
/// every frame.
fn framing_gain(plan: &Plan, cell: &Cell) -> Option<f64> {
    let of_baseline = &plan.cells[baseline(plan, &cell.factors)?];
    let (after, before) = (
        cell.setting.as_ref().ok()?,
        of_baseline.setting.as_ref().ok()?,
    );
    if framing_uncounted(after).is_some() {
        return None;
    }
    let slowest = |setting: &Setting| {
        setting
            .network
            .links
            .iter()
            .filter_map(|link| link.rate)
            .min()
    };
    (slowest(after)? == slowest(before)?)
        .then(|| Some(100.0 * (efficiency(after)? / efficiency(before)? - 1.0)))?
}

/// The share of the wire's octets that is payload, in full packets.
fn efficiency(setting: &Setting) -> Option<f64> {
    let network = &setting.network;
    let mtu: IpMtu = network.links.iter().map(|link| link.mtu).min()?;
    let (payload, wire): (Bytes, Bytes) = match setting.traffic.protocol {
        Protocol::Tcp => (
            model::payload_per_packet(mtu, network.ip, Transport::Tcp)?,
            Framing::Ethernet.wire_size(mtu.bytes()),
        ),
        Protocol::Udp => {
            let message = setting.traffic.message;
            (
                message,
                model::message_wire_size(message, mtu, network.ip, Framing::Ethernet),
            )
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "sizes of packets")]
    Some(payload.get() as f64 / wire.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::compare::synthetic::study;

    #[test]
    fn the_answer_is_a_sentence_for_each_kind_that_was_measured() {
        let (plan, trials) = study();
        let sentences = sentences(&plan, &compare(&plan, &trials));
        assert_eq!(
            sentences,
            [
                "With offloads off, mtu 9000 against 1500: goodput +4.3 [3.6, 5.0] % (headers and framing alone: +6.4 %).",
                "With offloads on, mtu 9000 against 1500: goodput: no difference found (-0.1 [-0.8, 0.6] %).",
            ]
        );
    }
}
