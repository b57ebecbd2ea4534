//! A gateway decides as the edge of a simulated domain: what arrives at an edge is handed
//! to the core of a gateway as bytes, and both send the same.

use std::net::Ipv4Addr;

use gateway::machine::{
    Aggregation, Encapsulation, Gateway, Peer, Settings, SinglePacketMode, Table, Transmit, Uplink,
};
use jumbolab_sim::{
    Datagrams, Destination, Domain, Edge, Ingress, Location, Loss, Opened, Prefix, Role, Seen,
    Tracer,
};
use proptest::prelude::*;

use meter::departures::Distribution;
use queue::{Limit, MredSettings, Part, Reason, RedSettings, Selection, Spec, Tick, Trigger};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span, Time};
use wire::bundle::{self, Carried, ENTRY_LEN, HEADER_LEN, Header, Piece, Unit};
use wire::datagram::Datagram;
use wire::protocol::ip::Addresses;

use crate::network::{SECOND, bare, flow, host, link as wire_link, node, scenario};

/// Links of the scenario: into the domain, and its first one.
const INTO: (usize, usize) = (0, 0);
const FIRST: (usize, usize) = (1, 0);
/// The link behind the domain.
const OUT: (usize, usize) = (2, 0);
const ENDS: Addresses = Addresses::V4([
    Ipv4Addr::new(198, 51, 100, 1),
    Ipv4Addr::new(198, 51, 100, 2),
]);

/// A packet: its flow, its number in it, and its bytes.
type Name = (usize, u64, u64);

fn name(seen: Seen) -> Name {
    (seen.flow, seen.sequence, seen.size.get())
}

