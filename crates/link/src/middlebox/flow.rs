//! The flow that a packet belongs to, by the fields from which routers choose among
//! paths of equal cost [RFC6438].

use units::Seed;
use wire::ip_packet::IpPacket;
use wire::probe::QuotedTransport;

use crate::Protocol;

/// The fields of a packet that choose its branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) protocol: Option<Protocol>,
    /// Addresses, ports or the identifier of echoes, and the flow label.
    numbers: [u64; 6],
}

impl Flow {
    pub(super) fn of(packet: &IpPacket<'_>) -> Self {
        // Only the first fragment has ports: all fragments count as without
        // [RFC6438 s3].
        let transport = match packet.fragment {
            Some(_) => None,
            None => QuotedTransport::parse(packet).ok(),
        };
        let choice = match transport {
            Some(QuotedTransport::Echo(echo)) => u64::from(echo.identifier),
            Some(QuotedTransport::Udp { ports } | QuotedTransport::Tcp { ports, .. }) => {
                u64::from(ports[0]) << 16 | u64::from(ports[1])
            }
            None => 0,
        };
        let [source, destination] = packet.addresses.ends().map(|address| match address {
            core::net::IpAddr::V4(address) => u128::from(address.to_bits()),
            core::net::IpAddr::V6(address) => address.to_bits(),
        });
        let halves = |bits: u128| [bits >> 64, bits & u128::from(u64::MAX)];
        let [[a, b], [c, d]] = [halves(source), halves(destination)];
        let addresses = [a, b, c, d].map(|half| u64::try_from(half).unwrap_or_default());
        let [a, b, c, d] = addresses;
        let protocol = u64::from(packet.protocol);
        Self {
            protocol: Protocol::of(packet.protocol, packet.version()),
            numbers: [
                a,
                b,
                c,
                d,
                u64::from(packet.flow_label) << 8 | protocol,
                choice,
            ],
        }
    }

    /// The place of the flow among all flows, from 0 to below 1: as good as random, and
    /// always the same.
    pub(super) fn place(&self, seed: Seed) -> f64 {
        let mixed = self
            .numbers
            .iter()
            .fold(seed, |seed, number| seed.with(*number));
        // The upper 32 bits are exact in a floating-point number.
        let upper = u32::try_from(mixed.get() >> 32).unwrap_or_default();
        f64::from(upper) / (f64::from(u32::MAX) + 1.0)
    }
}
