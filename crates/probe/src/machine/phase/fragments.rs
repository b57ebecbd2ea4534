//! Whether fragments pass.

use super::super::Protocol;
use super::super::asker::{Asker, Outcome};
use super::super::kind::Kind;
use super::Reachability;

/// The packet, and its largest fragment: both pass on every path of today.
const PACKET: u32 = 1000;
const FRAGMENT: u32 = 600;

/// Sends a packet in fragments, which are small enough for any link.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>, reach: &Reachability) -> Outcome {
    let by = [Protocol::Icmp, Protocol::Udp];
    let by = by.into_iter().find(|one| reach.answers.contains(one));
    match by {
        Some(protocol) if ask.settings.can_fragment => {
            let small = Kind::small(protocol);
            let kind = small.with_size(PACKET).in_fragments_of(FRAGMENT);
            ask.passes(kind, Some(small))
        }
        _ => Outcome::Unclear,
    }
}
