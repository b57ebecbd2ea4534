//! A sequential test that tells a size limit from ordinary loss.
//!
//! A single acknowledgement of a size refutes a limit below it. So the only wrong
//! verdict of a limit is that all of `k` probes of a size were lost by chance, which
//! has the probability p^k with independent losses of probability p. Each size that the
//! path carries and that is tried has this chance to be taken for the limit. The test
//! asks for so many losses that the sum of the chances over all sizes of a search stays
//! below the accepted probability: each size may spend a share of what is left.

/// The share of the accepted probability that is left which one size may spend.
const SHARE: f64 = 0.6;

/// The fewest losses for a verdict: one loss proves nothing.
const FEWEST: u32 = 2;

/// The greatest loss that is told from a limit. Beyond it no number of probes that a
/// path bears would do.
const GREATEST_LOSS: f64 = 0.9;

/// Loss of sizes that the path carries, and the verdicts that were made.
#[derive(Clone, Debug)]
pub(super) struct LossTest {
    /// The accepted probability of a false alarm that is left.
    left: f64,
    /// The loss that is assumed at least.
    ordinary: f64,
    /// Probes of sizes that the path carries.
    arrived: u32,
    lost: u32,
    /// Times that the found size was confirmed.
    confirmed: u32,
}

impl LossTest {
    pub(super) const fn new(false_alarm: f64, ordinary: f64) -> Self {
        Self {
            left: false_alarm,
            ordinary,
            arrived: 0,
            lost: 0,
            confirmed: 0,
        }
    }

    /// From now on this loss is assumed at least.
    pub(super) const fn assume(&mut self, ordinary: f64) {
        self.ordinary = ordinary;
    }

    /// A probe of a size that the path carries arrived.
    pub(super) const fn arrived(&mut self) {
        self.arrived = self.arrived.saturating_add(1);
    }

    /// This many probes of sizes that the path carries were lost.
    pub(super) const fn lost(&mut self, probes: u32) {
        self.lost = self.lost.saturating_add(probes);
    }

    /// The found size was confirmed: the next losses in a row may be chance once more.
    pub(super) const fn confirmed(&mut self) {
        self.confirmed = self.confirmed.saturating_add(1);
    }

    /// The number of losses of one size after which the path does not carry it.
    pub(super) fn needed(&self) -> u32 {
        losses_until(self.left * SHARE, self.loss())
    }

    /// The number of losses in a row of sizes that the path carried after which it
    /// carries nothing. One more than for a first limit, so that most of the accepted
    /// probability is left for the search. Losses that were seen do not raise it: they
    /// are what it is about. Each confirmation is one more chance to be wrong: all those of ten
    /// minutes, one a second, stay below the accepted probability together.
    pub(super) fn interrupted(&self) -> u32 {
        let chances = (f64::from(self.confirmed) / 3.0).max(1.0);
        let accepted = self.left * SHARE / chances;
        losses_until(accepted, self.ordinary.min(GREATEST_LOSS)) + 1
    }

    /// One more size had the chance to be taken for the limit, after this many losses.
    pub(super) fn spend(&mut self, losses: u32) {
        let chance = (0..losses).fold(1.0, |chance, _| chance * self.loss());
        self.left = (self.left - chance).max(self.left * (1.0 - SHARE));
    }

    /// The loss of any packet: what was seen, and at least what is ordinary.
    fn loss(&self) -> f64 {
        let all = self.arrived.saturating_add(self.lost);
        let seen = match all {
            0 => 0.0,
            all => f64::from(self.lost) / f64::from(all),
        };
        seen.max(self.ordinary).clamp(0.0, GREATEST_LOSS)
    }
}

/// The smallest number of losses whose probability by chance is at most `accepted`.
pub fn losses_until(accepted: f64, loss: f64) -> u32 {
    let mut chance = loss;
    let mut losses = 1;
    while losses < FEWEST || chance > accepted {
        chance *= loss;
        losses += 1;
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_losses_decide_at_fifteen_per_cent_and_eight_where_half_is_lost() {
        let mut test = LossTest::new(0.01, 0.15);
        // 0.15^3 = 0.0034 is below 0.006, 0.15^2 = 0.0225 is not.
        assert_eq!(test.needed(), 3);
        test.lost(10);
        for _ in 0..10 {
            test.arrived();
        }
        // 0.5^8 = 0.0039 is below 0.006, 0.5^7 = 0.0078 is not.
        assert_eq!(test.needed(), 8);
    }

    #[test]
    fn all_sizes_together_spend_no_more_than_was_accepted() {
        let mut test = LossTest::new(0.01, 0.15);
        let mut spent = 0.0;
        for _ in 0..100 {
            let needed = test.needed();
            spent += 0.15_f64.powi(needed.try_into().unwrap());
            test.spend(needed);
        }
        assert!(spent < 0.01, "{spent}");
    }

    #[test]
    fn a_confirmation_a_second_spends_no_more_in_ten_minutes_than_was_accepted() {
        let mut test = LossTest::new(0.01, 0.15);
        let mut spent = 0.0;
        for _ in 0..600 {
            spent += 0.15_f64.powi(test.interrupted().try_into().unwrap());
            test.confirmed();
        }
        assert!(spent < 0.01, "{spent}");
        assert_eq!(test.interrupted(), 7);
    }

    #[test]
    fn a_path_that_loses_everything_still_gets_a_verdict() {
        let mut test = LossTest::new(0.01, 0.15);
        test.lost(1000);
        assert!(test.needed() < 100, "{}", test.needed());
    }
}
