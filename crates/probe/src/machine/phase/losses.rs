//! The loss of packets by their size: small, standard, middle and large ones, in a random
//! order.

mod budget;
mod place;

use super::super::asker::{Asker, Outcome};
use super::super::history::share;
use super::super::kind::{Kind, SMALL};
use super::super::loss_by_size::{SizeCounts, chance_of_more, is_uneven, sides};
use super::super::{Direction, Protocol, ReplySize};
use budget::{STANDARD, Shares, affordable, first_large};
use place::{direction, locate};

/// Large packets after which the first look ends if some are lost.
const FEW: u32 = 24;

/// The probability that losses at all sizes are alike below which more looks follow the second
/// one at once, and its part at each further look.
const IN_DOUBT: f64 = 0.05;
const LESS_IN_DOUBT: f64 = 0.2;

/// Packets of a size that seems not to pass, at most and at least. If one in six passes, as
/// where 60 % of the packets are lost in each direction, 24 are lost in 1 of 80
/// investigations.
const CONFIRM: [u32; 2] = [6, 24];

/// The same where errors are the answers. The far end may have sent some just before: then it
/// sends fewer than expected at first.
const CONFIRM_BY_ERRORS: u32 = 8;

/// One of so many bytes of an investigation may go to them.
const OF_CONFIRM: u64 = 16;

/// Losses by size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Losses {
    /// Packets of this kind, but for their size.
    pub(in crate::machine) kind: Kind,
    /// The smallest size first.
    pub(in crate::machine) counts: Vec<SizeCounts>,
    /// The number of looks at the counts, and the packets of each size for the latest one.
    looks: u32,
    sent: [u32; 4],
    /// Whether larger packets are lost more often.
    pub(in crate::machine) is_uneven: bool,
    /// The direction that loses them, if a reflector tells it.
    pub(in crate::machine) direction: Option<Direction>,
    /// Whether the largest packets passed first and were all lost then.
    pub(in crate::machine) has_changed: bool,
}

/// Whether losses of packets of this kind can be counted: their answers are not limited in
/// rate, and the largest size that passes is not a small one.
pub(in crate::machine) fn can_count(ask: &Asker<'_>, main: Kind, largest: u32) -> bool {
    let is_limited = ask.history.is_limited(main.protocol) || is_answered_by_errors(ask, main);
    !is_limited && largest > SMALL + 1
}

/// Whether packets of this kind are answered by errors, which all systems limit in rate.
fn is_answered_by_errors(ask: &Asker<'_>, kind: Kind) -> bool {
    kind.protocol == Protocol::Udp && !ask.settings.reflector.is_there()
}

/// First looks at losses up to the largest size that passes: one if no large packet is lost,
/// and more at twice as many packets each while it is in doubt whether large ones are lost
/// more often. `None` while they are open.
pub(in crate::machine) fn first_looks(
    ask: &mut Asker<'_>,
    main: Kind,
    largest: u32,
) -> Option<Losses> {
    let few = first_large(ask, largest, Shares::FEW).min(FEW);
    let numbers = Shares::FEW.below(largest).numbers(few);
    let first = look(ask, main, largest, 1, numbers)?;
    if first.is_uneven || first.has_changed || first.is_lossless() {
        return Some(first);
    }
    let numbers = Shares::MANY.below(largest).numbers(few);
    let mut losses = look(ask, main, largest, 2, numbers)?;
    while losses.is_in_doubt() {
        let (numbers, is_last) = affordable(ask, main, largest, &losses);
        losses = losses.next(ask, main, largest, numbers)?;
        if is_last {
            break;
        }
    }
    Some(losses)
}

/// Further looks at twice as many packets each, until the interval is narrow enough or the
/// packets are spent; then the direction and the place of a break. `None` while it is open.
pub(in crate::machine) fn further_looks(
    ask: &mut Asker<'_>,
    main: Kind,
    largest: u32,
    first: &Losses,
) -> Option<Losses> {
    let mut losses = first.clone();
    while !losses.has_changed && !losses.is_narrow(ask.settings.loss_interval) {
        let (numbers, is_last) = match losses.is_lossless() {
            true => {
                let large = first_large(ask, largest, Shares::FEW);
                (Shares::FEW.below(largest).numbers(large), false)
            }
            false => affordable(ask, main, largest, &losses),
        };
        let looks = losses.looks;
        losses = losses.next(ask, main, largest, numbers)?;
        if is_last || losses.is_lossless() && looks > 1 {
            break;
        }
    }
    if losses.is_uneven && !losses.has_changed {
        if main.reply == ReplySize::Small {
            losses.direction = direction(ask, &losses)?;
        }
        locate(ask, &mut losses)?;
    }
    Some(losses)
}

