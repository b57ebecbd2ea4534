//! Flows of datagrams among the hosts of a network that is no path.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use plan::setting::{Flows, PathMtu, Sends, Sockets};
use plan::{Flag, Setting, evidence};
use traffic::driver::connections::Outcome;
use traffic::driver::connections::datagrams::{Arrived, Arriving, Departed, Departing};
use units::{Bytes, Seed, Span, Time};

use super::{End, all};
use crate::measure::checks::is_too_late;
use crate::measurements::Measurements;
use crate::measurements::flows::{Carried, DelayStats, FlowStats, ProgramStats, Schedule};

/// The port of a host at which datagrams arrive.
const PORT: u16 = 19_999;

/// How long datagrams in flight are waited for at the end, beside the time in which the
/// queues of the network drain.
const LINGER: Span = Span::from_millis(200);

/// The flows of the host `name`, whose address is `own`: those that begin there, and where
/// others end. `address` knows the other hosts.
pub(super) fn task(
    (name, own): (&str, IpAddr),
    setting: &Setting,
    (flows, sockets): (&Flows, &Sockets),
    seed: Seed,
    address: &dyn Fn(&str) -> Option<IpAddr>,
) -> (Vec<Departing>, Option<Arriving>) {
    let mut departing = Vec::new();
    let mut arriving = Vec::new();
    for (flow, one) in (0..).zip(all(flows, seed)) {
        let Sends::Datagrams {
            gaps,
            payloads,
            bursts,
            packets,
            bytes,
            dont_fragment,
        } = &one.flow.sends
        else {
            continue;
        };
        if one.to == name {
            arriving.push(flow);
        }
        if one.from == name
            && let Some(to) = address(&one.to)
        {
            departing.push(Departing {
                flow,
                from: SocketAddr::new(own, one.port),
                to: SocketAddr::new(to, PORT),
                start: one.start,
                stop: one.stop,
                gaps: gaps.clone(),
                payloads: payloads.clone(),
                bursts: bursts.clone(),
                packets: *packets,
                bytes: bytes.map(Bytes::get),
                // As in the simulator.
                seed: seed.derive(&format!("flow/{}", one.name)).get(),
                path_mtu: match dont_fragment {
                    true => PathMtu::Do,
                    false => one.flow.path_mtu,
                },
                send_buffer: sockets.send_buffer,
            });
        }
    }
    let arriving = (!arriving.is_empty()).then(|| Arriving {
        at: SocketAddr::new(own, PORT),
        flows: arriving,
        linger: linger(setting),
        receive_buffer: sockets.receive_buffer,
    });
    (departing, arriving)
}

/// The time after which nothing is in flight.
fn linger(setting: &Setting) -> Span {
    let links = setting.network.links.iter();
    let times = links.map(|link| {
        let drain = link.rate.map(|rate| rate.serialise(link.buffer));
        drain.unwrap_or_default() + link.impairments.delay
    });
    times.fold(LINGER, |sum, time| sum + time)
}

/// The arrivals of each flow, by its number.
pub(super) fn by_flow(outcomes: &[Outcome]) -> BTreeMap<u32, Arrived> {
    let arrived = outcomes.iter().flat_map(|outcome| &outcome.arrived.flows);
    arrived.map(|one| (one.flow, one.clone())).collect()
}

/// The statistics of one flow.
pub(super) fn stats(departed: &Departed, arrived: Option<&Arrived>) -> FlowStats {
    let distinct = arrived.map_or(0, distinct);
    FlowStats {
        sent: departed.sent,
        bytes: departed.bytes,
        lost: Some(departed.sent.saturating_sub(distinct)),
        schedule: departed.timing_error.map(|[_, p99, _]| Schedule {
            offered: departed.offered,
            lasted: departed.lasted,
            timing_error_p99: p99,
        }),
        carried: arrived.and_then(rate).map(Carried::Rate),
        first_due: departed.first.map(|due| Time::ZERO + due),
        first_arrival: { arrived }
            .and_then(|arrived| arrived.span)
            .map(|[first, _]| Time::ZERO + first),
        delays: arrived.map_or_else(DelayStats::default, |arrived| (&arrived.summary).into()),
        by_program: ProgramStats {
            messages: distinct,
            latency: None,
            jitter: arrived.and_then(|arrived| arrived.summary.jitter_ditg),
        },
        ..FlowStats::default()
    }
}

/// Datagrams that arrived, each counted once.
const fn distinct(arrived: &Arrived) -> u64 {
    arrived.summary.received - arrived.summary.duplicates
}

/// Mbit/s of payload from the first to the last arrival, without the first.
fn rate(arrived: &Arrived) -> Option<f64> {
    let [first, last] = arrived.span?;
    let lasted = (last - first).as_secs_f64();
    let bytes = arrived.summary.bytes.get() - arrived.first_bytes;
    (lasted > 0.0).then(|| bytes as f64 * 8.0 / lasted / 1e6)
}

/// Adds the evidence, and flags what makes the figures those of a host; the links dropped
/// `dropped` frames.
pub(super) fn support(
    measurements: &mut Measurements,
    setting: &Setting,
    ends: &[End],
    outcomes: &[Outcome],
    dropped: u64,
) {
    let flows: Vec<(&Departed, Option<&Arrived>)> = { ends.iter() }
        .filter_map(|end| match end {
            End::Datagrams(departed, arrived) => Some((departed, arrived.as_deref())),
            End::Connection(..) => None,
        })
        .collect();
    if flows.is_empty() {
        return;
    }
    let departed = |of: fn(&Departed) -> u64| flows.iter().map(|(one, _)| of(one)).sum::<u64>();
    let arrived = |of: fn(&Arrived) -> u64| {
        let arrived = flows.iter().filter_map(|(_, arrived)| *arrived);
        arrived.map(of).sum::<u64>()
    };
    let [offered, sent, rejected] = [
        departed(|one| one.offered),
        departed(|one| one.sent),
        departed(|one| one.rejected),
    ];
    let received = arrived(distinct);
    let overflowed: u64 = { outcomes.iter() }
        .map(|outcome| outcome.arrived.overflowed)
        .sum();
    for (fact, count) in [
        (evidence::MESSAGES_OFFERED, offered),
        (evidence::MESSAGES_SENT, sent),
        (evidence::MESSAGES_REJECTED, rejected),
        (evidence::MESSAGES_UNSENT, offered - sent - rejected),
        (evidence::MESSAGES_RECEIVED, received),
        (evidence::SOCKET_OVERFLOWED, overflowed),
        (evidence::UNSTAMPED_READS, arrived(|one| one.unstamped)),
    ] {
        measurements.note(fact, count);
    }
    let aggregates =
        { setting.network.domain.as_ref() }.is_some_and(|domain| domain.aggregate.is_some());
    // A lost bundle is one frame, and what waits in a gateway at the end was not dropped.
    let lost_by_hosts = !aggregates && sent.saturating_sub(received) > dropped;
    let is_late =
        |(one, _): &(&Departed, _)| one.timing_error.is_some_and(|[_, p99, _]| is_too_late(p99));
    for (flag, holds) in [
        (Flag::Unstamped, arrived(|one| one.unstamped) > 0),
        (Flag::HostDrops, overflowed > 0 || lost_by_hosts),
        (Flag::SenderLate, flows.iter().any(is_late)),
    ] {
        measurements.flags.extend(holds.then_some(flag));
    }
}
