//! Loss by packet size: whether larger packets are lost more often, and by which rule.

use super::Loss;
use super::history::loss_of;
use super::kind::bytes;
use super::report::SizeLoss;

/// The accepted probability that loss which does not depend on the size is taken for loss
/// that does, over all looks at the counts of one path.
const FALSE_BREAK: f64 = 0.001;

/// The probability of loss that a fit excludes: the logarithms stay finite.
const SURE: f64 = 1e-12;

/// Steps of a golden-section search: the interval shrinks by 0.618 in each.
const STEPS: u32 = 40;

/// Decimal logarithms of the bit error rates that are tried. At the lowest one, one of
/// 140 000 packets of 9000 bytes is lost.
const EXPONENTS: [f64; 2] = [-10.0, -3.0];

/// Packets of one size that were sent, and those without an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SizeCounts {
    pub(super) size: u32,
    pub(super) sent: u32,
    pub(super) lost: u32,
}

/// How loss depends on the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// The packets from this index on are lost more often than those before, at one rate.
    Break(usize),
    /// Each bit is wrong with this probability, and a packet with a wrong bit is lost.
    BitErrors(f64),
}

impl SizeCounts {
    /// One packet more.
    pub(super) const fn with(self, is_answered: bool) -> Self {
        Self {
            sent: self.sent + 1,
            lost: self.lost + !is_answered as u32,
            ..self
        }
    }

    /// The packets of both, as those of the size of `other`.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            size: other.size,
            sent: self.sent + other.sent,
            lost: self.lost + other.lost,
        }
    }

    pub(super) fn loss(self) -> Option<Loss> {
        loss_of(self.lost, self.sent)
    }

    pub(super) fn with_loss(self) -> Option<SizeLoss> {
        let size = bytes(self.size);
        self.loss().map(|loss| SizeLoss { size, loss })
    }

    /// The share that is lost, between 0 and 1 even where none or all are.
    pub(super) fn rate(self) -> f64 {
        (f64::from(self.lost) + 0.5) / (f64::from(self.sent) + 1.0)
    }

    /// The logarithm of the likelihood of the counts if this share is lost.
    pub(super) fn log_likelihood(self, share: f64) -> f64 {
        let share = share.clamp(SURE, 1.0 - SURE);
        f64::from(self.lost) * libm::log(share)
            + f64::from(self.sent - self.lost) * libm::log1p(-share)
    }
}

/// Whether larger packets are lost more often, at the look of this number, from 1. The
/// counts are those of the smallest size first.
///
/// The counts are divided at each size in turn, and Fisher's exact test compares the larger
/// sizes with the smaller ones [Fisher1935]. The accepted probability is divided among the
/// places, and look `k` may spend 2^-k of it: any rule may say when to stop looking.
pub(super) fn is_uneven(counts: &[SizeCounts], look: u32) -> bool {
    let places = counts.len().saturating_sub(1) as f64;
    let accepted = FALSE_BREAK * libm::exp2(-f64::from(look)) / places;
    divisions(counts).any(|(_, [low, high])| chance_of_more(low, high) < accepted)
}

/// The place of the break: the first index of the larger sizes, where the likelihood of two
/// rates is greatest.
pub(super) fn place_of_break(counts: &[SizeCounts]) -> Option<usize> {
    let all = divisions(counts).filter(|(_, [low, high])| low.rate() < high.rate());
    let likely = all.map(|(place, sides)| (place, log_likelihood_of_two(sides)));
    likely
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(place, _)| place)
}

/// The shape of counts that are uneven: that with the smaller criterion of Schwarz
/// [Schwarz1978]. `bits` is the number of bits that are lost with a packet of a size.
pub(super) fn shape(counts: &[SizeCounts], bits: impl Fn(u32) -> f64) -> Option<Shape> {
    let place = place_of_break(counts)?;
    let [low, high] = sides(counts, place);
    let sent = libm::log(f64::from(low.sent + high.sent));
    // A place and two rates; a rate of bits and one of packets.
    let of_break = 3.0 * sent - 2.0 * log_likelihood_of_two([low, high]);
    let (per_bit, fit) = fit_bits(counts, bits);
    let of_bits = 2.0 * sent - 2.0 * fit;
    Some(match of_bits < of_break {
        true => Shape::BitErrors(per_bit),
        false => Shape::Break(place),
    })
}

/// The places at which the sizes can be divided, with the sums of both sides.
fn divisions(counts: &[SizeCounts]) -> impl Iterator<Item = (usize, [SizeCounts; 2])> {
    (1..counts.len()).map(|place| (place, sides(counts, place)))
}

/// The sums of the sizes before an index and from it on.
pub(super) fn sides(counts: &[SizeCounts], place: usize) -> [SizeCounts; 2] {
    let (low, high) = counts.split_at(place);
    [low, high].map(|side| {
        let counts = side.iter().copied();
        counts.fold(SizeCounts::default(), SizeCounts::and)
    })
}

fn log_likelihood_of_two(sides: [SizeCounts; 2]) -> f64 {
    let each = sides.map(|side| {
        let share = f64::from(side.lost) / f64::from(side.sent.max(1));
        side.log_likelihood(share)
    });
    each[0] + each[1]
}

