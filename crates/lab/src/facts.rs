//! Gathers the facts of a run: this program and this machine.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use live::machine::Machine;
use live::precision::{self, Wait};
use live::{clock, meter, own_program};
use plan::{HostFacts, RunFacts, World};
use serde_json::{Value, json};
use units::Span;

/// The pace of the pacing test: 50 instants at 1000 per second take 50 ms.
const INTERVAL: Span = Span::from_millis(1);
const WAITS: u64 = 50;

/// The facts of a run in `world`, gathered before the sandbox is entered, so
/// that they describe the user's own process. Simulated results do not depend
/// on the machine, so its facts are not gathered for the simulator; machines that the
/// user names are described by their agents.
///
/// # Errors
/// The program cannot read its own file or the clock.
pub fn here(world: World) -> Result<RunFacts> {
    let profile = world.profile();
    let machine = match profile.depends_on_machine && profile.builds_network {
        true => Some(of_machine()?),
        false => None,
    };
    Ok(RunFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        binary: own_program::hash()?,
        world,
        host: machine,
        hosts: Vec::new(),
        left_out: Vec::new(),
        resumed: Vec::new(),
    })
}

/// The facts of this machine.
///
/// # Errors
/// The program cannot read the clock or a meter.
pub(crate) fn of_machine() -> Result<HostFacts> {
    let machine = Machine::here();
    let (before, own_before) = (meter::Machine::sample()?, meter::Process::sample()?);
    let pacing = precision::measure(Wait::Pacer, INTERVAL, WAITS).context("testing the pacing")?;
    let used = meter::Machine::sample()?.since(&before);
    let own = meter::Process::sample()?.cpu - own_before.cpu;
    let others = (used.busy.as_secs_f64() - own.as_secs_f64()).max(0.0);
    let elapsed = used.elapsed.as_secs_f64();
    let all = (used.elapsed * used.processors).as_secs_f64();
    let extra = [
        ("virtual_machine", json!(machine.virtual_machine)),
        ("governor", json!(machine.governor)),
        ("congestion_controls", json!(machine.congestion_controls)),
        ("load", json!(machine.load)),
        ("clock_source", json!(clock::source())),
        (
            "clock_resolution_ns",
            json!(clock::resolution()?.as_nanos()),
        ),
        ("others_before", json!(others / elapsed)),
        (
            "steal_percent_before",
            json!(100.0 * used.steal.as_secs_f64() / all),
        ),
        ("pacing_late_us_median", micros(pacing.median)),
        ("pacing_late_us_p99", micros(pacing.p99)),
        (
            "timestamps",
            json!("kernel software receive stamps (SO_TIMESTAMPING)"),
        ),
    ];
    Ok(HostFacts {
        kernel: machine.kernel,
        cpu_model: machine.cpu_model,
        cpus: u32::try_from(machine.processors).unwrap_or(u32::MAX),
        root: live::privileged(),
        machine: extra
            .into_iter()
            .chain(
                machine
                    .socket_memory
                    .map(|(name, value)| (name, json!(value))),
            )
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    })
}

/// Microseconds to one decimal.
fn micros(span: Span) -> Value {
    json!((span.as_secs_f64() * 1e7).round() / 10.0)
}
