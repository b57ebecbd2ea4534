//! Shortcuts save events and change nothing else.

use proptest::prelude::*;

use queue::{CodelSettings, RedSettings};
use tcp::{Acknowledging, Recovery};

use super::turns::aggregation;
use super::*;
use crate::{Node, Outcome, Simulation, Tcp};

/// Hosts per side.
const HOSTS: usize = 3;

/// Few different values, so that many times coincide.
fn directions() -> impl Strategy<Value = Settings> {
    let rate = prop_oneof![
        1 => Just(None),
        3 => Just(Some(1_000_000)),
        3 => Just(Some(8_000_000)),
    ];
    let limit = (1u32..12).prop_map(Limit::Packets);
    let delay = prop_oneof![1 => Just(0), 3 => (1u64..4).prop_map(|millis| 1_000 * millis)];
    (rate, limit, delay, 0..8u8, any::<bool>()).prop_map(|(rate, limit, micros, kind, small)| {
        let rate = rate.and_then(Rate::from_bits_per_second);
        let queue = match kind {
            0 if rate.is_some() => Spec::Codel(CodelSettings::new(limit, Bytes::new(1_000))),
            1..4 if rate.is_some() => Spec::Red(RedSettings::new(limit, Bytes::new(1_000))),
            _ => Spec::DropTail { limit },
        };
        Settings {
            ethernet: small,
            delay: Span::from_micros(micros),
            loss: if kind == 7 { 0.05 } else { 0.0 },
            largest_packet: (small && kind == 6).then_some(Bytes::new(1_280)),
            ..Settings::perfect(rate, queue)
        }
    })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let datagrams = (1u64..30, any::<bool>()).prop_map(|(limit, steady)| {
        let gaps = match steady {
            true => Distribution::Constant(4e9),
            false => Distribution::Exponential(4e9),
        };
        Traffic::Datagrams(Datagrams {
            limit: Some(limit),
            ..Datagrams::new(gaps, Distribution::Uniform(100.0, 2_000.0))
        })
    });
    let tcp = (1u64..60_000, 0..4u8).prop_map(|(bytes, kind)| {
        let settings = match kind {
            0 => tcp::Settings::new(960),
            1 => tcp::Settings {
                acknowledging: Acknowledging::Each,
                ..tcp::Settings::new(960)
            },
            2 => tcp::Settings::ns2(Recovery::NewReno, 960, 20),
            _ => tcp::Settings::ns2(Recovery::Sack, 960, 20),
        };
        Traffic::Tcp(Tcp {
            bytes: Some(bytes),
            ..Tcp::new(settings)
        })
    });
    prop_oneof![datagrams, tcp]
}

/// Hosts at both ends of a line of routers or switches, with flows between the sides.
fn networks() -> impl Strategy<Value = Scenario> {
    let middle = prop::collection::vec((directions(), directions(), any::<bool>()), 1..4);
    let access = prop::collection::vec((directions(), directions()), 2 * HOSTS);
    let flow = (0..HOSTS, 0..HOSTS, any::<bool>(), 0u64..3, traffic());
    let flows = prop::collection::vec(flow, 1..8);
    let slow = prop::collection::vec(prop::bool::weighted(0.1), 2 * HOSTS);
    (middle, access, flows, slow, any::<u64>()).prop_map(network)
}

type Parts = (
    Vec<(Settings, Settings, bool)>,
    Vec<(Settings, Settings)>,
    Vec<(usize, usize, bool, u64, Traffic)>,
    Vec<bool>,
    u64,
);

