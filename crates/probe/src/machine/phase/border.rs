//! The border between sizes that pass and sizes that do not, by bisection.

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};

/// Narrows the sizes of a `kind` down between one that passes and one that does not, of which
/// either may be the larger one. They differ by one in the result, unless losses leave it
/// open. `None` while packets are under way.
///
/// A bisection by few packets may take a size that passes for one that does not, and ends
/// just there then. Its result is probed in full; if it passes, the bisection begins anew,
/// and knows that.
pub(super) fn between(
    ask: &mut Asker<'_>,
    kind: Kind,
    passes: u32,
    fails: u32,
) -> Option<[u32; 2]> {
    let control = Some(kind.with_size(SMALL));
    loop {
        let [largest, first] = bisected(ask, kind, passes, fails)?;
        // What failed before the bisection may pass by now: then nothing is left to divide.
        if first == fails {
            return Some([largest, first]);
        }
        match ask.passes(kind.with_size(first), control) {
            Outcome::Passes => {}
            Outcome::Open => return None,
            Outcome::Rejected | Outcome::Vanishes | Outcome::Unclear => {
                return Some([largest, first]);
            }
        }
    }
}

fn bisected(ask: &mut Asker<'_>, kind: Kind, mut passes: u32, mut fails: u32) -> Option<[u32; 2]> {
    while passes.abs_diff(fails) > 1 {
        let middle = u32::midpoint(passes, fails);
        match ask.seems_to_pass(kind.with_size(middle)) {
            Outcome::Passes => passes = middle,
            Outcome::Rejected | Outcome::Vanishes | Outcome::Unclear => fails = middle,
            Outcome::Open => return None,
        }
    }
    Some([passes, fails])
}
