//! Two gateways, and packets for them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use units::IpVersion;
pub(super) use units::{Bytes, IpMtu};
use wire::datagram::Datagram;
pub(super) use wire::ip_packet::{IpPacket, set_hop_limit};
use wire::protocol::ip::Addresses;

use super::super::*;
use link::edge::Prefix;

/// The tunnel's ends over IPv4.
pub(super) const HERE_V4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);
pub(super) const THERE_V4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
/// Addresses toward the inside.
pub(super) const INSIDE: [Option<IpAddr>; 2] = [
    Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 254))),
    Some(IpAddr::V6(Ipv6Addr::new(
        0x2001, 0xdb8, 1, 0, 0, 0, 0, 0xfe,
    ))),
];

pub(super) const fn at(micros: u64) -> Time {
    Time::from_nanos(1_000 * micros)
}

pub(super) fn mtu(bytes: u64) -> IpMtu {
    IpMtu::new(bytes, IpVersion::V4).unwrap()
}

/// The encapsulation of the gateway `here` to `there`.
pub(super) fn udp(here: Ipv4Addr, there: Ipv4Addr) -> Encapsulation {
    Encapsulation::Udp {
        addresses: Addresses::V4([here, there]),
        port: 49_152,
    }
}

pub(super) fn peer(encapsulation: Encapsulation, bytes: u64) -> Peer {
    Peer {
        encapsulation,
        mtu: mtu(bytes),
        dscp: None,
        sealing: None,
    }
}

/// The keys of the gateway with this number toward a peer.
pub(super) fn sealing(own: u8, peer: u8) -> Sealing {
    let [own, peer] = [own, peer].map(|number| Identity::new([number; 32].into()));
    Sealing::new(own, *peer.public())
}

pub(super) fn settings(encapsulation: Encapsulation) -> Settings {
    Settings {
        inside: INSIDE,
        ..Settings::new(vec![peer(encapsulation, 9_000)])
    }
}

/// Networks 192.0.2.0/24 and 2001:db8:2::/48 behind peer 0.
pub(super) fn routes() -> [Prefix; 2] {
    let row = |network: &str, length| Prefix {
        network: network.parse().unwrap(),
        length,
        next_as: 64_500,
        egress: 0,
    };
    [row("192.0.2.0", 24), row("2001:db8:2::", 48)]
}

/// A gateway with these routes.
pub(super) fn gateway(settings: Settings) -> Gateway {
    let mut gateway = Gateway::new(settings).unwrap();
    gateway.set_table(Table::new(&routes()));
    gateway
}

/// Gateways at both ends of a tunnel over UDP; the second has no routes.
pub(super) fn pair(change: impl Fn(Settings) -> Settings) -> [Gateway; 2] {
    let one = gateway(change(settings(udp(HERE_V4, THERE_V4))));
    let other = Gateway::new(change(settings(udp(THERE_V4, HERE_V4)))).unwrap();
    [one, other]
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) version: IpVersion,
    pub(super) port: u16,
    pub(super) service: u8,
    /// Bytes of UDP's payload.
    pub(super) length: u16,
    pub(super) dont_fragment: bool,
    /// The start of its payload.
    pub(super) number: u32,
}

impl Sample {
    pub(super) const SMALL: Self = Self {
        version: IpVersion::V4,
        port: 5_000,
        service: 0,
        length: 100,
        dont_fragment: true,
        number: 0,
    };

    /// The bytes of the IP packet, with the hop limit 64.
    pub(super) fn bytes(self) -> Vec<u8> {
        let addresses = match self.version {
            IpVersion::V4 => Addresses::V4([[10, 0, 0, 1].into(), [192, 0, 2, 1].into()]),
            IpVersion::V6 => Addresses::V6([
                "2001:db8:1::1".parse().unwrap(),
                "2001:db8:2::1".parse().unwrap(),
            ]),
        };
        let length = self.length + 8;
        let datagram = Datagram {
            ethernet: None,
            addresses,
            ports: [4_000, self.port],
            service: self.service,
            identification: 7,
            whole: length,
            offset: 0,
            length,
            dont_fragment: self.dont_fragment,
        };
        let mut bytes = vec![0; datagram.packet_len()];
        datagram.emit(&mut bytes).unwrap();
        if self.length >= 4 {
            let end = bytes.len() - usize::from(self.length);
            bytes[end..end + 4].copy_from_slice(&self.number.to_be_bytes());
        }
        bytes
    }
}

/// The same packet after one hop.
pub(super) fn one_hop_on(mut bytes: Vec<u8>) -> Vec<u8> {
    set_hop_limit(&mut bytes, 63).unwrap();
    bytes
}

/// The output of a gateway now: bytes for the inside, and for the core.
pub(super) fn polled(gateway: &mut Gateway, now: Time) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut inside, mut core) = (Vec::new(), Vec::new());
    while let Some(transmit) = gateway.poll_transmit(now) {
        match transmit {
            Transmit::Inside { bytes } | Transmit::Error { bytes } => inside.push(bytes.to_vec()),
            Transmit::Core { bytes, .. } => core.push(bytes.to_vec()),
        }
    }
    (inside, core)
}

/// Nothing is lost or made up.
pub(super) fn conserved(gateway: &Gateway) {
    let Traffic { outward, inward } = gateway.counts().total();
    let waiting = gateway.waiting();
    assert_eq!(
        outward.came + outward.pieces,
        outward.bundled + outward.alone + outward.drops.total() + waiting.outward,
        "{outward:?} {waiting:?}"
    );
    assert_eq!(
        inward.arrived,
        inward.bundles
            + inward.plain
            + inward.handshakes
            + inward.probes
            + inward.notices
            + inward.rejections.total()
            + waiting.bundles,
        "{inward:?}"
    );
    assert_eq!(
        inward.unpacked + inward.plain,
        inward.released + inward.joined + inward.drops.total() + waiting.inward,
        "{inward:?} {waiting:?}"
    );
}
