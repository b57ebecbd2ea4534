//! Upper bounds of the traffic of a flow.

use link::Settings;
use meter::departures::Distribution;
use queue::Limit;
use units::{Bytes, Span};

use super::{float, seconds, whole};
use crate::direction::{framing, mtu};
use crate::fragments::{UDP_HEADER, fragment_header, ip_header, largest_payload};
use crate::{Datagrams, Flow, Messages, Role, Scenario, Tcp, Traffic, Work};

/// How many times its share a connection sends in a burst: slow start sends twice as
/// much as is acknowledged [RFC5681 s3.1], and acknowledgements arrive in bursts.
const BURST: f64 = 4.0;
/// How many times its share of a link a connection may have for a while.
const UNEVEN: f64 = 2.0;

/// The traffic of a flow.
pub(super) struct Offered {
    pub(super) messages: f64,
    pub(super) packets: f64,
    /// Packets per second while it sends.
    pub(super) packets_per_second: f64,
    /// Bytes of IP in the smallest and in a typical packet.
    pub(super) smallest: f64,
    pub(super) mean: f64,
}

/// The number of connections that share each direction of a link and each host.
pub(super) struct Sharing {
    on: Vec<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Sharing {
    pub(super) fn of(scenario: &Scenario, paths: &[Vec<usize>]) -> Self {
        let mut sharing = Self {
            on: vec![0.0; 2 * scenario.links.len()],
            from: vec![0.0; scenario.nodes.len()],
            to: vec![0.0; scenario.nodes.len()],
        };
        for (flow, path) in scenario.flows.iter().zip(paths) {
            if matches!(flow.traffic, Traffic::Tcp(_)) {
                path.iter().for_each(|at| sharing.on[*at] += 1.0);
                sharing.from[flow.from] += 1.0;
                sharing.to[flow.to] += 1.0;
            }
        }
        sharing
    }
}

/// A connection on its path.
struct Connection<'a> {
    scenario: &'a Scenario,
    sharing: &'a Sharing,
    flow: &'a Flow,
    path: &'a [usize],
    /// Bytes of IP in a full segment.
    packet: f64,
    /// The most packets per second that responses need.
    wanted: f64,
}

impl Connection<'_> {
    fn direction(&self, at: usize) -> &Settings {
        &self.scenario.links[at / 2].directions[at % 2]
    }

    /// Packets per second that a direction carries.
    fn rate(&self, at: usize) -> f64 {
        let settings = self.direction(at);
        let wire = framing(settings).wire_size(Bytes::new(whole(self.packet)));
        settings.rate.map_or(f64::INFINITY, |rate| {
            float(rate.bits_per_second()) / float(wire.bits().max(1))
        })
    }

    /// The same divided by the connections that share the direction.
    fn share(&self, at: usize) -> f64 {
        self.rate(at) / self.sharing.on[at].max(1.0)
    }

    fn narrowest(&self, pace: impl Fn(usize) -> f64) -> f64 {
        let paces = self.path.iter().map(|at| pace(*at));
        paces.fold(self.wanted, f64::min)
    }

    /// The packets queued and in flight at `pace`, if each queue that may fill has
    /// `room` for so many packets of the connection.
    fn held(&self, pace: f64, room: impl Fn(usize, f64) -> f64) -> f64 {
        let headers = f64::from(ip_header(self.flow.ip) + tcp::HEADER);
        let of_link = |at: &usize| {
            let settings = self.direction(*at);
            let queue = match (settings.rate, settings.queue.limit()) {
                (None, _) => 0.0,
                (_, Limit::Packets(most)) => f64::from(most),
                (_, Limit::Bytes(most)) => float(most.get()) / headers,
            };
            let delay = seconds(settings.delay + settings.jitter + settings.hold);
            room(*at, queue) + delay * pace + 1.0
        };
        self.path.iter().map(of_link).sum()
    }

    /// The packets queued and in flight at once, as far as links limit them by drops.
    fn on_links(&self, initial: f64) -> f64 {
        let alone = self.held(self.narrowest(|at| self.rate(at)), |_, queue| queue);
        let pace = self.narrowest(|at| self.share(at));
        // A queue fills where the bursts of a connection exceed its share.
        let fair = self.held(pace, |at, queue| match self.share(at) > BURST * pace {
            true => 0.0,
            false => queue / self.sharing.on[at].max(1.0),
        });
        2.0 * alone.min(initial + UNEVEN * fair)
    }

    /// Whether packets wait for the processor of a host, which drops none, because its
    /// connections bring more than it can process.
    fn overloads_a_host(&self) -> bool {
        let pace = self.narrowest(|at| self.rate(at));
        let busy = |work: Work, connections: f64, access: Option<&usize>| {
            let access = access.map_or(f64::INFINITY, |at| self.rate(*at));
            let most = (pace * connections).min(access);
            !work.is_free()
                && most * (seconds(work.per_packet) + seconds(work.per_byte) * self.packet) >= 1.0
        };
        let Flow { from, to, .. } = *self.flow;
        let sends = match self.scenario.nodes[from].role {
            Role::Host(host) => busy(host.send, self.sharing.from[from], self.path.first()),
            Role::Router | Role::Switch => false,
        };
        let receives = match self.scenario.nodes[to].role {
            Role::Host(host) if host.receive_buffer.is_none() => {
                busy(host.receive, self.sharing.to[to], self.path.last())
            }
            Role::Host(_) | Role::Router | Role::Switch => false,
        };
        sends || receives
    }

    /// Packets in the limited buffer of the receiver.
    fn buffered(&self) -> f64 {
        let headers = f64::from(ip_header(self.flow.ip) + tcp::HEADER);
        match self.scenario.nodes[self.flow.to].role {
            Role::Host(host) if !host.receive.is_free() => host
                .receive_buffer
                .map_or(0.0, |most| float(most.get()) / headers),
            Role::Host(_) | Role::Router | Role::Switch => 0.0,
        }
    }
}

