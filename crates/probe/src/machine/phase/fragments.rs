//! Whether fragments pass, and whether the path fragments packets itself.

use super::super::asker::{Asker, Outcome};
use super::super::kind::Kind;
use super::super::search::Found;
use super::super::{Protocol, ReplySize};
use super::Reachability;

/// The packet, and its largest fragment: both pass on every path of today.
const PACKET: u32 = 1000;
const FRAGMENT: u32 = 600;

/// Large packets whose replies may arrive in fragments.
const LARGE: u32 = 2;

/// Whether a search ended at the size from which on the path fragments packets.
pub(in crate::machine) fn end_search(ask: &Asker<'_>, found: Found) -> bool {
    let fails = found.fails.map(|(fails, _)| fails);
    fails.is_some_and(|fails| ask.history.piece(fails).is_some())
}

/// Asks for replies as large as packets that arrive in fragments: these show whether the
/// reverse path fragments as well.
pub(in crate::machine) fn ask_for_large_replies(ask: &mut Asker<'_>, main: Kind, up_to: u32) {
    let large = main.with_size(up_to).with_reply(ReplySize::Same);
    ask.tries(large, LARGE);
}

/// Sends a packet in fragments, which are small enough for any link.
pub(in crate::machine) fn walk(ask: &mut Asker<'_>, reach: &Reachability) -> Outcome {
    let by = [Protocol::Icmp, Protocol::Udp];
    let is_of_use = |one: &Protocol| reach.answers.contains(one) && !ask.history.is_limited(*one);
    let by = by.into_iter().find(is_of_use);
    match by {
        Some(protocol) if ask.settings.can_fragment => {
            let small = Kind::small(protocol);
            let kind = small.with_size(PACKET).in_fragments_of(FRAGMENT);
            ask.passes(kind, Some(small))
        }
        _ => Outcome::Unclear,
    }
}
