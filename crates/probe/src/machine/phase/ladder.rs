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
const SIZES: [u32; 12] = [
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
/// is lost.
pub(super) fn above(ask: &mut Asker<'_>, main: Kind, found: Found, up_to: u32) -> Above {
    let Some((fails, false)) = found.fails.filter(|_| can_try(ask, main)) else {
        return Above::Same;
    };
    let sizes = SIZES
        .into_iter()
        .filter(|size| (fails + 1..up_to).contains(size));
    let outcomes: Vec<(u32, Outcome)> = sizes
        .map(|size| (size, ask.tries(main.with_size(size), ABOVE)))
        .collect();
    let Some(largest) = outcomes
        .iter()
        .rposition(|(_, one)| *one == Outcome::Passes)
    else {
        return Above::Same;
    };
    let (passes, _) = outcomes[largest];
    let again = main.with_size(fails).once_more();
    match ask.passes(again, Some(main.with_size(passes))) {
        Outcome::Passes => return Above::Changed,
        Outcome::Vanishes => {}
        Outcome::Open | Outcome::Rejected | Outcome::Unclear => return Above::Same,
    }
    let next = outcomes.get(largest + 1).map_or(up_to, |&(size, _)| size);
    match border::between(ask, main, passes, next) {
        Some([mtu, fails]) => Above::Larger(Found {
            mtu,
            fails: Some((fails, false)),
        }),
        None => Above::Same,
    }
}

/// Probes known sizes below `largest`, which passes in both directions, and looks for the
/// borders, the direction and the place of ranges that are lost.
pub(super) fn ranges(
    ask: &mut Asker<'_>,
    reach: &Reachability,
    main: Kind,
    largest: u32,
    route: &Route,
) -> Vec<LostRange> {
    if !can_try(ask, main) {
        return Vec::new();
    }
    let kind = main.with_reply(ReplySize::Same);
    let mut ranges = Vec::new();
    for group in groups(ask, kind, largest) {
        let Group {
            below,
            first,
            last,
            above,
        } = group;
        let lower = border::between(ask, kind, below, first);
        let upper = border::between(ask, kind, above, last);
        if let (Some([_, from]), Some([_, to])) = (lower, upper) {
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
    }
    ranges
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

/// The known sizes that are lost; none while any is open.
fn groups(ask: &mut Asker<'_>, kind: Kind, largest: u32) -> Vec<Group> {
    let sizes = SIZES
        .into_iter()
        .filter(|&size| size > SMALL && size < largest);
    let once: Vec<(u32, Outcome)> = sizes
        .map(|size| (size, ask.tries(kind.with_size(size), 1)))
        .collect();
    let is_open = |all: &[(u32, Outcome)]| all.iter().any(|(_, one)| *one == Outcome::Open);
    if is_open(&once) {
        return Vec::new();
    }
    let passing = |&(size, one): &(u32, Outcome)| (one == Outcome::Passes).then_some(size);
    let mut decided = Vec::new();
    for (place, &(size, outcome)) in once.iter().enumerate() {
        let larger = once[place..].iter().find_map(passing).unwrap_or(largest);
        decided.push(match outcome {
            Outcome::Unclear => {
                let control = kind.with_size(larger);
                (size, ask.passes(kind.with_size(size), Some(control)))
            }
            outcome => (size, outcome),
        });
    }
    if is_open(&decided) {
        return Vec::new();
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut below = SMALL;
    let mut lost: Vec<u32> = Vec::new();
    for (size, outcome) in decided.into_iter().chain([(largest, Outcome::Passes)]) {
        match outcome {
            Outcome::Vanishes => lost.push(size),
            Outcome::Passes => {
                if let (Some(&first), Some(&last)) = (lost.first(), lost.last())
                    && is_lost_for_good(ask, kind.with_size(first), kind.with_size(size))
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
            Outcome::Open | Outcome::Rejected | Outcome::Unclear => {}
        }
    }
    groups
}

/// Whether packets of a kind that were all lost are lost some time later as well, and
/// larger ones are not lost as often. `false` while it is open.
fn is_lost_for_good(ask: &mut Asker<'_>, kind: Kind, larger: Kind) -> bool {
    let later = ask.tries(kind.once_more(), LATER);
    let needed = ask.history.needed(ask.settings.false_alarm);
    let is_sent = ask.sends(larger, COMPARED * needed, APART);
    if later != Outcome::Unclear || !is_sent {
        return false;
    }
    let counts = ask.history.counts(larger);
    let lost = ask.history.counts(kind).lost + ask.history.counts(kind.once_more()).lost;
    let chance = chance_of_all(lost, counts.answered, counts.lost);
    chance < ask.settings.false_alarm
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
