//! The order in which points of a space are sampled.
//!
//! A sequence of Latin hypercubes [McKay1979]: each of them takes every value
//! of a setting equally often, or once more, and combines the values of
//! different settings at random. Each point is equally probable, so every
//! prefix of the sequence is a sample of the space. No point occurs twice. A
//! small space is enumerated completely, in random order.

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

    fn fill(&mut self) {
        let sizes = self.space.sizes().to_vec();
        for _ in 0..FRUITLESS {
            let columns: Vec<Vec<usize>> = sizes.iter().map(|&size| self.column(size)).collect();
            for row in (0..BLOCK).rev() {
                let point: Point = columns.iter().map(|column| column[row]).collect();
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
}
