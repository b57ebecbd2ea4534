//! The mapping of flows to connections of hosts.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use meter::departures::{Distribution, PathMtu};
use plan::synthetic;
use proptest::prelude::*;
use units::Bytes;

use super::*;

const HOSTS: [&str; 4] = ["s1", "s2", "s3", "s4"];

fn hosts() -> Vec<(String, IpAddr)> {
    let address = |number: u8| IpAddr::V4(Ipv4Addr::new(10, 0, 0, number));
    { HOSTS.iter().zip(1..) }
        .map(|(name, number)| ((*name).to_owned(), address(number)))
        .collect()
}

fn flow(name: String, [from, to]: [usize; 2], count: u32, window: Option<u32>) -> spec::Flow {
    spec::Flow {
        name,
        count,
        start_interval: Span::from_millis(100),
        start_jitter: Span::from_millis(50),
        from: HOSTS[from].to_owned(),
        to: HOSTS[to].to_owned(),
        start: Span::from_secs(1),
        stop: None,
        sends: Sends::Messages {
            gaps: Distribution::Constant(0.0),
            payloads: Distribution::Constant(1_000.0),
            bursts: None,
            packets: None,
            bytes: Some(Bytes::new(12_345)),
            window,
        },
        round_trip: false,
        path_mtu: PathMtu::Machine,
        class: 0,
        precedence: 0,
    }
}

fn flows() -> impl Strategy<Value = Flows> {
    let window = proptest::option::of(1_u32..1_000);
    let one = (0_usize..4, 1_usize..4, 1_u32..6, window);
    proptest::collection::vec(one, 1..5).prop_map(|all| Flows {
        duration: Span::from_secs(5),
        flows: { all.into_iter().enumerate() }
            .map(|(place, (from, other, count, window))| {
                flow(
                    format!("f{place}-"),
                    [from, (from + other) % 4],
                    count,
                    window,
                )
            })
            .collect(),
        sockets: None,
    })
}

proptest! {
    #[test]
    fn every_flow_has_one_sender_and_one_receiver_with_one_port(flows in flows(), seed: u64) {
        let (setting, seed) = (synthetic::setting(1_500, false), Seed::new(seed));
        let tasks = tasks(&setting, &flows, &hosts(), seed);
        let outgoing: Vec<&Outgoing> = tasks.iter().flat_map(|task| &task.outgoing).collect();
        let incoming = tasks.iter().flat_map(|task| &task.incoming);
        let incoming: BTreeMap<u16, &Incoming> = incoming.map(|one| (one.at.port(), one)).collect();
        let count: u32 = flows.flows.iter().map(|flow| flow.count).sum();
        prop_assert_eq!((outgoing.len(), incoming.len()), (count as usize, count as usize));
        for one in outgoing {
            prop_assert_eq!(incoming[&one.to.port()].at, one.to);
            prop_assert_ne!(one.from.ip(), one.to.ip());
            prop_assert!(one.start >= Span::from_secs(1) && one.stop == flows.duration);
        }
        prop_assert!(tasks.iter().all(|task| task.end == flows.duration));
    }

    #[test]
    fn what_hosts_saw_is_that_of_their_flows(flows in flows(), seed: u64) {
        let (setting, seed) = (synthetic::setting(1_500, false), Seed::new(seed));
        let tasks = tasks(&setting, &flows, &hosts(), seed);
        // Each end reports the port of its flow as bytes.
        let outcomes: Vec<Outcome> = { tasks.iter() }.map(|task| Outcome {
            sent: { task.outgoing.iter() }
                .map(|one| Sent { bytes: one.to.port().into(), ..Sent::default() })
                .collect(),
            received: { task.incoming.iter() }
                .map(|one| Received { bytes: one.at.port().into(), ..Received::default() })
                .collect(),
            ..Outcome::default()
        }).collect();
        let ends = ends(&flows, &hosts(), &outcomes);
        for (port, end) in (u64::from(FIRST_PORT)..).zip(&ends) {
            let End::Connection(sent, received) = end else {
                return Err(TestCaseError::fail("a connection is no flow of datagrams"));
            };
            prop_assert_eq!((sent.bytes, received.bytes), (port, port));
        }
    }
}

