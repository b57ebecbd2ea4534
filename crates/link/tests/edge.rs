//! Two edges with real packets between them, driven as by a gateway.

use std::net::{IpAddr, Ipv4Addr};

use jumbolab_link::edge::{Addressing, Edge, Outgoing, Prefix, Settings, Transmit, longest_match};
use queue::{AggregatorSettings, Bundle, Encapsulation, Packet, Tick, Trigger, View};
use units::{Bytes, Span, Time};
use wire::bundle::{Carried, Packing, Piece, SEQUENCES, Unit};
use wire::datagram::Datagram;
use wire::protocol::ip::Addresses;

/// The bytes of an IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ip(Vec<u8>);

impl Packet for Ip {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.0.len() as u64),
            flow: wire::frame::flow_of(&self.0),
            ..View::default()
        }
    }
}

impl Ip {
    /// A UDP datagram of `length` bytes to the address that ends with `host`.
    fn to(host: u8, length: u16) -> Self {
        let addresses = Addresses::V4([Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(192, 0, 2, host)]);
        let datagram = Datagram::unfragmented(addresses, [4_000, 5_000], length);
        let mut bytes = vec![0; datagram.packet_len()];
        datagram.emit(&mut bytes).unwrap();
        Self(bytes)
    }

    /// The destination address [RFC791 s3.1].
    fn destination(&self) -> IpAddr {
        let bytes: [u8; 4] = self.0[16..20].try_into().unwrap();
        bytes.into()
    }
}

const AGGREGATE: AggregatorSettings = AggregatorSettings {
    mtu: Bytes::new(60_000),
    whole: Bytes::new(60_000),
    trigger: Trigger::Timer(Span::from_millis(1)),
    encapsulation: Encapsulation {
        header: Bytes::new(26),
        entry: Bytes::new(4),
        framing: Bytes::ZERO,
    },
    tick: Tick::Micro,
    share: 1.0,
};

fn edge(number: usize, aggregate: Option<AggregatorSettings>) -> Edge<Ip> {
    let settings = Settings {
        number,
        aggregate,
        addressing: Addressing::Egress,
        shaping: true,
    };
    Edge::new(settings).unwrap()
}

/// The bytes of a bundle, addressed from edge to edge.
fn bytes_of(outgoing: &Outgoing<Ip>) -> Vec<u8> {
    let packing = Packing {
        encapsulation: wire::bundle::Encapsulation::Ip {
            addresses: Addresses::V4([[198, 51, 100, 1].into(), [198, 51, 100, 2].into()]),
            service: 0,
        },
        begins_within: false,
        ends_within: false,
        unit: Unit::Microsecond,
        sequence: u16::try_from(outgoing.number % u64::from(SEQUENCES)).unwrap(),
    };
    let entries = outgoing.bundle.entries().iter();
    let pieces = entries.filter_map(|entry| {
        Some(Piece {
            bytes: &entry.packet()?.0,
            waited: entry.waited(),
        })
    });
    let mut bytes = vec![0; 60_000];
    let length = packing.emit(&pieces.collect::<Vec<_>>(), &mut bytes);
    bytes.truncate(length.unwrap());
    bytes
}

/// The bundle in these bytes.
fn bundle_of(bytes: &[u8]) -> Bundle<Ip> {
    let carried = Carried::parse(bytes).unwrap();
    let packets = carried.packets();
    let packets = packets.map(|inner| (Ip(inner.bytes.to_vec()), inner.waited));
    Bundle::pack(packets, AGGREGATE.encapsulation, AGGREGATE.tick, None).unwrap()
}

#[test]
fn packets_pass_a_domain_byte_for_byte_with_their_gaps() {
    let table = [Prefix {
        network: [192, 0, 2, 0].into(),
        length: 25,
        next_as: 64_500,
        egress: 2,
    }];
    let (mut ingress, mut egress) = (edge(1, Some(AGGREGATE)), edge(2, None));
    let idle = |_| Time::ZERO;
    let at = |micros| Time::ZERO + Span::from_micros(micros);
    let sent: Vec<(Time, Ip)> = (0u8..60)
        .map(|number| {
            let host = number % 3;
            let length = 100 + 10 * u16::from(number);
            (at(30 * u64::from(number)), Ip::to(host, length))
        })
        .collect();
    // A packet behind no edge is sent unchanged.
    let other = Ip::to(200, 100);
    let exit = longest_match(&table, other.destination()).map(Prefix::exit);
    assert_eq!(ingress.receive(at(0), other.clone(), exit), Some(other));
    let mut left = Vec::new();
    let (mut bundles, mut packed) = (0, 0);
    // The bundle out of which a router drops packets: its first packet and the others.
    let (mut dropped, mut behind) = (0, 0..0);
    let mut arrivals = sent.iter().cloned().peekable();
    loop {
        let timeouts = [ingress.next_timeout(idle), egress.next_timeout(idle)];
        let timeout = timeouts.into_iter().flatten().min();
        let arrives = arrivals.next_if(|(at, _)| timeout.is_none_or(|timeout| *at <= timeout));
        let now = match (arrives, timeout) {
            (Some((now, packet)), _) => {
                let exit = longest_match(&table, packet.destination()).map(Prefix::exit);
                assert_eq!(ingress.receive(now, packet, exit), None);
                now
            }
            (None, Some(now)) => {
                ingress.handle_timeout();
                egress.handle_timeout();
                now
            }
            (None, None) => break,
        };
        while let Some(transmit) = ingress.poll_transmit(now, idle) {
            let Transmit::Bundle(outgoing) = transmit else {
                panic!("there is always another packet in a millisecond");
            };
            let mut bytes = bytes_of(&outgoing);
            assert_eq!(outgoing.bundle.view().size, Bytes::new(bytes.len() as u64));
            assert_eq!((outgoing.exit.egress, outgoing.number), (2, bundles));
            if bundles == 1 {
                // A router drops the first packet.
                let mut carried = Carried::parse(bytes).unwrap();
                carried.drop_inner(1);
                bytes = carried.parts().flatten().copied().collect();
                (dropped, behind) = (packed, packed..packed + usize::from(carried.live()));
            }
            bundles += 1;
            packed += outgoing.bundle.entries().len();
            egress.receive_bundle(now, bundle_of(&bytes), (1, 0), |lost| panic!("{lost:?}"));
        }
        while let Some(transmit) = egress.poll_transmit(now, idle) {
            let Transmit::Released(packet) = transmit else {
                panic!("this edge aggregates nothing");
            };
            left.push((now, packet));
        }
    }
    assert_eq!(
        (ingress.counts().aggregated, ingress.counts().bundles),
        (60, bundles)
    );
    assert_eq!(
        (egress.counts().unpacked, egress.counts().survivors),
        (bundles, 59)
    );
    let mut expected = sent;
    expected.remove(dropped);
    let bytes = |all: &[(Time, Ip)]| all.iter().map(|one| one.1.clone()).collect::<Vec<_>>();
    assert_eq!(bytes(&left), bytes(&expected));
    // All packets leave one timer after their arrival, with their gaps. Those behind
    // the dropped packet leave earlier by its lead over the next one.
    for (number, (out, came)) in left.iter().zip(&expected).enumerate() {
        let gap = Span::from_micros(30);
        let ahead = if behind.contains(&number) {
            gap
        } else {
            Span::ZERO
        };
        assert_eq!(out.0 + ahead, came.0 + Span::from_millis(1));
    }
}
