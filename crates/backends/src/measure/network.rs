//! A trial of flows among the hosts of a network that is no path.

mod datagrams;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use emulator::Head;
use plan::setting::{self as spec, Flows, Sends, Sockets};
use plan::{Flag, Setting, evidence};
use traffic::driver::connections::datagrams::{Arrived, Departed};
use traffic::driver::connections::{Incoming, Outcome, Outgoing, Received, Sent, Task};
use units::{IpMtu, IpVersion, Seed, Span, Time};

use super::Pair;
use super::checks::clock_stepped;
use super::disturbance::{StallMetering, watched};
use crate::agent::Failure;
use crate::link_counts::{Attributed, EmulatedCounts};
use crate::measurements::Measurements;
use crate::measurements::flows::{Carried, ConnectionStats, FlowStats, RoundTrips, Spread};

/// The time for telling hosts the beginning before it.
const LEAD: Span = Span::from_millis(500);

/// The port of the first flow; each has one of its own. Connections arrive there, and
/// datagrams come from there.
const FIRST_PORT: u16 = 20_000;

/// Bytes of TCP's header with timestamps [RFC9293 s3.1] [RFC7323 App A].
const TCP_HEADER: u32 = 32;

/// Carries the flows of `setting`.
pub(super) fn network(
    pair: &mut Pair<'_>,
    setting: &Setting,
    flows: &Flows,
    seed: Seed,
) -> Result<Measurements, Failure> {
    let counted: Vec<(usize, &spec::Link)> = counted(setting).collect();
    let mut begin = 0;
    let (outcomes, disturbance) = watched(pair, StallMetering::On, |pair| {
        let of_losses = |link: &spec::Link| link.counted.losses.is_some();
        let links = counted.iter().map(|&(wire, link)| (wire, of_losses(link)));
        pair.meters.observe(links.collect())?;
        let tasks = tasks(setting, flows, &pair.path.hosts, seed);
        let outcomes;
        (begin, outcomes) = pair.agents.connections(&tasks, LEAD)?;
        Ok(outcomes)
    })?;
    disturbance.valid()?;
    let ends = ends(flows, &pair.path.hosts, &outcomes);
    if ends.iter().all(End::is_empty) {
        return Err(disturbance.failure("nothing arrived".to_owned()));
    }
    let mut measurements = Measurements::default();
    measurements.put_flows(flows, &stats(setting, flows, seed, &ends), Spread::Omitted);
    datagrams::support(
        &mut measurements,
        setting,
        &ends,
        &outcomes,
        disturbance.dropped(),
    );
    let mut series = BTreeMap::new();
    let number = ends.len();
    let flow_of = |head| attributed(head, number);
    for (wire, link) in counted {
        let aggregates = setting.network.domain.is_some();
        let mut counts = EmulatedCounts::of(link, flows.duration, aggregates);
        if let Some(losses) = link.counted.losses {
            counts.attribute(losses, &flows.flows, &flow_of, timeouts(&ends));
        }
        let mut take = |begin, observation| counts.take(begin, observation);
        pair.meters.observations(wire, begin, &mut take)?;
        if let Some(of_link) = counts.put(&mut measurements) {
            series.insert(link.name.clone(), of_link);
        }
    }
    if !series.is_empty() {
        measurements.note(evidence::SERIES, series);
    }
    let sent = || {
        ends.iter().filter_map(|end| match end {
            End::Connection(sent, _) => Some(sent),
            End::Datagrams(..) => None,
        })
    };
    let failures: Vec<String> = sent().filter_map(|sent| sent.failure.clone()).collect();
    if !failures.is_empty() {
        measurements.note(evidence::FAILED_CONNECTIONS, failures);
    }
    let late = sent().map(|sent| sent.late).max();
    measurements.note(evidence::START_LATE_MS, late.map(Span::as_millis_f64));
    if clock_stepped(disturbance.clock_step) {
        measurements.flags.push(Flag::ClockStepped);
    }
    measurements.take_disturbance(setting, &disturbance);
    measurements.judge(&disturbance);
    Ok(measurements)
}

