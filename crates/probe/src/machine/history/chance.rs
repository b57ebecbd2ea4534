//! Losses by chance.

use super::super::Loss;
use super::{Beats, History, PacketOutcome, Record};
use crate::machine::kind::Kind;
use crate::machine::stamp::OneWayCounts;
use link::pmtu::losses_until;

/// The number of yes-or-no questions among which the accepted probability is divided.
const QUESTIONS: f64 = 40.0;

/// The standard normal deviates of an interval and a bound of 95 % [Wilson1927].
pub(in crate::machine) const TWO_SIDED: f64 = 1.96;
const ONE_SIDED: f64 = 1.645;

/// The number of small probes that tell the loss.
const ENOUGH: u32 = 15;

/// So many packets that are lost in a row, while others pass, do not pass any more.
const GONE: usize = 24;

/// The probability with which a system that answers counts as one that does not.
const UNANSWERED: f64 = 0.0003;

/// The greatest loss that a path may have for questions to be worth asking.
const GREATEST_LOSS: f64 = 0.8;

impl History {
    /// The number of lost probes of a kind after which it counts as one that the path does
    /// not carry, if each question may be wrong with its share of `false_alarm`.
    pub(in crate::machine) fn needed(&self, false_alarm: f64) -> u32 {
        losses_until(share(false_alarm), self.assumed_loss())
    }

    /// The number of attempts after which a system counts as one that does not answer.
    pub(in crate::machine) fn attempts(&self) -> u32 {
        losses_until(UNANSWERED, self.assumed_loss())
    }

    /// The loss of exchanges to count with: the greatest that may explain what was seen,
    /// at least that which is ordinary for packets.
    pub(in crate::machine) fn assumed_loss(&self) -> f64 {
        let Beats { answered, lost } = self.beats;
        let sent = answered + lost;
        let loss = if sent < ENOUGH {
            // Either of the two packets of an exchange may get lost.
            let passes = 1.0 - self.ordinary_loss;
            1.0 - passes * passes
        } else {
            wilson(lost, sent, ONE_SIDED).1.max(self.ordinary_loss)
        };
        loss.max(self.large_loss).clamp(0.0, GREATEST_LOSS)
    }

    /// Packets of this kind seemed not to pass, and some do: from now on the greatest loss
    /// is assumed that explains it.
    pub(in crate::machine) fn expect_loss(&mut self, kind: Kind) {
        let [first, more] = [kind, kind.for_loss()].map(|kind| self.counts(kind));
        let lost = first.lost + more.lost;
        let sent = lost + first.answered + more.answered;
        if sent > 0 {
            self.large_loss = wilson(lost, sent, ONE_SIDED).1;
        }
    }

    /// Whether packets of some size passed that seemed not to pass.
    pub(in crate::machine) fn loses_large(&self) -> bool {
        self.large_loss > 0.0
    }

    /// The probability by which the latest packets of a kind are all lost, if it is chance
    /// which of its packets were; 0 if they are many. 1 if no packet of `control` was answered later than the
    /// last answered one: then nothing passes.
    pub(in crate::machine) fn chance_of_end(&self, kind: Kind, control: Kind) -> f64 {
        let [counts, control] = [kind, control].map(|kind| self.counts(kind));
        if control.last_answered <= counts.last_answered {
            return 1.0;
        }
        let lost = f64::from(counts.lost);
        let all = lost + f64::from(counts.answered);
        let last = self.records(kind).rev();
        let is_answered = |record: &&Record| record.outcome == PacketOutcome::Answered;
        let is_lost = |record: &&Record| matches!(record.outcome, PacketOutcome::Lost { .. });
        let number = last
            .take_while(|record| !is_answered(record))
            .filter(is_lost)
            .count();
        if number >= GONE {
            return 0.0;
        }
        (0..number).fold(1.0, |chance, index| {
            let before = index as f64;
            chance * ((lost - before) / (all - before)).max(0.0)
        })
    }

    /// The loss of small probes, if there was any.
    pub(in crate::machine) fn loss(&self) -> Option<Loss> {
        let Beats { answered, lost } = self.beats;
        loss_of(lost, answered + lost)
    }

    /// The loss of small probes in each direction, as far as a reflector counts them.
    pub(in crate::machine) fn one_way_loss(&self) -> [Option<Loss>; 2] {
        let Some(counts) = self.one_way.counts() else {
            return [None; 2];
        };
        let OneWayCounts {
            sent,
            arrived,
            answered,
        } = counts;
        [(sent, arrived), (arrived, answered)].map(|(sent, arrived)| loss_of(sent - arrived, sent))
    }
}

/// So many lost of so many, with the confidence interval.
pub(in crate::machine) fn loss_of(lost: u32, sent: u32) -> Option<Loss> {
    (sent > 0).then(|| {
        let (low, high) = wilson(lost, sent, TWO_SIDED);
        Loss {
            sent,
            lost,
            share: f64::from(lost) / f64::from(sent),
            low,
            high,
        }
    })
}

/// The probability with which one question may be wrong.
pub(in crate::machine) const fn share(false_alarm: f64) -> f64 {
    false_alarm / QUESTIONS
}

/// The confidence interval of a share [Wilson1927].
fn wilson(of: u32, all: u32, deviate: f64) -> (f64, f64) {
    let (n, share, z2) = (
        f64::from(all),
        f64::from(of) / f64::from(all),
        deviate * deviate,
    );
    let middle = share + z2 / (2.0 * n);
    let half = deviate * libm::sqrt(share * (1.0 - share) / n + z2 / (4.0 * n * n));
    let scale = 1.0 + z2 / n;
    (
        ((middle - half) / scale).clamp(0.0, share),
        ((middle + half) / scale).min(1.0),
    )
}

/// The probability of at most `successes` in `trials` of probability `chance`.
pub(in crate::machine) fn at_most(successes: u32, trials: u32, chance: f64) -> f64 {
    let mut term = libm::pow(1.0 - chance, f64::from(trials));
    let mut sum = term;
    for k in 1..=successes.min(trials) {
        term *= f64::from(trials - k + 1) / f64::from(k) * chance / (1.0 - chance);
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_twenty_lost_may_be_between_three_and_thirty_per_cent() {
        let (low, high) = wilson(2, 20, TWO_SIDED);
        assert!(
            (low - 0.028).abs() < 0.001 && (high - 0.301).abs() < 0.001,
            "{low} {high}"
        );
    }

    #[test]
    fn ten_of_ten_are_at_most_ten_and_none_of_ten_is_rare() {
        assert!((at_most(10, 10, 0.7) - 1.0).abs() < 1e-12);
        assert!((at_most(0, 10, 0.7) - 0.3_f64.powi(10)).abs() < 1e-12);
        // 1 - 0.7^2 for at most one of two.
        assert!((at_most(1, 2, 0.7) - 0.51).abs() < 1e-12);
    }
}
