//! Whether fragments pass, and whether the path fragments packets itself.

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};
use super::super::search::Found;
use super::super::{Protocol, ReplySize};
use super::{Reachability, Route};

/// The packet, and its largest fragment: both pass on every path of today.
const PACKET: u32 = 1000;
const FRAGMENT: u32 = 600;

/// All fragments but the last one have a multiple of so many bytes of data [RFC791 s3.2].
const FRAGMENT_UNIT: u32 = 8;

/// Large packets whose replies may arrive in fragments.
const LARGE: u32 = 2;

/// Whether a search ended at the size from which on the path fragments packets.
pub(in crate::machine) fn end_search(ask: &Asker<'_>, found: Found) -> bool {
    let fails = found.fails.map(|(fails, _)| fails);
    fails.is_some_and(|fails| ask.history.piece(fails).is_some())
}

/// The largest size up to what the search found that arrives whole at the last router that
/// answers, if a device on the way clears DF; `None` while it is open. A far end puts
/// fragments together and says nothing about them, but a router quotes the first one.
pub(in crate::machine) fn largest_whole(
    ask: &mut Asker<'_>,
    main: Kind,
    found: Found,
    route: &Route,
) -> Option<Found> {
    let cleared = ask.history.where_df_is_cleared();
    let last = route.routers.last().filter(|_| cleared.is_some());
    let Some(kind) = last.map(|&hop| main.with_hop_limit(hop)) else {
        return Some(found);
    };
    let Some(piece) = piece_of(ask, kind.with_size(found.mtu))? else {
        return Some(found);
    };
    let (mut whole, mut fails) = (piece, found.mtu.min(piece + FRAGMENT_UNIT));
    while whole + 1 < fails {
        let size = u32::midpoint(whole, fails);
        match piece_of(ask, kind.with_size(size))? {
            None => whole = size,
            Some(_) => fails = size,
        }
    }
    piece_of(ask, kind.with_size(fails))?;
    Some(Found {
        mtu: whole,
        fails: Some((fails, true)),
    })
}

/// The first fragment of packets of this kind, if they arrive in fragments; `None` while it
/// is open.
fn piece_of(ask: &mut Asker<'_>, kind: Kind) -> Option<Option<u32>> {
    match ask.passes(kind, Some(kind.with_size(SMALL))) {
        Outcome::Open => None,
        _ => Some(ask.history.piece(kind.size)),
    }
}

/// Whether routers alone tell that packets arrive in fragments: the far end does not.
pub(in crate::machine) fn are_quoted(ask: &Asker<'_>, found: Found) -> bool {
    end_search(ask, found) && !ask.settings.reflector.is_there()
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
