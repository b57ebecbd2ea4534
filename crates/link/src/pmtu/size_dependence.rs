//! Loss that depends on the size of packets: whether a size that passes loses more than the
//! base size, and which sizes do not.
//!
//! A path may deliver most packets of a size, and lose more of them than of smaller ones: a
//! tunnel that fragments them, or a link with bit errors. Single acknowledgements confirm such
//! a size, so that it is found by [`Pairs`] and avoided by [`Verification`]. Both compare it
//! with a smaller size in pairs of probes, and end at a threshold of a likelihood ratio
//! [Wald1945].

/// The loss depends on the size if the larger one is lost in this share of the pairs in which
/// one of both was lost. By chance it is half of them, whatever the loss.
const LARGE_ALONE: f64 = 0.8;

/// A size passes if it loses a quarter of what a lossy size loses.
const RATIO: f64 = LARGE_ALONE / (1.0 - LARGE_ALONE);

/// The number of packets in a row after whose arrival pairs end. If a third of them were lost,
/// so many would arrive in one of eleven cases.
const ARRIVALS: u32 = 6;

/// Outcomes of pairs of probes, a small and a large one.
///
/// Pairs in which both were lost, or none, prove nothing. In the others either may be the lost
/// one with the same probability if the loss does not depend on the size, even if it comes in
/// bursts. The likelihood ratio then exceeds `1 / accepted` with the probability `accepted` at
/// most, however often it is looked at [Ville1939].
#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    /// The logarithm of the likelihood ratio of loss that depends on the size.
    evidence: f64,
    large: u32,
    large_lost: u32,
}

impl Outcomes {
    fn add(&mut self, small_arrived: bool, large_arrived: bool) {
        self.large = self.large.saturating_add(1);
        self.large_lost = self.large_lost.saturating_add(u32::from(!large_arrived));
        self.evidence += match (small_arrived, large_arrived) {
            (true, false) => (2.0 * LARGE_ALONE).ln(),
            (false, true) => (2.0 * (1.0 - LARGE_ALONE)).ln(),
            (true, true) | (false, false) => 0.0,
        };
    }

    fn is_dependent(&self, accepted: f64) -> bool {
        self.evidence >= -accepted.ln()
    }
}

/// Probes of the base size and of the confirmed size in turn, after the latter was lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pairs {
    /// The confirmed size.
    size: u32,
    outcomes: Outcomes,
    /// The pairs under way.
    open: Option<Open>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// Whether the small probe of the pair at hand arrived; `None` before.
    small_arrived: Option<bool>,
    /// Arrivals of the confirmed size in a row.
    in_a_row: u32,
    /// Whether the confirmed size arrived since it was first lost.
    large_arrived: bool,
}

impl Pairs {
    /// Without pairs under way. What speaks for loss that depends on the size is kept.
    pub(super) fn closed(mut self) -> Self {
        if self.outcomes.evidence < 0.0 {
            self.outcomes = Outcomes::default();
        }
        self.open = None;
        self
    }

    /// Whether pairs are under way.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the next probe, or that under way, is one of the base size.
    pub(super) fn is_small_next(&self) -> bool {
        self.open.is_some_and(|open| open.small_arrived.is_none())
    }

    /// Whether the confirmed size arrived since it was first lost.
    pub(super) fn large_arrived(&self) -> bool {
        self.open.is_some_and(|open| open.large_arrived)
    }

    /// The outcome of a probe of the base size.
    pub(super) const fn small(&mut self, arrived: bool) {
        if let Some(open) = &mut self.open {
            open.small_arrived = Some(arrived);
        }
    }

    /// The outcome of a probe of the confirmed size. Its loss begins pairs; it is in none.
    pub(super) fn large(&mut self, size: u32, arrived: bool) {
        if self.size != size {
            *self = Self {
                size,
                ..Self::default()
            };
        }
        let Some(open) = &mut self.open else {
            self.open = (!arrived).then(Open::default);
            return;
        };
        if let Some(small_arrived) = open.small_arrived.take() {
            self.outcomes.add(small_arrived, arrived);
        }
        open.large_arrived |= arrived;
        open.in_a_row = if arrived { open.in_a_row + 1 } else { 0 };
        if open.in_a_row >= ARRIVALS {
            self.open = None;
        }
    }

    /// The share of probes of the confirmed size that was lost, if this depends on the size.
    pub(super) fn dependent(&self, accepted: f64) -> Option<f64> {
        let Outcomes {
            large, large_lost, ..
        } = self.outcomes;
        let is_dependent = self.outcomes.is_dependent(accepted);
        is_dependent.then(|| f64::from(large_lost) / f64::from(large))
    }
}

/// Sizes are used only once they lose no more than the confirmed one: the search on a path
/// whose loss depends on the size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verification {
    /// The share of packets that a lossy size loses at least.
    share: f64,
    /// The number of sizes tried, each of which may be taken for better than it is.
    tried: u32,
    /// The size that is tried.
    size: u32,
    /// Pairs of the confirmed size and of this one.
    outcomes: Outcomes,
    /// The logarithm of the likelihood ratio of the share above, over a quarter of it.
    evidence: f64,
    /// Whether the probe of the confirmed size of the pair at hand arrived; `None` before.
    control: Option<bool>,
}

