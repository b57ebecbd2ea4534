use plan::Level;
use plan::synthetic::{Normal, cell, factors, plan, trial};

use super::*;
use crate::compare::compare;

/// The front of goodput and its cost, for cells by MTU; ten trials of each with
/// noise of `spread`.
fn front_of(cells: &[(i64, f64, f64)], spread: f64, within: &[&str]) -> Vec<(String, Vec<i64>)> {
    let all = cells.iter().map(|(mtu, ..)| cell(factors(*mtu)));
    let mut plan = plan(all.collect(), 10, vec![]);
    plan.tradeoffs = vec![Tradeoff {
        metrics: ["cpu_sender", "throughput"].map(str::to_owned),
        within: within.iter().map(|&name| name.to_owned()).collect(),
    }];
    let mut normal = Normal::new(7);
    let mut trials = Vec::new();
    for &(mtu, cost, gain) in cells {
        let [costs, gains] = [cost, gain].map(|mean| normal.sample(10, mean, spread));
        for (repeat, (cost, gain)) in (1..).zip(costs.into_iter().zip(gains)) {
            let metrics = [("cpu_sender", cost), ("throughput", gain)];
            trials.push(trial(factors(mtu), repeat, &metrics));
        }
    }
    let comparisons = compare(&plan, &trials);
    let mtu = |point: &Point| match point.factors.level("mtu") {
        Some(Level::Integer(mtu)) => *mtu,
        other => panic!("{other:?}"),
    };
    fronts(&plan, &comparisons)
        .iter()
        .map(|front| (front.within.to_string(), front.front().map(mtu).collect()))
        .collect()
}

#[test]
fn on_the_front_is_who_is_not_beaten_in_one_metric_and_equalled_in_the_other() {
    let cells = [
        (1500, 3.0, 900.0),
        (3000, 2.0, 800.0),
        // More expensive than 3000, and no better.
        (4000, 2.5, 800.0),
        (9000, 1.0, 700.0),
        (6000, 1.0, 600.0),
    ];
    let front = (String::new(), vec![9000, 3000, 1500]);
    assert_eq!(front_of(&cells, 0.0, &[]), [front]);
}

#[test]
fn what_chance_may_have_made_keeps_nobody_from_the_front() {
    let cells = [(1500, 100.0, 900.0), (9000, 100.2, 899.8)];
    for (spread, on) in [(0.01, 1), (5.0, 2)] {
        assert_eq!(front_of(&cells, spread, &[])[0].1.len(), on, "{spread}");
    }
}

#[test]
fn cells_compete_only_with_those_of_the_same_levels() {
    let cells = [(1500, 3.0, 800.0), (9000, 1.0, 900.0)];
    assert_eq!(front_of(&cells, 0.0, &[])[0].1, [9000]);
    let apart = [
        ("mtu=1500".to_owned(), vec![1500]),
        ("mtu=9000".to_owned(), vec![9000]),
    ];
    assert_eq!(front_of(&cells, 0.0, &["mtu"]), apart);
}
