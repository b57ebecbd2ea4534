//! A trial of flows: scheduled messages from the sender to the receiver.

mod metrics;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::Context;
use meter::departures::Distribution;
use plan::setting::{self as spec, Sends, Sockets};
use plan::{Setting, evidence};
use units::{Bytes, Seed, Span};

use super::Pair;
use super::checks::flags_of_flows;
use super::disturbance::{Disturbance, StallMetering, watched};
use crate::agent::{Arrivals, Arrived, Departed, Failure, Receiving, Sending, Wanted};
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// The folder of packet logs, in the results folder.
const FOLDER: &str = "packets";

/// The approximate number of stamped departures per flow.
const STAMPED: u64 = 1_000;

/// The observations of both ends of all flows, and of the path.
pub(super) struct FlowsObservation<'a> {
    pub(super) sent: &'a [Departed],
    pub(super) received: &'a [Arrived],
    pub(super) disturbance: &'a Disturbance,
}

impl FlowsObservation<'_> {
    /// The bytes that count for the rate, and the longest time of a flow in
    /// which they arrived.
    pub(super) fn counted(&self) -> (Bytes, Span) {
        let counted = self.received.iter().filter_map(|came| came.counted);
        let (bytes, nanos) = counted.fold((0, 0), |(bytes, nanos), (more, lasted)| {
            (bytes + more, nanos.max(lasted))
        });
        (Bytes::new(bytes), Span::from_nanos(nanos))
    }
}

/// Sends the flows of `setting`. Packet logs go to the folder of `artifacts`.
pub(super) fn flows(
    pair: &mut Pair<'_>,
    setting: &Setting,
    flows: &spec::Flows,
    seed: Seed,
    artifacts: Option<ArtifactDir<'_>>,
) -> Result<Measurements, Failure> {
    let sockets = flows.sockets.clone().unwrap_or_default();
    let asked = wanted(setting, flows, &sockets, seed);
    let log = match artifacts.filter(|_| sockets.log) {
        Some(artifacts) => Some(logged(artifacts)?),
        None => None,
    };
    let fragments_before = pair.meters.fragments()?;
    let every = every(flows);
    let to = pair.path.addresses.receiver;
    let sending = Sending {
        to,
        flows: asked.clone(),
        every,
    };
    let receiving = Receiving {
        at: to,
        flows: u16::try_from(asked.len()).unwrap_or(u16::MAX),
        every,
        log: log.as_ref().map(|(path, _)| path.clone()),
    };
    let ((sent, arrivals), disturbance) = watched(pair, StallMetering::On, |pair| {
        pair.agents.flows(sending, receiving, flows.duration)
    })?;
    disturbance.valid()?;
    let Arrivals {
        flows: mut received,
        rejected_peers,
    } = arrivals;
    // An agent that only answers does not record single messages.
    for (flow, (sent, came)) in asked.iter().zip(sent.iter().zip(&mut received)) {
        if flow.round_trip {
            came.summary.lost = sent.messages.saturating_sub(sent.echoes);
        }
    }
    if received.iter().all(|flow| flow.messages == 0) {
        return Err(disturbance.failure("nothing arrived".to_owned()));
    }

    let seeing = FlowsObservation {
        sent: &sent,
        received: &received,
        disturbance: &disturbance,
    };
    let mut measurements = Measurements::default();
    measurements.take_flows(flows, &seeing);
    measurements.flags = flags_of_flows(setting, &measurements, &seeing, &pair.path);
    let clocks = sent.first().and_then(|sent| sent.clocks);
    measurements.take_clock_bound(clocks.map(|offset| offset.bound), disturbance.slewed());
    let bytes = received.iter().map(|came| came.bytes).sum();
    measurements.take_stamps_of_flows(&seeing);
    measurements.take_host_use(&disturbance.hosts, Some(Bytes::new(bytes)));
    measurements.take_disturbance(setting, &disturbance);
    measurements.judge(&disturbance);
    if sockets.generator == spec::Generator::Sleeping {
        measurements.take_work(&seeing);
    }
    measurements.take_rejected_peers(rejected_peers);
    let fragments = pair.meters.fragments()?;
    measurements.take_fragments(&fragments_before, &fragments);
    if let Some((_, name)) = log {
        measurements.note(evidence::PACKET_LOG, name);
    }
    Ok(measurements)
}

