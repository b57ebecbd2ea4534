//! Finds steps in a rising curve, and their heights.
//!
//! At each gap between two points a line is fitted by least squares to the
//! points on either side. The jump is the difference of the two lines in the
//! middle of the gap, and the scatter of the points about the lines determines
//! its error. Neither a slope nor a change of slope therefore counts as a jump.
//! Near the ends of the curve there are fewer points on one side. A jump is a
//! step if its probability is below 5 % over all gaps of the curve (Bonferroni,
//! Student's t), and none of its neighbours is larger.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The minimum number of points on either side: two define a line, others its
/// scatter.
pub const LEAST_SIDE: usize = 5;

/// The maximum number of points on either side; the curve need not be straight
/// for longer.
pub const MOST_SIDE: usize = 30;

/// The significance level of a step, over all gaps together.
const LEVEL: f64 = 0.05;

/// A jump of a curve between two of its points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Jump {
    /// The points before and after the jump.
    pub between: [f64; 2],
    /// The height of the jump.
    pub height: f64,
    /// The standard error of `height`.
    pub error: f64,
    /// Degrees of freedom of `error`.
    #[serde(skip)]
    pub freedom: f64,
    /// Whether there are jumps before and after it. Without them, the jump may
    /// be caused by points beyond the end of the curve, and is never a step.
    #[serde(skip)]
    pub inner: bool,
}

impl Jump {
    /// Whether it encloses the point `x`, or is within `reach` of it.
    pub fn is_at(&self, x: f64, reach: f64) -> bool {
        self.between[0] - reach < x && x <= self.between[1] + reach
    }

    fn weight(&self) -> f64 {
        (self.height / self.error).abs()
    }
}

/// The jumps of the curve `points`, ordered by x: one for each gap with up to
/// `side` points on either side, and at least [`LEAST_SIDE`] unless `side` is
/// less. A scatter below `grain` is raised to `grain`.
pub fn jumps(points: &[[f64; 2]], side: usize, grain: f64) -> Vec<Jump> {
    let side = side.max(3);
    let (first, count) = (side.min(LEAST_SIDE), points.len());
    let last = count.saturating_sub(first);
    let gap = |gap: usize| {
        let between = [points[gap - 1][0], points[gap][0]];
        let middle = f64::midpoint(between[0], between[1]);
        let left = Line::fit(&points[gap.saturating_sub(side)..gap], middle);
        let right = Line::fit(&points[gap..count.min(gap + side)], middle);
        let freedom = left.points + right.points - 4.0;
        let scatter = (left.squares + right.squares) / freedom;
        let scatter = scatter.max(grain * grain);
        Jump {
            between,
            height: right.middle - left.middle,
            error: (scatter * (left.lever + right.lever)).sqrt(),
            freedom,
            inner: (first + 1..last).contains(&gap),
        }
    };
    (first..=last).map(gap).collect()
}

/// The steps among the jumps of a curve that were found with up to `side`
/// points on either side.
pub fn steps(jumps: &[Jump], side: usize) -> Vec<Jump> {
    let side = side.max(3);
    let each = LEVEL / number(jumps.len()).max(1.0);
    let is_improbable = |jump: &Jump| {
        let student = StudentsT::new(0.0, 1.0, jump.freedom);
        let weight = jump.weight();
        // Points that are not finite make no step.
        weight.is_finite() && student.is_ok_and(|student| 2.0 * student.sf(weight) < each)
    };
    let is_highest = |place: usize| {
        let around = place.saturating_sub(side - 1)..(place + side).min(jumps.len());
        let weight = jumps[place].weight();
        around.into_iter().all(|other| {
            let rival = jumps[other].weight();
            rival < weight || (rival == weight && other >= place)
        })
    };
    (0..jumps.len())
        .filter(|&place| jumps[place].inner && is_improbable(&jumps[place]))
        .filter(|&place| is_highest(place))
        .map(|place| jumps[place])
        .collect()
}

/// The probability of at least `hits` successes in `tries`, each with
/// probability `chance`: the upper tail of the binomial distribution.
pub fn at_least(hits: usize, tries: usize, chance: f64) -> f64 {
    let chance = chance.clamp(0.0, 1.0);
    let mut sum = 0.0;
    let mut combinations = 1.0;
    for number_of in 0..=tries {
        if number_of > 0 {
            combinations *= number(tries - number_of + 1) / number(number_of);
        }
        if number_of >= hits {
            let exponent = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
            sum += combinations
                * chance.powi(exponent(number_of))
                * (1.0 - chance).powi(exponent(tries - number_of));
        }
    }
    sum.min(1.0)
}

/// A line through points, evaluated at one position.
struct Line {
    /// Its value at this position.
    middle: f64,
    /// The variance of that value, relative to the variance of a point.
    lever: f64,
    /// The sum of squared residuals.
    squares: f64,
    /// The number of points.
    points: f64,
}

