//! The number of trials that an open comparison needs.

use super::{Comparison, Difference};
use crate::statistics::trials_to_narrow;
use crate::verdict::Verdict;

/// The total number of trials per cell that would settle what `comparison`
/// leaves open, if spread and change stay the same: whether there is a
/// difference or, with a published change, whether it is that change or none.
/// `None` if nothing is open, if the instrument is too coarse, or if the number
/// is impractically large.
pub(super) fn trials_to_settle(comparison: &Comparison) -> Option<usize> {
    let change = comparison.change.as_ref()?;
    let (Some(percent), Some(interval)) = (change.percent, change.ci95) else {
        // A single trial has no interval; two have one.
        let open = comparison.difference == Some(Difference::Unknown);
        return (open && comparison.n == 1).then_some(2);
    };
    let visible = |size: f64| {
        comparison
            .resolution_percent
            .is_none_or(|least| size > least)
    };
    let verdict = comparison.judgement.as_ref();
    let claim = comparison.published.claim.as_ref().filter(|claim| {
        let undecided = interval.holds(0.0) && interval.holds(claim.percent);
        let wide = verdict.is_some_and(|verdict| verdict.verdict == Verdict::Inconclusive);
        let finer = claim
            .resolution_percent
            .is_none_or(|least| claim.percent.abs() > least);
        (undecided || wide && interval.half() > claim.percent.abs()) && finer
    });
    let target = match claim {
        // A half-width of half the claim excludes either zero or the claim.
        Some(claim) => Some(claim.percent.abs() / 2.0),
        None if comparison.difference == Some(Difference::NotFound) => Some(percent.abs()),
        None => None,
    };
    let target = target.filter(|&target| visible(target))?;
    trials_to_narrow(comparison.n, interval.half(), target).filter(|&n| n > comparison.n)
}
