//! A domain aggregates packets at its ingress and unpacks them at its egress.

mod addressed;
mod rejected;

use std::net::{IpAddr, Ipv4Addr};

use jumbolab_sim::{
    BadDomain, BadScenario, Destination, Domain, Edge, EdgeOutcome, Host, Ingress, Location, Loss,
    Notices, Outcome, Prefix, Role, Scenario, Seen, Tcp, Traffic, Work,
};
use link::{QueueState, Settings};
use queue::{BadAggregator, Candidates, Limit, MredSettings, Spec, Tick, Trigger};
use tcp::React;
use units::{Bytes, Span, Time};

use crate::network::{at, bare, constant, flow, host, link, node, scenario};

const MILLI: Span = Span::from_millis(1);

fn ingress(trigger: Trigger) -> Ingress {
    Ingress {
        mtu: Bytes::new(9_000),
        trigger,
        header: Bytes::new(26),
        entry: Bytes::new(4),
        tick: Tick::Micro,
        share: 1.0,
    }
}

const fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
}

fn row(first: u8, length: u8, next_as: u32, egress: usize) -> Prefix {
    Prefix {
        network: address(first),
        length,
        next_as,
        egress,
    }
}

/// Hosts `a` (0) and `b` (1), edges `in` (2) and `out` (3), routers `one` (4) and `two`
/// (5) between these. `a` sends to `b` through links `wires` between the routers; all
/// other links are fast.
fn line(wires: [&Settings; 3], sent: jumbolab_sim::Datagrams) -> Scenario {
    let fast = bare(10_000_000_000, 100_000);
    scenario(
        vec![
            host("a"),
            host("b"),
            node("in", Role::Router),
            node("out", Role::Router),
            node("one", Role::Router),
            node("two", Role::Router),
        ],
        vec![
            link("a-in", [0, 2], &fast),
            link("in-one", [2, 4], wires[0]),
            link("one-two", [4, 5], wires[1]),
            link("two-out", [5, 3], wires[2]),
            link("out-b", [3, 1], &fast),
        ],
        vec![flow("f", 0, 1, sent)],
    )
}

/// `in` aggregates packets to hosts behind `out`.
fn domain(trigger: Trigger) -> Domain {
    Domain {
        edges: vec![
            Edge {
                node: 2,
                aggregate: Some(ingress(trigger)),
            },
            Edge {
                node: 3,
                aggregate: None,
            },
        ],
        addresses: vec![(1, address(1))],
        table: vec![row(0, 24, 64_500, 3)],
        destination: Destination::Egress,
        shaping: false,
    }
}

fn run(scenario: Scenario, domain: Domain) -> Outcome {
    let checked = scenario.check().unwrap();
    checked.with_domain(domain).unwrap().run()
}

fn edge<'a>(outcome: &'a Outcome, name: &str) -> &'a EdgeOutcome {
    let edges = &outcome.domain.as_ref().unwrap().edges;
    edges.iter().find(|edge| edge.name == name).unwrap()
}

/// Packets that queues dropped, on all links.
fn dropped(outcome: &Outcome) -> u64 {
    let links = &outcome.domain.as_ref().unwrap().links;
    links
        .iter()
        .flatten()
        .map(|direction| direction.dropped)
        .sum()
}

fn inner_dropped(outcome: &Outcome) -> u64 {
    let links = &outcome.domain.as_ref().unwrap().links;
    links
        .iter()
        .flatten()
        .map(|direction| direction.inner_dropped)
        .sum()
}

#[test]
fn the_core_forwards_bundles_and_every_packet_arrives() {
    let wire = bare(1_000_000_000, 1_000);
    // With a packet of 128 bytes of IP every 10 us, 67 packets fill 9000 bytes.
    let sent = || constant(1e-5, 100, 10_000);
    for destination in [Destination::Egress, Destination::FirstPacket] {
        let domain = Domain {
            destination,
            ..domain(Trigger::Timer(MILLI))
        };
        let outcome = run(line([&wire; 3], sent()), domain);
        assert_eq!(outcome.flows[0].received, 10_000);
        let (entered, left) = (edge(&outcome, "in"), edge(&outcome, "out"));
        assert_eq!((entered.aggregated, entered.bare), (10_000, 0));
        assert_eq!(entered.bundles, 10_000_u64.div_ceil(67));
        assert_eq!((left.unpacked, left.survivors), (entered.bundles, 10_000));
        for core in [4, 5] {
            assert_eq!(outcome.nodes[core].forwarded, entered.bundles);
        }
        let inner = &outcome.domain.as_ref().unwrap().links[2][0];
        assert_eq!((inner.arrived, inner.dropped), (10_000, 0));
    }
}

