//! A trial of an investigation of the path.

use std::net::SocketAddr;

use plan::{Setting, evidence, metric, setting as spec};
use probe::driver::{Effort, Services, Task};
use serde_json::json;
use units::Seed;
use wire::stamp;

use super::Pair;
use super::checks::flags_of_probe;
use super::disturbance::{StallMetering, watched};
use crate::agent::{CloseFarEnd, Failure, OpenFarEnd};
use crate::measurements::Measurements;

/// Investigates the path; the random streams and the faults of its links begin with the
/// first probe and derive from `seed`.
pub(super) fn probe(
    pair: &mut Pair<'_>,
    setting: &Setting,
    probe: &spec::Probe,
    seed: Seed,
) -> Result<Measurements, Failure> {
    let receiver = pair.path.addresses.receiver;
    let reflector = probe.reflector.then_some(stamp::PORT);
    pair.agents.receiver(&OpenFarEnd(Services {
        address: receiver,
        listens: probe.listens,
        reflector,
    }))?;
    let task = Task {
        to: SocketAddr::new(receiver, 0),
        protocols: probe.protocols.clone(),
        port: None,
        reflector,
        up_to: Some(probe.up_to),
        interface: None,
        address: None,
        is_short: false,
        ignores_cache: false,
        capture: None,
        most_time: Some(probe.timeout),
        effort: Effort::default(),
    };
    let before = pair.meters.sent()?;
    let (investigated, disturbance) = watched(pair, StallMetering::On, |pair| {
        let Pair { agents, meters, .. } = pair;
        agents.investigate(&task, || meters.restart_links(seed))
    })?;
    let sent = pair.meters.sent()?.since(before);
    let reflected = pair.agents.receiver(&CloseFarEnd())?;
    disturbance.valid()?;

    let mut measurements = Measurements::default();
    measurements.put_probe(setting, probe, &investigated.report);
    // What the sender's interface counts.
    measurements.put(&metric::PROBES, Some(sent.packets as f64));
    measurements.put(&metric::PROBE_BYTES, Some(sent.bytes.get() as f64));
    measurements.flags = flags_of_probe(setting, &disturbance, &pair.path);
    measurements.take_disturbance(setting, &disturbance);
    measurements.judge(&disturbance);
    measurements.note(evidence::OUTGOING, json!(investigated.outgoing));
    if let Some(outcome) = reflected {
        measurements.note(evidence::REFLECTOR, json!(outcome));
    }
    Ok(measurements)
}
