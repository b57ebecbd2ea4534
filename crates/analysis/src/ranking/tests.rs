//! Rankings with known answers.

use plan::synthetic::{Normal, plan, setting, trial};
use plan::{Cell, Compare, Target};

use super::*;

/// Settings called 0, 1, 2.. with the queues `red` and `mred`.
fn factors(setting: i64, queue: &str) -> Factors {
    Factors(vec![
        ("setting".into(), Level::Integer(setting)),
        ("queue".into(), Level::Text(queue.into())),
    ])
}

fn cell(factors: Factors) -> Cell {
    Cell {
        factors,
        setting: Ok(setting(1500, false)),
    }
}

/// `loss` is printed as 8 and falls by 2, `throughput` as 90 and rises by 5.
fn study(settings: i64) -> Plan {
    let cells =
        (0..settings).flat_map(|setting| ["red", "mred"].map(|queue| factors(setting, queue)));
    let target = |metrics: &[&str], value, gap| Target {
        metrics: metrics.iter().map(|&name| name.to_owned()).collect(),
        unit: "",
        value,
        gap,
    };
    Plan {
        compare: Compare {
            factor: "queue".into(),
            baseline: Level::Text("red".into()),
        },
        ranking: Some(Ranking {
            text: "RED as printed".into(),
            source: "[Floyd1993]".into(),
            countings: vec!["frames".into(), "packets".into()],
            figures: vec![
                target(&["loss", "retransmissions"], 8.0, -2.0),
                target(&["throughput", "throughput"], 90.0, 5.0),
            ],
        }),
        ..plan(cells.map(cell).collect(), 4, Vec::new())
    }
}

/// A trial with the loss counted by both countings.
fn run(setting: i64, queue: &str, repeat: u32, loss: [f64; 2], throughput: f64) -> Trial {
    let metrics = [
        ("loss", loss[0]),
        ("retransmissions", loss[1]),
        ("throughput", throughput),
    ];
    trial(factors(setting, queue), repeat, &metrics)
}

fn near(value: f64, known: f64) -> bool {
    (value - known).abs() < 1e-12
}

#[test]
fn the_nearest_setting_comes_first_and_its_distance_is_in_gaps() {
    let plan = study(2);
    let trials: Vec<Trial> = (1..=4)
        .flat_map(|repeat| {
            [
                // Off by 3 gaps of 2, and by 4 gaps of 5.
                run(0, "red", repeat, [14.0, 14.0], 70.0),
                // Packets: off by 0.3 gaps and by 0.4. Frames: 1.5 gaps and 0.4.
                run(1, "red", repeat, [11.0, 8.6], 92.0),
            ]
        })
        .collect();
    let ranked = ranked(&plan, &trials);
    let found: Vec<(usize, &[usize])> = ranked
        .iter()
        .map(|one| (one.cell, &one.countings[..]))
        .collect();
    // If both counting methods yield the same values, there is one line for
    // both.
    assert_eq!(found, [(2, &[1][..]), (2, &[0]), (0, &[0, 1])]);
    let known = [(0.3_f64, 0.4_f64), (1.5, 0.4), (3.0, 4.0)];
    for (one, (a, b)) in ranked.iter().zip(known) {
        let root = (f64::midpoint(a * a, b * b)).sqrt();
        assert!(near(one.distance, root), "{} {root}", one.distance);
        assert_eq!(one.n, 4);
        let wide = one.interval.unwrap();
        assert!(near(wide.low, root) && near(wide.high, root), "no spread");
    }
    assert_eq!(ranked[0].figures[0].metric.name, "retransmissions");
    let tied: Vec<Option<bool>> = ranked.iter().map(|one| one.is_tied).collect();
    assert_eq!(tied, [Some(true), Some(false), Some(false)]);
}

#[test]
fn what_another_level_changes_is_judged_seed_by_seed() {
    let plan = study(1);
    // The seeds are far apart; the levels differ by 1 in each but for 0.1.
    let runs = [(10.0, 11.1), (20.0, 20.9), (30.0, 31.1), (40.0, 40.9)];
    let mut trials: Vec<Trial> = Vec::new();
    for (repeat, (red, mred)) in (1..).zip(runs) {
        trials.push(run(0, "red", repeat, [red, red], 90.0));
        trials.push(run(0, "mred", repeat, [mred, mred], 90.0));
    }
    // A repeat that only the other level has is in no pair.
    trials.push(run(0, "mred", 9, [1e6, 1e6], 0.0));
    let ranked = ranked(&plan, &trials);
    let [other] = &ranked[0].others[..] else {
        panic!("one other level")
    };
    assert_eq!(other.level, Level::Text("mred".into()));
    let change = other.changes[0].unwrap();
    assert_eq!(change.n, 4);
    assert!(near(change.mean, 1.0));
    assert!(change.ci95.unwrap().low > 0.8, "{change:?}");
    assert!(near(other.changes[1].unwrap().mean, 0.0));
}

#[test]
fn seeds_that_differ_by_the_gap_are_counted() {
    let plan = study(1);
    let losses = [6.0, 7.0, 8.5, 9.5];
    let trials: Vec<Trial> = (1..)
        .zip(losses)
        .map(|(repeat, loss)| run(0, "red", repeat, [loss, loss], 90.0))
        .collect();
    let ranked = ranked(&plan, &trials);
    // Of six pairs 6-8.5, 6-9.5 and 7-9.5 are two apart.
    assert!(near(ranked[0].figures[0].separation.unwrap().share, 0.5));
    assert!(near(ranked[0].figures[1].separation.unwrap().share, 0.0));
}

#[test]
fn intervals_of_distances_hold_the_truth_in_about_95_of_100_runs() {
    let plan = study(1);
    // The truth is off by 2 gaps and by 1: sqrt(5/2).
    let truth = 2.5_f64.sqrt();
    let mut normal = Normal::new(3);
    let held = (0..300).filter(|_| {
        let losses = normal.sample(20, 12.0, 2.0);
        let carried = normal.sample(20, 95.0, 4.0);
        let trials: Vec<Trial> = (1..)
            .zip(losses.iter().zip(&carried))
            .map(|(repeat, (&loss, &carried))| run(0, "red", repeat, [loss, loss], carried))
            .collect();
        ranked(&plan, &trials)[0].interval.unwrap().holds(truth)
    });
    let held = held.count();
    assert!((273..=297).contains(&held), "{held} of 300");
}

#[test]
fn what_failed_or_lacks_a_figure_is_in_no_distance() {
    let plan = study(2);
    let mut failed = run(0, "red", 2, [1e6, 1e6], 1e6);
    failed.failure = Some("the network broke".into());
    let without = trial(factors(1, "red"), 1, &[("loss", 8.0)]);
    let trials = [run(0, "red", 1, [8.0, 8.0], 90.0), failed, without];
    let ranked = ranked(&plan, &trials);
    assert_eq!(ranked.len(), 1);
    assert_eq!((ranked[0].n, ranked[0].distance), (1, 0.0));
    assert_eq!((ranked[0].interval, ranked[0].is_tied), (None, None));
    let bare = Plan {
        ranking: None,
        ..study(2)
    };
    assert!(super::ranked(&bare, &trials).is_empty());
}