/// The links with counters, each of which is one wire, with the numbers of their wires.
fn counted(setting: &Setting) -> impl Iterator<Item = (usize, &spec::Link)> {
    let wires = setting.network.as_graph().wires.into_iter().enumerate();
    let links = wires.map(|(number, wire)| (number, &setting.network.links[wire.link]));
    links.filter(|(_, link)| link.counted.is_any())
}

/// The packet of one of `flows` flows, each of which has a port of its own: the receiver's
/// of a connection, and the sender's of datagrams.
fn attributed(head: Head, flows: usize) -> Option<Attributed> {
    let flow_at = |port: u16| {
        let flow = usize::from(port.checked_sub(FIRST_PORT)?);
        (flow < flows).then_some(flow)
    };
    let [source, destination] = head.ports;
    let of_data = |(sequence, bytes): (u32, u32)| (u64::from(sequence), u64::from(bytes));
    match (flow_at(destination), head.segment) {
        (Some(flow), Some(segment)) => Some(Attributed {
            flow,
            data: Some(of_data(segment)).filter(|(_, bytes)| *bytes > 0),
        }),
        _ => flow_at(source).map(|flow| Attributed { flow, data: None }),
    }
}

/// The timeouts of all connections, with the numbers of their flows.
fn timeouts(ends: &[End]) -> Vec<(Span, usize)> {
    let of_flow = |(number, end): (usize, &End)| match end {
        End::Connection(sent, _) => sent.timeouts.iter().map(|at| (*at, number)).collect(),
        End::Datagrams(..) => Vec::new(),
    };
    ends.iter().enumerate().flat_map(of_flow).collect()
}

/// Both ends of a flow.
enum End {
    Connection(Sent, Received),
    Datagrams(Departed, Option<Box<Arrived>>),
}

impl End {
    /// Whether nothing arrived.
    const fn is_empty(&self) -> bool {
        match self {
            Self::Connection(_, received) => received.bytes == 0,
            Self::Datagrams(_, arrived) => arrived.is_none(),
        }
    }
}

/// One flow of a trial.
struct PlannedFlow<'a> {
    flow: &'a spec::Flow,
    name: String,
    from: String,
    to: String,
    port: u16,
    start: Span,
    stop: Span,
}

/// The flows of a trial in order, copies one by one, with the times that the simulator
/// draws from the same seed.
fn all(flows: &Flows, seed: Seed) -> impl Iterator<Item = PlannedFlow<'_>> {
    let copies = flows.flows.iter().flat_map(move |flow| {
        (0_u32..).zip(flow.names()).map(move |(number, name)| {
            let within = seed.derive(&format!("start/{name}")).get();
            let within = within.checked_rem(flow.start_jitter.as_picos());
            let later = flow.start_interval * u64::from(number);
            (
                flow,
                (number, name),
                flow.start + later + Span::from_picos(within.unwrap_or(0)),
            )
        })
    });
    (FIRST_PORT..)
        .zip(copies)
        .map(|(port, (flow, (number, name), start))| PlannedFlow {
            flow,
            name,
            from: spec::Flow::end(&flow.from, number + 1),
            to: spec::Flow::end(&flow.to, number + 1),
            port,
            start,
            stop: flow.stop.unwrap_or(flows.duration).min(flows.duration),
        })
}

/// The flows of each of `hosts`.
fn tasks(setting: &Setting, flows: &Flows, hosts: &[(String, IpAddr)], seed: Seed) -> Vec<Task> {
    let none = Sockets::default();
    let sockets = flows.sockets.as_ref().unwrap_or(&none);
    let addresses: BTreeMap<&str, IpAddr> = { hosts.iter() }
        .map(|(name, address)| (name.as_str(), *address))
        .collect();
    let segment = segment(setting);
    let task = |(name, own): &(String, IpAddr)| {
        let mut task = Task {
            end: flows.duration,
            timeouts: counted(setting).any(|(_, link)| link.counted.losses.is_some()),
            ..Task::default()
        };
        let address = |name: &str| addresses.get(name).copied();
        (task.departing, task.arriving) =
            datagrams::task((name, *own), setting, (flows, sockets), seed, &address);
        for one in all(flows, seed) {
            let Sends::Messages { bytes, window, .. } = &one.flow.sends else {
                continue;
            };
            if one.from == *name
                && let Some(to) = addresses.get(one.to.as_str())
            {
                task.outgoing.push(Outgoing {
                    from: SocketAddr::new(*own, 0),
                    to: SocketAddr::new(*to, one.port),
                    start: one.start,
                    stop: one.stop,
                    bytes: bytes.map(units::Bytes::get),
                    congestion: setting.host.congestion.clone(),
                    send_buffer: sockets.send_buffer,
                });
            }
            if one.to == *name {
                task.incoming.push(Incoming {
                    at: SocketAddr::new(*own, one.port),
                    window: window.map(|segments| segments.saturating_mul(segment)),
                    receive_buffer: sockets.receive_buffer,
                });
            }
        }
        task
    };
    hosts.iter().map(task).collect()
}

