//! The border between sizes that pass and sizes that do not, by bisection.

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};

/// Narrows the sizes of a `kind` down between one that passes and one that does not, of which
/// either may be the larger one. They differ by one in the result, unless losses leave it
/// open. `None` while packets are under way.
pub(super) fn between(
    ask: &mut Asker<'_>,
    kind: Kind,
    mut passes: u32,
    mut fails: u32,
) -> Option<[u32; 2]> {
    let control = kind.with_size(SMALL);
    while passes.abs_diff(fails) > 1 {
        let middle = u32::midpoint(passes, fails);
        match ask.passes(kind.with_size(middle), Some(control)) {
            Outcome::Passes => passes = middle,
            Outcome::Rejected | Outcome::Vanishes => fails = middle,
            Outcome::Open => return None,
            Outcome::Unclear => break,
        }
    }
    Some([passes, fails])
}
