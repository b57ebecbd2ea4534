//! The order in which points of a space are sampled.
//!
//! A sequence of Latin hypercubes [McKay1979]: each of them takes every value
//! of a setting equally often, or once more, and combines the values of
//! different settings at random, of several combinations that by which the pairs
//! of values of any two settings occur most evenly [Tang1993], in all hypercubes
//! so far: what two settings do together is then seen as well as what each does.
//! Each point is equally probable, so every prefix of the sequence is a sample of
//! the space. No point occurs twice. A small space is enumerated completely, in
//! random order.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use units::Seed;

use super::{Point, Space};

/// The largest space that is enumerated.
const ENUMERATED: usize = 512;

/// Points of a hypercube.
const BLOCK: usize = 64;

/// Combinations of which a hypercube takes the most even one, for each setting.
const CANDIDATES: usize = 24;

/// Hypercubes without a new point after which a space counts as used up.
const FRUITLESS: usize = 64;

/// A sequence of points.
#[derive(Clone, Debug)]
pub(super) struct Design {
    space: Space,
    rng: ChaCha8Rng,
    /// Points that occurred, or must not occur.
    taken: BTreeSet<Point>,
    /// The next points, in reverse order.
    waiting: Vec<Point>,
    enumerates: bool,
    /// All hypercubes so far: the values of each setting.
    columns: Vec<Vec<usize>>,
}

impl Design {
    /// The sequence for a seed. A sampled space omits the points `without`.
    pub(super) fn new(space: &Space, seed: Seed, without: &[Point]) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.derive("robustness/design").get());
        let small = space.len().filter(|&points| points <= ENUMERATED);
        let mut waiting: Vec<Point> = (0..small.unwrap_or(0))
            .map(|number| space.point(number))
            .collect();
        waiting.shuffle(&mut rng);
        let enumerates = small.is_some();
        Self {
            space: space.clone(),
            rng,
            taken: match enumerates {
                true => BTreeSet::new(),
                false => without.iter().cloned().collect(),
            },
            waiting,
            enumerates,
            columns: vec![Vec::new(); space.sizes().len()],
        }
    }

    /// Whether all points of the space occur.
    pub(super) const fn enumerates(&self) -> bool {
        self.enumerates
    }

    /// The values of one setting in a hypercube, in random order.
    fn column(&mut self, size: usize) -> Vec<usize> {
        // The choice of the additional values is random, too.
        let mut values: Vec<usize> = (0..size).collect();
        values.shuffle(&mut self.rng);
        let mut column: Vec<usize> = values.into_iter().cycle().take(BLOCK).collect();
        column.shuffle(&mut self.rng);
        column
    }

    /// The values of one setting in the next hypercube, where those before it have theirs.
    fn most_even(&mut self, setting: usize) -> Vec<usize> {
        let sizes = self.space.sizes().to_vec();
        let candidates: Vec<Vec<usize>> = (0..CANDIDATES)
            .map(|_| self.column(sizes[setting]))
            .collect();
        let unevenness = |candidate: &Vec<usize>| {
            let own = self.columns[setting].iter().chain(candidate);
            let others = self.columns[..setting].iter().zip(&sizes);
            others
                .map(|(other, size)| {
                    let pairs = sizes[setting] * size;
                    let mut often = vec![0_usize; pairs];
                    for (own, other) in own.clone().zip(other) {
                        often[own * size + other] += 1;
                    }
                    // The mean square of a pair's count, over that of even counts.
                    pairs * often.iter().map(|count| count * count).sum::<usize>()
                })
                .sum::<usize>()
        };
        candidates
            .into_iter()
            .min_by_key(unevenness)
            .unwrap_or_default()
    }

    fn fill(&mut self) {
        for _ in 0..FRUITLESS {
            for setting in 0..self.columns.len() {
                let column = self.most_even(setting);
                self.columns[setting].extend(column);
            }
            let begin = self.columns.first().map_or(0, Vec::len) - BLOCK;
            for row in (begin..begin + BLOCK).rev() {
                let point: Point = self.columns.iter().map(|column| column[row]).collect();
                if self.taken.insert(point.clone()) {
                    self.waiting.push(point);
                }
            }
            if !self.waiting.is_empty() {
                return;
            }
        }
    }
}

impl Iterator for Design {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        if self.waiting.is_empty() && !self.enumerates {
            self.fill();
        }
        self.waiting.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_space_comes_whole_and_a_large_one_evenly_without_repetition() {
        let small = Space::new(vec![3, 4, 5]);
        let mut points: Vec<Point> = Design::new(&small, Seed::new(1), &[]).collect();
        assert!(!points.is_sorted());
        points.sort();
        points.dedup();
        assert_eq!(points.len(), 60);

        let large = Space::new(vec![4; 8]);
        let default = large.default_point();
        let design = || Design::new(&large, Seed::new(1), std::slice::from_ref(&default));
        let points: Vec<Point> = design().take(BLOCK * 4).collect();
        let different: BTreeSet<&Point> = points.iter().collect();
        assert_eq!(different.len(), points.len());
        for setting in 0..8 {
            for value in 0..4 {
                let has = |point: &&Point| point[setting] == value;
                let often = points.iter().filter(has).count();
                assert!((62..=66).contains(&often), "{setting} {value}: {often}");
            }
        }
        assert_eq!(points, design().take(BLOCK * 4).collect::<Vec<_>>());
        assert_ne!(
            points[..8],
            Design::new(&large, Seed::new(2), &[])
                .take(8)
                .collect::<Vec<_>>()
        );
        // To its end.
        let middle = Space::new(vec![10, 10, 10]);
        assert!(Design::new(&middle, Seed::new(1), &[]).count() > 950);
    }

    #[test]
    fn pairs_of_values_occur_more_evenly_than_by_chance() {
        let large = Space::new(vec![4, 2, 5, 3, 4, 2, 3, 4, 5, 2]);
        let points: Vec<Point> = Design::new(&large, Seed::new(7), &[])
            .take(BLOCK * 3)
            .collect();
        let sizes = large.sizes();
        // The mean square deviation from even counts, over that of independent values.
        let mut ratios = Vec::new();
        for one in 0..sizes.len() {
            for other in 0..one {
                let pairs = sizes[one] * sizes[other];
                let mut often = vec![0.0; pairs];
                for point in &points {
                    often[point[one] * sizes[other] + point[other]] += 1.0;
                }
                let even = points.len() as f64 / pairs as f64;
                let squares: f64 = often.iter().map(|count: &f64| (count - even).powi(2)).sum();
                ratios.push(squares / pairs as f64 / even);
            }
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!(mean < 0.3, "{mean}");
    }
}
