//! Sizes that a search does not try, because it takes all sizes below one that passes for
//! passing: a path may lose a range of sizes.

use units::Span;

use super::super::asker::{Asker, Outcome};
use super::super::kind::{Kind, SMALL};
use super::super::search::Found;
use super::super::{Direction, Protocol, ReplySize};
use super::locate::{self, Boundary};
use super::{Reachability, Route, back, border};

/// Sizes at which links, tunnels, buffers and drivers often differ: what every host of IPv4
/// takes [RFC791 s3.1], what every link of IPv6 passes [RFC8200 s5], tunnels in Ethernet,
/// data of 1472 bytes and packets with so much data, PPPoE, Ethernet, buffers of 2, 4 and
/// 8 KiB, and jumbo frames.
pub(super) const SIZES: [u32; 12] = [
    576, 1280, 1380, 1420, 1472, 1474, 1492, 1500, 2047, 4095, 8191, 9000,
];

/// Probes of a size above the limit.
const ABOVE: u32 = 2;

/// Probes of a lost size some time later, which exclude a burst of losses.
const LATER: u32 = 4;

/// The time between packets whose losses are compared.
const APART: Span = Span::from_millis(2);

/// Packets of a larger size for each needed one of a lost size: their losses are compared.
const COMPARED: u32 = 2;

/// Sizes that are lost although smaller and larger ones pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct LostRange {
    /// The smallest and the largest of them.
    pub(in crate::machine) from: u32,
    pub(in crate::machine) to: u32,
    /// One of them that was probed most.
    pub(in crate::machine) inside: u32,
    /// The direction, if it is known.
    pub(in crate::machine) direction: Option<Direction>,
    /// The protocol, if another one delivers these sizes.
    pub(in crate::machine) only: Option<Protocol>,
    pub(in crate::machine) boundary: Boundary,
}

/// Larger sizes than a search found.
pub(super) enum Above {
    /// None passes, as far as is known.
    Same,
    /// The size that did not pass does so now.
    Changed,
    /// Larger ones pass.
    Larger(Found),
}

/// Probes known sizes above the limit that a search found: it may have ended at a range that
/// is lost. `None` while it is open.
pub(super) fn above(ask: &mut Asker<'_>, main: Kind, found: Found, up_to: u32) -> Option<Above> {
    let Some((fails, false)) = found.fails.filter(|_| can_try(ask, main)) else {
        return Some(Above::Same);
    };
    let sizes = SIZES
        .into_iter()
        .filter(|size| (fails + 1..up_to).contains(size));
    let outcomes: Vec<(u32, Outcome)> = sizes
        .map(|size| (size, ask.tries(main.with_size(size), ABOVE)))
        .collect();
    if outcomes.iter().any(|(_, one)| *one == Outcome::Open) {
        return None;
    }
    let passing = outcomes
        .iter()
        .rposition(|(_, one)| *one == Outcome::Passes);
    let Some(largest) = passing else {
        return Some(Above::Same);
    };
    let (passes, _) = outcomes[largest];
    let again = main.with_size(fails).once_more();
    match ask.passes(again, Some(main.with_size(passes))) {
        Outcome::Passes => return Some(Above::Changed),
        Outcome::Vanishes => {}
        Outcome::Open => return None,
        Outcome::Rejected | Outcome::Unclear => return Some(Above::Same),
    }
    let next = outcomes.get(largest + 1).map_or(up_to, |&(size, _)| size);
    // The search gave the whole size up after few losses, and went on below.
    match ask.passes(main.with_size(next), Some(main.with_size(passes))) {
        Outcome::Open => return None,
        Outcome::Passes => {
            let (mtu, fails) = (next, None);
            return Some(Above::Larger(Found { mtu, fails }));
        }
        Outcome::Rejected | Outcome::Vanishes | Outcome::Unclear => {}
    }
    let [mtu, fails] = border::between(ask, main, passes, next)?;
    Some(Above::Larger(Found {
        mtu,
        fails: Some((fails, false)),
    }))
}

/// Probes known sizes below `largest`, which passes in both directions, and looks for the
/// borders, the direction and the place of ranges that are lost. `None` while they are open.
pub(super) fn ranges(
    ask: &mut Asker<'_>,
    reach: &Reachability,
    main: Kind,
    largest: u32,
    route: &Route,
) -> Option<Vec<LostRange>> {
    if !can_try(ask, main) {
        return Some(Vec::new());
    }
    let kind = main.with_reply(ReplySize::Same);
    let mut ranges = Vec::new();
    for group in groups(ask, kind, largest)? {
        let Group {
            below,
            first,
            last,
            above,
        } = group;
        let [_, from] = border::between(ask, kind, below, first)?;
        let [_, to] = border::between(ask, kind, above, last)?;
        let range = LostRange {
            from,
            to,
            inside: first,
            direction: None,
            only: None,
            boundary: Boundary::default(),
        };
        ranges.push(placed(ask, reach, main, range, route));
    }
    // Their place comes before everything else that large packets are spent on.
    (ranges.is_empty() || !ask.is_open()).then_some(ranges)
}

/// Whether packets of a kind show ranges: their answers are not limited in rate.
fn can_try(ask: &Asker<'_>, main: Kind) -> bool {
    main.protocol != Protocol::Udp || ask.settings.reflector.is_there()
}

