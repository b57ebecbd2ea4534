//! Upper bounds of the traffic of a flow.

use proto::traffic::Law;
use queue::Limit;
use units::Span;

use super::{float, seconds};
use crate::direction::mtu;
use crate::fragments::{UDP_HEADER, fragment_header, ip_header, largest_payload};
use crate::{Datagrams, Flow, Messages, Role, Scenario, Tcp, Traffic};

/// The traffic of a flow.
pub(super) struct Offered {
    pub(super) messages: f64,
    pub(super) packets: f64,
    /// Packets per second while it sends.
    pub(super) packets_per_second: f64,
    /// Octets of IP in the smallest and in a typical packet.
    pub(super) smallest: f64,
    pub(super) mean: f64,
}

impl Offered {
    pub(super) fn of(scenario: &Scenario, flow: &Flow, path: &[usize]) -> Self {
        match &flow.traffic {
            Traffic::Datagrams(datagrams) => Self::of_datagrams(scenario, flow, datagrams, path),
            Traffic::Tcp(tcp) => Self::of_tcp(scenario, flow, tcp, path),
        }
    }

    /// The data in flight of a connection: its window, or the capacity of queues and
    /// links. Lost data are sent again, so the duration does not matter.
    fn of_tcp(scenario: &Scenario, flow: &Flow, tcp: &Tcp, path: &[usize]) -> Self {
        let direction =
            |direction: &usize| &scenario.links[direction / 2].directions[direction % 2];
        let first = mtu(direction(&path[0]));
        let headers = f64::from(ip_header(flow.ip) + proto::tcp::HEADER);
        let mean = headers + f64::from(tcp.segment(flow.ip, first));
        let rates = path.iter().filter_map(|at| direction(at).rate);
        let narrowest = rates.map(|rate| float(rate.bits_per_second()));
        let pace = narrowest.fold(f64::INFINITY, f64::min) / (8.0 * mean);
        let room = |at: &usize| {
            let settings = direction(at);
            let queue = match settings.queue.limit() {
                Limit::Packets(most) => f64::from(most),
                Limit::Bytes(most) => float(most.get()) / headers,
            };
            let delay = seconds(settings.delay + settings.jitter + settings.hold);
            let queue = settings.rate.map_or(0.0, |_| queue);
            queue + delay * pace + 1.0
        };
        let works = |node: usize| match scenario.nodes[node].role {
            Role::Host(host) => !host.send.is_free(),
            Role::Router | Role::Switch => false,
        };
        let held: f64 = path.iter().map(room).sum();
        let window = f64::from(tcp.settings.window);
        // A window without a limit grows by a segment per arrival.
        let segment = f64::from(tcp.segment(flow.ip, first));
        let arrives = pace * seconds(lasts(scenario, flow));
        let arrives = tcp
            .octets
            .map_or(arrives, |octets| float(octets) / segment + 1.0);
        let packets = if works(flow.from) {
            window.min(f64::from(tcp.settings.initial_window) + arrives)
        } else {
            window.min(2.0 * held)
        };
        let messages = tcp.messages.map_or(0.0, |messages| {
            let of = |messages: Messages, octets: u64| {
                float(octets.saturating_sub(messages.preroll)) / float(messages.size.max(1)) + 1.0
            };
            let answered = messages
                .answers
                .map(|answered| &scenario.flows[answered].traffic);
            match (answered, tcp.octets) {
                (Some(Traffic::Tcp(other)), _) => other
                    .messages
                    .zip(other.octets)
                    .map_or(f64::INFINITY, |(messages, octets)| of(messages, octets)),
                (_, Some(octets)) => of(messages, octets),
                (_, None) => f64::INFINITY,
            }
        });
        // There are as many responses as requests.
        let packets = match tcp.messages {
            Some(Messages {
                answers: Some(_),
                size,
                ..
            }) => packets.min(messages * (float(size) / segment + 1.0)),
            _ => packets,
        };
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

/// Upper bound of the number of draws of `law` within `lasts`. The variance of the
/// number of renewals is about lasts variance / mean^3 [Kleinrock1975]; ten standard
/// deviations above the mean suffice.
fn most(law: &Law, lasts: f64) -> f64 {
    if !law.variance().is_finite() {
        return lasts / typical(law) + 10.0 * (lasts / typical(law)).sqrt() + 1.0;
    }
    let expected = lasts / law.mean();
    let spread = (law.variance() / law.mean().powi(2)).max(1.0);
    expected + 10.0 * (expected * spread).sqrt() + 1.0
}

/// A lower bound of the average over many draws of `law`, also if the mean does not
/// exist: a Pareto law has no value below its scale, and one in four values of a Cauchy
/// law exceeds median plus scale.
fn typical(law: &Law) -> f64 {
    match law {
        Law::Pareto(_, scale) => *scale,
        Law::Cauchy(median, scale) => (median + scale) / 4.0,
        law => law.mean(),
    }
}

/// The time for which a flow sends.
fn lasts(scenario: &Scenario, flow: &Flow) -> Span {
    let until = flow
        .stop
        .map_or(scenario.end, |stop| stop.min(scenario.end));
    until.since(flow.start).unwrap_or_default()
}
