//! The points nearest to printed figures, and the probability that the nearest
//! of them is as near by chance.
//!
//! A study may have counted in several ways, and may mean one of several cells.
//! Each such possibility is a [`Interpretation`] of its figures; the distance of a point
//! is that of its nearest interpretation. Selecting the nearest of many points is biased
//! twice. Its seeds may have been favourable: a run with fresh seeds corrects
//! that. And with many points one is near to any figures: [`chance`] estimates the
//! probability.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use units::Seed;

use super::shares::wilson;
use crate::statistics::Interval;

/// The number of random sets of values.
const DRAWS: usize = 999;

/// The minimum number of points for random values.
const FEWEST: usize = 10;

/// One way to read the printed figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpretation {
    /// The name that distinguishes it from other interpretations; may be empty.
    pub name: String,
    /// Figures that belong together: those of one metric.
    pub terms: Vec<Term>,
}

/// Printed figures of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The figures.
    pub printed: Vec<f64>,
    /// The unit of each distance: the difference that the study finds.
    pub scales: Vec<f64>,
}

/// The measurements at one point: for each measured interpretation and each of its
/// terms, the values by counting method.
pub type Measured = Vec<Option<Vec<Vec<Vec<f64>>>>>;

/// An interpretation at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The position of the interpretation.
    pub interpretation: usize,
    /// The root of the mean square of the distances of all terms.
    pub distance: f64,
}

/// How probable it is that a point is as near to figures that are made up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// The probability.
    pub share: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Sets of figures that were made up.
    pub draws: usize,
}

/// The nearest interpretation at one point; `None` where none was measured.
pub fn near(interpretations: &[Interpretation], measured: &Measured) -> Option<Near> {
    let printed: Vec<Vec<&[f64]>> = interpretations
        .iter()
        .map(|interpretation| {
            interpretation
                .terms
                .iter()
                .map(|term| &*term.printed)
                .collect()
        })
        .collect();
    least(interpretations, &printed, measured)
}

/// Likewise, with other figures in place of the printed ones.
fn least(
    interpretations: &[Interpretation],
    printed: &[Vec<&[f64]>],
    measured: &Measured,
) -> Option<Near> {
    let all = interpretations
        .iter()
        .zip(printed)
        .zip(measured)
        .enumerate();
    let all = all.filter_map(|(at, ((interpretation, printed), measured))| {
        let terms = measured
            .as_ref()?
            .iter()
            .zip(&interpretation.terms)
            .zip(printed);
        let mut squares = 0.0;
        for ((countings, term), printed) in terms {
            squares += countings
                .iter()
                .map(|figures| square(figures, printed, &term.scales))
                .fold(f64::INFINITY, f64::min);
        }
        Some(Near {
            interpretation: at,
            distance: (squares / interpretation.terms.len() as f64).sqrt(),
        })
    });
    all.min_by(|one, other| one.distance.total_cmp(&other.distance))
}

/// The mean square distance of the figures of one term.
fn square(figures: &[f64], printed: &[f64], scales: &[f64]) -> f64 {
    let squares = figures.iter().zip(printed).zip(scales);
    let squares = squares.map(|((figure, printed), scale)| ((figure - printed) / scale).powi(2));
    squares.sum::<f64>() / figures.len() as f64
}