impl Verification {
    /// After a size was found to lose this share. Half of it is counted on: pairs end at a
    /// loss, where the share is greater than in the long run.
    pub(super) fn new(share: f64) -> Self {
        Self {
            share: share / 2.0,
            tried: 0,
            size: 0,
            outcomes: Outcomes::default(),
            evidence: 0.0,
            control: None,
        }
    }

    /// The same at the begin of a search.
    pub(super) const fn again(mut self) -> Self {
        (self.size, self.control) = (0, None);
        self
    }

    /// Whether the confirmed size is probed next.
    pub(super) const fn awaits_control(&self) -> bool {
        self.control.is_none()
    }

    /// The outcome of a probe of the confirmed size.
    pub(super) const fn control(&mut self, arrived: bool) {
        self.control = Some(arrived);
    }

    /// The outcome of a probe of a larger size: whether the size passes, once this is known.
    pub(super) fn tried(&mut self, size: u32, arrived: bool, accepted: f64) -> Option<bool> {
        if self.size != size {
            self.tried = self.tried.saturating_add(1);
            (self.size, self.evidence) = (size, 0.0);
            self.outcomes = Outcomes::default();
        }
        let control_arrived = self.control.take()?;
        self.outcomes.add(control_arrived, arrived);
        self.evidence += match (control_arrived, arrived) {
            (_, true) => ((1.0 - self.share) / (1.0 - self.share / RATIO)).ln(),
            (true, false) => RATIO.ln(),
            (false, false) => 0.0,
        };
        // The accepted probability of all sizes together: the sum of 1 / (n (n + 1)) is 1.
        let tried = f64::from(self.tried);
        let least = (accepted / (tried * (tried + 1.0))).ln();
        if self.evidence.min(self.outcomes.evidence) <= least {
            return Some(true);
        }
        self.outcomes.is_dependent(accepted).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens pairs and adds these, each as whether the small and the large probe arrived.
    fn after(pairs: &[(bool, bool)]) -> Pairs {
        let mut all = Pairs::default();
        all.large(9000, false);
        for &(small, large) in pairs {
            all.small(small);
            all.large(9000, large);
        }
        all
    }

    /// How many pairs of these outcomes it takes until a size is known to pass or not to.
    fn takes(verification: &mut Verification, size: u32, outcomes: (bool, bool)) -> (u32, bool) {
        for pairs in 1.. {
            verification.control(outcomes.0);
            if let Some(passes) = verification.tried(size, outcomes.1, 0.01) {
                return (pairs, passes);
            }
        }
        unreachable!("the outcomes decide")
    }

    #[test]
    fn ten_losses_of_the_large_size_alone_decide_at_one_in_a_hundred() {
        // 1.6^9 = 69 and 1.6^10 = 110.
        assert_eq!(after(&[(true, false); 9]).dependent(0.01), None);
        assert_eq!(after(&[(true, false); 10]).dependent(0.01), Some(1.0));
        let most = [[(true, true); 2].as_slice(), &[(true, false); 10]].concat();
        assert_eq!(after(&most).dependent(0.01), Some(10.0 / 12.0));
    }

    #[test]
    fn losses_of_both_or_in_turn_decide_nothing() {
        assert_eq!(after(&[(false, false); 1000]).dependent(0.01), None);
        let in_turn = [(true, false), (false, true)].repeat(500);
        assert_eq!(after(&in_turn).dependent(0.01), None);
    }

    #[test]
    fn pairs_end_after_six_arrivals_in_a_row() {
        assert!(!Pairs::default().is_open());
        assert!(after(&[(true, true); 5]).is_open());
        assert!(!after(&[(true, true); 6]).is_open());
        let mut mixed = [(false, true); 5].to_vec();
        mixed.push((true, false));
        mixed.extend([(true, true); 5]);
        assert!(after(&mixed).is_open());
    }

    #[test]
    fn later_pairs_add_to_what_speaks_for_dependence_alone() {
        let mut pairs = after(&[(true, false); 9]).closed();
        assert!(!pairs.is_open());
        pairs.large(9000, false);
        pairs.small(true);
        pairs.large(9000, false);
        assert_eq!(pairs.dependent(0.01), Some(1.0));
        let mut pairs = after(&[(false, true); 5]).closed();
        pairs.large(9000, false);
        for _ in 0..10 {
            pairs.small(true);
            pairs.large(9000, false);
        }
        assert_eq!(pairs.dependent(0.01), Some(1.0));
        pairs.large(1500, false);
        assert_eq!(pairs.dependent(0.01), None);
    }

    #[test]
    fn a_size_is_lossy_if_it_is_lost_while_the_confirmed_one_arrives() {
        let mut verification = Verification::new(1.0);
        assert_eq!(takes(&mut verification, 1500, (true, false)), (10, false));
        for _ in 0..1000 {
            verification.control(false);
            assert_eq!(verification.tried(1492, false, 0.01), None);
        }
    }

    #[test]
    fn later_sizes_need_more_arrivals() {
        let mut verification = Verification::new(1.0);
        let sizes = [1500, 1492, 1480];
        let taken = sizes.map(|size| takes(&mut verification, size, (true, true)));
        // Each arrival is 4/7 as likely at a loss of one half as at one of an eighth. The
        // thresholds are 200, 600 and 1200.
        assert_eq!(taken, [(10, true), (12, true), (13, true)]);
    }
}
