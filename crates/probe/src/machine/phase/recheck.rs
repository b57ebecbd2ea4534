//! Another look, whether the path is still the same: at the end, and where the size that
//! passed does so for some probes only.

use super::super::Target;
use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, Purpose};
use super::super::search::Found;

/// Probes of the size that did not pass.
const ATTEMPTS: u32 = 3;

/// Lost probes of a kind that is to pass, after which the path may have changed.
const DOUBTS: u32 = 2;

/// Whether the size that passed does so no longer, or the one that did not does so now.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>, main: Kind, found: Found) -> bool {
    let still = still_passes(ask, main, found);
    let now = found.fails.map(|(fails, _)| {
        let failed = main.with_size(fails).once_more();
        ask.tries(failed, ATTEMPTS)
    });
    still.fails() || now == Some(Outcome::Passes)
}

/// Whether the size that passed still does. A router may reject a packet and forward it: a
/// message counts when a second packet was sent, and the answer of the first had its time.
pub(in crate::machine) fn still_passes(ask: &mut Asker<'_>, main: Kind, found: Found) -> Outcome {
    let again = main.with_size(found.mtu).once_more();
    let outcome = ask.passes(again, None);
    if outcome == Outcome::Rejected && !ask.sends(again, 2, ask.history.timeout()) {
        return Outcome::Open;
    }
    outcome
}

/// Whether packets of the size that passed are lost on other flows or by other protocols.
pub(in crate::machine) fn is_doubted(ask: &Asker<'_>, found: Found) -> bool {
    let is_like = |kind: &Kind| {
        let is_whole = kind.fragment_size.is_none() && kind.hop_limit.is_none();
        kind.size == found.mtu
            && kind.to == Target::FarEnd
            && is_whole
            && kind.purpose == Purpose::Question
    };
    let mut all = ask.history.all_counts();
    all.any(|(kind, counts)| is_like(&kind) && counts.answered == 0 && counts.counted >= DOUBTS)
}
