//! What a plan would run, for `--dry-run`.

use std::fmt::Write;

use crate::experiment::Setting;
use crate::plan::{Cell, Plan};
use crate::run::trial_ids;
use crate::split::slowest;

/// Seconds that one trial takes beyond its transfers: starting, metering,
/// the journal.
const OVERHEAD_SECONDS: f64 = 0.1;

/// The plan in words: each cell, how many trials, about how long.
pub fn of(plan: &Plan) -> String {
    let mut text = format!("{}: {}\n", plan.name, plan.title);
    for cell in &plan.cells {
        let fate = match &cell.setting {
            Ok(setting) => format!("{} trials of {}", plan.repeat, traffic(setting)),
            Err(reason) => reason.clone(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}: {fate}", cell.factors);
    }
    let seconds: f64 = plan.cells.iter().filter_map(seconds).sum::<f64>() * f64::from(plan.repeat);
    let trials = trial_ids(plan).len();
    let _ = writeln!(
        text,
        "{trials} trials, interleaved, about {:.0} s; hash {}",
        seconds.ceil(),
        plan.hash
    );
    text
}

fn traffic(setting: &Setting) -> String {
    let traffic = &setting.traffic;
    let links = setting.network.links.iter().map(|link| {
        let rate = link
            .rate
            .map_or_else(|| "unshaped".to_owned(), |rate| rate.to_string());
        format!("{} {rate} MTU {}", link.name, link.mtu.get())
    });
    format!(
        "{} in messages of {} B over {} ({})",
        traffic.size,
        traffic.message.get(),
        setting.network.ip,
        links.collect::<Vec<_>>().join(", "),
    )
}

/// How long one trial of a cell takes if its links are the bottleneck.
fn seconds(cell: &Cell) -> Option<f64> {
    let setting = cell.setting.as_ref().ok()?;
    let traffic = &setting.traffic;
    // For goodput, one way and echoed, then the metered transfer, each after its pre-roll.
    let octets = traffic.size * 3 + traffic.cpu_size + traffic.preroll * 4;
    Some(
        OVERHEAD_SECONDS
            + slowest(setting).map_or(0.0, |rate| rate.serialise(octets).as_secs_f64()),
    )
}
