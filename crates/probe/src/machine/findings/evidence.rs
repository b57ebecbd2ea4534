//! The probes that show a finding.

use std::collections::BTreeMap;

use super::super::kind::{Kind, Purpose, bytes};
use super::super::{Evidence, Protocol, Target};
use super::Facts;

/// The most entries for one finding.
const MOST: usize = 64;

impl Facts<'_> {
    /// The outcomes of the probes that were sent of the kinds that `is_shown` picks.
    pub(super) fn evidence(&self, is_shown: impl Fn(&Kind) -> bool) -> Vec<Evidence> {
        let mut outcomes: BTreeMap<_, Evidence> = BTreeMap::new();
        for (kind, counts) in self.history.all_counts() {
            if counts.sent == 0 || !is_shown(&kind) {
                continue;
            }
            // The probes of a kind are evidence, whatever they were sent for.
            let kind = kind.with_purpose(Purpose::Question);
            let one = outcomes.entry(kind).or_insert_with(|| empty(kind));
            one.sent += counts.sent;
            one.answered += counts.answered;
            one.rejected += counts.rejected;
        }
        outcomes.into_values().take(MOST).collect()
    }

    /// Whole packets of one protocol and some sizes, wherever they were sent to.
    pub(super) fn sizes(&self, protocol: Protocol, sizes: &[u32]) -> Vec<Evidence> {
        self.evidence(|kind| {
            let is_whole = kind.fragment_size.is_none();
            is_whole && kind.protocol == protocol && kind.flow == 0 && sizes.contains(&kind.size)
        })
    }
}

fn empty(kind: Kind) -> Evidence {
    Evidence {
        protocol: kind.protocol,
        size: bytes(kind.size),
        hop_limit: kind.hop_limit,
        router: match kind.to {
            Target::FarEnd => None,
            Target::Router(address) => Some(address),
        },
        flow: kind.flow,
        fragments: kind.fragment_size.is_some(),
        sent: 0,
        answered: 0,
        rejected: 0,
    }
}
