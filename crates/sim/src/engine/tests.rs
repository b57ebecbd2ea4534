mod shortcuts;
mod turns;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use link::{PacketOutcome, QueueState, Settings};
use meter::departures::Distribution;
use proptest::prelude::*;
use queue::{Limit, Spec};
use units::{Bytes, Framing, IpVersion, Rate, Seed, Span};

use super::*;
use crate::direction::Machine;
use crate::{Datagrams, Host, Link, Location, Loss, Role, Scenario, Seen, Traffic, Work};

/// A number of packets and the bytes of their frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount(u64, u64);

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.0 += 1;
        self.1 += bytes;
    }
}

impl std::ops::Sub for Amount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl std::ops::Add for Amount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

/// The observations of a tracer for each direction.
#[derive(Default)]
struct Amounts {
    framings: BTreeMap<(usize, usize), Framing>,
    came: BTreeMap<(usize, usize), Amount>,
    /// Packets rejected or dropped in front of the wire.
    dropped: BTreeMap<(usize, usize), Amount>,
    sent: BTreeMap<(usize, usize), Amount>,
    /// Packets lost on the wire.
    lost: BTreeMap<(usize, usize), Amount>,
    buffer: u64,
}

impl Amounts {
    fn frame(&self, direction: (usize, usize), packet: Seen) -> u64 {
        self.framings[&direction].frame_size(packet.size).get()
    }
}

/// The test looks at the amounts while the engine has the tracer.
impl Tracer for Rc<RefCell<Amounts>> {
    fn queued(&mut self, _: Time, direction: (usize, usize), packet: Seen, state: QueueState) {
        let mut amounts = self.borrow_mut();
        let waits = waiting(&amounts, direction);
        assert_eq!(
            waits,
            Amount(state.backlog.packets.into(), state.backlog.bytes.get())
        );
        let bytes = amounts.frame(direction, packet);
        amounts.came.entry(direction).or_default().add(bytes);
    }

    fn sent(&mut self, begins: Time, ends: Time, direction: (usize, usize), packet: Seen, _: Span) {
        assert!(ends >= begins);
        let mut amounts = self.borrow_mut();
        let bytes = amounts.frame(direction, packet);
        amounts.sent.entry(direction).or_default().add(bytes);
    }

    fn lost(&mut self, _: Time, location: Location, packet: Seen, why: Loss) {
        let Location::Direction(link, direction) = location else {
            self.borrow_mut().buffer += 1;
            return;
        };
        let direction = (link, direction);
        let mut amounts = self.borrow_mut();
        let bytes = amounts.frame(direction, packet);
        let amounts = match why {
            Loss::Chance | Loss::Damage => &mut amounts.lost,
            Loss::TooBig | Loss::Queue(_) | Loss::Buffer | Loss::Incomplete => &mut amounts.dropped,
        };
        amounts.entry(direction).or_default().add(bytes);
    }
}

fn of(amounts: &BTreeMap<(usize, usize), Amount>, direction: (usize, usize)) -> Amount {
    amounts.get(&direction).copied().unwrap_or_default()
}

fn waiting(amounts: &Amounts, direction: (usize, usize)) -> Amount {
    of(&amounts.came, direction) - of(&amounts.dropped, direction) - of(&amounts.sent, direction)
}

fn settings() -> impl Strategy<Value = Settings> {
    let chance = || prop_oneof![3 => Just(0.0), 1 => 0.0..0.3f64];
    let room = prop_oneof![
        (1u32..20).prop_map(Limit::Packets),
        (70_000u64..200_000).prop_map(|room| Limit::Bytes(Bytes::new(room))),
    ];
    let chances = (chance(), chance(), chance(), any::<[bool; 4]>());
    let mtu = prop::option::of(1_280u64..9_000);
    (chances, room, mtu, 1u64..100, 0u64..5_000).prop_map(
        |(
            (loss, reorder, duplicate, [ethernet, cut_through, front, paced]),
            limit,
            mtu,
            rate,
            delay,
        )| {
            let queue = match front {
                true => Spec::DropFront { limit },
                false => Spec::DropTail { limit },
            };
            let rate = Rate::from_bits_per_second(rate * 1_000_000);
            Settings {
                ethernet,
                largest_packet: mtu.map(Bytes::new),
                delay: Span::from_micros(delay),
                jitter: Span::from_micros(delay / 2),
                loss,
                bit_error_rate: loss / 1e5,
                reorder,
                hold: Span::from_micros(300),
                duplicate,
                cut_through,
                ..Settings::perfect(rate.filter(|_| paced), queue)
            }
        },
    )
}

