//! How much a run would have to hold at a time, and how long it could last.
//!
//! Estimates from above, in doubles: they tell a run that fills the memory
//! from one that does not, no more.

mod offered;

use proto::link::Settings;
use queue::Limit;
use units::{Bytes, Framing, Span};

use crate::direction::framing;
use crate::packet::{Content, Packet};
use crate::reassembly::WINDOW;
use crate::routes::Routes;
use crate::{BadScenario, Role, Scenario, Traffic, Work};
use offered::Offered;

/// A packet with what stands around it where it waits, and rings that are
/// twice as long as what is in them.
const PACKET: f64 = 2.0 * (size_of::<(Packet, Content)>() + 32) as f64;
/// An arrival in an exact recorder, and what is made of it at the end.
const ARRIVAL: f64 = 96.0;
/// The histogram of a flow that is too long for an exact recorder.
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

    let mut directions = vec![Load::default(); 2 * scenario.links.len()];
    let mut senders = vec![Load::default(); scenario.nodes.len()];
    let mut receivers = vec![Load::default(); scenario.nodes.len()];
    let mut all_exact = Vec::new();
    for (flow, path) in scenario.flows.iter().zip(paths) {
        let offered = Offered::of(scenario, flow, path);
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
        for direction in path {
            directions[*direction].add(&offered);
            if matches!(flow.traffic, Traffic::Tcp(_)) {
                // No more acknowledgements than segments.
                directions[*direction ^ 1].add(&offered);
            }
        }
        senders[flow.from].add(&offered);
        receivers[flow.to].add(&offered);
    }

    let mut seconds = scenario.end.as_picos() as f64 / 1e12;
    for (number, load) in directions.iter().enumerate() {
        let link = &scenario.links[number / 2];
        let settings = &link.directions[number % 2];
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
    Ok(all_exact)
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

    /// Packets in the queue, on the wire and in flight, at most.
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
