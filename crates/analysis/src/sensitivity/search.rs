//! Plans a search, round by round: which points are run, and with how many seeds.
//!
//! A round follows from the results of all rounds before it, in a fixed order, and
//! from the seed: neither threads nor clocks have a part in it, so that a search
//! that was stopped anywhere goes on to the same end.
//!
//! The first round has the default point, all that differ from it in one setting,
//! and the first points of the sample. Later ones halve the distance of points
//! with opposite answers, run the nearest point with fresh seeds, give more seeds
//! to points that are undecided or near the printed figures, and add points to
//! the sample. Only the sample counts for shares: the others are chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use units::Seed;

use super::design::Design;
use super::flips::{flip, halfway};
use super::{Answer, Point, Space};

/// Seeds of a new point.
const FIRST: u32 = 5;

/// Points that each round adds to the sample.
const MORE_POINTS: usize = 64;

/// Points that a round gives more seeds.
const MORE_SEEDS: usize = 32;

/// Points nearest to the printed figures that get more seeds whatever they say.
const NEAREST: usize = 4;

/// Seeds from this one on are fresh: no point was chosen by what came of them.
const FRESH_FROM: u32 = 1_000_001;

/// Fresh seeds of the nearest point.
const FRESH: u32 = 10;

/// Whether a seed, which `Trial::repeat` names, is one of the fresh ones.
pub const fn is_fresh(repeat: u32) -> bool {
    repeat >= FRESH_FROM
}

/// How many seeds each new point is run with, of `most` at most.
pub fn first_seeds(most: u32) -> u32 {
    FIRST.min(most).max(1)
}

/// A point and seeds to run all its cells with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub point: Point,
    /// The seeds.
    pub repeats: RangeInclusive<u32>,
}

/// The results of a point that was run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The answer to each question; `None` where it was not asked here.
    pub answers: Vec<Option<Answer>>,
    /// How far it is from the printed figures, where that can be told.
    pub distance: Option<f64>,
}

/// The state of a search.
#[derive(Clone, Debug)]
pub struct Search {
    space: Space,
    design: Design,
    /// The most seeds of a point.
    most: u32,
    /// The points that were planned, in order, with their seeds so far.
    planned: Vec<(Point, u32)>,
    places: BTreeMap<Point, usize>,
    /// Positions of the points that belong to the sample.
    sample: BTreeSet<usize>,
    /// Positions of the points that were given fresh seeds.
    confirmed: BTreeSet<usize>,
    rounds: usize,
}

impl Search {
    /// A search of `space` with this seed, and at most `most` seeds for each point.
    pub fn new(space: &Space, seed: Seed, most: u32) -> Self {
        let default = space.default_point();
        let mut without: Vec<Point> = space.neighbours(&default).collect();
        without.push(default);
        Self {
            design: Design::new(space, seed, &without),
            space: space.clone(),
            most: most.max(1),
            planned: Vec::new(),
            places: BTreeMap::new(),
            sample: BTreeSet::new(),
            confirmed: BTreeSet::new(),
            rounds: 0,
        }
    }

    /// Whether all points of the space are run.
    pub const fn enumerates(&self) -> bool {
        self.design.enumerates()
    }

    /// Whether a point belongs to the sample, whose shares are those of the space.
    pub fn is_sampled(&self, point: &Point) -> bool {
        let place = self.places.get(point);
        place.is_some_and(|place| self.sample.contains(place))
    }

    /// Rounds that were planned.
    pub const fn rounds(&self) -> usize {
        self.rounds
    }

    /// The next round, from the results `known` of earlier rounds; points
    /// without a result could not be run. Empty if nothing is left.
    pub fn next(&mut self, known: &BTreeMap<Point, Known>) -> Vec<Task> {
        self.rounds += 1;
        if self.rounds == 1 {
            return self.first();
        }
        // The plan so far, without the additions of this round.
        let run: Vec<(usize, &Known)> = (self.planned.iter().enumerate())
            .filter_map(|(place, (point, _))| Some((place, known.get(point)?)))
            .collect();
        let mut tasks = Vec::new();
        let stuck = self.halve(&run, &mut tasks);
        self.confirm(&run, &mut tasks);
        self.deepen(&run, &stuck, &mut tasks);
        for _ in 0..MORE_POINTS {
            let Some(point) = self.design.next() else {
                break;
            };
            self.add(point, true, &mut tasks);
        }
        tasks
    }

