//! How many packets of each size the looks at losses may have.

use super::super::super::ReplySize;
use super::super::super::asker::Asker;
use super::super::super::history::TWO_SIDED;
use super::super::super::kind::{Kind, Purpose};
use super::Losses;
use super::place::OF_DIRECTION;

/// The size of most packets of the Internet.
pub(super) const STANDARD: u32 = 1500;

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

/// The packets of other sizes for each large one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    small: f64,
    /// Of [`STANDARD`] bytes, where large packets are much larger.
    standard: f64,
    middle: f64,
}

impl Shares {
    /// Where losses are not expected.
    pub(super) const FEW: Self = Self {
        small: 0.5,
        standard: 0.0,
        middle: 0.0,
    };

    /// Where large packets were lost. Small ones are cheap, and show sooner whether it is the
    /// large ones that are lost; those of the standard size are lost alike, if the loss
    /// begins below it.
    pub(super) const MANY: Self = Self {
        small: 4.0,
        standard: 3.0,
        middle: 0.0,
    };

    /// The same, if packets of this size are the large ones.
    pub(super) fn below(self, largest: u32) -> Self {
        let standard = match largest >= 2 * STANDARD {
            true => self.standard,
            false => 0.0,
        };
        Self { standard, ..self }
    }

    /// The numbers of small, standard, middle and large packets.
    pub(super) fn numbers(self, large: u32) -> [u32; 4] {
        [self.small, self.standard, self.middle, 1.0].map(|share| of(large, share))
    }

    /// The bytes of a large packet and its part of the standard and middle ones.
    fn bytes(self, largest: u32) -> f64 {
        f64::from(largest) * (1.0 + 0.5 * self.middle) + f64::from(STANDARD) * self.standard
    }
}

/// The number of packets none of which is lost whose interval is as wide as asked for.
fn enough(interval: f64) -> u32 {
    let square = TWO_SIDED * TWO_SIDED;
    packets((square * (1.0 - interval) / interval).ceil()).max(1)
}

/// The large packets of the first looks: so many that their interval is narrow enough if none
/// of them is lost, as far as they are a fair share of all bytes.
pub(super) fn first_large(ask: &Asker<'_>, size: u32, shares: Shares) -> u32 {
    let bytes = FIRST * ask.history.bytes_of_round(ask.settings) as f64;
    let fitting = packets(bytes / shares.below(size).bytes(size)).max(1);
    enough(ask.settings.loss_interval).min(fitting)
}

/// The packets of each size for the next look, and whether it is the last one that is
/// affordable: twice as many large ones as before at most. Probes and bytes are left for the
/// direction and for the rest of the questions; if it is known that large packets are lost
/// more often, for the place of the break as well.
pub(super) fn affordable(
    ask: &Asker<'_>,
    main: Kind,
    size: u32,
    losses: &Losses,
) -> ([u32; 4], bool) {
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
    let kept = u64::from(size) * u64::from(REST_LARGE)
        + u64::from(losses.size_of_direction()) * u64::from(of_direction);
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

/// Whether most of the probes or bytes of the investigation are spent.
pub(super) fn is_spent(ask: &Asker<'_>) -> bool {
    let probes = ask.history.probes() as f64;
    let bytes = ask.history.bytes().get() as f64;
    probes >= SPENT * f64::from(ask.settings.most_probes)
        || bytes >= SPENT * ask.settings.most_bytes.get() as f64
}
