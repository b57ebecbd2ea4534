//! A simulation of which the answer is known: a request and its response, whose time the closed
//! form gives to the last digit. It shows that both backends compute here as everywhere.

use anyhow::{Context, Result, anyhow};
use experiment::Experiment;
use plan::{Backend, Setting, metric};
use units::Seed;

use crate::backend;
use crate::backend::model::Predictor;
use crate::backend::sim::Simulator;

/// The shipped experiment with such a case.
const EXPERIMENT: &str = "jumbo-frames";

/// Its only cell.
const CELL: [&str; 3] = ["case=rpc", "mtu=9000", "rate=1gbit"];

/// The time of a request in milliseconds: simulated, and by the closed form.
///
/// # Errors
/// One of them has no answer.
pub(super) fn times() -> Result<[f64; 2]> {
    let simulated = setting(Backend::Sim)?;
    let simulator = Simulator::ready(std::iter::once(&simulated), 1)?;
    let (simulated, _) = simulator
        .run(&simulated, Seed::new(1))
        .map_err(anyhow::Error::msg)?;
    let predicted = Predictor
        .predict(&setting(Backend::Model)?)
        .map_err(anyhow::Error::msg)?;
    let time = |measured: crate::measurements::Measurements| {
        let time = measured.value(&metric::MESSAGE_TIME);
        time.context("a request has no time")
    };
    Ok([time(simulated)?, time(predicted)?])
}

fn setting(backend: Backend) -> Result<Setting> {
    let mut experiment = Experiment::load(EXPERIMENT)?;
    for level in CELL {
        experiment.set(level)?;
    }
    let mut cells = backend::plan(experiment, backend)?.cells.into_iter();
    let cell = cells.next().context("the experiment has no cell")?;
    cell.setting.map_err(|why| anyhow!(why))
}
