//! Whether a published change that is reproduced at one setting is so at others.
//!
//! One buffer and one congestion control can imitate a study by accident: a
//! bad slow start in a small buffer looks like the cost of small packets. So the reason
//! of a verdict says what other settings of the same run show; the verdict itself is
//! about its own setting.

use std::collections::BTreeSet;

use plan::setting::{Link, Sends, Traffic};
use plan::{Factors, Level, Plan, Setting};
use tcp::{Profile, Settings};
use units::Transport;

use super::Comparison;
use crate::verdict::Verdict;

/// The number of buffers, and of congestion controls, at which a change has to
/// hold.
const SETTINGS: usize = 2;

/// Adds to the reason of each verdict "reproduced" of one metric which other buffers
/// and congestion controls of the same run do not share it, or what would tell.
pub(super) fn check(plan: &Plan, comparisons: &mut [Comparison]) {
    let agreed: Vec<bool> = comparisons
        .iter()
        .map(|comparison| verdict(comparison) == Some(Verdict::Reproduced))
        .collect();
    for position in 0..comparisons.len() {
        if !agreed[position] {
            continue;
        }
        let this = &comparisons[position];
        let family: Vec<usize> = (0..comparisons.len())
            .filter(|&other| same_but_for_buffers(&this.factors, &comparisons[other].factors))
            .collect();
        let against = family
            .iter()
            .find(|&&other| !agreed[other])
            .map(|&other| &comparisons[other].factors);
        let settings = family
            .iter()
            .filter_map(|&other| plan.cells[comparisons[other].cell].setting.as_ref().ok());
        let reason = match (against, missing(settings)) {
            (Some(factors), _) => format!("not so at {factors}"),
            (None, Some(missing)) => {
                format!("at one setting only: {missing} would tell whether it survives")
            }
            (None, None) => continue,
        };
        if let Some(judgement) = &mut comparisons[position].judgement {
            judgement.reason = format!("{}; {reason}", judgement.reason);
        }
    }
}

fn verdict(comparison: &Comparison) -> Option<Verdict> {
    Some(comparison.judgement.as_ref()?.verdict)
}

/// The options to type so that a family of cells is large enough.
fn missing<'a>(settings: impl Iterator<Item = &'a Setting>) -> Option<String> {
    let settings: Vec<&Setting> = settings.collect();
    let of_links = |setting: &Setting| -> Vec<_> {
        let links = setting.network.links.iter();
        links.map(|link| link.buffer).collect()
    };
    let buffers: BTreeSet<_> = settings.iter().map(|setting| of_links(setting)).collect();
    let congestions: BTreeSet<_> = settings.iter().map(|one| &one.host.congestion).collect();
    let has_choice = settings.iter().any(|one| has_choice(&one.traffic));
    let mut wanted = Vec::new();
    if let Some(setting) = settings.first()
        && buffers.len() < SETTINGS
    {
        wanted.push(other_buffers(&setting.network.links));
    }
    if has_choice && congestions.len() < SETTINGS {
        wanted.push("--set host.congestion=cubic,reno".to_owned());
    }
    (!wanted.is_empty()).then(|| wanted.join(" "))
}

/// The option that gives the slowest link another buffer: the key of all links
/// if their buffers are equal, else its own.
fn other_buffers(links: &[Link]) -> String {
    let slowest = links.iter().filter(|link| link.rate.is_some());
    let slowest = slowest.min_by_key(|link| link.rate);
    let own = slowest.filter(|slowest| links.iter().any(|link| link.buffer != slowest.buffer));
    let key = own.map_or_else(
        || "network.buffer".to_owned(),
        |link| format!("links.{}.buffer", link.name),
    );
    match slowest.and_then(|link| link.impairments.packets) {
        Some(packets) => format!("--set {key}={packets}packets,{}packets", packets * 2),
        None => format!("--set {key}=100kB,500kB"),
    }
}

/// Whether some of the traffic can use another congestion control: ns-2's
/// agents support only one. The transport of the user's programs is unknown: it
/// may be TCP.
fn has_choice(traffic: &Traffic) -> bool {
    let is_standard = |tcp: &Settings| tcp.profile == Profile::Standard;
    match traffic {
        Traffic::Transfer(transfer) => {
            transfer.protocol == Transport::Tcp && transfer.tcp.as_ref().is_none_or(is_standard)
        }
        Traffic::Flows(flows) => flows.flows.iter().any(|flow| match &flow.sends {
            Sends::Datagrams { .. } => false,
            Sends::Messages { .. } => true,
            Sends::Bytes { settings, .. } => is_standard(settings),
        }),
        Traffic::Command(_) | Traffic::LatencyBreakdown(_) | Traffic::RequestResponse(_) => true,
        Traffic::Probe(_) => false,
    }
}

/// Whether two cells have the same factors except for buffers and congestion
/// control.
fn same_but_for_buffers(a: &Factors, b: &Factors) -> bool {
    let others = |factors: &Factors| -> Vec<(String, Level)> {
        let varied = |name: &str| {
            let key = name.rsplit('.').next().unwrap_or(name);
            key == "buffer" || key == "congestion"
        };
        let kept = factors.0.iter().filter(|(name, _)| !varied(name));
        kept.cloned().collect()
    };
    others(a) == others(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Experiment;
    use plan::Backend;

    #[test]
    fn what_is_to_be_typed_is_taken_by_the_experiment_and_makes_two_of_one() {
        for (name, words) in [
            // One narrow link, with agents of ns-2 and with TCP of the standards.
            (
                "aqm-congestion",
                "--set links.bottleneck.buffer=20packets,40packets",
            ),
            (
                "aqm-ablations",
                "--set links.bottleneck.buffer=20packets,40packets --set host.congestion=cubic,reno",
            ),
        ] {
            let plan = Experiment::load(name).unwrap();
            let plan = plan.plan(Backend::Sim, |_| Ok(())).unwrap();
            let asked = missing(plan.cells[0].setting.iter());
            assert_eq!(asked.as_deref(), Some(words), "{name}");
            let mut experiment = Experiment::load(name).unwrap();
            for set in words.split("--set ").filter(|set| !set.is_empty()) {
                experiment.set(set.trim()).unwrap();
            }
            let plan = experiment.plan(Backend::Sim, |_| Ok(())).unwrap();
            let rejected = plan
                .cells
                .iter()
                .find_map(|cell| cell.setting.as_ref().err());
            assert!(rejected.is_none(), "{name}: {rejected:?}");
            let first = &plan.cells[0].factors;
            let family = plan
                .cells
                .iter()
                .filter(|cell| same_but_for_buffers(first, &cell.factors));
            assert_eq!(
                missing(family.filter_map(|cell| cell.setting.as_ref().ok())),
                None,
                "{name}"
            );
        }
    }
}
