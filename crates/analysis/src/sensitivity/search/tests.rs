use super::*;
use crate::sensitivity::space::distance;

/// The answers of a study: one question that the second setting decides, one that
/// the third and the fifth decide together, and one that nobody can answer with
/// few seeds.
fn known(point: &Point, seeds: u32) -> Known {
    let decided = |holds: bool| match holds {
        true => Answer::Holds,
        false => Answer::Fails,
    };
    let late = match seeds >= 20 {
        true => Answer::Holds,
        false => Answer::Undecided,
    };
    Known {
        answers: vec![
            Some(decided(point[1] == 2)),
            Some(decided(point[2] > 1 && point[4] > 0)),
            (point[0] > 0).then_some(late),
        ],
        distance: Some(distance(point, &[1; 6]).1 as f64),
    }
}

/// The plans of `rounds` rounds, and the results at the end.
fn rounds(space: &Space, most: u32, rounds: usize) -> (Search, Vec<Task>, BTreeMap<Point, u32>) {
    let mut search = Search::new(space, Seed::new(7), most);
    let (mut all, mut seeds) = (Vec::new(), BTreeMap::<Point, u32>::new());
    for _ in 0..rounds {
        let results = seeds
            .iter()
            .map(|(point, &seeds)| (point.clone(), known(point, seeds)));
        let tasks = search.next(&results.collect());
        for task in tasks.iter().filter(|task| !is_fresh(*task.repeats.start())) {
            let before = seeds.insert(task.point.clone(), *task.repeats.end());
            assert_eq!(
                task.repeats.start() - 1,
                before.unwrap_or(0),
                "each seed once"
            );
        }
        if tasks.is_empty() {
            break;
        }
        all.extend(tasks);
    }
    (search, all, seeds)
}

#[test]
fn a_search_begins_at_the_default_and_is_the_same_every_time() {
    let space = Space::new(vec![3, 4, 3, 2, 4, 5]);
    let (search, tasks, seeds) = rounds(&space, 40, 6);
    assert_eq!(tasks[0].point, space.default_point());
    assert_eq!(tasks, rounds(&space, 40, 6).1);
    assert!(!search.enumerates() && !search.is_sampled(&tasks[0].point));
    let sampled = seeds
        .keys()
        .filter(|point| search.is_sampled(point))
        .count();
    assert_eq!(sampled, 6 * MORE_POINTS);
}

#[test]
fn points_with_opposite_answers_are_brought_together() {
    let space = Space::new(vec![3, 4, 3, 2, 4, 5]);
    let (_, _, seeds) = rounds(&space, 40, 6);
    for question in 0..2 {
        let points: Vec<&Point> = seeds.keys().collect();
        let answers = seeds
            .iter()
            .map(|(point, &seeds)| known(point, seeds).answers[question]);
        let answers: Vec<Answer> = answers.flatten().collect();
        let found = flip(&points, &answers, &space.default_point()).unwrap();
        assert_eq!(found.settings.len(), 1, "{question}");
        assert!([&[1][..], &[2], &[4]][question..].contains(&&*found.settings));
    }
}

#[test]
fn what_is_undecided_gets_more_seeds_and_the_nearest_fresh_ones() {
    let space = Space::new(vec![2, 3, 3, 2, 2, 3]);
    let (search, tasks, seeds) = rounds(&space, 40, 100);
    assert!(search.enumerates() && search.rounds() < 100);
    assert_eq!(seeds.len(), space.len().unwrap());
    for (point, &seeds) in &seeds {
        assert!(search.is_sampled(point));
        let near = distance(point, &[1; 6]).1 <= 1;
        match point[0] {
            0 if !near => assert_eq!(seeds, 5, "{point:?}"),
            0 => {}
            _ => assert!(seeds >= 20, "{point:?}: {seeds}"),
        }
    }
    let fresh: Vec<&Task> = tasks
        .iter()
        .filter(|task| is_fresh(*task.repeats.start()))
        .collect();
    assert_eq!(fresh.len(), 1);
    assert_eq!(fresh[0].point, [1; 6]);
}

#[test]
fn points_that_cannot_be_run_are_not_asked_again() {
    let space = Space::new(vec![4; 6]);
    let mut search = Search::new(&space, Seed::new(1), 40);
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        for task in search.next(&BTreeMap::new()) {
            assert!(seen.insert(task.point), "twice");
        }
    }
}