/// Bytes of payload in a segment of the smallest MTU.
fn segment(setting: &Setting) -> u32 {
    let ip = match setting.network.ip {
        IpVersion::V4 => 20,
        IpVersion::V6 => 40,
    };
    let mtu = setting.network.path_mtu().map_or(1_280, IpMtu::get);
    mtu.saturating_sub(ip + TCP_HEADER)
}

/// Both ends of each flow, in the order of the flows.
fn ends(flows: &Flows, hosts: &[(String, IpAddr)], outcomes: &[Outcome]) -> Vec<End> {
    let mut of_host: BTreeMap<&str, _> = hosts
        .iter()
        .zip(outcomes)
        .map(|((name, _), outcome)| {
            let sent = (outcome.sent.iter(), outcome.departed.iter());
            (name.as_str(), (sent, outcome.received.iter()))
        })
        .collect();
    let mut arrived = datagrams::by_flow(outcomes);
    let both = (0..).zip(all(flows, Seed::new(0))).map(|(number, one)| {
        if matches!(one.flow.sends, Sends::Datagrams { .. }) {
            let departed = { of_host.get_mut(one.from.as_str()) }
                .and_then(|((_, departed), _)| departed.next());
            return End::Datagrams(
                departed.copied().unwrap_or_default(),
                arrived.remove(&number).map(Box::new),
            );
        }
        let sent = { of_host.get_mut(one.from.as_str()) }.and_then(|((sent, _), _)| sent.next());
        let received =
            { of_host.get_mut(one.to.as_str()) }.and_then(|(_, received)| received.next());
        End::Connection(
            sent.cloned().unwrap_or_default(),
            received.copied().unwrap_or_default(),
        )
    });
    both.collect()
}

/// The statistics of each flow.
fn stats(setting: &Setting, flows: &Flows, seed: Seed, ends: &[End]) -> Vec<FlowStats> {
    let segment = u64::from(segment(setting)).max(1);
    let one = |(one, end): (PlannedFlow<'_>, &End)| match end {
        End::Connection(sent, received) => connection(&one, segment, sent, received),
        End::Datagrams(departed, arrived) => datagrams::stats(departed, arrived.as_deref()),
    };
    all(flows, seed).zip(ends).map(one).collect()
}

/// The statistics of a connection with segments of `segment` bytes.
fn connection(one: &PlannedFlow<'_>, segment: u64, sent: &Sent, received: &Received) -> FlowStats {
    FlowStats {
        sent: sent.bytes.div_ceil(segment),
        bytes: sent.bytes,
        lost: None,
        carried: received.span.map(|[_, last]| Carried::Connection {
            bytes: received.bytes,
            began: Time::ZERO + one.start,
            ended: Time::ZERO + last,
        }),
        first_due: Some(Time::ZERO + one.start),
        first_arrival: received.span.map(|[first, _]| Time::ZERO + first),
        round_trips: Some(RoundTrips {
            count: sent.round_trips.0,
            took_ms: sent.round_trips.1.as_millis_f64(),
            p50: None,
            p95: None,
            p99: None,
        }),
        tcp: Some(ConnectionStats {
            retransmitted: sent.retransmitted,
            segments: Some(sent.segments),
            timeouts: None,
            smoothed_rtt: sent.last_round_trip,
        }),
        ..FlowStats::default()
    }
}

#[cfg(test)]
mod tests;
