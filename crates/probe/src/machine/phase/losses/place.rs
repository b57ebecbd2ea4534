//! The place of a break of losses: the size from which on packets are lost, and the
//! direction that loses them.

use super::super::super::asker::Asker;
use super::super::super::loss_by_size::{SizeCounts, chance_of_more, place_of_break, sides};
use super::super::super::{Direction, ReplySize};
use super::super::ladder;
use super::budget::is_spent;
use super::{Losses, count};

/// Packets of one size at a time where the place of a break is looked for, and at most.
const AT_ONCE: u32 = 8;
const MOST_OF_SIZE: u32 = 40;

/// The ratio of likelihoods at which a size is on one side of a break [Wald1945].
const SURE: f64 = 300.0;

/// Packets with small answers at a time, which show the direction, and the accepted
/// probability of a wrong one.
pub(super) const OF_DIRECTION: u32 = 24;
const FALSE_DIRECTION: f64 = 0.01;

/// Narrows the place of the break down: the sizes between are divided, and packets of each
/// are sent until they are like those on one side. `None` while packets are under way.
pub(super) fn locate(ask: &mut Asker<'_>, losses: &mut Losses) -> Option<()> {
    while let Some(place) = place_of_break(&losses.counts) {
        let [low, high] = [place - 1, place].map(|index| losses.counts[index].size);
        if high - low <= 1 {
            break;
        }
        let [below, above] = sides(&losses.counts, place).map(SizeCounts::rate);
        let kind = losses.kind.with_size(between(low, high));
        let sent = ask.history.counts(kind).sent;
        let number = match is_spent(ask) {
            true => sent,
            false => sent.next_multiple_of(AT_ONCE).max(AT_ONCE),
        };
        if !ask.interleaves(&[(kind, number)]) {
            return None;
        }
        let Some(counts) = count(ask, losses.kind, kind.size) else {
            break;
        };
        let ratio = counts.log_likelihood(above) - counts.log_likelihood(below);
        let is_like_one = ratio.abs() >= libm::log(SURE) || number >= MOST_OF_SIZE;
        if !is_like_one && !is_spent(ask) {
            ask.interleaves(&[(kind, number + AT_ONCE)]);
            return None;
        }
        losses.counts.insert(place, counts);
    }
    Some(())
}

/// A size between two: one that links and tunnels often have, or the middle.
fn between(low: u32, high: u32) -> u32 {
    let known = ladder::SIZES.into_iter();
    let known = known.filter(|&size| low < size && size < high);
    let middle = u32::midpoint(low, high);
    known
        .min_by_key(|size| size.abs_diff(middle))
        .unwrap_or(middle)
}

/// The direction that loses large packets: those with small answers show the loss of the
/// forward one. `None` while packets are under way.
pub(super) fn direction(ask: &mut Asker<'_>, losses: &Losses) -> Option<Option<Direction>> {
    let forward = losses.kind.with_reply(ReplySize::Small);
    let size = losses.size_of_direction();
    let both = count(ask, losses.kind, size)?;
    let [small, _] = sides(&losses.counts, 1);
    let looks = (both.sent / OF_DIRECTION).max(2);
    let accepted = FALSE_DIRECTION / f64::from(looks);
    for look in 1..=looks {
        if !ask.interleaves(&[(forward.with_size(size), look * OF_DIRECTION)]) {
            return None;
        }
        let one = count(ask, forward, size)?;
        let pairs = [(small, one), (one, both)];
        let loses = pairs.map(|(less, more)| chance_of_more(less, more) < accepted);
        match loses {
            [true, false] => return Some(Some(Direction::Forward)),
            [false, true] => return Some(Some(Direction::Reverse)),
            [true, true] => break,
            [false, false] if is_spent(ask) => break,
            [false, false] => {}
        }
    }
    Some(None)
}

impl Losses {
    /// The size whose packets show the direction: the smallest one behind the break, if as
    /// many are counted as of the largest one.
    pub(super) fn size_of_direction(&self) -> u32 {
        let [.., largest] = self.counts.as_slice() else {
            return self.kind.size;
        };
        let place = place_of_break(&self.counts);
        let smallest = place.map(|place| self.counts[place]);
        let counted = smallest.filter(|one| one.sent >= largest.sent);
        counted.unwrap_or(*largest).size
    }
}
