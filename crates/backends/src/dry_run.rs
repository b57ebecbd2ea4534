//! The summary that `--dry-run` prints: the trials that a plan would run.

use std::fmt::Write;

use analysis::decomposition::slowest;
use analysis::predicted;
use plan::setting::{Echo, Traffic};
use plan::{Plan, Setting};

/// Time of one trial beyond its transfers, in seconds: start, metering and
/// journal.
const OVERHEAD_SECONDS: f64 = 0.1;

/// The plan as text: each cell, the number of trials, and the estimated
/// duration.
pub fn summary(plan: &Plan) -> String {
    let mut text = format!("{}: {}\n", plan.name, plan.title);
    for cell in &plan.cells {
        let outcome = match &cell.setting {
            Ok(setting) => format!("{} trials of {}", plan.repeat, traffic(setting)),
            Err(reason) => reason.clone(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}: {outcome}", cell.factors);
    }
    let settings = plan
        .cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok());
    let seconds: Option<f64> = settings.map(seconds).sum();
    let length = match (plan.backend.profile().runs_in_real_time, seconds) {
        (false, _) if plan.backend.profile().predicts => "computed at once".to_owned(),
        (false, _) => "as fast as they can be simulated".to_owned(),
        (true, None) if request_responses(plan) => "as long as answers take".to_owned(),
        (true, None) => "as long as the commands take".to_owned(),
        (true, Some(seconds)) => {
            format!("about {:.0} s", (seconds * f64::from(plan.repeat)).ceil())
        }
    };
    let cells = plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let trials = cells.count() as u64 * u64::from(plan.repeat);
    let _ = writeln!(
        text,
        "{trials} trials, interleaved, {length}; hash {}",
        plan.hash
    );
    text
}

/// Whether the traffic is request-response, so that the duration depends on the
/// answers.
fn request_responses(plan: &Plan) -> bool {
    let mut settings = plan
        .cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok());
    settings.any(|setting| setting.traffic.request_response().is_some())
}

fn traffic(setting: &Setting) -> String {
    let links = setting.network.links.iter().map(|link| {
        let rate = link
            .rate
            .map_or_else(|| "unshaped".to_owned(), |rate| rate.to_string());
        let wire = link.impairments.narrow.map_or_else(String::new, |narrow| {
            format!(" on a wire with MTU {}", narrow.mtu.get())
        });
        let others = link.cross.map_or_else(String::new, |cross| {
            format!(", shared with {} of cross traffic", cross.rate)
        });
        let recorded = if link.recorded { ", recorded" } else { "" };
        let mtu = link.mtu.get();
        format!("{} {rate} MTU {mtu}{wire}{others}{recorded}", link.name)
    });
    let what = match &setting.traffic {
        Traffic::Transfer(transfer) => format!(
            "{} in messages of {} B",
            transfer.size,
            transfer.message.get()
        ),
        Traffic::Command(command) => format!("`{}`", command.sender),
        Traffic::Flows(flows) => format!("{} flows for {}", flows.flows.len(), flows.duration),
        Traffic::LatencyBreakdown(trips) => format!(
            "{} round trips of {} B",
            trips.messages,
            trips.message.get()
        ),
        Traffic::RequestResponse(request_response) => format!(
            "{} each in messages of {} sizes from {} to {} B",
            request_response.bytes,
            request_response.sizes.all().len(),
            request_response.sizes.from,
            request_response.sizes.to
        ),
        Traffic::Probe(probe) => format!("probes of up to {} B", probe.up_to.get()),
    };
    format!(
        "{what} over {} ({})",
        setting.network.ip,
        links.collect::<Vec<_>>().join("; "),
    )
}

/// The estimated duration of one trial if its links, or losses by the closed
/// forms, limit the rate. `None` for programs of the user.
fn seconds(setting: &Setting) -> Option<f64> {
    let transfer = setting.traffic.transfer()?;
    // One-way goodput, echoes, then the metered transfer, each after its
    // warm-up.
    let passes = 2 + u64::from(transfer.echo != Echo::Off);
    let bytes = transfer.size * passes + transfer.cpu_bytes + transfer.warmup * (passes + 1);
    let at_goodput = |megabits: f64| bytes.bits() as f64 / (megabits * 1e6);
    let carrying = match predicted::goodput(setting) {
        Some(megabits) => at_goodput(megabits),
        None => slowest(setting).map_or(0.0, |rate| rate.serialise(bytes).as_secs_f64()),
    };
    Some(OVERHEAD_SECONDS + carrying)
}
