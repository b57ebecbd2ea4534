//! How much a run would have to hold at a time, and how long it could last.
//!
//! Estimates from above, in doubles: they tell a run that fills the memory
//! from one that does not, no more.

use proto::link::Settings;
use proto::traffic::Law;
use queue::Limit;
use units::{Bytes, Framing, Span};

use crate::fragments::{UDP_HEADER, fragment_header, ip_header, largest_payload};
use crate::packet::{Content, Packet};
use crate::reassembly::WINDOW;
use crate::routes::Routes;
use crate::way::{framing, mtu};
use crate::{BadScenario, Datagrams, Flow, Messages, Role, Scenario, Tcp, Traffic, Work};

/// A packet with what stands around it where it waits, and rings that are
/// twice as long as what is in them.
const PACKET: f64 = 2.0 * (size_of::<(Packet, Content)>() + 32) as f64;
/// An arrival in a tally, and what is made of it at the end.
const ARRIVAL: f64 = 96.0;
/// The histogram of a flow that is too long for a tally.
const HISTOGRAM: f64 = 300_000.0;
/// All else that there is once a flow, generators above all.
const FLOW: f64 = 4_000.0;
/// A datagram that is put together again.
const DATAGRAM: f64 = 64.0;
/// Links and nodes, each.
const ELEMENT: f64 = 4_000.0;
/// Days that a run may last: instants count 213.
const MOST_DAYS: f64 = 200.0;

/// Whether the table of routes alone is small enough.
pub(super) fn table_fits(scenario: &Scenario) -> Result<(), BadScenario> {
    let mut needs = Needs::default();
    needs.add(float(Routes::memory(scenario)), || "its routes".to_owned());
    needs.within(scenario.budget)
}

/// Which flows keep every arrival, if the run is bearable as a whole.
pub(super) fn bearable(
    scenario: &Scenario,
    paths: &[Vec<usize>],
) -> Result<Vec<bool>, BadScenario> {
    let mut needs = Needs::default();
    needs.add(float(Routes::memory(scenario)), || "its routes".to_owned());
    let elements = scenario.nodes.len() + 2 * scenario.links.len();
    needs.add(ELEMENT * elements as f64, || {
        "its nodes and links".to_owned()
    });

    let mut ways = vec![Load::default(); 2 * scenario.links.len()];
    let mut senders = vec![Load::default(); scenario.nodes.len()];
    let mut receivers = vec![Load::default(); scenario.nodes.len()];
    let mut tallies = Vec::new();
    for (flow, path) in scenario.flows.iter().zip(paths) {
        let offered = Offered::of(scenario, flow, path);
        let tally = offered.messages <= float(scenario.longest_tally);
        let arrivals = if tally {
            ARRIVAL * offered.messages
        } else {
            HISTOGRAM
        };
        let datagrams = DATAGRAM * offered.messages.min(float_size(WINDOW));
        needs.add(FLOW + arrivals + datagrams, || {
            format!("the arrivals of flow `{}`", flow.name)
        });
        tallies.push(tally);
        for way in path {
            ways[*way].add(&offered);
            if matches!(flow.traffic, Traffic::Tcp(_)) {
                // No more acknowledgements than segments.
                ways[*way ^ 1].add(&offered);
            }
        }
        senders[flow.from].add(&offered);
        receivers[flow.to].add(&offered);
    }

    let mut seconds = scenario.end.as_picos() as f64 / 1e12;
    for (number, load) in ways.iter().enumerate() {
        let link = &scenario.links[number / 2];
        let settings = &link.ways[number % 2];
        needs.add(PACKET * load.on_link(settings), || {
            format!("link `{}`", link.name)
        });
        seconds += load.drains(settings);
    }
    for (number, node) in scenario.nodes.iter().enumerate() {
        if let Role::Host(host) = node.role {
            let room = host.receive_buffer.map(Limit::Bytes);
            let waiting =
                senders[number].at(host.send, None) + receivers[number].at(host.receive, room);
            needs.add(PACKET * waiting, || format!("host `{}`", node.name));
            seconds += senders[number].work(host.send) + receivers[number].work(host.receive);
        }
    }
    needs.within(scenario.budget)?;
    let days = seconds / 86_400.0;
    if days > MOST_DAYS {
        return Err(BadScenario::TooLong {
            days: whole(days),
            most: whole(MOST_DAYS),
        });
    }
    Ok(tallies)
}