/// The bytes of the packet with this name.
fn bytes((flow, number, size): Name) -> Vec<u8> {
    let length = u16::try_from(size - 20).unwrap();
    let addresses = Addresses::V4([[10, 0, 0, 1].into(), [192, 0, 2, 1].into()]);
    let ports = [4_000 + u16::try_from(flow).unwrap(), 5_000];
    let datagram = Datagram::unfragmented(addresses, ports, length);
    let mut bytes = vec![0; datagram.packet_len()];
    datagram.emit(&mut bytes).unwrap();
    bytes[28..36].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The arrivals at a simulated edge, and the transmissions of the link behind it.
#[derive(Default)]
struct Watch {
    /// Packets that came to the edge.
    came: Vec<(Time, Name)>,
    /// Transmissions of the link, each with the time of its last bit.
    sent: Vec<(Time, Vec<u8>)>,
    opened: Option<Vec<u8>>,
    inner_dropped: u64,
    dropped: u64,
    /// Packets that left the domain.
    left: usize,
}

impl Tracer for Watch {
    fn opens(&self, link: (usize, usize)) -> bool {
        link == FIRST
    }

    fn opened(&mut self, _: Time, link: (usize, usize), bundle: &Opened) {
        if link == FIRST {
            self.opened = Some(written(bundle));
        }
    }

    fn sent(&mut self, _: Time, ends: Time, link: (usize, usize), packet: Seen, _: Span) {
        if link == INTO {
            self.came.push((ends, name(packet)));
        } else if link == OUT {
            self.left += 1;
        } else if link == FIRST {
            let bundle = self.opened.take();
            let bytes = bundle.unwrap_or_else(|| bytes(name(packet)));
            self.sent.push((ends, bytes));
        }
    }

    fn lost(&mut self, _: Time, location: Location, packet: Seen, _: Loss) {
        if matches!(location, Location::Direction(link, direction) if (link, direction) == FIRST) {
            self.dropped += u64::from(packet.live);
        }
    }

    fn inner_dropped(&mut self, _: Time, link: (usize, usize), _: Seen, _: Reason) {
        self.inner_dropped += u64::from(link == FIRST);
    }
}

/// The bytes of a bundle, as the emitter of packets writes them.
fn written(opened: &Opened) -> Vec<u8> {
    let packets: Vec<(Vec<u8>, u16)> = opened
        .inside
        .iter()
        .map(|inside| {
            // A later piece is zeros here.
            let packet = match (inside.packet, inside.part) {
                (_, Part::Rest { .. }) => vec![0; place(inside.size)],
                (Some(seen), Part::First { missing }) => {
                    let (flow, number, size) = name(seen);
                    let mut whole = bytes((flow, number, size + missing.get()));
                    whole.truncate(place(inside.size));
                    whole
                }
                (packet, _) => packet.map(|seen| bytes(name(seen))).unwrap_or_default(),
            };
            (packet, inside.waited)
        })
        .collect();
    let sizes: u64 = opened.inside.iter().map(|inside| inside.size.get()).sum();
    let header = Header {
        count: u16::try_from(packets.len()).unwrap(),
        average: u16::try_from(sizes / packets.len() as u64).unwrap(),
        begins_within: opened.begins_within(),
        ends_within: opened.ends_within(),
        unit: Unit::Microsecond,
        sequence: u16::try_from(opened.number % u64::from(bundle::SEQUENCES)).unwrap(),
    };
    let pieces = packets.iter().map(|(bytes, waited)| Piece {
        bytes,
        waited: *waited,
    });
    let encapsulation = bundle::Encapsulation::Ip {
        addresses: ENDS,
        service: 0,
    };
    let mut out = vec![0; 20 + 70_000];
    let length = 20 + bundle::emit_body(header, pieces, &mut out[20..]).unwrap();
    out.truncate(length);
    encapsulation.enclose(&mut out).unwrap();
    out
}

fn place(size: Bytes) -> usize {
    usize::try_from(size.get()).unwrap()
}

/// The same bundle with zeros in place of later pieces, and the number of those.
fn without_rests(mut sent: Vec<u8>) -> (Vec<u8>, usize) {
    let Ok(carried) = Carried::parse(&sent[..]) else {
        return (sent, 0);
    };
    let header = carried.header();
    if !header.begins_within {
        return (sent, 0);
    }
    let begin = 20 + HEADER_LEN + ENTRY_LEN * usize::from(header.count);
    let length = usize::from(carried.entry(0).unwrap().length);
    sent[begin..begin + length].fill(0);
    (sent, 1)
}

/// How packets are aggregated and queued.
#[derive(Clone, Debug)]
struct Case {
    mtu: u64,
    trigger: Trigger,
    share: f64,
    rate: Rate,
    queue: Spec,
    flows: Vec<(f64, u32)>,
}

fn simulated(case: &Case) -> Watch {
    let fast = bare(100_000_000_000, 100_000);
    let slow = link::Settings {
        queue: case.queue.clone(),
        ..bare(case.rate.bits_per_second(), 0)
    };
    let flows = case.flows.iter().enumerate().map(|(number, (gap, bytes))| {
        let datagrams = Datagrams {
            limit: Some(300),
            ..Datagrams::new(
                Distribution::Exponential(gap * SECOND),
                Distribution::Uniform(8.0, f64::from(*bytes)),
            )
        };
        flow(&format!("f{number}"), 0, 1, datagrams)
    });
    let scenario = scenario(
        vec![
            host("a"),
            host("b"),
            node("in", Role::Router),
            node("out", Role::Router),
        ],
        vec![
            wire_link("a-in", [0, 2], &fast),
            wire_link("in-out", [2, 3], &slow),
            wire_link("out-b", [3, 1], &fast),
        ],
        flows.collect(),
    );
    let ingress = Ingress {
        mtu: Bytes::new(case.mtu),
        trigger: case.trigger,
        header: Bytes::new(26),
        entry: Bytes::new(4),
        tick: Tick::Micro,
        share: case.share,
    };
    let domain = Domain {
        edges: vec![
            Edge {
                node: 2,
                aggregate: Some(ingress),
            },
            Edge {
                node: 3,
                aggregate: None,
            },
        ],
        addresses: vec![(1, [192, 0, 2, 1].into())],
        table: vec![prefix(3)],
        destination: Destination::Egress,
        shaping: false,
    };
    let mut watch = Watch::default();
    let simulation = scenario.check().unwrap().with_domain(domain).unwrap();
    simulation.run_traced(&mut watch);
    watch
}

fn prefix(egress: usize) -> Prefix {
    Prefix {
        network: [192, 0, 2, 0].into(),
        length: 24,
        next_as: 64_500,
        egress,
    }
}

/// The output of a gateway when the same comes, and its counters of drops.
fn real(case: &Case, came: &[(Time, Name)]) -> (Vec<(Time, Vec<u8>)>, u64, u64) {
    let peer = Peer {
        encapsulation: Encapsulation::Ip { addresses: ENDS },
        mtu: IpMtu::new(case.mtu, IpVersion::V4).unwrap(),
        dscp: None,
        sealing: None,
    };
    let mut gateway = Gateway::new(Settings {
        aggregate: Aggregation {
            trigger: case.trigger,
            tick: Tick::Micro,
            share: case.share,
        },
        alone: SinglePacketMode::Plain,
        // A simulated router counts no hops.
        counts_hops: false,
        uplink: Some(Uplink {
            rate: case.rate,
            queue: case.queue.clone(),
            framing: Framing::None,
            seed: Seed::new(1).derive("link/in-out/0"),
        }),
        ..Settings::new(vec![peer])
    })
    .unwrap();
    gateway.set_table(Table::new(&[prefix(0)]));
    let (mut sent, mut now) = (Vec::new(), Time::ZERO);
    let mut came = came.iter().peekable();
    loop {
        let timeout = gateway.next_timeout(now);
        let next = came.peek().map(|(at, _)| *at);
        match (next, timeout) {
            (Some(at), timeout) if timeout.is_none_or(|timeout| at <= timeout) => {
                now = at;
                let (_, name) = came.next().unwrap();
                gateway.receive_inside(now, &bytes(*name));
            }
            (_, Some(timeout)) => {
                now = timeout.max(now);
                gateway.handle_timeout(now);
            }
            (_, None) => break,
        }
        while let Some(transmit) = gateway.poll_transmit(now) {
            let Transmit::Core { bytes, .. } = transmit else {
                panic!("nothing for the inside");
            };
            sent.push((now, bytes.to_vec()));
        }
    }
    let outward = gateway.counts().total().outward;
    let whole = outward.drops.total() - outward.taken_out;
    assert_eq!(gateway.waiting(), gateway::machine::Waiting::default());
    (sent, whole, outward.taken_out)
}

fn cases() -> impl Strategy<Value = Case> {
    let span = (100u64..5_000).prop_map(Span::from_micros);
    let trigger = prop_oneof![
        span.clone().prop_map(Trigger::Timer),
        span.prop_map(Trigger::EgressBusy),
    ];
    let limit = Limit::Packets(8);
    let mred = MredSettings {
        weight: 0.2,
        ..MredSettings::new(limit, Bytes::new(500))
    };
    let queues = vec![
        Spec::DropTail { limit },
        Spec::Red(RedSettings {
            weight: 0.2,
            ..RedSettings::new(limit, Bytes::new(500))
        }),
        Spec::Mred(MredSettings {
            weight: 0.2,
            ..MredSettings::letter(limit, Bytes::new(500))
        }),
        Spec::Mred(MredSettings {
            selection: Selection::Spread,
            ..mred.clone()
        }),
        Spec::Mred(mred),
    ];
    // Some packets are larger than a bundle.
    let bytes = prop_oneof![3 => 20u32..900, 1 => 900u32..3_900];
    let flows = prop::collection::vec((2e-4..3e-3, bytes), 1..6);
    let share = prop_oneof![Just(1.0), 0.2..1.0];
    let queue = prop::sample::select(queues);
    (1_500u64..9_000, trigger, share, 1u64..40, queue, flows).prop_map(
        |(mtu, trigger, share, rate, queue, flows)| Case {
            mtu,
            trigger,
            share,
            rate: Rate::from_bits_per_second(rate * 500_000).unwrap(),
            queue,
            flows,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_gateway_sends_what_a_simulated_edge_sends_byte_for_byte(case in cases()) {
        let simulated = simulated(&case);
        let (sent, whole, taken_out) = real(&case, &simulated.came);
        prop_assert_eq!(sent.len(), simulated.sent.len());
        for (place, (here, there)) in sent.into_iter().zip(&simulated.sent).enumerate() {
            let (at, bytes) = here;
            prop_assert!((at, without_rests(bytes).0) == *there, "number {}", place);
        }
        prop_assert_eq!((whole, taken_out), (simulated.dropped, simulated.inner_dropped));
    }
}

#[test]
fn the_compared_cases_have_bundles_and_both_kinds_of_drops() {
    let case = Case {
        mtu: 9_000,
        trigger: Trigger::Timer(Span::from_millis(2)),
        share: 1.0,
        rate: Rate::from_bits_per_second(1_000_000).unwrap(),
        queue: Spec::Mred(MredSettings {
            weight: 0.2,
            ..MredSettings::new(Limit::Packets(8), Bytes::new(500))
        }),
        flows: vec![(3e-4, 400); 3],
    };
    let watch = simulated(&case);
    assert!(watch.dropped > 0 && watch.inner_dropped > 0);
    assert!(
        watch
            .sent
            .iter()
            .any(|(_, bytes)| bytes[9] == bundle::PROTOCOL)
    );
}

#[test]
fn the_pieces_of_packets_cross_a_simulated_domain_and_every_packet_is_delivered() {
    let case = Case {
        mtu: 1_500,
        trigger: Trigger::Timer(Span::from_millis(2)),
        share: 1.0,
        rate: Rate::from_bits_per_second(1_000_000_000).unwrap(),
        queue: Spec::DropTail {
            limit: Limit::Packets(1_000),
        },
        flows: vec![(1e-3, 8_000); 2],
    };
    let watch = simulated(&case);
    let pieces = watch
        .sent
        .iter()
        .map(|(_, bytes)| without_rests(bytes.clone()).1);
    assert!(pieces.sum::<usize>() > 1_000);
    assert_eq!((watch.dropped, watch.left, watch.came.len()), (0, 600, 600));
}
