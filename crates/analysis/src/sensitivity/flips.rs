//! Finds the two points with opposite answers that differ least.

use super::space::{differing, distance};
use super::{Answer, Point};

/// Two points with opposite answers, as positions in the list that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionFlip {
    /// The point at which it holds.
    pub holds: usize,
    /// The point at which it fails.
    pub fails: usize,
    /// The settings in which they differ, as positions.
    pub settings: Vec<usize>,
}

/// The pair that differs in the fewest settings; of several the one that has
/// `first` among them, then the one with the fewest steps from value to value,
/// then that of the first points. `None` where no two answers are opposite.
pub fn flip(points: &[&Point], answers: &[Answer], first: &Point) -> Option<DecisionFlip> {
    let with = |wanted: Answer| {
        let all = answers.iter().enumerate();
        let found: Vec<usize> = all
            .filter(|(_, answer)| **answer == wanted)
            .map(|(at, _)| at)
            .collect();
        found
    };
    let (holds, fails) = (with(Answer::Holds), with(Answer::Fails));
    let pairs = holds.iter().flat_map(|&holds| {
        fails.iter().map(move |&fails| {
            let (settings, steps) = distance(points[holds], points[fails]);
            let is_elsewhere = points[holds] != first && points[fails] != first;
            ((settings, is_elsewhere, steps, holds, fails), holds, fails)
        })
    });
    let (_, holds, fails) = pairs.min()?;
    Some(DecisionFlip {
        holds,
        fails,
        settings: differing(points[holds], points[fails]),
    })
}

/// A point halfway between the two of a pair: it has the values of `fails` in the
/// first half of the settings in which they differ. Whatever the answer there is,
/// unless undecided, it makes a pair that differs less. `None` where they differ
/// in one setting.
pub(super) fn halfway(holds: &Point, fails: &Point) -> Option<Point> {
    let settings = differing(holds, fails);
    (settings.len() > 1).then(|| {
        let mut point = holds.clone();
        for &setting in &settings[..settings.len() / 2] {
            point[setting] = fails[setting];
        }
        point
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_ends_at_two_points_that_differ_in_one_setting() {
        // It holds where the fourth setting is above 1.
        let holds = |point: &Point| match point[3] > 1 {
            true => Answer::Holds,
            false => Answer::Fails,
        };
        let mut points: Vec<Point> = vec![vec![0; 7], vec![2, 1, 3, 2, 1, 1, 2]];
        let default = points[0].clone();
        for _ in 0..4 {
            let answers: Vec<Answer> = points.iter().map(holds).collect();
            let all: Vec<&Point> = points.iter().collect();
            let found = flip(&all, &answers, &default).unwrap();
            points.extend(halfway(&points[found.holds], &points[found.fails]));
        }
        let answers: Vec<Answer> = points.iter().map(holds).collect();
        let all: Vec<&Point> = points.iter().collect();
        let found = flip(&all, &answers, &default).unwrap();
        assert_eq!(found.settings, [3]);
        assert_eq!(holds(&points[found.holds]), Answer::Holds);
        assert_eq!(flip(&all[..1], &answers[..1], &default), None);
    }

    #[test]
    fn a_pair_with_the_default_settings_is_preferred_and_then_the_shorter_one() {
        use Answer::{Fails, Holds, Undecided};
        let points = [vec![2, 2], vec![2, 1], vec![0, 0], vec![0, 2], vec![0, 1]];
        let all: Vec<&Point> = points.iter().collect();
        let answers = [Holds, Fails, Fails, Holds, Undecided];
        let found = flip(&all, &answers, &vec![0, 0]).unwrap();
        assert_eq!((found.holds, found.fails), (3, 2));
        let found = flip(&all, &answers, &vec![5, 5]).unwrap();
        assert_eq!((found.holds, found.fails), (0, 1));
    }
}
