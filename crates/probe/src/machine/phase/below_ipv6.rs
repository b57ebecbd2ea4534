//! Paths on which packets of the size that IPv6 requires of each link do not pass
//! [RFC8200 s5]: no discovery goes below that size [RFC8899 s5.1.2].

use units::IpVersion;

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};
use super::super::search::Found;
use super::border;

/// Probes of the required size without a reply after which smaller ones are looked at.
const DOUBTS: u32 = 2;

/// The largest size up to that of `kind` that passes, also if that is less than IPv6
/// requires. `None` while it is open, or if none passes.
pub(super) fn search(ask: &mut Asker<'_>, kind: Kind) -> Option<Found> {
    let required = IpVersion::V6.smallest_mtu();
    let of_required = kind.with_size(required);
    let counts = ask.history.counts(of_required);
    let is_doubted = counts.answered == 0 && counts.lost + counts.rejected >= DOUBTS;
    if ask.settings.version() != IpVersion::V6 || !is_doubted {
        return ask.search(kind);
    }
    match ask.passes(of_required, Some(kind.with_size(SMALL))) {
        Outcome::Passes | Outcome::Unclear => ask.search(kind),
        Outcome::Open => None,
        Outcome::Rejected | Outcome::Vanishes => {
            let [mtu, fails] = border::between(ask, kind, SMALL, required)?;
            let is_rejected = ask.history.counts(kind.with_size(fails)).rejected > 0;
            let fails = Some((fails, is_rejected));
            Some(Found { mtu, fails })
        }
    }
}
