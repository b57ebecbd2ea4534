//! The kernel's TCP over an emulated link against the simulator's over the same.

use anyhow::{Context, Result, anyhow, ensure};
use experiment::Experiment;
use lab::measurements::Measurements;
use lab::world::netns::Netns;
use lab::world::sim::Simulator;
use plan::{Factors, World};
use units::Seed;

use crate::measurements;

/// By how much a figure of the simulator's may differ from the kernel's.
const TOLERANCE: f64 = 0.1;
/// What a queue of few jumbo frames may differ by besides: the kernel's
/// programs wake in their own time, and that of a frame is more there.
const PACKETS: f64 = 0.3;

/// How often the kernel is asked: what else runs keeps its programs waiting.
const TRIES: usize = 3;

/// What is compared, with what it may differ by besides.
const FIGURES: [(&str, f64); 3] = [
    ("throughput", 0.0),
    ("utilisation_percent_counted", 0.0),
    ("mean_queue_counted", PACKETS),
];

/// A connection with each control and each MTU, at a buffer of one
/// bandwidth-delay product.
pub(super) fn agree(netns: &mut Netns) -> Result<()> {
    let plan = |world| -> Result<_> {
        let mut experiment = Experiment::load("kernel-and-simulator")?;
        for setting in ["queue=droptail", "buffer=100kB", "size=15MB"] {
            experiment.set(setting)?;
        }
        lab::world::plan(experiment, world)
    };
    let (kernels, simulated) = (plan(World::Netns)?, plan(World::Sim)?);
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
        let mut differing = Vec::new();
        for _ in 0..TRIES {
            let kernels = measurements(netns, kernels)?;
            differing = differences(&ours, &kernels, &theirs.factors)?;
            if differing.is_empty() {
                break;
            }
        }
        wrong.extend(differing);
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// The figures of a cell that differ by more than they may.
fn differences(
    ours: &Measurements,
    kernels: &Measurements,
    factors: &Factors,
) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (metric, besides) in FIGURES {
        let [ours, kernels] = [ours, kernels].map(|measurements| measurements.metrics.get(metric));
        let (ours, kernels) = ours.zip(kernels).context(metric)?;
        let cell = format!("{factors:?} {metric}: {ours:.3}, the kernel {kernels:.3}");
        println!("{cell}");
        if (ours - kernels).abs() > TOLERANCE * kernels + besides {
            wrong.push(cell);
        }
    }
    Ok(wrong)
}
