//! Estimates of the memory and the duration of a run.
//!
//! The estimates are upper bounds in floating point. They only detect runs that exceed
//! the memory.

mod offered;

use link::Settings;
use queue::Limit;
use units::{Bytes, Framing, Span};

use crate::direction::framing;
use crate::packet::{Content, Packet};
use crate::reassembly::WINDOW;
use crate::routes::Routes;
use crate::{BadScenario, Role, Scenario, Traffic, Work};
use offered::{Offered, Sharing};

/// A packet with its bookkeeping in a queue; rings may be half empty, and keep the
/// memory of their fullest moment.
const PACKET: f64 = 2.0 * (size_of::<Packet>() + 32) as f64;
/// The content of a packet, which is stored once, wherever the packet is.
const CONTENT: f64 = 2.0 * (size_of::<Content>() + size_of::<u32>()) as f64;
/// An arrival in an exact recorder, with its share of the final computation.
const ARRIVAL: f64 = 96.0;
/// The histogram of a flow that is too long for an exact recorder, and of the
/// computation of one summary.
const HISTOGRAM: f64 = 300_000.0;
/// Other memory per flow, mainly random number generators.
const FLOW: f64 = 3_000.0;
/// A datagram that is being reassembled.
const DATAGRAM: f64 = 64.0;
/// Memory per node, per direction of a link, and for the generators of chance of a
/// direction, where it has any.
const NODE: f64 = 1_000.0;
const DIRECTION: f64 = 1_400.0;
const CHANCE: f64 = 600.0;
/// The longest run in days; times reach 213 days.
const MOST_DAYS: f64 = 200.0;

/// Checks that the routing table alone fits the budget.
pub(super) fn table_fits(scenario: &Scenario) -> Result<(), BadScenario> {
    let mut needs = Needs::default();
    needs.add(float(Routes::memory(scenario)), || "its routes".to_owned());
    needs.within(scenario.budget)
}

/// The flows that keep every arrival, if the whole run is feasible.
pub(super) fn bearable(
    scenario: &Scenario,
    paths: &[Vec<usize>],
) -> Result<Vec<bool>, BadScenario> {
    let mut needs = Needs::default();
    needs.add(float(Routes::memory(scenario)), || "its routes".to_owned());
    let settings = scenario.links.iter().flat_map(|link| &link.directions);
    let has_chance = |of: &&Settings| {
        let chances = [of.loss, of.bit_error_rate, of.reorder, of.duplicate];
        of.jitter > Span::ZERO || chances.iter().any(|chance| *chance > 0.0)
    };
    let elements = NODE * scenario.nodes.len() as f64
        + DIRECTION * settings.clone().count() as f64
        + CHANCE * settings.clone().filter(has_chance).count() as f64;
    needs.add(elements, || "its nodes and links".to_owned());

    let mut directions = vec![Load::default(); 2 * scenario.links.len()];
    let mut senders = vec![Load::default(); scenario.nodes.len()];
    let mut receivers = vec![Load::default(); scenario.nodes.len()];
    let mut all_exact = Vec::new();
    let mut packets = 0.0;
    let sharing = Sharing::of(scenario, paths);
    for (number, (flow, path)) in scenario.flows.iter().zip(paths).enumerate() {
        let offered = Offered::of(scenario, paths, &sharing, number);
        let exact = offered.messages <= float(scenario.max_recorded_messages);
        let arrivals = if exact {
            ARRIVAL * offered.messages
        } else {
            HISTOGRAM
        };
        let datagrams = DATAGRAM * offered.messages.min(float_size(WINDOW));
        needs.add(FLOW + arrivals + datagrams, || {
            format!("the arrivals of flow `{}`", flow.name)
        });
        all_exact.push(exact);
        packets += offered.packets;
        for direction in path {
            directions[*direction].add(&offered);
            if matches!(flow.traffic, Traffic::Tcp(_)) {
                // There are at most as many acknowledgements as segments.
                directions[*direction ^ 1].add(&offered);
            }
        }
        senders[flow.from].add(&offered);
        receivers[flow.to].add(&offered);
    }

    // Summaries of exact recorders are computed one after the other.
    needs.add(HISTOGRAM, || "a summary of arrivals".to_owned());

    let mut seconds = scenario.end.as_picos() as f64 / 1e12;
    let mut on_links = Vec::new();
    for (load, of) in directions.iter().zip(settings.clone()) {
        on_links.push(load.on_link(of));
        seconds += load.drains(of);
    }
    let mut at_hosts = Vec::new();
    for (number, node) in scenario.nodes.iter().enumerate() {
        if let Role::Host(host) = node.role {
            let room = host.receive_buffer.map(Limit::Bytes);
            let waiting =
                senders[number].at(host.send, None) + receivers[number].at(host.receive, room);
            at_hosts.push((waiting, node));
            seconds += senders[number].work(host.send) + receivers[number].work(host.receive);
        }
    }
    // A packet is in one place at a time, so that however many links a path has, there
    // are no more contents than packets; acknowledgements take the place of data.
    let held = on_links
        .iter()
        .chain(at_hosts.iter().map(|at| &at.0))
        .sum::<f64>();
    if settings.clone().any(|of| of.duplicate > 0.0) {
        packets = f64::INFINITY;
    }
    let packet = PACKET + CONTENT * (packets / held).min(1.0);
    for (number, here) in on_links.into_iter().enumerate() {
        let link = &scenario.links[number / 2];
        needs.add(packet * here, || format!("link `{}`", link.name));
    }
    for (waiting, node) in at_hosts {
        needs.add(packet * waiting, || format!("host `{}`", node.name));
    }
    needs.within(scenario.budget)?;
    let days = seconds / 86_400.0;
    if days > MOST_DAYS {
        return Err(BadScenario::TooLong {
            days: whole(days),
            most: whole(MOST_DAYS),
        });
    }
    Ok(all_exact)
}

