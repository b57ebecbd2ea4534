//! Changes that must not affect the outcome.

use jumbolab_sim::{Datagrams, FlowOutcome, Link, Role, Scenario, Seen, Tracer, Work};
use link::{QueueState, Settings};
use meter::departures::Distribution;
use units::{Rate, Seed, Span, Time};

use crate::network::{bare, flow, host, link, node, run, scenario};

/// Four hosts over two routers and a shared link, with every kind of impairment.
fn busy() -> Scenario {
    let edge = Settings {
        loss: 0.01,
        jitter: Span::from_micros(300),
        duplicate: 0.01,
        ..bare(10_000_000, 100)
    };
    let shared = Settings {
        delay: Span::from_millis(2),
        reorder: 0.01,
        hold: Span::from_millis(3),
        ..bare(5_000_000, 20)
    };
    let nodes = vec![
        host("north"),
        host("south"),
        node("r1", Role::Router),
        node("r2", Role::Router),
        host("east"),
        host("west"),
    ];
    let links = vec![
        link("shared", [2, 3], &shared),
        link("n", [0, 2], &edge),
        link("s", [1, 2], &edge),
        link("e", [4, 3], &edge),
        link("w", [5, 3], &edge),
    ];
    let poisson = |micros: f64| Datagrams {
        limit: Some(500),
        ..Datagrams::new(
            Distribution::Exponential(micros * 1e6),
            Distribution::Uniform(100.0, 3_000.0),
        )
    };
    let flows = vec![
        flow("x", 0, 4, poisson(4_000.0)),
        flow("y", 1, 5, poisson(5_000.0)),
        flow("z", 5, 0, poisson(9_000.0)),
        // Flows with simultaneous packets, on one host.
        flow(
            "c",
            1,
            4,
            Datagrams {
                limit: Some(500),
                ..Datagrams::new(Distribution::Constant(5e9), Distribution::Constant(500.0))
            },
        ),
        flow(
            "d",
            1,
            4,
            Datagrams {
                limit: Some(500),
                ..Datagrams::new(Distribution::Constant(5e9), Distribution::Constant(900.0))
            },
        ),
    ];
    let mut busy = scenario(nodes, links, flows);
    let Role::Host(west) = &mut busy.nodes[5].role else {
        panic!("west is a host");
    };
    west.receive = Work {
        per_packet: Span::from_micros(40),
        per_byte: Span::from_nanos(9),
    };
    busy
}

fn text(outcome: &impl std::fmt::Debug) -> String {
    format!("{outcome:?}")
}

fn of<'a>(flows: &'a [FlowOutcome], name: &str) -> &'a FlowOutcome {
    flows.iter().find(|flow| flow.name == name).unwrap()
}

#[test]
fn the_same_seed_comes_to_the_same_outcome_and_another_one_does_not() {
    let once = text(&run(busy()));
    assert_eq!(once, text(&run(busy())));
    let mut other = busy();
    other.seed = Seed::new(2);
    assert_ne!(once, text(&run(other)));
}

#[test]
fn the_order_of_tables_makes_no_difference() {
    let before = run(busy());
    let mut turned = busy();
    turned.flows.reverse();
    turned.links.rotate_left(2);
    turned.nodes.reverse();
    let last = turned.nodes.len() - 1;
    for link in &mut turned.links {
        link.ends = link.ends.map(|end| last - end);
    }
    for flow in &mut turned.flows {
        (flow.from, flow.to) = (last - flow.from, last - flow.to);
    }
    let mut after = run(turned);
    after.flows.reverse();
    after.links.rotate_right(2);
    after.nodes.reverse();
    assert_eq!(text(&before), text(&after));
}

#[test]
fn an_idle_flow_more_and_a_node_more_change_nothing_else() {
    let before = run(busy());
    let mut more = busy();
    // Names that sort before, between and behind the others.
    for name in ["a", "m", "zz"] {
        more.nodes.insert(0, host(name));
        for Link { ends, .. } in &mut more.links {
            *ends = ends.map(|end| end + 1);
        }
        for flow in &mut more.flows {
            (flow.from, flow.to) = (flow.from + 1, flow.to + 1);
        }
        let r1 = more
            .nodes
            .iter()
            .position(|node| node.name == "r1")
            .unwrap();
        more.links.push(link(name, [0, r1], &bare(1_000, 1)));
        let x = more.flows.iter().find(|flow| flow.name == "x").unwrap();
        let mut idle = x.clone();
        idle.name = name.to_owned();
        idle.start = more.end;
        more.flows.insert(0, idle);
    }
    let after = run(more);
    assert_eq!((before.events, before.end), (after.events, after.end));
    for flow in &before.flows {
        assert_eq!(text(flow), text(of(&after.flows, &flow.name)));
    }
    for link in &before.links {
        assert!(after.links.iter().any(|other| text(other) == text(link)));
    }
}

