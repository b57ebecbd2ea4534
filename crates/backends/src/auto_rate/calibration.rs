//! The worker that tries rates, so that the process that starts it stays outside of the
//! sandbox.

use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use os::{Sandbox, clock};
use units::Span;

use super::ladder::{Chosen, search};
use crate::doctor::attempt::FilledLinks;

/// The role of the worker.
pub(crate) const ROLE: &str = "auto-rate";

/// The time after which no further attempt begins.
const TIMEOUT: Span = Span::from_millis(1_500);

/// The share of the limit after framing that a transfer reaches over links that it fills.
const FILLED: f64 = 0.99;

/// The worker's main function: reads the links to fill, and reports in one line.
///
/// # Errors
/// The parent cannot be read or written.
pub(crate) fn serve(mut orders: impl BufRead, mut replies: impl Write) -> Result<()> {
    let mut line = String::new();
    orders.read_line(&mut line)?;
    let loads: Vec<FilledLinks> = serde_json::from_str(&line).context("reading the links")?;
    let chosen = match Sandbox::enter() {
        Ok(_sandbox) => calibrate(&loads),
        Err(error) => Chosen::nothing(format!("{:#}", anyhow::Error::from(error))),
    };
    writeln!(replies, "{}", serde_json::to_string(&chosen)?)?;
    Ok(replies.flush()?)
}

/// Tries rates over all links. An attempt that fails has not filled them.
fn calibrate(loads: &[FilledLinks]) -> Chosen {
    let deadline = clock::monotonic() + TIMEOUT;
    let mut problem = None;
    let chosen = search(loads.len(), |load, rate| {
        if clock::monotonic() >= deadline {
            return None;
        }
        match loads[load].attempt(rate) {
            Ok(trial) => {
                let is_whole = trial.rejected == 0;
                Some(is_whole && trial.goodput_mbit >= FILLED * trial.limit_mbit)
            }
            Err(error) => {
                problem = Some(format!("{error:#}"));
                Some(false)
            }
        }
    });
    Chosen { problem, ..chosen }
}
