//! Prints the tables.

use crate::load::Load;
use crate::measure::Outcome;
use crate::spread::spread;
use crate::system::System;

/// A column: its heading, its digits, and its value in a round, of which the second
/// outcome is that of kernel forwarding.
struct Column {
    heading: &'static str,
    digits: usize,
    value: fn(&Outcome, Option<&Outcome>) -> f64,
}

const COLUMNS: [Column; 9] = [
    Column {
        heading: "delivered, 1000/s",
        digits: 0,
        value: |run, _| run.delivered / run.seconds / 1e3,
    },
    Column {
        heading: "lost, %",
        digits: 2,
        value: |run, _| 100.0 * (1.0 - run.delivered / run.sent),
    },
    Column {
        heading: "packets per packet of the core",
        digits: 1,
        value: |run, _| run.delivered / run.core,
    },
    Column {
        heading: "near gateway, 1000 per core-second",
        digits: 0,
        value: |run, _| run.delivered / run.near / 1e3,
    },
    Column {
        heading: "far gateway, 1000 per core-second",
        digits: 0,
        value: |run, _| run.delivered / run.far / 1e3,
    },
    Column {
        heading: "median delay, us",
        digits: 0,
        value: |run, _| run.median,
    },
    Column {
        heading: "p99 delay, us",
        digits: 0,
        value: |run, _| run.p99,
    },
    Column {
        heading: "added median, us",
        digits: 0,
        value: |run, plain| plain.map_or(f64::NAN, |plain| run.median - plain.median),
    },
    Column {
        heading: "added p99, us",
        digits: 0,
        value: |run, plain| plain.map_or(f64::NAN, |plain| run.p99 - plain.p99),
    },
];

/// Prints a table for each load: medians over the rounds, with ranges.
pub(crate) fn print(systems: &[System], runs: &[Vec<Vec<Outcome>>]) {
    for load in Load::ALL {
        let of_load = |round: &Vec<Outcome>| -> Option<Outcome> {
            round.iter().find(|run| run.load == load.name).cloned()
        };
        let rounds: Vec<Vec<Option<Outcome>>> = runs
            .iter()
            .map(|rounds| rounds.iter().map(of_load).collect())
            .collect();
        if rounds.iter().flatten().flatten().next().is_none() {
            continue;
        }
        println!("\n{}\n", load.name);
        let headings: Vec<&str> = COLUMNS.iter().map(|column| column.heading).collect();
        println!("| system | {} | runs |", headings.join(" | "));
        println!("|{}", "---|".repeat(COLUMNS.len() + 2));
        let plain = systems.iter().position(|system| *system == System::Plain);
        let plain = plain.map(|place| &rounds[place]);
        for (system, rounds) in systems.iter().zip(&rounds) {
            row(*system, rounds, plain);
        }
    }
}

fn row(system: System, rounds: &[Option<Outcome>], plain: Option<&Vec<Option<Outcome>>>) {
    let cells = COLUMNS.iter().map(|column| {
        let values = rounds.iter().enumerate().filter_map(|(round, run)| {
            let beside = plain.and_then(|plain| plain.get(round)?.as_ref());
            Some((column.value)(run.as_ref()?, beside))
        });
        spread(values, column.digits)
    });
    let cells: Vec<String> = cells.collect();
    let done = rounds.iter().flatten().count();
    println!("| {} | {} | {done} |", system.title(), cells.join(" | "));
}