#[test]
fn while_the_link_is_idle_nothing_waits_to_be_aggregated_unless_a_timer_says_so() {
    let wire = bare(1_000_000_000, 1_000);
    let sent = || constant(1e-5, 100, 1_000);
    let delay = |trigger| {
        let outcome = run(line([&wire; 3], sent()), domain(trigger));
        (
            edge(&outcome, "in").bare,
            outcome.flows[0].delays.unwrap().max,
        )
    };
    let (bare_packets, busy) = delay(Trigger::EgressBusy(MILLI));
    assert_eq!(bare_packets, 1_000);
    assert!(busy < 5e-6, "{busy}");
    let (bare_packets, timer) = delay(Trigger::Timer(MILLI));
    assert_eq!(bare_packets, 0);
    assert!(timer > 0.6e-3, "{timer}");
}

#[test]
fn while_the_link_is_busy_what_waits_anyway_is_aggregated() {
    // 128 bytes every 10 us are 102.4 Mb/s: without bundles they take nearly all of the
    // 110 Mb/s that the other flow leaves.
    let (slow, fast) = (bare(110_000_000, 10_000), bare(1_000_000_000, 10_000));
    let mut scenario = line([&slow, &fast, &fast], constant(1e-5, 100, 10_000));
    scenario
        .flows
        .push(flow("other", 0, 1, constant(1e-2, 8_000, 10)));
    let outcome = run(scenario, domain(Trigger::EgressBusy(MILLI * 100)));
    let entered = edge(&outcome, "in");
    assert!(entered.bare > 0 && entered.bundles > 0);
    assert!(entered.bundled > 2 * entered.bundles, "{entered:?}");
    assert_eq!(outcome.flows[0].received, 10_000);
    assert_eq!(outcome.flows[1].received, 10);
}

/// MRED whose queue holds at most 20 frames.
fn mred(bits: u64, candidates: Candidates) -> Settings {
    let limit = Limit::Packets(20);
    let usual = MredSettings::new(limit, Bytes::new(500));
    let mut settings = bare(bits, 20);
    settings.queue = Spec::Mred(MredSettings {
        unit: queue::Unit::Frames,
        weight: 0.05,
        candidates,
        ..usual
    });
    settings
}

#[test]
fn two_hops_drop_inner_packets_and_every_packet_arrives_or_is_counted_once() {
    for candidates in [Candidates::Arriving, Candidates::Head, Candidates::Queue] {
        // Both are overloaded, the second even by the output of the first.
        let (fast, slow, slower) = (
            bare(1_000_000_000, 1_000),
            mred(98_000_000, candidates),
            mred(90_000_000, candidates),
        );
        let mut scenario = line([&fast, &slow, &slower], constant(1e-5, 100, 20_000));
        scenario
            .flows
            .push(flow("g", 0, 1, constant(3e-5, 400, 6_000)));
        let domain = Domain {
            edges: vec![
                Edge {
                    node: 2,
                    aggregate: Some(Ingress {
                        mtu: Bytes::new(3_000),
                        ..ingress(Trigger::Timer(MILLI))
                    }),
                },
                Edge {
                    node: 3,
                    aggregate: None,
                },
            ],
            ..domain(Trigger::Full)
        };
        let outcome = run(scenario, domain);
        let lost: u64 = outcome.flows.iter().map(|flow| flow.lost).sum();
        assert_eq!(lost, dropped(&outcome), "{candidates:?}");
        for hop in [2, 3] {
            let direction = outcome.domain.as_ref().unwrap().links[hop][0];
            assert!(
                direction.inner_dropped > 100,
                "{candidates:?} {direction:?}"
            );
        }
        assert!(inner_dropped(&outcome) <= lost);
        let (entered, left) = (edge(&outcome, "in"), edge(&outcome, "out"));
        assert_eq!(entered.aggregated, 26_000);
        assert_eq!(entered.bare + entered.bundled, 26_000);
        let arrived: u64 = outcome.flows.iter().map(|flow| flow.received).sum();
        assert!(left.survivors <= arrived);
        let frames = outcome.links[3].directions[0].counters;
        assert!(
            frames.outcomes[2] < lost,
            "whole frames are fewer than packets"
        );
    }
}

