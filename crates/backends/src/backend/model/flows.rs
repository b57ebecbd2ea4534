//! Scheduled datagrams.

use meter::departures::{Bursts, Distribution};
use plan::metric::{self, Metric, of_flow};
use plan::setting::{Flow, Flows, Gaps, Link, Sends};
use units::{Bytes, Span};

use super::path::{Path, PathDirection, Place};
use super::prediction::Prediction;

/// The share of a link that flows may take if their waits for each other are left out.
const LIGHT: f64 = 0.01;

/// Metrics of delays, which follow only where nothing waits, or waits by a distribution.
const OF_DELAYS: [&Metric; 4] = [
    &metric::DELAY,
    &metric::DELAY_P99,
    &metric::JITTER,
    &metric::JITTER_DITG,
];

/// Datagrams of one size, as a share of what a path carries.
struct Stream<'a> {
    flow: &'a Flow,
    way: PathDirection,
    /// Bytes of payload.
    payload: f64,
    /// Seconds from one datagram to the next while it sends.
    gap: f64,
    /// The share of time in which it sends.
    active: f64,
    gaps: &'a Distribution,
    packets: Vec<Bytes>,
}

pub(super) fn predict(path: &Path<'_>, flows: &Flows) -> Result<Prediction, String> {
    let streams: Result<Vec<Stream<'_>>, String> = flows
        .flows
        .iter()
        .map(|flow| Stream::of(path, flow))
        .collect();
    let streams = streams?;
    for way in [PathDirection::Forth, PathDirection::Back] {
        for place in path.places(way) {
            let load = cross(path, place, way).map_or(0.0, |other| other.load)
                + load(path, place, way, &streams);
            if load >= 1.0 {
                return Err(format!(
                    "{} is offered more than its rate, and what it drops has no closed form",
                    path.name(place)
                ));
            }
        }
    }
    let mut found = Prediction::default();
    let (mut offered, mut carried, mut datagrams, mut lost) = (0.0, 0.0, 0.0, 0.0);
    let mut delays: Option<Vec<(f64, f64)>> = Some(Vec::new());
    for stream in &streams {
        let copies = f64::from(stream.flow.count);
        let rate = stream.payload * 8.0 * stream.active / stream.gap / 1e6 * copies;
        let kept: f64 = { stream.packets.iter() }
            .map(|packet| 1.0 - path.loss(*packet))
            .product();
        let sent = stream.active / stream.gap * copies;
        offered += rate;
        carried += rate * kept;
        datagrams += sent;
        lost += sent * (1.0 - kept);
        let name = &stream.flow.name;
        found.put(of_flow(&metric::OFFERED_RATE, name), rate);
        found.put(of_flow(&metric::THROUGHPUT, name), rate * kept);
        found.put(of_flow(&metric::LOSS, name), 100.0 * (1.0 - kept));
        let delay = delay(path, stream, &streams);
        if let Ok(seconds) = delay {
            found.put(of_flow(&metric::DELAY, name), seconds * 1e3);
        }
        match (delay, &mut delays) {
            (Ok(seconds), Some(delays)) => delays.push((sent * kept, seconds)),
            (Ok(_), None) => {}
            (Err(why), _) => {
                found.leave_out(&OF_DELAYS, why);
                delays = None;
            }
        }
    }
    found.put(&metric::OFFERED_RATE, offered);
    found.put(&metric::THROUGHPUT, carried);
    found.put(&metric::LOSS, 100.0 * lost / datagrams);
    if let Some(delays) = delays {
        let weight: f64 = delays.iter().map(|(weight, _)| weight).sum();
        let sum: f64 = delays
            .iter()
            .map(|(weight, seconds)| weight * seconds)
            .sum();
        found.put(&metric::DELAY, sum / weight * 1e3);
        found.leave_out(&OF_DELAYS[1..], "closed forms here are of means");
    }
    Ok(found)
}

impl<'a> Stream<'a> {
    fn of(path: &Path<'_>, flow: &'a Flow) -> Result<Self, String> {
        let Sends::Datagrams {
            gaps,
            payloads,
            bursts,
            dont_fragment,
            ..
        } = &flow.sends
        else {
            return Err(
                "how connections share a path with each other has no closed form".to_owned(),
            );
        };
        let Distribution::Constant(payload) = *payloads else {
            return Err("datagrams of random sizes are not covered by closed forms".to_owned());
        };
        let way = match (flow.from.as_str(), flow.to.as_str()) {
            ("sender", "receiver") => PathDirection::Forth,
            ("receiver", "sender") => PathDirection::Back,
            _ => return Err("a flow is not between the ends of the path".to_owned()),
        };
        let gap = gaps.mean() / 1e12;
        if !(gap > 0.0 && gap.is_finite()) {
            return Err("datagrams without gaps have no rate of their own".to_owned());
        }
        let packets = path.datagram(bytes(payload), way)?;
        if *dont_fragment && packets.len() > 1 {
            return Err("datagrams that must not be fragmented do not fit the link".to_owned());
        }
        Ok(Self {
            flow,
            way,
            payload,
            gap,
            active: bursts.as_ref().map_or(1.0, active),
            gaps,
            packets,
        })
    }

