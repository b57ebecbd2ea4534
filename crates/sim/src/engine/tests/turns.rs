//! Bundles of one engine stay separate from those of another.

use std::net::{IpAddr, Ipv4Addr};

use link::edge::Counts;
use queue::{Tick, Trigger};

use super::*;
use crate::{Destination, Domain, Edge, Ingress, Node, Prefix, Simulation};

/// Host `a` sends small packets through `in` and `out` to host `b`, in bundles of up to
/// `mtu` bytes.
pub(super) fn aggregation(mtu: u64) -> Simulation {
    let node = |name: &str, role| Node {
        name: name.into(),
        role,
    };
    let host = Role::Host(Host::default());
    let link = |name: &str, ends| {
        let limit = Limit::Packets(1_000);
        let rate = Rate::from_bits_per_second(100_000_000);
        let direction = Settings::perfect(rate, Spec::DropTail { limit });
        Link {
            name: name.into(),
            ends,
            directions: [direction.clone(), direction],
        }
    };
    let scenario = Scenario {
        nodes: vec![
            node("a", host),
            node("in", Role::Router),
            node("out", Role::Router),
            node("b", host),
        ],
        links: vec![
            link("first", [0, 1]),
            link("core", [1, 2]),
            link("last", [2, 3]),
        ],
        flows: vec![crate::Flow {
            name: "f".into(),
            from: 0,
            to: 3,
            ip: IpVersion::V4,
            start: Time::ZERO,
            stop: None,
            traffic: Traffic::Datagrams(Datagrams {
                limit: Some(500),
                ..Datagrams::new(Distribution::Constant(1e7), Distribution::Constant(100.0))
            }),
        }],
        end: Time::ZERO + Span::from_secs(1),
        seed: Seed::new(0),
        budget: Scenario::BUDGET,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    };
    let ingress = Ingress {
        mtu: Bytes::new(mtu),
        trigger: Trigger::Timer(Span::from_millis(1)),
        header: Bytes::new(26),
        entry: Bytes::new(4),
        tick: Tick::Micro,
        share: 1.0,
    };
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let domain = Domain {
        edges: vec![
            Edge {
                node: 1,
                aggregate: Some(ingress),
            },
            Edge {
                node: 2,
                aggregate: None,
            },
        ],
        addresses: vec![(3, address)],
        table: vec![Prefix {
            network: address,
            length: 32,
            next_as: 0,
            egress: 2,
        }],
        destination: Destination::Egress,
        shaping: true,
    };
    scenario.check().unwrap().with_domain(domain).unwrap()
}

/// The counters of the edges, the number of events, and the time of the last one.
fn came_to(engine: &Engine<'_, false>) -> (Vec<Counts>, u64, Time) {
    let edges = engine.edges.all.iter().map(|edge| edge.machine.counts());
    (edges.collect(), engine.events, engine.now)
}

#[test]
fn two_engines_that_step_in_turns_do_what_each_does_alone() {
    let both = [300, 9_000].map(aggregation);
    let alone = both.each_ref().map(|simulation| {
        let mut tracer = ();
        let mut engine = simulation.engine(&mut tracer, Shortcuts::ALL);
        while engine.step() {}
        came_to(&engine)
    });
    assert!(alone[0].0.iter().any(|edge| edge.survivors == 500));
    assert_ne!(alone[0], alone[1]);
    let mut tracers = [(), ()];
    let [first, second] = &mut tracers;
    let mut engines = [
        both[0].engine(first, Shortcuts::ALL),
        both[1].engine(second, Shortcuts::ALL),
    ];
    loop {
        let more = engines.each_mut().map(Engine::step);
        if more == [false, false] {
            break;
        }
    }
    assert_eq!(engines.each_ref().map(came_to), alone);
}