/// A line of two to four routers or switches between hosts, with flows in both
/// directions.
fn scenarios() -> impl Strategy<Value = Scenario> {
    let hops = prop::collection::vec((settings(), settings(), any::<bool>()), 2..5);
    let flow = (any::<[bool; 3]>(), 0.0..65_000f64, 1.0..3_000f64);
    let flows = prop::collection::vec(flow, 1..4);
    let work = (0u64..50, prop::option::of(70_000u64..100_000));
    (hops, flows, work, any::<u64>()).prop_map(|(hops, flows, (work, buffer), seed)| {
        let work = Work {
            per_packet: Span::from_micros(work),
            per_byte: Span::from_picos(work * 1_000),
        };
        let host = Role::Host(Host {
            send: work,
            receive: work,
            receive_buffer: buffer.map(Bytes::new),
        });
        let last = hops.len();
        let role = |number: usize| match number {
            0 => host,
            number if number == last => host,
            number if hops[number].2 => Role::Router,
            _ => Role::Switch,
        };
        let node = |number: usize| crate::Node {
            name: format!("n{number}"),
            role: role(number),
        };
        let links = hops
            .iter()
            .enumerate()
            .map(|(number, (there, back, _))| Link {
                name: format!("l{number}"),
                ends: [number, number + 1],
                directions: [there.clone(), back.clone()],
            });
        let flows = flows
            .iter()
            .enumerate()
            .map(|(number, ([back, six, whole], size, gap))| crate::Flow {
                name: format!("f{number}"),
                from: if *back { last } else { 0 },
                to: if *back { 0 } else { last },
                ip: if *six { IpVersion::V6 } else { IpVersion::V4 },
                start: Time::ZERO,
                stop: None,
                traffic: Traffic::Datagrams(Datagrams {
                    limit: Some(30),
                    dont_fragment: *whole,
                    ..Datagrams::new(
                        Distribution::Exponential(gap * 1e6),
                        Distribution::Uniform(0.0, *size),
                    )
                }),
            });
        Scenario {
            nodes: (0..=last).map(node).collect(),
            links: links.collect(),
            flows: flows.collect(),
            end: Time::ZERO + Span::from_secs(10),
            seed: Seed::new(seed),
            budget: Scenario::BUDGET,
            max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn at_every_step_what_came_has_left_or_was_dropped_or_waits_or_travels(scenario in scenarios()) {
        let mut amounts = Amounts::default();
        for (link, place) in scenario.links.iter().zip(0..) {
            for (settings, direction) in link.directions.iter().zip(0..) {
                amounts.framings.insert((place, direction), crate::direction::framing(settings));
            }
        }
        let simulation = scenario.check().unwrap();
        let amounts = Rc::new(RefCell::new(amounts));
        let mut tracer = Rc::clone(&amounts);
        let mut engine = simulation.engine::<true>(&mut tracer, Shortcuts::ALL);
        loop {
            let more = engine.step();
            let amounts = amounts.borrow();
            let mut delivered = 0;
            for direction in &engine.directions {
                let Machine::Full(link) = &direction.machine else {
                    unreachable!("all are watched");
                };
                let backlog = link.backlog();
                let backlog = Amount(backlog.packets.into(), backlog.bytes.get());
                prop_assert_eq!(waiting(&amounts, direction.place), backlog);
                let counters = link.counters();
                prop_assert_eq!(of(&amounts.came, direction.place).0, counters.arrived);
                let passed = of(&amounts.sent, direction.place) - of(&amounts.lost, direction.place);
                let once = counters.of(PacketOutcome::Delivered) + counters.of(PacketOutcome::Duplicated);
                prop_assert_eq!(passed.0, once);
                delivered += once + counters.of(PacketOutcome::Duplicated);
                if !more {
                    prop_assert_eq!(backlog, Amount::default());
                    prop_assert_eq!(link.next_timeout(), None);
                }
            }
            if !more {
                engine.settle_counters();
                // Packets that left links were received by the next links or by hosts.
                let nodes = || engine.nodes.iter().map(|node| &node.counts);
                let taken: u64 = nodes().map(|node| node.received + node.dropped).sum();
                let sent: u64 = nodes().map(|node| node.sent).sum();
                let answers: u64 = nodes().map(|node| node.answered).sum();
                let came: u64 = amounts.came.values().map(|amount| amount.0).sum();
                let cut_into = came - sent - answers;
                prop_assert_eq!(amounts.buffer, nodes().map(|node| node.dropped).sum::<u64>());
                let cut: u64 = nodes().map(|node| node.cut).sum();
                prop_assert!(delivered - taken + cut <= cut_into || cut == 0);
                if cut == 0 {
                    prop_assert_eq!(delivered - taken, cut_into);
                }
                break;
            }
        }
        for flow in &engine.flows {
            let Endpoints::Datagrams(endpoints) = &flow.endpoints else {
                unreachable!("the flows are of datagrams");
            };
            let (source, sink) = &**endpoints;
            let sent = source.counts.sent;
            prop_assert_eq!(sent + source.counts.rejected, 30);
            prop_assert!(sink.received + sink.unassembled() <= sent);
        }
    }
}