/// What a flow sends.
struct Offered {
    messages: f64,
    packets: f64,
    /// A second, while it sends.
    packets_per_second: f64,
    /// Octets of IP in the smallest and in an ordinary packet.
    smallest: f64,
    mean: f64,
}

impl Offered {
    fn of(scenario: &Scenario, flow: &Flow, path: &[usize]) -> Self {
        match &flow.traffic {
            Traffic::Datagrams(datagrams) => Self::of_datagrams(scenario, flow, datagrams, path),
            Traffic::Tcp(tcp) => Self::of_tcp(scenario, flow, tcp, path),
        }
    }

    /// What of a connection can be under way at a time: its window, or what
    /// queues and links hold. It sends again what was lost, so time does not
    /// come into it.
    fn of_tcp(scenario: &Scenario, flow: &Flow, tcp: &Tcp, path: &[usize]) -> Self {
        let way = |way: &usize| &scenario.links[way / 2].ways[way % 2];
        let first = mtu(way(&path[0]));
        let headers = f64::from(ip_header(flow.ip) + proto::tcp::HEADER);
        let mean = headers + f64::from(tcp.segment(flow.ip, first));
        let rates = path.iter().filter_map(|at| way(at).rate);
        let narrowest = rates.map(|rate| float(rate.bits_per_second()));
        let pace = narrowest.fold(f64::INFINITY, f64::min) / (8.0 * mean);
        let room = |at: &usize| {
            let settings = way(at);
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
        // A window without a bound grows by a segment for each that arrives.
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
        // Answers are as many as what they answer.
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
            .map(|way| mtu(&scenario.links[way / 2].ways[way % 2]));
        let narrowest = f64::from(narrowest.min().unwrap_or(u32::MAX));
        let room = (narrowest - f64::from(fragment_header(flow.ip)) - 7.0).max(8.0);
        let first = mtu(&scenario.links[path[0] / 2].ways[path[0] % 2]);
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

/// How many draws of `law` follow each other in a time of `lasts`, at most.
/// The number of renewals has a variance of about lasts variance / mean^3
/// [Kleinrock1975]; ten standard deviations more than their mean are enough.
fn most(law: &Law, lasts: f64) -> f64 {
    if !law.variance().is_finite() {
        return lasts / typical(law) + 10.0 * (lasts / typical(law)).sqrt() + 1.0;
    }
    let expected = lasts / law.mean();
    let spread = (law.variance() / law.mean().powi(2)).max(1.0);
    expected + 10.0 * (expected * spread).sqrt() + 1.0
}

/// What a draw of `law` comes to at least, on average over many, also where
/// there is no mean: nothing is below the scale of a Pareto law, and of a
/// Cauchy law one in four draws is above the sum of median and scale.
fn typical(law: &Law) -> f64 {
    match law {
        Law::Pareto(_, scale) => *scale,
        Law::Cauchy(median, scale) => (median + scale) / 4.0,
        law => law.mean(),
    }
}

/// For how long a flow sends.
fn lasts(scenario: &Scenario, flow: &Flow) -> Span {
    let until = flow
        .stop
        .map_or(scenario.end, |stop| stop.min(scenario.end));
    until.since(flow.start).unwrap_or_default()
}

/// What comes to one place from all flows.
#[derive(Clone)]
struct Load {
    packets: f64,
    octets: f64,
    packets_per_second: f64,
    octets_per_second: f64,
    smallest: f64,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            packets: 0.0,
            octets: 0.0,
            packets_per_second: 0.0,
            octets_per_second: 0.0,
            smallest: f64::INFINITY,
        }
    }
}

impl Load {
    fn add(&mut self, offered: &Offered) {
        self.packets += offered.packets;
        self.octets += offered.packets * offered.mean;
        self.packets_per_second += offered.packets_per_second;
        self.octets_per_second += offered.packets_per_second * offered.mean;
        self.smallest = self.smallest.min(offered.smallest);
    }

