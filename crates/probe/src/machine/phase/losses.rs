//! The loss of packets by their size: small, standard, middle and large ones, in a random
//! order.

use super::super::asker::{Asker, Outcome};
use super::super::history::{TWO_SIDED, share};
use super::super::kind::{Kind, Purpose, SMALL};
use super::super::loss_by_size::{SizeCounts, chance_of_more, is_uneven, place_of_break, sides};
use super::super::{Direction, Protocol, ReplySize};
use super::ladder;

/// The size of most packets of the Internet.
const STANDARD: u32 = 1500;

/// Large packets after which the first look ends if some are lost.
const FEW: u32 = 24;

/// The probability that losses at all sizes are alike below which more looks follow the second
/// one at once, and its part at each further look.
const IN_DOUBT: f64 = 0.05;
const LESS_IN_DOUBT: f64 = 0.2;

/// The share of the bytes of a round that the first look may have.
const FIRST: f64 = 0.41;

/// Packets that are left for the other questions and the last look at the path, and those of
/// the largest size among them.
const REST: u32 = 60;
const REST_LARGE: u32 = 10;

/// The share of the probes and bytes that are left which goes into the rates of loss.
const FOR_RATE: f64 = 0.75;

/// The share of the probes and bytes of an investigation after which the place of a break
/// is looked for no longer.
const SPENT: f64 = 0.9;

/// Small packets for each large one, at least and at most.
const LEAST_SMALL: f64 = 1.0;
const MOST_SMALL: f64 = 8.0;

/// Packets of one size at a time where the place of a break is looked for, and at most.
const AT_ONCE: u32 = 8;
const MOST_OF_SIZE: u32 = 40;

/// The ratio of likelihoods at which a size is on one side of a break [Wald1945].
const SURE: f64 = 300.0;

/// Large packets with small answers at a time, which show the direction, and the accepted
/// probability of a wrong one.
const OF_DIRECTION: u32 = 24;
const FALSE_DIRECTION: f64 = 0.01;

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
            losses.direction = direction(ask, &losses, largest)?;
        }
        locate(ask, &mut losses)?;
    }
    Some(losses)
}

/// The packets of other sizes for each large one.
#[derive(Clone, Copy, Debug)]
struct Shares {
    small: f64,
    /// Of [`STANDARD`] bytes, where large packets are much larger.
    standard: f64,
    middle: f64,
}

impl Shares {
    /// Where losses are not expected.
    const FEW: Self = Self {
        small: 0.5,
        standard: 0.0,
        middle: 0.0,
    };

    /// Where large packets were lost. Small ones are cheap, and show sooner whether it is the
    /// large ones that are lost; those of the standard size are lost alike, if the loss
    /// begins below it.
    const MANY: Self = Self {
        small: 4.0,
        standard: 3.0,
        middle: 0.0,
    };

    /// The same, if packets of this size are the large ones.
    fn below(self, largest: u32) -> Self {
        let standard = match largest >= 2 * STANDARD {
            true => self.standard,
            false => 0.0,
        };
        Self { standard, ..self }
    }

    /// The numbers of small, standard, middle and large packets.
    fn numbers(self, large: u32) -> [u32; 4] {
        [self.small, self.standard, self.middle, 1.0].map(|share| of(large, share))
    }