/// The flows to request from the sender's agent, in the order of `flows`.
fn wanted(setting: &Setting, flows: &spec::Flows, sockets: &Sockets, seed: Seed) -> Vec<Wanted> {
    let mut all = Vec::new();
    for group in &flows.flows {
        for (number, name) in (0..).zip(group.names()) {
            let within = seed.derive(&format!("start/{name}")).get();
            let within = within.checked_rem(group.start_jitter.as_picos());
            let start = group.start + group.start_interval * number;
            let start = start + Span::from_picos(within.unwrap_or(0));
            let stop = group.stop.unwrap_or(flows.duration).min(flows.duration);
            let length = Span::from_picos(stop.as_picos().saturating_sub(start.as_picos()));
            let seed = seed.derive(&format!("flow/{name}")).get();
            let common = Wanted {
                name,
                stream: false,
                gaps: Distribution::Constant(0.0),
                sizes: Distribution::Constant(0.0),
                bursts: None,
                packets: None,
                bytes: None,
                seed,
                start,
                length,
                congestion: setting.host.congestion.clone(),
                largest_segment: setting.network.largest_segment(),
                send_buffer: sockets.send_buffer,
                receive_buffer: sockets.receive_buffer,
                nagle: sockets.nagle,
                path_mtu: group.path_mtu,
                drifts: sockets.generator == spec::Generator::Ditg,
                watches: sockets.generator == spec::Generator::Own,
                round_trip: group.round_trip,
            };
            all.extend(of_sends(common, &group.sends));
        }
    }
    all
}

/// The flow with its traffic. Connections of the simulator are rejected when
/// the experiment is read.
fn of_sends(common: Wanted, sends: &Sends) -> Option<Wanted> {
    match sends.clone() {
        Sends::Datagrams {
            gaps,
            payloads,
            bursts,
            packets,
            bytes,
            dont_fragment,
        } => Some(Wanted {
            path_mtu: match dont_fragment {
                true => spec::PathMtu::Do,
                false => common.path_mtu,
            },
            gaps,
            sizes: payloads,
            bursts,
            packets,
            bytes: bytes.map(Bytes::get),
            ..common
        }),
        Sends::Messages {
            gaps,
            payloads,
            bursts,
            packets,
            bytes,
            ..
        } => Some(Wanted {
            stream: true,
            gaps,
            sizes: payloads,
            bursts,
            packets,
            bytes: bytes.map(Bytes::get),
            ..common
        }),
        Sends::Bytes { .. } => None,
    }
}

/// The sampling interval in messages for departure stamps. It gives each flow
/// some stamps without slowing it down. The number of messages depends on link
/// and distributions, so the interval is derived from the duration alone.
fn every(flows: &spec::Flows) -> NonZero<u64> {
    // One sender writes at most one message per 12.5 us over longer periods.
    let most = flows.duration.as_nanos() / 12_500;
    NonZero::new(most / STAMPED / 8).unwrap_or(NonZero::<u64>::MIN)
}

/// An unused path for the packet log of a trial, and its name relative to the
/// results folder.
fn logged(artifacts: ArtifactDir<'_>) -> anyhow::Result<(PathBuf, PathBuf)> {
    let name = artifacts.unused(FOLDER, artifacts.trial, "jlog")?;
    let name = Path::new(FOLDER).join(name);
    let path = std::path::absolute(artifacts.results.join(&name)).context("finding the results")?;
    Ok((path, name))
}