/// The probability that so many or more of the losses are among the packets of `high` if
/// all packets are lost alike: the tail of the hypergeometric distribution [Fisher1935].
pub(super) fn chance_of_more(low: SizeCounts, high: SizeCounts) -> f64 {
    let share_of = |one: SizeCounts, other: SizeCounts| u64::from(one.lost) * u64::from(other.sent);
    if share_of(high, low) < share_of(low, high) {
        // Below the middle the other tail has the small terms.
        return match (low.lost + 1, high.lost.checked_sub(1)) {
            (more, Some(lost)) if more <= low.sent => {
                let more = SizeCounts { lost: more, ..low };
                1.0 - chance_of_more(SizeCounts { lost, ..high }, more)
            }
            _ => 1.0,
        };
    }
    let (sent, lost) = (low.sent + high.sent, low.lost + high.lost);
    let answered = sent - lost;
    let those = log_choices(lost, high.lost) + log_choices(answered, high.sent - high.lost);
    let mut chance = libm::exp(those - log_choices(sent, high.sent));
    let mut sum: f64 = 0.0;
    for lost_high in high.lost..=lost.min(high.sent) {
        sum += chance;
        // The ratio of the next term to this one.
        let kept = high.sent - lost_high;
        let next = f64::from(answered + lost_high + 1 - high.sent) * f64::from(lost_high + 1);
        chance *= f64::from(lost - lost_high) * f64::from(kept) / next;
    }
    sum.min(1.0)
}

/// The logarithm of the number of ways to choose `some` of `all`.
fn log_choices(all: u32, some: u32) -> f64 {
    let factorial = |number: u32| libm::lgamma(f64::from(number) + 1.0);
    factorial(all) - factorial(some) - factorial(all - some)
}

/// The bit error rate of the greatest likelihood next to loss of any size, and the
/// logarithm of the likelihood.
fn fit_bits(counts: &[SizeCounts], bits: impl Fn(u32) -> f64) -> (f64, f64) {
    let of_exponent = |exponent: f64| {
        let of_share = |share: f64| {
            let each = counts.iter().map(|one| {
                let whole = bits(one.size) * libm::log1p(-libm::exp10(exponent));
                one.log_likelihood(1.0 - (1.0 - share) * libm::exp(whole))
            });
            each.sum()
        };
        greatest(0.0, 1.0, &of_share).1
    };
    let (exponent, fit) = greatest(EXPONENTS[0], EXPONENTS[1], &of_exponent);
    (libm::exp10(exponent), fit)
}

/// The place of the greatest value of a function with one peak, and the value: a
/// golden-section search [Kiefer1953].
fn greatest(mut from: f64, mut to: f64, of: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let golden = (libm::sqrt(5.0) - 1.0) / 2.0;
    for _ in 0..STEPS {
        let step = golden * (to - from);
        if of(to - step) < of(from + step) {
            from = to - step;
        } else {
            to = from + step;
        }
    }
    let middle = f64::midpoint(from, to);
    (middle, of(middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: &[[u32; 3]]) -> Vec<SizeCounts> {
        let one = |&[size, sent, lost]: &[u32; 3]| SizeCounts { size, sent, lost };
        all.iter().map(one).collect()
    }

    #[test]
    fn fishers_tea_is_tasted_right_by_chance_in_one_of_seventy() {
        let [low, high] = [[0, 4, 0], [0, 4, 4]].map(|one| counts(&[one])[0]);
        assert!((chance_of_more(low, high) - 1.0 / 70.0).abs() < 1e-12);
        let [low, high] = [[0, 4, 1], [0, 4, 3]].map(|one| counts(&[one])[0]);
        assert!((chance_of_more(low, high) - 17.0 / 70.0).abs() < 1e-12);
        // Nothing is rarer than what is certain.
        let [low, high] = [[0, 4, 4], [0, 4, 0]].map(|one| counts(&[one])[0]);
        assert!((chance_of_more(low, high) - 1.0).abs() < 1e-12);
        let [low, high] = [[0, 4, 2], [0, 4, 1]].map(|one| counts(&[one])[0]);
        assert!((chance_of_more(low, high) - 13.0 / 14.0).abs() < 1e-12);
        let [low, high] = [[0, 5_000, 4_999], [0, 5_000, 1]].map(|one| counts(&[one])[0]);
        assert!((chance_of_more(low, high) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_break_is_where_the_rate_changes() {
        let all = counts(&[
            [100, 200, 0],
            [1420, 24, 1],
            [1472, 16, 9],
            [4550, 28, 15],
            [9000, 57, 30],
        ]);
        assert!(is_uneven(&all, 2));
        assert_eq!(
            shape(&all, |size| f64::from(size) * 16.0),
            Some(Shape::Break(2))
        );
    }

    #[test]
    fn losses_that_grow_with_the_bits_are_bit_errors() {
        // The expected counts at 3e-6, with 1 % of the packets lost besides.
        let expected = |size: u32, sent: u32| {
            let bits = f64::from(size) * 16.0;
            let share = 1.0 - 0.99 * libm::exp(bits * libm::log1p(-3e-6));
            let mut whole = (0..=sent).map(|lost| [size, sent, lost]);
            let is_next = |[.., lost]: &[u32; 3]| f64::from(*lost) >= f64::from(sent) * share - 0.5;
            whole.find(is_next).unwrap()
        };
        let all = counts(&[
            expected(100, 400),
            expected(1500, 200),
            expected(4500, 200),
            expected(9000, 200),
        ]);
        let Some(Shape::BitErrors(per_bit)) = shape(&all, |size| f64::from(size) * 16.0) else {
            panic!("{all:?}")
        };
        assert!((per_bit / 3e-6 - 1.0).abs() < 0.05, "{per_bit}");
    }

    #[test]
    fn equal_rates_are_even_and_a_later_look_asks_for_more() {
        assert!(!is_uneven(&counts(&[[100, 200, 20], [9000, 57, 8]]), 1));
        let near = counts(&[[100, 200, 0], [9000, 57, 6]]);
        let chance = chance_of_more(near[0], near[1]);
        let first = (1..20).find(|&look| !is_uneven(&near, look)).unwrap();
        let accepted = |look: u32| FALSE_BREAK / f64::from(1 << look);
        assert!(accepted(first) <= chance && chance < accepted(first - 1));
    }
}
