//! The share of pairs of values that differ by at least a gap.

use super::{Interval, Jackknife, count};

/// A share of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// The share among all pairs of values.
    pub share: f64,
    /// Its 95 % interval; `None` with fewer than three values.
    pub ci95: Option<Interval>,
}

/// The share of the pairs of `values` that differ by `gap` or more: the
/// probability that two more values do. A value is in many pairs, so the
/// interval is that of the contributions of each value [Arvesen1969]. If no
/// pair or every pair differs by that much, it is the interval for that many
/// pairs without common values [Clopper1934]. `None` with fewer than two
/// values.
pub fn separation(values: &[f64], gap: f64) -> Option<Separation> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let far = |value: &f64| {
        let others = values.iter().filter(|other| (value - **other).abs() >= gap);
        count(others.count())
    };
    // A value does not differ from itself, unless the gap is 0.
    let own = if gap > 0.0 { 0.0 } else { 1.0 };
    let of_each: Vec<f64> = values.iter().map(|value| far(value) - own).collect();
    let far_pairs = of_each.iter().sum::<f64>() / 2.0;
    let pairs = |n: usize| count(n) * (count(n) - 1.0) / 2.0;
    let share = |left: Option<usize>| match left {
        None => far_pairs / pairs(n),
        Some(left) => (far_pairs - of_each[left]) / pairs(n - 1),
    };
    let found = share(None);
    let ci95 = (n > 2).then(|| {
        let disjoint = count(n / 2);
        let margin = 1.0 - 0.025_f64.powf(1.0 / disjoint);
        match found {
            none if none <= 0.0 => Some(Interval {
                low: 0.0,
                high: margin,
            }),
            all if all >= 1.0 => Some(Interval {
                low: 1.0 - margin,
                high: 1.0,
            }),
            _ => Jackknife::of(n, share).interval().map(|wide| Interval {
                low: wide.low.max(0.0),
                high: wide.high.min(1.0),
            }),
        }
    });
    Some(Separation {
        share: found,
        ci95: ci95.flatten(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::Normal;

    #[test]
    fn pairs_are_counted() {
        // 0-1, 0-3, 0-7, 1-3, 1-7, 3-7: differences 1, 3, 7, 2, 6, 4.
        let share = |gap| separation(&[3.0, 0.0, 7.0, 1.0], gap).unwrap().share;
        for (gap, pairs) in [(0.0, 6.0), (1.0, 6.0), (2.5, 4.0), (4.0, 3.0), (7.5, 0.0)] {
            assert!((share(gap) - pairs / 6.0).abs() < 1e-12, "{gap}");
        }
        assert_eq!(separation(&[1.0], 0.5), None);
        assert_eq!(separation(&[1.0, 2.0], 0.5).unwrap().ci95, None);
    }

    #[test]
    fn where_all_pairs_agree_the_interval_is_that_of_so_few_trials() {
        // Ten pairs without a value in common, all or none of them apart:
        // 1 - 0.025^(1/10).
        let far: Vec<f64> = (0..20).map(f64::from).collect();
        let all = separation(&far, 0.5).unwrap();
        let none = separation(&far, 20.0).unwrap();
        assert_eq!((all.share, none.share), (1.0, 0.0));
        assert!((all.ci95.unwrap().low - 0.6915).abs() < 1e-4);
        assert!((none.ci95.unwrap().high - 0.3085).abs() < 1e-4);
    }

    #[test]
    fn the_interval_is_students_about_the_share_left_by_each_value_in_turn() {
        // Of 0 to 19, 55 pairs of 190 are 10 apart. Without a value that is in
        // k of them, 55 - k of 171 are; each k from 1 to 10 occurs twice. So
        // the standard error is sqrt(19/20 x 2 x 82.5) / 171, times t = 2.0930.
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let found = separation(&values, 10.0).unwrap();
        let interval = found.ci95.unwrap();
        assert!((found.share - 55.0 / 190.0).abs() < 1e-12);
        assert!((interval.low - 0.13624).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - 0.44271).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn of_normal_values_it_is_the_known_share_in_about_95_of_100_samples() {
        // Two values of deviation 1 differ by a normal one of deviation
        // sqrt(2): by 1 or more with probability 2 Phi(-1/sqrt(2)) = 0.4795.
        let mut normal = Normal::new(11);
        let held = (0..400).filter(|_| {
            let found = separation(&normal.sample(20, 5.0, 1.0), 1.0).unwrap();
            found.ci95.unwrap().holds(0.4795)
        });
        let held = held.count();
        assert!((364..=396).contains(&held), "{held} of 400");
    }
}
