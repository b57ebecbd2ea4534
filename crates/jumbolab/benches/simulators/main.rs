//! Compares the packets that Jumbolab simulates per CPU second with ns-2 and
//! ns-3 on the same dumbbells [Ns2] [Ns3].
//!
//!     cargo bench -p jumbolab --bench simulators -- 5 a b
//!     cargo bench -p jumbolab --bench simulators -- 5 paper
//!     cargo bench -p jumbolab --bench simulators -- 5 --page
//!
//! The last runs all scenarios and writes docs/evidence/benchmarks.md and docs/evidence/speed-history.csv.
//! Needs `ns` (Debian: ns2), and `g++` with libns3-dev. Runs take turns, so
//! that other load affects all alike. The set-up, measured as a run of the
//! first 50 ms, is subtracted from each. A ratio counts only if drop rate and
//! utilisation of the bottleneck agree in the same runs. docs/evidence/benchmarks.md
//! describes the table.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

#[path = "../shared/asked.rs"]
mod asked;
mod page;
mod paper;
#[path = "../shared/processor.rs"]
mod processor;
mod program;
mod scenario;
mod simulator;
#[path = "../shared/statistics.rs"]
mod statistics;

use std::process::ExitCode;

use asked::Asked;
use page::Rate;
use paper::PAPER;
use program::Result;
use scenario::{SCENARIOS, Scenario};
use simulator::{Outcome, Simulator};
use statistics::{median, sorted};

/// The number of rounds, of which the median counts.
const ROUNDS: usize = 5;
/// The allowed difference of drop rate and utilisation in percentage points.
/// Chosen before the first run; the variation between seeds was not measured.
const DROPS: f64 = 0.5;
const BUSY: f64 = 1.5;

fn main() -> ExitCode {
    if let Some(done) = program::measured() {
        return done;
    }
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let known: Vec<&str> = SCENARIOS
        .iter()
        .chain([&PAPER])
        .map(|one| one.name)
        .collect();
    let Asked { rounds, names } = Asked::read(ROUNDS, &known)?;
    let folder = tempfile::tempdir()?;
    let simulators = Simulator::all(folder.path())?;
    let mut table = String::new();
    let mut rates = Vec::new();
    let mut say = |line: &str| {
        println!("{line}");
        table.push_str(line);
        table.push('\n');
    };
    say(
        "| | simulator | simulated | packets/CPU-second | range | drops % | busy % | kB/flow | Jumbolab is faster by |",
    );
    say("|---|---|---|---|---|---|---|---|---|");
    let asked = |one: &Scenario| names.contains(&one.name);
    for scenario in SCENARIOS.into_iter().filter(asked) {
        let simulators: Vec<&Simulator> = simulators
            .iter()
            .filter(|simulator| scenario.shared || simulator.is_ours())
            .collect();
        let mut runs = vec![Vec::new(); simulators.len()];
        for _ in 0..rounds {
            for (simulator, runs) in simulators.iter().zip(&mut runs) {
                runs.push(simulator.run(&simulator.share_of(scenario))?);
            }
        }
        for (simulator, theirs) in simulators.iter().zip(&runs) {
            let (line, rate) = row(scenario, simulator, theirs, &runs[0]);
            say(&line);
            rates.push(rate);
        }
    }
    let mut of_runs = String::new();
    if names.contains(&PAPER.name) {
        of_runs = paper::compare(&simulators, rounds)?;
        print!("\n{of_runs}");
    }
    if std::env::args().any(|word| word == "--page") {
        page::write(rounds, &[table, of_runs].join("\n"), &rates)?;
    }
    Ok(())
}

/// A row of the table; `ours` are Jumbolab's runs.
fn row(
    scenario: Scenario,
    simulator: &Simulator,
    theirs: &[Outcome],
    ours: &[Outcome],
) -> (String, Rate) {
    let rates = sorted(theirs.iter().map(Outcome::rate));
    let ratios = sorted(
        ours.iter()
            .zip(theirs)
            .map(|(ours, theirs)| ours.rate() / theirs.rate()),
    );
    let [drops, busy, memory] = [
        |outcome: &Outcome| 100.0 * outcome.dropped / outcome.arrived,
        |outcome: &Outcome| 100.0 * outcome.busy,
        |outcome: &Outcome| outcome.memory / 1e3,
    ]
    .map(|of| median(&sorted(theirs.iter().map(of))));
    let apart = ours.iter().zip(theirs).any(|(ours, theirs)| {
        let [ours, theirs] = [ours, theirs].map(|one| (one.dropped / one.arrived, one.busy));
        100.0 * (ours.0 - theirs.0).abs() > DROPS || 100.0 * (ours.1 - theirs.1).abs() > BUSY
    });
    let faster = match () {
        () if simulator.is_ours() => String::new(),
        () if simulator.share_of(scenario).seconds < scenario.seconds => {
            format!("{:.0}, by the rates alone", median(&ratios))
        }
        () if apart => format!("({:.1}, but they do not agree)", median(&ratios)),
        () => format!(
            "{:.1} ({:.1} to {:.1})",
            median(&ratios),
            ratios[0],
            ratios[ratios.len() - 1]
        ),
    };
    let line = format!(
        "| {}: {} Mb/s, {} flows, {} B | {simulator} | {} s | {:.0} k | {:.0} to {:.0} k | {drops:.2} | {busy:.1} | {:.1} | {faster} |",
        scenario.name,
        scenario.megabits(),
        scenario.flows,
        scenario.bytes,
        simulator.share_of(scenario).seconds,
        median(&rates) / 1e3,
        rates[0] / 1e3,
        rates[rates.len() - 1] / 1e3,
        memory,
    );
    let rate = Rate {
        scenario: scenario.name,
        simulator: simulator.to_string(),
        rates: [median(&rates), rates[0], rates[rates.len() - 1]],
    };
    (line, rate)
}
