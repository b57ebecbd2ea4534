//! The facts of this machine, which a user has named, on systems other than Linux.

use anyhow::{Context, Result};
use os::cpu_time;
use os::machine::{Machine, congestion_control};
use os::precision::{self, Wait};
use plan::HostFacts;
use serde_json::json;
use units::Span;

use super::NOT_METERED;

/// The pace of the pacing test: 50 times at 1000 per second take 50 ms.
const INTERVAL: Span = Span::from_millis(1);
const WAITS: u64 = 50;

/// The facts of this machine. What the system does not state is named as unknown.
///
/// # Errors
/// The program cannot read a meter.
pub(crate) fn of_named_host() -> Result<HostFacts> {
    let machine = Machine::here();
    let (before, own_before) = (cpu_time::Machine::sample()?, cpu_time::Process::sample()?);
    let pacing = precision::measure(Wait::Pacer, INTERVAL, WAITS).context("testing the pacing")?;
    let used = cpu_time::Machine::sample()?.since(&before);
    let own = cpu_time::Process::sample()?.cpu - own_before.cpu;
    let others = (used.busy.as_secs_f64() - own.as_secs_f64()).max(0.0);
    let stamps = os::program_stamps()?.context("this system stamps no arrivals")?;
    let facts =
        [
            ("others_before", json!(others / used.elapsed.as_secs_f64())),
            ("pacing_late_us_median", micros(pacing.median)),
            ("pacing_late_us_p99", micros(pacing.p99)),
            ("clock_resolution_ns", json!(stamps.resolution.as_nanos())),
            ("stamp_late_us_p99", micros(stamps.late)),
            (
                "timestamps",
                json!("by the program; this system stamps no arrivals"),
            ),
            (
                "congestion_control",
                json!(congestion_control().unwrap_or_else(|| {
                    "the system's own; it names none to programs".to_owned()
                })),
            ),
            ("clock_synchronisation", json!("unknown")),
            ("energy", json!(absence_of_energy())),
            ("not_metered", json!(NOT_METERED)),
        ];
    let facts = facts.into_iter();
    Ok(HostFacts {
        kernel: machine.kernel,
        cpu_model: machine.cpu_model,
        cpus: u32::try_from(machine.processors).unwrap_or(u32::MAX),
        root: os::privileged(),
        machine: facts
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    })
}

fn absence_of_energy() -> String {
    match os::energy::Energy::sample() {
        Err(absence) => format!("not metered: {absence}"),
        Ok(never) => match never {},
    }
}

/// Microseconds to one decimal.
fn micros(span: Span) -> serde_json::Value {
    json!((span.as_secs_f64() * 1e7).round() / 10.0)
}