#[test]
fn packets_leave_where_the_longest_prefix_says_and_systems_are_not_mixed() {
    let wire = bare(1_000_000_000, 1_000);
    let mut scenario = line([&wire; 3], constant(1e-5, 100, 1_000));
    // Another host behind `out`, and one behind `two`, which is an edge, too.
    scenario.nodes.extend([host("c"), host("d")]);
    scenario.links.push(link("out-c", [3, 6], &wire));
    scenario.links.push(link("two-d", [5, 7], &wire));
    scenario
        .flows
        .push(flow("to-c", 0, 6, constant(1e-5, 100, 1_000)));
    scenario
        .flows
        .push(flow("to-d", 0, 7, constant(1e-5, 100, 1_000)));
    let mut aggregation = domain(Trigger::Timer(MILLI));
    aggregation.edges.push(Edge {
        node: 5,
        aggregate: None,
    });
    aggregation
        .addresses
        .extend([(6, address(6)), (7, address(7))]);
    aggregation.table = vec![row(0, 24, 1, 3), row(6, 32, 2, 3), row(7, 32, 1, 5)];
    // Larger than the packets aggregated within the timer.
    aggregation.edges[0].aggregate = Some(Ingress {
        mtu: Bytes::new(60_000),
        ..ingress(Trigger::Timer(MILLI))
    });
    let outcome = run(scenario.clone(), aggregation.clone());
    assert!(outcome.flows.iter().all(|flow| flow.received == 1_000));
    assert_eq!(edge(&outcome, "two").survivors, 1_000);
    assert_eq!(edge(&outcome, "out").survivors, 2_000);
    let bundles = edge(&outcome, "in").bundles;
    aggregation.table[1].next_as = 1;
    let mixed = run(scenario, aggregation);
    assert!(edge(&mixed, "in").bundles < bundles);
}

#[test]
fn who_has_no_row_is_not_aggregated() {
    let wire = bare(1_000_000_000, 1_000);
    let mut scenario = line([&wire; 3], constant(1e-5, 100, 1_000));
    scenario.nodes.push(host("c"));
    scenario.links.push(link("out-c", [3, 6], &wire));
    scenario
        .flows
        .push(flow("mixed", 0, 6, constant(1e-5, 100, 1_000)));
    scenario
        .flows
        .push(flow("back", 1, 0, constant(1e-5, 100, 1_000)));
    let outcome = run(scenario, domain(Trigger::Timer(MILLI)));
    assert!(outcome.flows.iter().all(|flow| flow.received == 1_000));
    assert_eq!(edge(&outcome, "in").aggregated, 1_000);
    let delay = |flow: usize| outcome.flows[flow].delays.unwrap().max;
    assert!(delay(1) < delay(0) && delay(2) < delay(0));
}

#[test]
fn shaping_gives_packets_their_gaps_back_and_spares_a_small_buffer() {
    let wire = bare(1_000_000_000, 1_000);
    let receiver = |buffer| Host {
        receive: Work {
            per_packet: Span::from_micros(8),
            per_byte: Span::ZERO,
        },
        receive_buffer: Some(Bytes::new(buffer)),
        ..Host::default()
    };
    let run = |shaping, buffer| {
        let mut scenario = line([&wire; 3], constant(1e-5, 100, 5_100));
        scenario.nodes[1].role = Role::Host(receiver(buffer));
        let domain = Domain {
            shaping,
            ..domain(Trigger::Timer(Span::from_micros(500)))
        };
        run(scenario, domain)
    };
    // Bundles of 51 packets; a buffer of four packets holds single packets, but no
    // bundle.
    let (with, without) = (run(true, 512), run(false, 512));
    assert_eq!(with.nodes[1].dropped, 0);
    assert!(without.nodes[1].dropped > 1_000);
    // With enough room, shaping delays packets by the time over which it spreads them.
    let (with, without) = (run(true, 100_000), run(false, 100_000));
    let jitter = |outcome: &Outcome| {
        let delays = outcome.flows[0].delays.unwrap();
        delays.max - delays.min
    };
    assert!(jitter(&with) < 2e-6, "{}", jitter(&with));
    assert!(jitter(&without) > 1e-4);
}

#[test]
fn tcp_passes_a_domain_that_drops_inner_packets_in_both_directions() {
    let slow = mred(10_000_000, Candidates::Queue);
    let fast = bare(1_000_000_000, 1_000);
    let mut scenario = line([&fast, &slow, &fast], constant(1.0, 100, 1));
    scenario.flows = (0..4)
        .map(|number| {
            let tcp = Tcp {
                bytes: Some(200_000),
                ..Tcp::new(tcp::Settings::new(1_000))
            };
            jumbolab_sim::Flow {
                traffic: Traffic::Tcp(tcp),
                ..flow(&format!("t{number}"), 0, 1, constant(1.0, 1, 1))
            }
        })
        .collect();
    scenario.end = at(60.0);
    let mut domain = domain(Trigger::EgressBusy(MILLI));
    domain.edges[1].aggregate = domain.edges[0].aggregate;
    domain
        .addresses
        .push((0, IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1))));
    domain.table.push(Prefix {
        network: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)),
        length: 8,
        next_as: 1,
        egress: 2,
    });
    let outcome = run(scenario.clone(), domain.clone());
    for flow in &outcome.flows {
        assert_eq!(flow.received_bytes, Bytes::new(200_000));
    }
    assert!(edge(&outcome, "in").aggregated > 0 && edge(&outcome, "out").aggregated > 0);
    assert!(dropped(&outcome) > 0);
    // The same again with a tracer, and in another order.
    struct Tracing;
    impl jumbolab_sim::Tracer for Tracing {}
    let checked = scenario.clone().check().unwrap();
    let watched = checked.with_domain(domain.clone()).unwrap();
    assert_eq!(watched.run_traced(&mut Tracing), outcome);
    let mut turned = scenario;
    turned.links.reverse();
    turned.flows.reverse();
    domain.edges.reverse();
    domain.table.reverse();
    let mut other = run(turned, domain);
    other.flows.reverse();
    other.links.reverse();
    assert_eq!((other.flows, other.links), (outcome.flows, outcome.links));
}

