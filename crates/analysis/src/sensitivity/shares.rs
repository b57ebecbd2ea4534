//! The shares of the plausible points with each answer to a question.

use serde::Serialize;

use super::Answer;
use crate::statistics::Interval;

/// The quantile of the standard normal distribution that 95 % intervals take.
const NORMAL: f64 = 1.959_963_984_540_054;

/// A share of points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The points that have it.
    #[serde(rename = "settings")]
    pub points: usize,
    /// Of all that were asked, between 0 and 1.
    pub share: f64,
    /// Its 95 % interval over the whole space; none where all of it was asked.
    pub interval: Option<Interval>,
}

/// The shares of the three answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// The points that were asked.
    #[serde(rename = "settings")]
    pub asked: usize,
    /// Where it holds.
    pub holds: Share,
    /// Where it fails.
    pub fails: Share,
    /// Where the trials do not tell.
    pub undecided: Share,
}

/// The shares of each answer; `is_all` where the points are the whole space.
/// `None` of no points.
pub fn shares(answers: &[Answer], is_all: bool) -> Option<Shares> {
    let asked = answers.len();
    let share = |wanted: Answer| {
        let points = answers.iter().filter(|&&answer| answer == wanted).count();
        Share {
            points,
            share: points as f64 / asked as f64,
            interval: (!is_all).then(|| wilson(points, asked)),
        }
    };
    (asked > 0).then(|| Shares {
        asked,
        holds: share(Answer::Holds),
        fails: share(Answer::Fails),
        undecided: share(Answer::Undecided),
    })
}

/// The 95 % score interval of a share of `n` draws, 1 at least [Wilson1927].
pub fn wilson(found: usize, n: usize) -> Interval {
    let (share, n) = (found as f64 / n as f64, n as f64);
    let z2 = NORMAL * NORMAL;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    Interval {
        low: (middle - half).max(0.0),
        high: (middle + half).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_interval_is_that_of_the_literature() {
        // Newcombe 1998, Table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (found, n, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(found, n);
            assert!((interval.low - low).abs() < 5e-5, "{interval:?}");
            assert!((interval.high - high).abs() < 5e-5, "{interval:?}");
        }
    }

    #[test]
    fn a_space_that_was_asked_whole_needs_no_interval() {
        let answers = [
            Answer::Holds,
            Answer::Fails,
            Answer::Holds,
            Answer::Undecided,
        ];
        let sampled = shares(&answers, false).unwrap();
        assert_eq!((sampled.holds.points, sampled.holds.share), (2, 0.5));
        assert!(sampled.holds.interval.unwrap().holds(0.5));
        assert_eq!(shares(&answers, true).unwrap().fails.interval, None);
        assert_eq!(shares(&[], true), None);
    }
}