    /// The bytes of a large packet and its part of the standard and middle ones.
    fn bytes(self, largest: u32) -> f64 {
        f64::from(largest) * (1.0 + 0.5 * self.middle) + f64::from(STANDARD) * self.standard
    }
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

/// The number of packets none of which is lost whose interval is as wide as asked for.
fn enough(interval: f64) -> u32 {
    let square = TWO_SIDED * TWO_SIDED;
    packets((square * (1.0 - interval) / interval).ceil()).max(1)
}

/// The large packets of the first looks: so many that their interval is narrow enough if none
/// of them is lost, as far as they are a fair share of all bytes.
fn first_large(ask: &Asker<'_>, size: u32, shares: Shares) -> u32 {
    let bytes = FIRST * ask.history.bytes_of_round(ask.settings) as f64;
    let fitting = packets(bytes / shares.below(size).bytes(size)).max(1);
    enough(ask.settings.loss_interval).min(fitting)
}

/// The packets of each size for the next look, and whether it is the last one that is
/// affordable: twice as many large ones as before at most. Probes and bytes are left for the
/// direction and for the rest of the questions; if it is known that large packets are lost
/// more often, for the place of the break as well.
fn affordable(ask: &Asker<'_>, main: Kind, size: u32, losses: &Losses) -> ([u32; 4], bool) {
    let of_direction = match main.reply {
        ReplySize::Small if losses.is_uneven => OF_DIRECTION,
        ReplySize::Small => OF_DIRECTION / 2,
        ReplySize::Same => 0,
    };
    let (share, middle) = match losses.is_uneven {
        true => (FOR_RATE, 0.5),
        false => (1.0, 0.0),
    };
    let is_counted = |kind: Kind| kind.purpose == Purpose::Loss;
    let [probes, bytes] = ask.history.left_for(ask.settings, is_counted);
    let kept = u64::from(size) * u64::from(REST_LARGE + of_direction);
    let probes = share * probes.saturating_sub(u64::from(REST + of_direction)) as f64;
    let bytes = share * bytes.saturating_sub(kept) as f64;
    let [.., before] = losses.sent;
    let mut shares = Shares {
        small: LEAST_SMALL,
        middle,
        ..Shares::MANY.below(size)
    };
    let others = shares.standard + middle + 1.0;
    let fitting = (probes / (shares.small + others)).min(bytes / shares.bytes(size));
    let most = packets(fitting).max(before);
    let large = (2 * before).min(most);
    // Where no more large packets are affordable, smaller ones are.
    let of_each = f64::from(large.max(1));
    let of_large = Shares {
        standard: 0.0,
        ..shares
    };
    let standard = (bytes / of_each - of_large.bytes(size)) / f64::from(STANDARD);
    shares.standard = shares.standard.min(standard).max(0.0);
    if !losses.is_uneven {
        let small = probes / of_each - shares.standard - middle - 1.0;
        shares.small = small.clamp(LEAST_SMALL, MOST_SMALL);
    }
    (shares.numbers(large), large == most)
}

/// A number of packets.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and the probes of an investigation, or saturates"
)]
const fn packets(number: f64) -> u32 {
    number as u32
}

/// A share of a number of packets.
fn of(number: u32, share: f64) -> u32 {
    packets(f64::from(number) * share)
}

/// Narrows the place of the break down: the sizes between are divided, and packets of each
/// are sent until they are like those on one side. `None` while packets are under way.
fn locate(ask: &mut Asker<'_>, losses: &mut Losses) -> Option<()> {
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

/// Whether most of the probes or bytes of the investigation are spent.
fn is_spent(ask: &Asker<'_>) -> bool {
    let probes = ask.history.probes() as f64;
    let bytes = ask.history.bytes().get() as f64;
    probes >= SPENT * f64::from(ask.settings.most_probes)
        || bytes >= SPENT * ask.settings.most_bytes.get() as f64
}

/// The direction that loses large packets: those with small answers show the loss of the
/// forward one. `None` while packets are under way.
fn direction(ask: &mut Asker<'_>, losses: &Losses, largest: u32) -> Option<Option<Direction>> {
    let forward = losses.kind.with_reply(ReplySize::Small);
    let both = count(ask, losses.kind, largest)?;
    let [small, _] = sides(&losses.counts, 1);
    let looks = (both.sent / OF_DIRECTION).max(2);
    let accepted = FALSE_DIRECTION / f64::from(looks);
    for look in 1..=looks {
        if !ask.interleaves(&[(forward.with_size(largest), look * OF_DIRECTION)]) {
            return None;
        }
        let one = count(ask, forward, largest)?;
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