/// Records the times of drops, and of notifications of sources.
#[derive(Default)]
struct Notes {
    lost: Vec<Time>,
    notified: Vec<Time>,
}

impl jumbolab_sim::Tracer for Notes {
    fn queued(&mut self, at: Time, link: (usize, usize), packet: Seen, _state: QueueState) {
        // The last link of the way back.
        if packet.answer && link == (0, 1) {
            self.notified.push(at);
        }
    }

    fn lost(&mut self, at: Time, _location: Location, packet: Seen, why: Loss) {
        if matches!(why, Loss::Queue(_)) && !packet.is_ack() {
            self.lost.push(at);
        }
    }
}

#[test]
fn sources_are_notified_of_drops_after_the_delay_of_the_return_path() {
    let slow = mred(10_000_000, Candidates::Arriving);
    let mut far = bare(1_000_000_000, 1_000);
    far.delay = MILLI * 10;
    let sender = |react: Option<React>| {
        let fast = bare(1_000_000_000, 1_000);
        let mut scenario = line([&far, &slow, &fast], constant(1.0, 1, 1));
        let tcp = Tcp {
            bytes: Some(1_000_000),
            ..Tcp::new(tcp::Settings::new(1_000))
        };
        scenario.flows[0].traffic = Traffic::Tcp(tcp);
        scenario.end = at(60.0);
        let checked = scenario.check().unwrap();
        let mut checked = checked
            .with_domain(domain(Trigger::EgressBusy(MILLI)))
            .unwrap();
        if let Some(react) = react {
            let direction = (2, 0);
            checked = checked
                .with_notices(vec![Notices { direction, react }])
                .unwrap();
        }
        let mut notes = Notes::default();
        let outcome = checked.run_traced(&mut notes);
        assert_eq!(outcome.flows[0].received_bytes, Bytes::new(1_000_000));
        let counts = outcome.flows[0].tcp.unwrap().sender;
        assert!(react.is_none() || notes.notified.len() as u64 == dropped(&outcome));
        (notes, counts, outcome.flows[0].last_arrival.unwrap())
    };
    let (silent, without, _) = sender(None);
    assert!(silent.notified.is_empty() && !silent.lost.is_empty());
    for react in [React::Retransmit, React::RetransmitAndReduce] {
        let (notes, with, _) = sender(Some(react));
        let late = notes.notified[0].since(notes.lost[0]).unwrap();
        assert!(late >= MILLI * 10 && late < MILLI * 10 + MILLI);
        assert!(with.recoveries + with.timeouts < without.recoveries + without.timeouts);
    }
    let (_, keeps, early) = sender(Some(React::Retransmit));
    let (_, reduces, late) = sender(Some(React::RetransmitAndReduce));
    assert_ne!((keeps, early), (reduces, late));
    let wrong = line([&far; 3], constant(1.0, 1, 1)).check().unwrap();
    let notices = Notices {
        direction: (0, 2),
        react: React::Retransmit,
    };
    let error = wrong.with_notices(vec![notices]).err();
    assert_eq!(error, Some(BadDomain::NoSuchDirection(0, 2).into()));
}

#[test]
fn a_timer_bounds_what_aggregation_adds_to_the_delay() {
    let wire = bare(1_000_000_000, 1_000);
    // So far apart that each waits for the whole timer and is sent without a bundle.
    let outcome = run(
        line([&wire; 3], constant(0.1, 100, 50)),
        domain(Trigger::Timer(MILLI)),
    );
    let delays = outcome.flows[0].delays.unwrap();
    assert!(delays.min > 1e-3 && delays.max < 1.01e-3);
    assert_eq!(edge(&outcome, "in").bare, 50);
    assert!(outcome.end > Time::ZERO);
}
