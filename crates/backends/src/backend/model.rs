//! The backend `model`: figures from closed forms, with the costs of hosts that an
//! experiment gives. Nothing is sent, and no packet is simulated.
//!
//! Each kind of traffic has a module. It gives the metrics that follow from headers,
//! rates, delays, losses and costs, and the reason for each that it leaves out. A
//! cell of which nothing follows is kept with its reason, and is not run.

mod flows;
mod path;
mod prediction;
mod request_response;
mod transfer;

use anyhow::{Result, bail};
use plan::setting::Traffic;
use plan::{Plan, Setting};

use crate::measurements::Measurements;
use path::Path;
use prediction::Prediction;

/// How the reason of a cell begins of which nothing is predicted.
const NOT_PREDICTED: &str = "not predicted: ";

/// Closed forms as a backend.
pub struct Predictor;

impl Predictor {
    /// The metrics of a cell.
    ///
    /// # Errors
    /// The reason why there are none.
    pub(crate) fn predict(&self, setting: &Setting) -> Result<Measurements, String> {
        predict(setting).map(Prediction::into_measurements)
    }
}

/// Keeps the cells of `plan` of which nothing is predicted, with the reason.
///
/// # Errors
/// Nothing is predicted of any cell: the reason of the first.
pub(crate) fn leave_out(plan: &mut Plan) -> Result<()> {
    for cell in &mut plan.cells {
        if let Ok(setting) = &cell.setting
            && let Err(why) = predict(setting)
        {
            cell.setting = Err(format!("{NOT_PREDICTED}{why}"));
        }
    }
    let why = plan.cells.iter().map(|cell| cell.setting.as_ref().err());
    let Some(why) = why.collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    match why.first() {
        None => Ok(()),
        Some(why) => bail!(
            "{}: closed forms predict none of its {} cells: the first is {why}; add --on sim",
            plan.name,
            plan.cells.len()
        ),
    }
}

/// The goodput in Mbit/s that links, windows and costs of hosts allow a transfer over
/// TCP on a path without losses; `None` without a closed form.
pub(crate) fn allowed(setting: &Setting) -> Option<f64> {
    let path = Path::of(setting).ok()?;
    transfer::allowed(&path, setting.traffic.transfer()?)
}

fn predict(setting: &Setting) -> Result<Prediction, String> {
    let path = Path::of(setting)?;
    match &setting.traffic {
        Traffic::Transfer(transfer) => transfer::predict(&path, transfer),
        Traffic::RequestResponse(traffic) => request_response::predict(&path, traffic),
        Traffic::Flows(flows) => flows::predict(&path, flows),
        // Rejected when the experiment was read.
        Traffic::Command(_) | Traffic::LatencyBreakdown(_) | Traffic::Probe(_) => {
            Err("no closed form has this traffic".to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
