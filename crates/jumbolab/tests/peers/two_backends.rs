//! Compares the kernel's TCP over an emulated link with the simulator's over
//! the same link.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, ensure};
use backends::backend::netns::Netns;
use backends::backend::sim::Simulator;
use backends::measurements::Measurements;
use experiment::Experiment;
use plan::Backend;
use units::Seed;

use crate::{SEED, judged, median};

/// The allowed relative difference of a simulated value from the median of
/// the kernel's. It mostly covers one window reduction more or less in a
/// transfer, which has few of them; docs/evidence/kernel.md lists the known differences.
const TOLERANCE: f64 = 0.1;
/// The additional tolerance in packets for a queue of few jumbo frames: the
/// wake-up times of the kernel's programs amount to more of a large frame.
const PACKETS: f64 = 0.3;

/// The number of kernel trials, of which the median of each figure counts. Other
/// load delays the programs and may spoil one.
const ROUNDS: usize = 3;

/// The compared figures, with the additional tolerance of each.
const FIGURES: [(&str, f64); 3] = [
    ("throughput", 0.0),
    ("utilisation_percent_counted", 0.0),
    ("mean_queue_counted", PACKETS),
];

/// A connection with each control and each MTU, at a buffer of one
/// bandwidth-delay product.
pub(super) fn agree(netns: &mut Netns) -> Result<()> {
    let plan = |backend| -> Result<_> {
        let mut experiment = Experiment::load("kernel-and-simulator")?;
        for setting in ["queue=droptail", "buffer=100kB", "size=15MB"] {
            experiment.set(setting)?;
        }
        backends::backend::plan(experiment, backend)
    };
    let (kernels, simulated) = (plan(Backend::Netns)?, plan(Backend::Sim)?);
    let mut wrong = Vec::new();
    for (ours, theirs) in simulated.cells.iter().zip(&kernels.cells) {
        let [ours, kernels] = [ours, theirs].map(|cell| {
            let setting = cell.setting.as_ref();
            setting.map_err(|why| anyhow!(why.clone()))
        });
        let (ours, kernels) = (ours?, kernels?);
        let simulator = Simulator::ready([ours].into_iter(), 1)?;
        let (ours, _) = simulator
            .run(ours, Seed::new(1))
            .map_err(|why| anyhow!(why))?;
        let mut rounds: Vec<Vec<f64>> = Vec::new();
        let ours = figures(&ours.metrics)?;
        let agrees = |figure: usize, kernels: f64| {
            let besides = FIGURES[figure].1;
            (ours[figure] - kernels).abs() <= TOLERANCE * kernels + besides
        };
        let all_agree = |rounds: &[Vec<f64>]| {
            let mut figures = rounds.iter().flat_map(|round| round.iter().enumerate());
            figures.all(|(figure, kernels)| agrees(figure, *kernels))
        };
        // If most rounds agree, so does the median, whatever the others say.
        while rounds.len() < ROUNDS && (rounds.len() <= ROUNDS / 2 || !all_agree(&rounds)) {
            let measured = |measurements: Measurements| figures(&measurements.metrics);
            rounds.push(judged(netns, kernels, SEED, measured)?);
        }
        for (figure, (metric, _)) in FIGURES.into_iter().enumerate() {
            let kernels: Vec<f64> = rounds.iter().map(|round| round[figure]).collect();
            let cell = format!(
                "{:?} {metric}: {:.3}, the kernel {kernels:.3?}",
                theirs.factors, ours[figure]
            );
            println!("{cell}");
            if rounds.len() == ROUNDS && !agrees(figure, median(kernels)) {
                wrong.push(cell);
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// The compared figures among the metrics of a trial.
fn figures(metrics: &BTreeMap<&str, f64>) -> Result<Vec<f64>> {
    let figure = |(metric, _)| metrics.get(metric).copied().context(metric);
    FIGURES.into_iter().map(figure).collect()
}