impl Offered {
    /// The traffic of flow `number`.
    pub(super) fn of(
        scenario: &Scenario,
        paths: &[Vec<usize>],
        sharing: &Sharing,
        number: usize,
    ) -> Self {
        let (flow, path) = (&scenario.flows[number], &paths[number]);
        match &flow.traffic {
            Traffic::Datagrams(datagrams) => Self::of_datagrams(scenario, flow, datagrams, path),
            Traffic::Tcp(tcp) => Self::of_tcp(scenario, paths, sharing, (number, tcp)),
        }
    }

    /// The data in flight of a connection: its window, or the capacity of the path, of
    /// which a crowded link gives each connection a share. Lost data are sent again, so
    /// the duration does not matter.
    fn of_tcp(
        scenario: &Scenario,
        paths: &[Vec<usize>],
        sharing: &Sharing,
        (number, tcp): (usize, &Tcp),
    ) -> Self {
        let (flow, path) = (&scenario.flows[number], &paths[number]);
        let first = mtu(&scenario.links[path[0] / 2].directions[path[0] % 2]);
        let headers = f64::from(ip_header(flow.ip) + tcp::HEADER);
        let segment = f64::from(tcp.segment(flow.ip, first));
        let mean = headers + segment;
        let wanted = tcp.answers().and_then(|own| {
            let answered = own.answers?;
            let Traffic::Tcp(other) = &scenario.flows[answered].traffic else {
                return None;
            };
            // Each segment completes so many messages, and each has a response.
            let offered = Self::of_tcp(scenario, paths, sharing, (answered, other));
            let completed = offered.mean / float(other.messages?.size.max(1)) + 1.0;
            let response = float(own.size) / segment + 1.0;
            Some(offered.packets_per_second * completed * response)
        });
        let connection = Connection {
            scenario,
            sharing,
            flow,
            path,
            packet: mean,
            wanted: wanted.unwrap_or(f64::INFINITY),
        };
        let messages = messages(scenario, tcp);
        // There are as many responses as requests.
        let responses = tcp
            .answers()
            .map(|own| messages * (float(own.size) / segment + 1.0));
        let segments = tcp.bytes.map(|bytes| float(bytes) / segment + 1.0);
        let window = f64::from(tcp.settings.window);
        let initial = f64::from(tcp.settings.initial_window);
        let packets = match connection.overloads_a_host() {
            true => window.min(match segments.or(responses) {
                // A window without a limit grows by a segment per arrival, so that no
                // more than what has arrived is on the way.
                Some(all) => f64::midpoint(initial, all),
                None => {
                    let pace = connection.narrowest(|at| connection.rate(at));
                    initial + pace * seconds(lasts(scenario, flow))
                }
            }),
            false => window.min(connection.on_links(initial) + 2.0 * connection.buffered()),
        };
        let packets = responses.map_or(packets, |responses| packets.min(responses));
        let pace = connection.narrowest(|at| connection.share(at));
        Self {
            messages,
            packets,
            packets_per_second: pace,
            smallest: headers,
            mean,
        }
    }