    /// Packets in the queue, on the wire and under way, at most.
    fn on_link(&self, settings: &Settings) -> f64 {
        if self.packets == 0.0 {
            return 0.0;
        }
        let delay = seconds(settings.delay + settings.jitter + settings.hold);
        let smallest = Bytes::new(whole(self.smallest));
        let pace = settings.rate.map_or(self.packets_per_second, |rate| {
            let wire = framing(settings).wire_size(smallest);
            float(rate.bits_per_second()) / float(wire.bits().max(1))
        });
        let travelling = pace.min(10.0 * self.packets_per_second) * delay + 1.0;
        let queue = match (settings.rate, settings.queue.limit()) {
            (None, _) => 0.0,
            (_, limit) => self.in_room(limit, framing(settings)),
        };
        (travelling + queue).min(2.0 * self.packets)
    }

    fn in_room(&self, limit: Limit, framing: Framing) -> f64 {
        let smallest = framing.frame_size(Bytes::new(whole(self.smallest)));
        let most = match limit {
            Limit::Packets(most) => most.into(),
            Limit::Bytes(most) => float(most.get()) / float(smallest.get().max(1)),
        };
        most.min(self.packets)
    }

    /// Packets that wait for a processor, at most.
    fn at(&self, work: Work, room: Option<Limit>) -> f64 {
        if work.is_free() || self.packets == 0.0 {
            return 0.0;
        }
        if let Some(limit) = room {
            return self.in_room(limit, Framing::None);
        }
        let busy = seconds(work.per_packet) * self.packets_per_second
            + seconds(work.per_octet) * self.octets_per_second;
        // A queue of Poisson arrivals rarely grows to a hundred times its mean;
        // one that cannot keep up may hold everything.
        let stable = 100.0 / (1.0 - busy).max(f64::MIN_POSITIVE);
        self.packets.min(stable)
    }

    /// Seconds of a processor's work, all in all.
    fn work(&self, work: Work) -> f64 {
        seconds(work.per_packet) * self.packets + seconds(work.per_octet) * self.octets
    }

    /// Seconds in which a link that took no more would be empty, at most.
    fn drains(&self, settings: &Settings) -> f64 {
        if self.packets == 0.0 {
            return 0.0;
        }
        let travels = seconds(settings.delay + settings.jitter + settings.hold);
        let around = float(framing(settings).wire_size(Bytes::ZERO).get());
        let octets = match settings.queue.limit() {
            Limit::Bytes(most) => 2.0 * float(most.get()),
            Limit::Packets(_) => f64::INFINITY,
        };
        let octets = octets.min(self.octets + self.packets * around);
        settings.rate.map_or(travels, |rate| {
            travels + 8.0 * octets / float(rate.bits_per_second())
        })
    }
}

/// Octets of memory, and who needs most of them.
#[derive(Default)]
struct Needs {
    all: f64,
    most: f64,
    what: String,
}

impl Needs {
    fn add(&mut self, octets: f64, what: impl FnOnce() -> String) {
        self.all += octets;
        if octets > self.most {
            self.most = octets;
            self.what = what();
        }
    }

    fn within(self, budget: Bytes) -> Result<(), BadScenario> {
        if self.all <= float(budget.get()) {
            return Ok(());
        }
        Err(BadScenario::Memory {
            needed: Bytes::new(whole(self.all)),
            budget,
            what: self.what,
        })
    }
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(number: u64) -> f64 {
    number as f64
}

fn float_size(number: usize) -> f64 {
    float(u64::try_from(number).unwrap_or(u64::MAX))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and saturates as it should"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}