/// Known sizes in a row that are lost, between two that pass.
struct Group {
    below: u32,
    first: u32,
    last: u32,
    above: u32,
}

/// The known sizes below `largest`, each with the outcome of one packet.
fn once(ask: &mut Asker<'_>, kind: Kind, largest: u32) -> Vec<(u32, Outcome)> {
    let sizes = SIZES
        .into_iter()
        .filter(|&size| size > SMALL && size < largest);
    sizes
        .map(|size| (size, ask.tries(kind.with_size(size), 1)))
        .collect()
}

/// The known sizes that are lost; `None` while any is open.
fn groups(ask: &mut Asker<'_>, kind: Kind, largest: u32) -> Option<Vec<Group>> {
    let once = once(ask, kind, largest);
    let is_open = |all: &[(u32, Outcome)]| all.iter().any(|(_, one)| *one == Outcome::Open);
    if is_open(&once) {
        return None;
    }
    let again = once.iter().map(|&(size, outcome)| match outcome {
        Outcome::Unclear => (size, ask.seems_to_pass(kind.with_size(size))),
        outcome => (size, outcome),
    });
    let again: Vec<(u32, Outcome)> = again.collect();
    if is_open(&again) {
        return None;
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut below = SMALL;
    let mut lost: Vec<u32> = Vec::new();
    for (size, outcome) in again.into_iter().chain([(largest, Outcome::Passes)]) {
        match outcome {
            Outcome::Unclear => lost.push(size),
            Outcome::Passes => {
                if let (Some(&first), Some(&last)) = (lost.first(), lost.last())
                    && are_lost(ask, kind, [first, last], size)?
                {
                    groups.push(Group {
                        below,
                        first,
                        last,
                        above: size,
                    });
                }
                lost.clear();
                below = size;
            }
            Outcome::Open | Outcome::Rejected | Outcome::Vanishes => {}
        }
    }
    Some(groups)
}

/// Whether the first and the last of sizes that seem to be lost are, while a larger one
/// passes. `None` while it is open.
fn are_lost(ask: &mut Asker<'_>, kind: Kind, ends: [u32; 2], larger: u32) -> Option<bool> {
    let larger = kind.with_size(larger);
    let outcomes = ends.map(|size| ask.passes(kind.with_size(size), Some(larger)));
    if outcomes.contains(&Outcome::Open) {
        return None;
    }
    if outcomes != [Outcome::Vanishes; 2] {
        return Some(false);
    }
    is_lost_for_good(ask, kind.with_size(ends[0]), larger)
}

/// Whether packets of a kind that were all lost are lost some time later as well, and
/// larger ones are not lost as often. `None` while it is open.
fn is_lost_for_good(ask: &mut Asker<'_>, kind: Kind, larger: Kind) -> Option<bool> {
    let later = ask.tries(kind.once_more(), LATER);
    let most = COMPARED * ask.history.needed(ask.settings.false_alarm);
    let is_sent = ask.sends(larger, most, APART);
    if later == Outcome::Open || !is_sent {
        return None;
    }
    let [lost, again, others] =
        [kind, kind.once_more(), larger].map(|kind| ask.history.counts(kind));
    let chance = chance_of_all(lost.lost + again.lost, others.answered, others.lost);
    Some(later == Outcome::Unclear && chance < ask.settings.false_alarm)
}

/// The probability that the packets of one of two sizes are all lost by chance, if `answered`
/// and `others` of the other size were answered and lost: as many of all packets are lost
/// at random [Fisher1935].
fn chance_of_all(lost: u32, answered: u32, others: u32) -> f64 {
    let each = (0..lost).map(|drawn| {
        let left = f64::from(lost + others - drawn);
        left / (left + f64::from(answered))
    });
    each.product()
}

/// The range with its direction, its protocol and its place, as far as they are known.
fn placed(
    ask: &mut Asker<'_>,
    reach: &Reachability,
    main: Kind,
    range: LostRange,
    route: &Route,
) -> LostRange {
    let large = main.with_size(range.inside);
    let mut others = reach.answers.iter().filter(|&&one| one != main.protocol);
    let other = others.next().map(|&other| {
        let control = Kind::small(other);
        ask.passes(control.with_size(range.inside), Some(control))
    });
    if other == Some(Outcome::Passes) {
        let only = Some(main.protocol);
        return LostRange { only, ..range };
    }
    if main.reply == ReplySize::Small
        && ask.passes(large, Some(large.with_size(SMALL))) == Outcome::Passes
    {
        return LostRange {
            direction: Some(Direction::Reverse),
            boundary: back::walk(ask, range.inside, route),
            ..range
        };
    }
    let boundary = locate::walk(ask, large, route);
    let is_forward = main.protocol != Protocol::Icmp
        || boundary.first.is_some()
        || other.is_some_and(Outcome::fails);
    LostRange {
        direction: is_forward.then_some(Direction::Forward),
        boundary,
        ..range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_that_one_size_has_all_losses_is_that_of_drawing_them() {
        // 1 of 6 choose 3, and 4 choose 3 of 7 choose 6.
        assert!((chance_of_all(3, 3, 0) - 1.0 / 20.0).abs() < 1e-12);
        assert!((chance_of_all(3, 1, 3) - 4.0 / 7.0).abs() < 1e-12);
        assert!(chance_of_all(9, 10, 0) < 1e-4);
        assert!((chance_of_all(5, 0, 7) - 1.0).abs() < 1e-12);
    }
}