fn network((middle, access, flows, slow, seed): Parts) -> Scenario {
    let first_host = middle.len() + 1;
    let mut nodes = vec![Node {
        name: "0".into(),
        role: Role::Router,
    }];
    let mut links = Vec::new();
    for ((forth, back, is_switch), number) in middle.into_iter().zip(1..) {
        nodes.push(Node {
            name: format!("{number}"),
            role: match is_switch {
                true => Role::Switch,
                false => Role::Router,
            },
        });
        links.push(Link {
            name: format!("middle {number}"),
            ends: [number - 1, number],
            directions: [forth, back],
        });
    }
    for (((forth, back), is_slow), number) in access.into_iter().zip(slow).zip(0..) {
        let mut host = Host::default();
        if is_slow {
            host.receive.per_packet = Span::from_millis(1);
        }
        nodes.push(Node {
            name: format!("host {number}"),
            role: Role::Host(host),
        });
        let side = if number < HOSTS { 0 } else { first_host - 1 };
        links.push(Link {
            name: format!("access {number}"),
            ends: [first_host + number, side],
            directions: [forth, back],
        });
    }
    let flow = |(number, (left, right, back, start, traffic))| {
        let (left, right) = (first_host + left, first_host + HOSTS + right);
        let (from, to) = if back { (right, left) } else { (left, right) };
        crate::Flow {
            name: format!("{number}"),
            from,
            to,
            ip: IpVersion::V4,
            start: Time::ZERO + Span::from_millis(4 * start),
            stop: None,
            traffic,
        }
    };
    Scenario {
        nodes,
        links,
        flows: (0..).zip(flows).map(flow).collect(),
        end: Time::ZERO + Span::from_secs(2),
        seed: Seed::new(seed),
        budget: Scenario::BUDGET,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    }
}

/// All that happens on every third link, and in senders.
#[derive(Default)]
struct Log(Vec<String>);

impl Tracer for Log {
    fn wants(&self, (link, _): (usize, usize)) -> bool {
        link % 3 == 0
    }

    fn wants_deliveries(&self) -> bool {
        false
    }

    fn queued(&mut self, at: Time, link: (usize, usize), packet: Seen, state: QueueState) {
        self.0
            .push(format!("{at:?} queued {link:?} {packet:?} {state:?}"));
    }

    fn sent(&mut self, begins: Time, _: Time, link: (usize, usize), packet: Seen, _: Span) {
        self.0.push(format!("{begins:?} sent {link:?} {packet:?}"));
    }

    fn lost(&mut self, at: Time, location: Location, packet: Seen, why: Loss) {
        self.0
            .push(format!("{at:?} lost {location:?} {packet:?} {why:?}"));
    }

    fn acted(&mut self, at: Time, flow: usize, state: tcp::State, counts: tcp::Counts) {
        self.0
            .push(format!("{at:?} acted {flow} {state:?} {counts:?}"));
    }
}

/// The outcome, and the number of steps, with these shortcuts.
fn ran<const TRACED: bool>(
    simulation: &Simulation,
    tracer: &mut dyn Tracer,
    shortcuts: Shortcuts,
) -> (Outcome, u64) {
    let mut engine = simulation.engine::<TRACED>(tracer, shortcuts);
    let mut steps = 0;
    while engine.step() {
        steps += 1;
    }
    (simulation.outcome(engine), steps)
}

/// What a tracer sees with these shortcuts, in any order.
fn logged(simulation: &Simulation, shortcuts: Shortcuts) -> Vec<String> {
    let mut log = Log::default();
    ran::<true>(simulation, &mut log, shortcuts);
    log.0.sort_unstable();
    log.0
}

/// All shortcuts but one, and none.
fn fewer() -> [Shortcuts; 6] {
    let all = Shortcuts::ALL;
    [
        Shortcuts {
            fast_links: false,
            ..all
        },
        Shortcuts {
            headers: false,
            ..all
        },
        Shortcuts { rows: false, ..all },
        Shortcuts {
            lookahead: false,
            ..all
        },
        Shortcuts {
            senders: false,
            ..all
        },
        Shortcuts {
            fast_links: false,
            headers: false,
            rows: false,
            lookahead: false,
            senders: false,
        },
    ]
}