/// The look of this number at so many small, standard, middle and large packets.
fn look(
    ask: &mut Asker<'_>,
    main: Kind,
    largest: u32,
    number: u32,
    numbers: [u32; 4],
) -> Option<Losses> {
    let kind = main.with_reply(ReplySize::Same).for_loss();
    let sizes = [SMALL, STANDARD, u32::midpoint(SMALL, largest), largest];
    let series: [_; 4] =
        core::array::from_fn(|index| (kind.with_size(sizes[index]), numbers[index]));
    if !ask.interleaves(&series) {
        return None;
    }
    let [(small, _), .., (large, _)] = series;
    let counts = series.iter().filter_map(|&(kind, number)| {
        let counts = ask.history.series(kind, number as usize);
        let counts = counts
            .flatten()
            .fold(SizeCounts::default(), SizeCounts::with);
        let size = kind.size;
        (counts.sent > 0).then_some(SizeCounts { size, ..counts })
    });
    let counts: Vec<SizeCounts> = counts.collect();
    let chance = ask.history.chance_of_end(large, small);
    Some(Losses {
        kind,
        is_uneven: is_uneven(&counts, number),
        counts,
        looks: number,
        sent: numbers,
        direction: None,
        has_changed: chance < share(ask.settings.false_alarm),
    })
}

impl Losses {
    /// The next look, at so many packets of each size or as many as before. What an earlier
    /// look has proven stays so.
    fn next(
        &self,
        ask: &mut Asker<'_>,
        main: Kind,
        largest: u32,
        numbers: [u32; 4],
    ) -> Option<Self> {
        let numbers = core::array::from_fn(|index| numbers[index].max(self.sent[index]));
        let next = look(ask, main, largest, self.looks + 1, numbers)?;
        let is_uneven = self.is_uneven || next.is_uneven;
        Some(Self { is_uneven, ..next })
    }

    fn is_lossless(&self) -> bool {
        self.counts.last().is_none_or(|counts| counts.lost == 0)
    }

    /// Whether it is unlikely, and not proven to be otherwise, that packets of all sizes are
    /// lost alike.
    fn is_in_doubt(&self) -> bool {
        let [small, larger] = sides(&self.counts, 1);
        // The second look is the first one at packets that were lost.
        let accepted = (2..self.looks).fold(IN_DOUBT, |chance, _| chance * LESS_IN_DOUBT);
        !self.is_uneven && !self.has_changed && chance_of_more(small, larger) < accepted
    }

    /// Whether the interval of the largest packets is at most this wide.
    fn is_narrow(&self, width: f64) -> bool {
        let loss = self.counts.last().and_then(|counts| counts.loss());
        loss.is_some_and(|loss| loss.high - loss.low <= width)
    }
}

/// Whether some packets of a kind pass that seemed not to.
pub(in crate::machine) fn pass_at_times(ask: &mut Asker<'_>, kind: Kind) -> Outcome {
    if is_answered_by_errors(ask, kind) {
        return ask.tries(kind.for_loss(), CONFIRM_BY_ERRORS);
    }
    if ask.history.is_limited(kind.protocol) {
        return Outcome::Unclear;
    }
    let [least, most] = CONFIRM;
    let fitting = ask.settings.most_bytes.get() / OF_CONFIRM / u64::from(kind.size);
    let attempts = u32::try_from(fitting).unwrap_or(most).clamp(least, most);
    ask.tries(kind.for_loss(), attempts)
}

/// The counts of a size whose packets have an outcome; `None` if none was sent.
fn count(ask: &Asker<'_>, kind: Kind, size: u32) -> Option<SizeCounts> {
    let counts = ask.history.counts(kind.with_size(size));
    let sent = counts.answered + counts.lost;
    (sent > 0).then_some(SizeCounts {
        size,
        sent,
        lost: counts.lost,
    })
}