    fn is_bursty(&self) -> bool {
        matches!(&self.flow.sends, Sends::Datagrams { bursts, .. } if bursts.is_some())
    }
}

/// The share of sending periods.
fn active(bursts: &Bursts) -> f64 {
    let (on, off) = (bursts.on.mean(), bursts.off.mean());
    match on + off > 0.0 {
        true => on / (on + off),
        false => 1.0,
    }
}

/// The share of time in which `streams` keep a station busy in this direction.
fn load(path: &Path<'_>, place: Place, way: PathDirection, streams: &[Stream<'_>]) -> f64 {
    let streams = streams.iter().filter(|stream| stream.way == way);
    let each = streams.map(|stream| {
        let busy = busy(path, place, stream).as_secs_f64();
        f64::from(stream.flow.count) * stream.active * busy / stream.gap
    });
    each.sum()
}

/// How long a station is busy with a datagram.
fn busy(path: &Path<'_>, place: Place, stream: &Stream<'_>) -> Span {
    let each = stream
        .packets
        .iter()
        .map(|packet| path.busy(place, *packet));
    each.fold(Span::ZERO, |sum, time| sum + time)
}

/// Cross traffic in a direction of a link.
#[derive(Clone, Copy)]
struct Others {
    load: f64,
    /// Seconds that a packet of it takes.
    service: f64,
    gaps: Gaps,
}

fn cross(path: &Path<'_>, place: Place, way: PathDirection) -> Option<Others> {
    let Place::Link(link) = place else {
        return None;
    };
    let link: &Link = &path.network.links[link];
    let (cross, rate) = (link.cross?, link.rate?);
    let here = match way {
        PathDirection::Forth => 0,
        PathDirection::Back => 1,
    };
    cross.heading.directions().contains(&here).then(|| Others {
        load: cross.rate.bits_per_second() as f64 / rate.bits_per_second() as f64,
        service: rate
            .serialise(link.framing.wire_size(cross.packet))
            .as_secs_f64(),
        gaps: cross.gaps,
    })
}

/// The mean delay of a datagram in seconds.
fn delay(path: &Path<'_>, stream: &Stream<'_>, all: &[Stream<'_>]) -> Result<f64, &'static str> {
    if stream.is_bursty() {
        return Err("what waits in bursts has no closed form");
    }
    let crossing = path.crossing(&stream.packets, stream.way).as_secs_f64();
    if crossing <= 0.0 {
        return Err("no rate, delay or cost of hosts takes time");
    }
    let places = path.places(stream.way);
    let beside: Vec<Others> = places
        .iter()
        .filter_map(|place| cross(path, *place, stream.way))
        .collect();
    let most = |all: &[Stream<'_>]| {
        let loads = places
            .iter()
            .map(|place| load(path, *place, stream.way, all));
        loads.fold(0.0, f64::max)
    };
    let alone =
        stream.flow.count == 1 && all.iter().filter(|other| other.way == stream.way).count() == 1;
    let is_even = matches!(stream.gaps, Distribution::Constant(_));
    match beside.as_slice() {
        // A datagram is gone from every station before the next one comes.
        [] if alone && is_even => Ok(crossing),
        [] if most(all) <= LIGHT => Ok(crossing),
        [] if alone && matches!(stream.gaps, Distribution::Exponential(_)) => {
            let busy: Vec<f64> = places
                .iter()
                .map(|place| busy(path, *place, stream).as_secs_f64())
                .filter(|busy| *busy > 0.0)
                .collect();
            match busy.as_slice() {
                [one] => model::mean_wait(&[(*one, 1.0)], one / stream.gap)
                    .map(|wait| crossing + wait)
                    .ok_or("the link is offered more than its rate"),
                _ => Err("waits at several stations in a row have no closed form"),
            }
        }
        [others] if path.network.links.len() == 1 && most(all) <= LIGHT => {
            wait_beside(*others).map(|wait| crossing + wait)
        }
        _ => Err("waits of flows for each other, or at several links, have no closed form"),
    }
}

/// The mean wait in seconds of a datagram that comes at a random time. Behind even
/// gaps nothing but the packet in service is waited for: the remaining half of it, for
/// the share of time in which there is one.
fn wait_beside(others: Others) -> Result<f64, &'static str> {
    let wait = match others.gaps {
        Gaps::Exponential => model::mean_wait(&[(others.service, 1.0)], others.load),
        Gaps::Constant => Some(others.load * others.service / 2.0),
        Gaps::Uniform => None,
    };
    wait.ok_or("waits behind such gaps have no closed form")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a payload is read as whole bytes, at most 65 535"
)]
fn bytes(payload: f64) -> Bytes {
    Bytes::new(payload as u64)
}