    fn first(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        let default = self.space.default_point();
        let near: Vec<Point> = self.space.neighbours(&default).collect();
        for point in std::iter::once(default).chain(near) {
            self.add(point, false, &mut tasks);
        }
        let points = match self.enumerates() {
            true => usize::MAX,
            false => MORE_POINTS,
        };
        for _ in 0..points {
            let Some(point) = self.design.next() else {
                break;
            };
            self.add(point, true, &mut tasks);
        }
        tasks
    }

    /// Plans a point for its first seeds, unless it was planned.
    fn add(&mut self, point: Point, is_sampled: bool, tasks: &mut Vec<Task>) {
        let place = match self.places.get(&point) {
            Some(&place) => place,
            None => {
                let place = self.planned.len();
                let seeds = first_seeds(self.most);
                self.places.insert(point.clone(), place);
                self.planned.push((point.clone(), seeds));
                tasks.push(Task {
                    point,
                    repeats: 1..=seeds,
                });
                place
            }
        };
        if is_sampled {
            self.sample.insert(place);
        }
    }

    /// For each question a point between two with opposite answers, and the places
    /// of those that were asked already and said nothing.
    fn halve(&mut self, run: &[(usize, &Known)], tasks: &mut Vec<Task>) -> Vec<usize> {
        let default = self.space.default_point();
        let questions = run.iter().map(|(_, known)| known.answers.len()).max();
        let mut stuck = Vec::new();
        for question in 0..questions.unwrap_or(0) {
            let asked: Vec<(usize, Answer)> = run
                .iter()
                .filter_map(|(place, known)| Some((*place, (*known.answers.get(question)?)?)))
                .collect();
            let points: Vec<&Point> = asked
                .iter()
                .map(|(place, _)| &self.planned[*place].0)
                .collect();
            let answers: Vec<Answer> = asked.iter().map(|(_, answer)| *answer).collect();
            let between = flip(&points, &answers, &default)
                .and_then(|flip| halfway(points[flip.holds], points[flip.fails]));
            let Some(between) = between else { continue };
            match self.places.get(&between) {
                Some(&place) => stuck.push(place),
                None => self.add(between, false, tasks),
            }
        }
        stuck
    }

    /// The point nearest to the printed figures gets fresh seeds.
    fn confirm(&mut self, run: &[(usize, &Known)], tasks: &mut Vec<Task>) {
        let nearest = by_distance(run).next();
        if let Some(place) = nearest.filter(|place| self.confirmed.insert(*place)) {
            tasks.push(Task {
                point: self.planned[place].0.clone(),
                repeats: FRESH_FROM..=FRESH_FROM + FRESH - 1,
            });
        }
    }

    /// Twice as many seeds for points that are undecided, those between opposite
    /// answers first, then those nearest to the printed figures, then those with
    /// the fewest seeds.
    fn deepen(&mut self, run: &[(usize, &Known)], stuck: &[usize], tasks: &mut Vec<Task>) {
        let near: Vec<usize> = by_distance(run).take(NEAREST).collect();
        let undecided = |known: &Known| {
            let answers = known.answers.iter().flatten();
            answers
                .filter(|&&answer| answer == Answer::Undecided)
                .count()
        };
        let mut wanted: Vec<(bool, bool, u32, usize)> = run
            .iter()
            .filter(|(place, known)| undecided(known) > 0 || near.contains(place))
            .map(|&(place, _)| {
                let seeds = self.planned[place].1;
                (
                    !stuck.contains(&place),
                    !near.contains(&place),
                    seeds,
                    place,
                )
            })
            .filter(|&(_, _, seeds, _)| seeds < self.most)
            .collect();
        wanted.sort_unstable();
        for (_, _, seeds, place) in wanted.into_iter().take(MORE_SEEDS) {
            let more = (seeds * 2).min(self.most);
            let (point, planned) = &mut self.planned[place];
            *planned = more;
            tasks.push(Task {
                point: point.clone(),
                repeats: seeds + 1..=more,
            });
        }
    }
}

/// Places, those nearest to the printed figures first.
fn by_distance(run: &[(usize, &Known)]) -> impl Iterator<Item = usize> {
    let mut near: Vec<(f64, usize)> = run
        .iter()
        .filter_map(|(place, known)| Some((known.distance?, *place)))
        .collect();
    near.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    near.into_iter().map(|(_, place)| place)
}

#[cfg(test)]
mod tests;