/// How probable it is that the nearest of all points comes as near as `distance`
/// to figures that have nothing to do with any of them. Such figures are made up
/// of the points' own: each term is that of a point drawn at random, so that every
/// term is one that is found, and only their meeting at one point is left to
/// chance: a permutation test of the terms [Fisher1935]. Points that a term was
/// taken from do not compete. `None` of few points, or of a single term.
pub fn chance(
    interpretations: &[Interpretation],
    points: &[&Measured],
    distance: f64,
    seed: Seed,
) -> Option<Chance> {
    let shapes: Vec<usize> = interpretations
        .iter()
        .map(|interpretation| interpretation.terms.len())
        .collect();
    let most = shapes.iter().copied().max().unwrap_or(0);
    if points.len() < FEWEST || most < 2 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed.derive("robustness/figures").get());
    let (mut draws, mut nearer) = (0, 0);
    for _ in 0..DRAWS {
        let interpretation = rng.random_range(0..interpretations.len());
        let mut donors = Vec::new();
        let mut made_up: Vec<&[f64]> = Vec::new();
        for term in 0..shapes[interpretation] {
            let donor = rng.random_range(0..points.len());
            let Some(terms) = &points[donor][interpretation] else {
                break;
            };
            let counting = rng.random_range(0..terms[term].len());
            donors.push(donor);
            made_up.push(&terms[term][counting]);
        }
        if made_up.len() < shapes[interpretation] {
            continue;
        }
        // Other interpretations are of the same figures where they have as many.
        let alike: Vec<usize> = (0..interpretations.len())
            .filter(|&other| {
                shape(&interpretations[other]) == shape(&interpretations[interpretation])
            })
            .collect();
        let some: Vec<Interpretation> = alike
            .iter()
            .map(|&at| interpretations[at].clone())
            .collect();
        let printed = vec![made_up; some.len()];
        let others = points.iter().enumerate();
        let others = others.filter(|(at, _)| !donors.contains(at));
        let found = others.filter_map(|(_, measured)| {
            let measured: Measured = alike.iter().map(|&at| measured[at].clone()).collect();
            Some(least(&some, &printed, &measured)?.distance)
        });
        draws += 1;
        nearer += usize::from(found.fold(f64::INFINITY, f64::min) <= distance);
    }
    // The printed figures are one set more, and as near as themselves.
    (draws > 0).then(|| Chance {
        share: (nearer + 1) as f64 / (draws + 1) as f64,
        interval: wilson(nearer + 1, draws + 1),
        draws,
    })
}

/// The number of values of each term.
fn shape(interpretation: &Interpretation) -> Vec<usize> {
    interpretation
        .terms
        .iter()
        .map(|term| term.printed.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interpretation(printed: &[f64]) -> Interpretation {
        Interpretation {
            name: String::new(),
            terms: printed
                .iter()
                .map(|&figure| Term {
                    printed: vec![figure],
                    scales: vec![1.0],
                })
                .collect(),
        }
    }

    fn measured(figures: &[f64]) -> Measured {
        vec![Some(
            figures.iter().map(|&figure| vec![vec![figure]]).collect(),
        )]
    }

    #[test]
    fn the_nearest_counting_and_the_nearest_interpretation_count() {
        let interpretations = [interpretation(&[3.0, 5.0]), interpretation(&[1.0, 1.0])];
        let figures: Measured = vec![
            Some(vec![vec![vec![9.0], vec![3.5]], vec![vec![5.0]]]),
            Some(vec![vec![vec![1.0]], vec![vec![2.0]]]),
        ];
        let found = near(&interpretations, &figures).unwrap();
        assert_eq!(
            (found.interpretation, found.distance),
            (0, 0.125_f64.sqrt())
        );
        assert_eq!(near(&interpretations, &vec![None, None]), None);
    }

    #[test]
    fn a_distance_is_the_root_of_the_mean_square_in_differences_of_the_study() {
        // Off by 8 where the study finds a difference of 4, and by 1 where it
        // finds 1/2.
        let term = |printed, scale| Term {
            printed: vec![printed],
            scales: vec![scale],
        };
        let interpretations = [Interpretation {
            name: String::new(),
            terms: vec![term(10.0, 4.0), term(3.0, 0.5)],
        }];
        let found = near(&interpretations, &measured(&[18.0, 2.0])).unwrap();
        assert_eq!(found.distance, 2.0);
    }

    /// Figures of which one follows from the other: a study of the same kind is
    /// nearer than made-up figures, another study is not.
    #[test]
    fn figures_that_belong_together_are_told_from_others_that_are_as_large() {
        let points: Vec<Measured> = (0..60)
            .map(|at| measured(&[f64::from(at), 2.0 * f64::from(at % 30), -f64::from(at)]))
            .collect();
        let all: Vec<&Measured> = points.iter().collect();
        let chance = |printed: &[f64]| {
            let interpretations = [interpretation(printed)];
            let distances = all.iter().filter_map(|one| near(&interpretations, one));
            let nearest = distances
                .map(|near| near.distance)
                .fold(f64::INFINITY, f64::min);
            super::chance(&interpretations, &all, nearest, Seed::new(1)).unwrap()
        };
        let same = chance(&[20.1, 40.2, -20.1]);
        assert!(same.share < 0.05 && same.interval.high < 0.05, "{same:?}");
        let other = chance(&[20.0, 10.0, -55.0]);
        assert!(other.share > 0.5, "{other:?}");
        let few = super::chance(&[interpretation(&[1.0, 2.0])], &all[..5], 1.0, Seed::new(1));
        assert_eq!(few, None);
    }
}