/// Asserts that a simulation comes to the same with fewer shortcuts.
fn assert_same(simulation: &Simulation) {
    let (all, fewest) = ran::<false>(simulation, &mut (), Shortcuts::ALL);
    let seen = logged(simulation, Shortcuts::ALL);
    for shortcuts in fewer() {
        let (mut outcome, steps) = ran::<false>(simulation, &mut (), shortcuts);
        assert!(fewest <= steps, "{shortcuts:?}");
        if !shortcuts.fast_links {
            // A full link also has events for packets that leave its queue.
            assert!(all.events <= outcome.events);
            outcome.events = all.events;
        }
        assert_eq!(format!("{all:?}"), format!("{outcome:?}"), "{shortcuts:?}");
        assert_eq!(seen, logged(simulation, shortcuts), "{shortcuts:?}");
    }
}

proptest! {
    #[test]
    fn the_outcome_is_the_same_without_any_of_the_shortcuts(network in networks()) {
        // Some links are too small for their packets, or for their queue.
        if let Ok(simulation) = network.check() {
            assert_same(&simulation);
        }
    }

    #[test]
    fn so_it_is_where_hosts_take_time_and_routers_cut_and_links_lose(line in super::scenarios()) {
        assert_same(&line.check().unwrap());
    }
}

#[test]
fn so_it_is_where_edges_aggregate_packets() {
    for mtu in [300, 9_000] {
        assert_same(&aggregation(mtu));
    }
}

#[test]
fn a_packet_of_a_line_needs_one_step_for_all_its_links() {
    let limit = Limit::Packets(10);
    let rate = Rate::from_bits_per_second(8_000_000);
    let direction = || Settings::perfect(rate, Spec::DropTail { limit });
    let datagrams = Traffic::Datagrams(Datagrams {
        limit: Some(7),
        ..Datagrams::new(Distribution::Constant(4e9), Distribution::Constant(500.0))
    });
    let middle = (0..3).map(|_| (direction(), direction(), false)).collect();
    let access = (0..2 * HOSTS).map(|_| (direction(), direction())).collect();
    let flows = vec![(0, 0, false, 0, datagrams)];
    let network = network((middle, access, flows, vec![false; 2 * HOSTS], 1));
    let simulation = network.check().unwrap();
    let (outcome, steps) = ran::<false>(&simulation, &mut (), Shortcuts::ALL);
    assert_eq!((outcome.flows[0].received, outcome.events), (7, 7 * 6));
    assert_eq!(steps, 7);
}

#[test]
fn a_segment_between_hosts_of_its_own_needs_a_step_at_each_shared_link() {
    let limit = Limit::Packets(1_000);
    let rate = Rate::from_bits_per_second(8_000_000);
    let direction = || Settings {
        delay: Span::from_millis(2),
        ..Settings::perfect(rate, Spec::DropTail { limit })
    };
    let tcp = Tcp {
        bytes: Some(960 * 300),
        ..Tcp::new(tcp::Settings::ns2(Recovery::Sack, 960, 20))
    };
    let access = (0..2 * HOSTS).map(|_| (direction(), direction())).collect();
    let flow = |host: usize| (host, host, false, 0, Traffic::Tcp(tcp.clone()));
    let flows = vec![flow(0), flow(1)];
    let middle = vec![(direction(), direction(), false)];
    let network = network((middle, access, flows, vec![false; 2 * HOSTS], 1));
    let simulation = network.check().unwrap();
    let (outcome, steps) = ran::<false>(&simulation, &mut (), Shortcuts::ALL);
    let segments: u64 = outcome.flows.iter().map(|flow| flow.packets).sum();
    assert_eq!(segments, 2 * 301);
    // Data at the first router and acknowledgements at the second one; each sender is
    // also woken at its start, and by a timer that was postponed in the meantime.
    assert!(
        (2 * segments..2 * segments + 10).contains(&steps),
        "{steps}"
    );
    let in_time = Shortcuts {
        lookahead: false,
        ..Shortcuts::ALL
    };
    let (_, steps) = ran::<false>(&simulation, &mut (), in_time);
    assert!(steps > 5 * segments, "{steps}");
}