/// The total load of one element.
#[derive(Clone)]
struct Load {
    packets: f64,
    bytes: f64,
    packets_per_second: f64,
    bytes_per_second: f64,
    smallest: f64,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            packets: 0.0,
            bytes: 0.0,
            packets_per_second: 0.0,
            bytes_per_second: 0.0,
            smallest: f64::INFINITY,
        }
    }
}

impl Load {
    fn add(&mut self, offered: &Offered) {
        self.packets += offered.packets;
        self.bytes += offered.packets * offered.mean;
        self.packets_per_second += offered.packets_per_second;
        self.bytes_per_second += offered.packets_per_second * offered.mean;
        self.smallest = self.smallest.min(offered.smallest);
    }

    /// Upper bound of the packets in the queue, on the wire and in flight.
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

    /// Upper bound of the packets that wait for a processor.
    fn at(&self, work: Work, room: Option<Limit>) -> f64 {
        if work.is_free() || self.packets == 0.0 {
            return 0.0;
        }
        if let Some(limit) = room {
            return self.in_room(limit, Framing::None);
        }
        let busy = seconds(work.per_packet) * self.packets_per_second
            + seconds(work.per_byte) * self.bytes_per_second;
        // A queue of Poisson arrivals rarely grows beyond a hundred times its mean; an
        // overloaded one may hold all packets.
        let stable = 100.0 / (1.0 - busy).max(f64::MIN_POSITIVE);
        self.packets.min(stable)
    }

    /// Total processing time, in seconds.
    fn work(&self, work: Work) -> f64 {
        seconds(work.per_packet) * self.packets + seconds(work.per_byte) * self.bytes
    }

    /// Upper bound of the seconds until a link without further arrivals is empty.
    fn drains(&self, settings: &Settings) -> f64 {
        if self.packets == 0.0 {
            return 0.0;
        }
        let travels = seconds(settings.delay + settings.jitter + settings.hold);
        let around = float(framing(settings).wire_size(Bytes::ZERO).get());
        let bytes = match settings.queue.limit() {
            Limit::Bytes(most) => 2.0 * float(most.get()),
            Limit::Packets(_) => f64::INFINITY,
        };
        let bytes = bytes.min(self.bytes + self.packets * around);
        settings.rate.map_or(travels, |rate| {
            travels + 8.0 * bytes / float(rate.bits_per_second())
        })
    }
}

/// The memory needed, in bytes, and its largest item.
#[derive(Default)]
struct Needs {
    all: f64,
    most: f64,
    what: String,
}

impl Needs {
    fn add(&mut self, bytes: f64, what: impl FnOnce() -> String) {
        self.all += bytes;
        if bytes > self.most {
            self.most = bytes;
            self.what = what();
        }
    }

    fn within(self, budget: Bytes) -> Result<(), BadScenario> {
        if self.all <= float(budget.get()) {
            return Ok(());
        }
        Err(BadScenario::Memory {
            needed: Bytes::new(whole(self.all.ceil())),
            budget,
            what: self.what,
        })
    }
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

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
