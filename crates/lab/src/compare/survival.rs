//! A published change counts as reproduced only if it survives.
//!
//! One buffer and one congestion control can imitate a study by accident: a
//! bad slow start in a small buffer looks like the cost of small packets. So
//! what agrees at one setting is asked at others, if the run has them.

use std::collections::BTreeSet;

use super::Comparison;
use crate::experiment::{Protocol, Setting};
use crate::plan::{Factors, Level, Plan};
use crate::verdict::{Judgement, Verdict};

/// How many buffers, and congestion controls, a change has to survive.
const SETTINGS: usize = 2;

/// Takes back each verdict "reproduced" of one metric that other buffers and
/// congestion controls of the same run do not share, or do not exist to share.
pub(super) fn ask(plan: &Plan, comparisons: &mut [Comparison]) {
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
            (Some(factors), _) => format!(
                "size and sign agree here, but not at {factors}: it does not survive another setting"
            ),
            (None, Some(missing)) => format!(
                "size and sign agree, but at one setting only; {missing} would tell whether it survives"
            ),
            (None, None) => continue,
        };
        comparisons[position].judgement = Some(Judgement {
            verdict: Verdict::DirectionOnly,
            reason,
        });
    }
}

fn verdict(comparison: &Comparison) -> Option<Verdict> {
    Some(comparison.judgement.as_ref()?.verdict)
}

/// What has to be typed so that a family of cells is large enough.
fn missing<'a>(settings: impl Iterator<Item = &'a Setting>) -> Option<String> {
    let (mut buffers, mut congestions, mut tcp) = (BTreeSet::new(), BTreeSet::new(), false);
    for setting in settings {
        let links = &setting.network.links;
        buffers.insert(links.iter().map(|link| link.buffer).collect::<Vec<_>>());
        congestions.insert(&setting.host.congestion);
        // What a program of the user's speaks is not known: it may be TCP.
        let transfer = setting.traffic.transfer();
        tcp |= transfer.is_none_or(|transfer| transfer.protocol == Protocol::Tcp);
    }
    let mut wanted = Vec::new();
    if buffers.len() < SETTINGS {
        wanted.push("--set network.buffer=100kB,500kB");
    }
    if tcp && congestions.len() < SETTINGS {
        wanted.push("--set host.congestion=cubic,reno");
    }
    (!wanted.is_empty()).then(|| wanted.join(" "))
}

/// Whether two cells have the same factors but for buffers and congestion control.
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