impl Line {
    fn fit(points: &[[f64; 2]], place: f64) -> Self {
        let n = number(points.len());
        let x = points.iter().map(|[x, _]| x).sum::<f64>() / n;
        let y = points.iter().map(|[_, y]| y).sum::<f64>() / n;
        let spread: f64 = points.iter().map(|[other, _]| (other - x).powi(2)).sum();
        let together: f64 = points.iter().map(|[a, b]| (a - x) * (b - y)).sum();
        let slope = together / spread;
        let off = |[a, b]: &[f64; 2]| (b - y - slope * (a - x)).powi(2);
        Self {
            middle: y + slope * (place - x),
            lever: 1.0 / n + (place - x).powi(2) / spread,
            squares: points.iter().map(off).sum(),
            points: n,
        }
    }
}

fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rising curve in steps of 100 with reproducible noise, plus `more`.
    fn curve(noise: f64, more: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
        let mut state: u64 = 7;
        let mut drawn = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24) - 0.5
        };
        let x = (10..650).map(|number| f64::from(number) * 100.0);
        x.map(|x| [x, 20.0 + 0.008 * x + noise * drawn() + more(x)])
            .collect()
    }

    fn found(points: &[[f64; 2]]) -> Vec<Jump> {
        steps(&jumps(points, 10, 1e-3), 10)
    }

    #[test]
    fn a_step_is_found_where_it_is_and_as_high_as_it_is() {
        let points = curve(0.5, |x| if x >= 9_000.0 { 2.0 } else { 0.0 });
        let steps = found(&points);
        let [step] = steps.as_slice() else {
            panic!("{steps:?}");
        };
        assert_eq!(step.between, [8_900.0, 9_000.0]);
        assert!((step.height - 2.0).abs() < 4.0 * step.error && step.error < 0.2);
        assert!(step.is_at(8_972.0, 0.0) && !step.is_at(9_100.0, 0.0));
        assert!(step.is_at(9_050.0, 100.0));
    }

    #[test]
    fn a_step_with_six_points_before_it_is_found_and_one_with_five_is_not_seen() {
        let points = curve(0.3, |x| if x >= 9_000.0 { 2.0 } else { 0.0 });
        let from = |before: usize| {
            let at = points.iter().position(|[x, _]| *x == 9_000.0).unwrap();
            jumps(&points[at - before..at + 40], 10, 1e-3)
        };
        let steps = steps(&from(LEAST_SIDE + 1), 10);
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert_eq!(steps[0].between, [8_900.0, 9_000.0]);
        assert!((steps[0].height - 2.0).abs() < 4.0 * steps[0].error);
        let jumps = from(LEAST_SIDE);
        assert!(jumps[0].is_at(9_000.0, 0.0) && !jumps[0].inner);
        assert!(jumps[1].inner && jumps[0].freedom == 11.0 && jumps[9].freedom == 16.0);
    }

    #[test]
    fn steps_down_and_many_steps_are_found() {
        let saw = |x: f64| 1.5 * (x / 9_000.0).floor() - 4.0 * f64::from(x >= 40_000.0);
        let steps = found(&curve(0.3, saw));
        let places: Vec<f64> = steps.iter().map(|step| step.between[1]).collect();
        let multiples: Vec<f64> = (1..8).map(|number| f64::from(number) * 9_000.0).collect();
        let mut expected = multiples;
        expected.push(40_000.0);
        expected.sort_by(f64::total_cmp);
        assert_eq!(places, expected);
        assert!(steps.iter().any(|step| (step.height + 4.0).abs() < 0.5));
    }

    #[test]
    fn a_slope_a_bend_and_noise_are_no_steps() {
        assert_eq!(found(&curve(0.5, |_| 0.0)), []);
        assert_eq!(found(&curve(0.5, |x| 0.004 * (x - 30_000.0).max(0.0))), []);
    }

    #[test]
    fn noise_alone_makes_a_step_in_one_curve_of_twenty() {
        let mut state: u64 = 1;
        let mut drawn = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(9);
            f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24)
        };
        // Sums of twelve are nearly normal.
        let mut normal = || (0..12).map(|_| drawn()).sum::<f64>() - 6.0;
        let with_steps = (0..200).filter(|_| {
            let points: Vec<[f64; 2]> = (0..200).map(|x| [f64::from(x), normal()]).collect();
            !found(&points).is_empty()
        });
        let with_steps = with_steps.count();
        assert!((1..=16).contains(&with_steps), "{with_steps} of 200");
    }

    #[test]
    fn the_binomial_tail_is_that_of_the_tables() {
        assert!((at_least(2, 10, 0.1) - 0.263_901).abs() < 1e-6);
        assert!((at_least(0, 5, 0.3) - 1.0).abs() < 1e-12);
        assert!((at_least(3, 3, 0.5) - 0.125).abs() < 1e-12);
    }
}
