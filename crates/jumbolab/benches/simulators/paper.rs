//! Runs of the size of a published study's: short, so that their fixed costs count.

use crate::program::Result;
use crate::scenario::Scenario;
use crate::simulator::{Simulator, Sweep};
use crate::statistics::{median, sorted};

/// The measured run.
pub(crate) const PAPER: Scenario = Scenario {
    name: "paper",
    kilobits: 1_500,
    flows: 5,
    seconds: 50.0,
    bytes: 1_500,
    shared: true,
};
/// The runs that Jumbolab makes in one process.
const RUNS: u32 = 200;

/// The table of the cost of a run, for the simulators that run all of it.
pub(crate) fn compare(simulators: &[Simulator], rounds: usize) -> Result<String> {
    let simulators: Vec<&Simulator> = simulators
        .iter()
        .filter(|simulator| simulator.share_of(PAPER).seconds >= PAPER.seconds)
        .collect();
    let mut sweeps = vec![Vec::new(); simulators.len()];
    for _ in 0..rounds {
        for (simulator, sweeps) in simulators.iter().zip(&mut sweeps) {
            sweeps.push(simulator.sweep(&PAPER, RUNS)?);
        }
    }
    let mut table = format!(
        "| paper: {} Mb/s, {} flows, {} B, {} s | processes | CPU ms/run | range | runs/CPU-second | drops % | busy % | Jumbolab is faster by |\n|---|---|---|---|---|---|---|---|\n",
        PAPER.megabits(),
        PAPER.flows,
        PAPER.bytes,
        PAPER.seconds,
    );
    for (simulator, theirs) in simulators.iter().zip(&sweeps) {
        table.push_str(&row(simulator, theirs, &sweeps[0]));
    }
    Ok(table)
}

/// A row of the table; `ours` are Jumbolab's.
fn row(simulator: &Simulator, theirs: &[Sweep], ours: &[Sweep]) -> String {
    let of = |figure: fn(&Sweep) -> f64| sorted(theirs.iter().map(figure));
    let millis = of(|sweep| 1e3 * sweep.seconds);
    let ratios = sorted(
        ours.iter()
            .zip(theirs)
            .map(|(ours, theirs)| theirs.seconds / ours.seconds),
    );
    let ends = |values: &[f64]| [values[0], values[values.len() - 1]];
    let ([least, most], [lowest, highest]) = (ends(&millis), ends(&ratios));
    let (processes, faster) = match simulator.is_ours() {
        true => (format!("{RUNS} runs in one"), String::new()),
        false => (
            "one for each run".to_owned(),
            format!("{:.0} ({:.0} to {:.0})", median(&ratios), lowest, highest),
        ),
    };
    format!(
        "| {simulator} | {processes} | {:.2} | {:.2} to {:.2} | {:.0} | {:.2} | {:.1} | {faster} |\n",
        median(&millis),
        least,
        most,
        1e3 / median(&millis),
        100.0 * median(&of(|sweep| sweep.dropped)),
        100.0 * median(&of(|sweep| sweep.busy)),
    )
}
