//! The rate of links with `rate = "auto"`: the largest of a few that this machine sustains
//! at the moment.
//!
//! It is chosen before a run, once for all such links, by a worker that fills links of the
//! smallest packets that the plan sends. Header overhead does not depend on the rate, so a
//! slower link answers the same question.

#[cfg(target_os = "linux")]
pub(crate) mod calibration;
#[cfg(target_os = "linux")]
mod choice;
#[cfg(target_os = "linux")]
mod ladder;
#[cfg(target_os = "linux")]
mod packets;

use anyhow::{Context, Result};
use experiment::{AUTO_RATES, Experiment};
use plan::{AutoRate, Backend, Plan, Setting};
use units::Rate;

use crate::backend;

/// The settings of `plan`, which was made of `experiment`, whose rates are left to the
/// machine: those that another rate changes.
pub fn settings<'a>(experiment: &Experiment, plan: &'a Plan) -> Vec<&'a Setting> {
    // A network that is there has the rate that it has.
    let builds = plan.backend.profile().builds_network;
    if !builds || !experiment.has_auto_rate() {
        return Vec::new();
    }
    let [.., smallest] = AUTO_RATES;
    let slower = backend::plan(experiment.clone().with_auto_rate(smallest), plan.backend);
    let is_same = |position: usize, setting: &Setting| {
        let other = slower.as_ref().map(|other| &other.cells[position].setting);
        other.is_ok_and(|other| other.as_ref() == Ok(setting))
    };
    let cells = plan.cells.iter().enumerate();
    cells
        .filter_map(|(position, cell)| Some((position, cell.setting.as_ref().ok()?)))
        .filter(|(position, setting)| !is_same(*position, setting))
        .map(|(_, setting)| setting)
        .collect()
}

/// The rate of the links of `settings` in `backend`: the largest that this machine sustains
/// now or, where no machine limits it, the largest of all.
///
/// # Errors
/// This build does not run the backend.
pub fn choose(backend: Backend, settings: &[&Setting]) -> Result<AutoRate> {
    match (backend.profile().depends_on_machine, settings) {
        (false, _) => Ok(AutoRate {
            rate: AUTO_RATES[0].to_string(),
            sustained: None,
            tried: "nothing: no machine limits these links".to_owned(),
        }),
        #[cfg(target_os = "linux")]
        (true, settings) => Ok(choice::measured(settings)),
        #[cfg(not(target_os = "linux"))]
        (true, _) => Err(backend::absent(backend)),
    }
}

/// The rate of a recorded choice.
///
/// # Errors
/// It is no rate that `auto` stands for.
pub fn rate(chosen: &AutoRate) -> Result<Rate> {
    let known = AUTO_RATES
        .iter()
        .find(|rate| rate.to_string() == chosen.rate);
    known
        .copied()
        .with_context(|| format!("run.auto_rate.rate = {}: no rate of \"auto\"", chosen.rate))
}

#[cfg(test)]
mod tests;