    fn of_datagrams(
        scenario: &Scenario,
        flow: &Flow,
        datagrams: &Datagrams,
        path: &[usize],
    ) -> Self {
        let Datagrams {
            gaps,
            payloads,
            limit,
            ..
        } = datagrams;
        let lasts = lasts(scenario, flow).as_picos() as f64;
        let messages = if lasts > 0.0 { most(gaps, lasts) } else { 0.0 };
        let messages = messages.min(limit.map_or(f64::INFINITY, float));
        let narrowest = path
            .iter()
            .map(|direction| mtu(&scenario.links[direction / 2].directions[direction % 2]));
        let narrowest = f64::from(narrowest.min().unwrap_or(u32::MAX));
        let room = (narrowest - f64::from(fragment_header(flow.ip)) - 7.0).max(8.0);
        let first = mtu(&scenario.links[path[0] / 2].directions[path[0] % 2]);
        let largest = f64::from(largest_payload(flow.ip, first));
        let datagram = payloads.mean().min(largest) + f64::from(UDP_HEADER);
        let pieces = (datagram / room).ceil();
        let (low, _) = payloads.range();
        let header = f64::from(ip_header(flow.ip));
        let smallest = if pieces > 1.0 {
            header
        } else {
            low + header + f64::from(UDP_HEADER)
        };
        Self {
            messages,
            packets: messages * pieces,
            packets_per_second: pieces / (typical(gaps).min(gaps.mean()) / 1e12),
            smallest,
            mean: (header + datagram / pieces).min(narrowest),
        }
    }
}

/// The messages of a connection; of one that responds, those of the other.
fn messages(scenario: &Scenario, tcp: &Tcp) -> f64 {
    let of = |messages: Messages, bytes: u64| {
        float(bytes.saturating_sub(messages.warmup)) / float(messages.size.max(1)) + 1.0
    };
    tcp.messages.map_or(0.0, |messages| {
        let answered = messages.answers;
        match (
            answered.map(|answered| &scenario.flows[answered].traffic),
            tcp.bytes,
        ) {
            (Some(Traffic::Tcp(other)), _) => other
                .messages
                .zip(other.bytes)
                .map_or(f64::INFINITY, |(messages, bytes)| of(messages, bytes)),
            (_, Some(bytes)) => of(messages, bytes),
            (_, None) => f64::INFINITY,
        }
    })
}

/// Upper bound of the number of draws of `distribution` within `lasts`. The variance of the
/// number of renewals is about lasts variance / mean^3 [Kleinrock1975]; ten standard
/// deviations above the mean suffice.
fn most(distribution: &Distribution, lasts: f64) -> f64 {
    if !distribution.variance().is_finite() {
        return lasts / typical(distribution) + 10.0 * (lasts / typical(distribution)).sqrt() + 1.0;
    }
    let expected = lasts / distribution.mean();
    let spread = (distribution.variance() / distribution.mean().powi(2)).max(1.0);
    expected + 10.0 * (expected * spread).sqrt() + 1.0
}

/// A lower bound of the average over many draws of `distribution`, also if the mean does not
/// exist: a Pareto distribution has no value below its scale, and one in four values of a Cauchy
/// distribution exceeds median plus scale.
fn typical(distribution: &Distribution) -> f64 {
    match distribution {
        Distribution::Pareto(_, scale) => *scale,
        Distribution::Cauchy(median, scale) => (median + scale) / 4.0,
        distribution => distribution.mean(),
    }
}

/// The time for which a flow sends.
fn lasts(scenario: &Scenario, flow: &Flow) -> Span {
    let until = flow
        .stop
        .map_or(scenario.end, |stop| stop.min(scenario.end));
    until.since(flow.start).unwrap_or_default()
}