/// Counts the events that it observes.
#[derive(Default)]
struct Counts {
    queued: u64,
    sent: u64,
    delivered: u64,
}

impl Tracer for Counts {
    fn queued(&mut self, _: Time, _: (usize, usize), _: Seen, _: QueueState) {
        self.queued += 1;
    }
    fn sent(&mut self, _: Time, _: Time, _: (usize, usize), _: Seen, _: Span) {
        self.sent += 1;
    }
    fn delivered(&mut self, _: Time, _: usize, _: Seen) {
        self.delivered += 1;
    }
}

#[test]
fn a_tracer_sees_everything_and_changes_nothing() {
    let before = run(busy());
    let mut counts = Counts::default();
    let after = busy().check().unwrap().run_traced(&mut counts);
    assert_eq!(text(&before), text(&after));
    let directions = || before.links.iter().flat_map(|link| link.directions);
    assert_eq!(
        counts.queued,
        directions()
            .map(|direction| direction.counters.arrived)
            .sum::<u64>()
    );
    let messages = |flow: &FlowOutcome| flow.received + flow.copies;
    assert_eq!(
        counts.delivered,
        before.flows.iter().map(messages).sum::<u64>()
    );
    assert!(counts.sent < counts.queued && counts.sent > counts.queued / 2);
}

#[test]
fn rates_times_k_and_times_over_k_are_the_same_run_faster() {
    // Services, delays and gaps of whole picoseconds in both cases.
    let build = |k: u64| {
        let direction = |bits: u64, room| Settings {
            delay: Span::from_picos(3_600_000_000 / k),
            jitter: Span::ZERO,
            ..bare(bits * k, room)
        };
        let nodes = vec![host("a"), host("b"), node("r", Role::Router), host("c")];
        let links = vec![
            link("ar", [0, 2], &direction(10_000_000, 50)),
            link("br", [1, 2], &direction(10_000_000, 50)),
            link("rc", [2, 3], &direction(8_000_000, 8)),
        ];
        let constant = |picos: u64, bytes: f64| Datagrams {
            limit: Some(2_000),
            ..Datagrams::new(
                Distribution::Constant((picos / k) as f64),
                Distribution::Constant(bytes),
            )
        };
        let flows = vec![
            flow("one", 0, 3, constant(2_000_000_000, 972.0)),
            flow("two", 1, 3, constant(1_080_000_000, 1_222.0)),
        ];
        scenario(nodes, links, flows)
    };
    let slow = run(build(1));
    for k in [2, 8, 10] {
        let fast = run(build(k));
        assert_eq!(fast.events, slow.events);
        assert_eq!(fast.end.as_picos() * k, slow.end.as_picos());
        for (fast, slow) in fast.flows.iter().zip(&slow.flows) {
            assert!(slow.lost > 0, "the shared link is overloaded");
            assert_eq!((fast.sent, fast.lost), (slow.sent, slow.lost));
            let times = |at: Option<Time>| at.unwrap().as_picos() * k;
            assert_eq!(times(fast.first_arrival), times(slow.first_arrival) / k);
            assert_eq!(times(fast.last_arrival), times(slow.last_arrival) / k);
            let rate = slow.goodput.unwrap().bits_per_second() * k;
            let close = fast.goodput.unwrap().bits_per_second().abs_diff(rate) < k;
            assert!(
                close,
                "{:?} {:?}",
                fast.goodput,
                Rate::from_bits_per_second(rate)
            );
        }
        for (fast, slow) in fast.links.iter().zip(&slow.links) {
            assert_eq!(fast.directions[0].counters, slow.directions[0].counters);
        }
    }
}

#[test]
fn a_stopped_simulation_has_no_outcome_and_an_unstopped_one_the_usual() {
    let whole = format!("{:?}", run(busy()));
    let simulation = || busy().check().unwrap();
    let unstopped = simulation().run_unless(None, &|| false).unwrap();
    assert_eq!(format!("{unstopped:?}"), whole);
    let asked = std::cell::Cell::new(0);
    let stopped = simulation().run_unless(None, &|| {
        asked.set(asked.get() + 1);
        true
    });
    assert!(stopped.is_none() && asked.get() == 1);
}
