//! A last look, whether the path is still the same.

use super::super::asker::{Asker, Outcome};
use super::super::kind::Kind;
use super::super::search::Found;

/// Probes of the size that did not pass.
const ATTEMPTS: u32 = 3;

/// Whether the size that passed does so no longer, or the one that did not does so now.
pub(in crate::probe) fn walk(ask: &mut Asker<'_>, main: Kind, found: Found) -> bool {
    let passed = main.with_size(found.mtu).once_more();
    let still = ask.passes(passed, None);
    let now = found.fails.map(|(fails, _)| {
        let failed = main.with_size(fails).once_more();
        ask.tries(failed, ATTEMPTS)
    });
    still.fails() || now == Some(Outcome::Passes)
}