/// The same with the flows of even places as datagrams.
fn mixed(mut flows: Flows) -> Flows {
    for flow in flows.flows.iter_mut().step_by(2) {
        flow.sends = Sends::Datagrams {
            gaps: Distribution::Exponential(1e9),
            payloads: Distribution::Constant(18.0),
            bursts: None,
            packets: None,
            bytes: None,
            dont_fragment: false,
        };
    }
    flows
}

proptest! {
    #[test]
    fn datagrams_and_connections_come_back_to_their_own_flows(flows in flows(), seed: u64) {
        let (flows, seed) = (mixed(flows), Seed::new(seed));
        let setting = synthetic::setting(1_500, false);
        let tasks = tasks(&setting, &flows, &hosts(), seed);
        // Each flow sends as many bytes as its number, or its port.
        let outcomes: Vec<Outcome> = { tasks.iter() }.map(|task| Outcome {
            sent: { task.outgoing.iter() }
                .map(|one| Sent { bytes: one.to.port().into(), ..Sent::default() })
                .collect(),
            departed: { task.departing.iter() }
                .map(|one| Departed { bytes: one.flow.into(), ..Departed::default() })
                .collect(),
            ..Outcome::default()
        }).collect();
        let ends = ends(&flows, &hosts(), &outcomes);
        let arriving = || tasks.iter().filter_map(|task| task.arriving.as_ref());
        for ((number, one), end) in (0_u32..).zip(all(&flows, seed)).zip(&ends) {
            match end {
                End::Connection(sent, _) => prop_assert_eq!(sent.bytes, u64::from(one.port)),
                End::Datagrams(departed, _) => {
                    prop_assert_eq!(departed.bytes, u64::from(number));
                    let departing = { tasks.iter().flat_map(|task| &task.departing) }
                        .find(|departing| departing.flow == number)
                        .unwrap();
                    prop_assert_eq!(departing.start, one.start);
                    // The schedule of the simulator's flow of this name.
                    let drawn = seed.derive(&format!("flow/{}", one.name)).get();
                    prop_assert_eq!(departing.seed, drawn);
                    let to = arriving().find(|there| there.flows.contains(&number)).unwrap();
                    prop_assert_eq!(to.at, departing.to);
                }
            }
        }
        let count = arriving().map(|there| there.flows.len()).sum::<usize>();
        prop_assert_eq!(count, tasks.iter().map(|task| task.departing.len()).sum::<usize>());
    }
}

#[test]
fn a_window_of_segments_is_one_of_their_bytes() {
    // Of 1500 bytes 40 are IPv6's header, and 32 TCP's with timestamps.
    let setting = synthetic::setting(1_500, false);
    let flows = Flows {
        duration: Span::from_secs(5),
        flows: vec![flow("f".to_owned(), [0, 2], 1, Some(20))],
        sockets: None,
    };
    let tasks = tasks(&setting, &flows, &hosts(), Seed::new(1));
    assert_eq!(tasks[2].incoming[0].window, Some(20 * (1_500 - 72)));
}

#[test]
fn a_packet_is_that_of_the_port_of_its_flow() {
    let head = |ports, segment| Head { ports, segment };
    let data = |flow, data| Some(Attributed { flow, data });
    for (head, packet) in [
        (
            head([40_000, 20_003], Some((5, 100))),
            data(3, Some((5, 100))),
        ),
        // A SYN, and an acknowledgement.
        (head([40_000, 20_003], Some((5, 0))), data(3, None)),
        (head([20_003, 40_000], Some((5, 0))), data(3, None)),
        // Datagrams.
        (head([20_001, 19_999], None), data(1, None)),
        (head([19_999, 20_004], Some((5, 100))), None),
        (head([40_000, 40_001], Some((5, 100))), None),
    ] {
        assert_eq!(attributed(head, 4), packet, "{head:?}");
    }
}
