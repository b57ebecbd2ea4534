//! Synthesises the bytes of bundles.

use plan::setting::Network;
use queue::{Part, Tick};
use sim::Opened;
use units::IpVersion;
use wire::bundle::{Carried, Encapsulation, Packing, Piece, SEQUENCES, Unit};
use wire::protocol::ethernet::{HEADER_LEN, ether_type, ip_type};

use super::addresses;

/// The first label that is not reserved [RFC3032 s2.1].
const FIRST_LABEL: u32 = 16;

/// The outer header of a bundle.
#[derive(Clone, Copy)]
pub(super) enum Outer {
    Ip(IpVersion),
    Udp(IpVersion),
    Label,
}

impl Outer {
    /// The outer header of a network's bundles, if it aggregates any; it follows
    /// from the header size.
    pub(super) fn of(network: &Network) -> Option<Self> {
        let aggregate = network.domain.as_ref()?.aggregate?;
        let ip = match network.ip {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        };
        let header = usize::try_from(aggregate.encapsulation.header.get()).unwrap_or(usize::MAX);
        Some(match header.saturating_sub(wire::bundle::HEADER_LEN) {
            bytes if bytes < ip => Self::Label,
            bytes if bytes > ip => Self::Udp(network.ip),
            _ => Self::Ip(network.ip),
        })
    }

    /// The frame of a bundle of `packets`, without those dropped on its way,
    /// behind an Ethernet header.
    pub(super) fn frame(
        self,
        bundle: &Opened,
        packets: &[Vec<u8>],
        macs: [[u8; 6]; 2],
    ) -> Option<Vec<u8>> {
        let pieces = packets.iter().zip(&bundle.inside);
        let pieces = pieces.map(|(bytes, inside)| Piece {
            bytes,
            waited: inside.waited,
        });
        let pieces: Vec<Piece<'_>> = pieces.collect();
        let packing = Packing {
            encapsulation: self.encapsulation(bundle),
            begins_within: bundle.begins_within(),
            ends_within: bundle.ends_within(),
            unit: match bundle.tick {
                Tick::Micro => Unit::Microsecond,
                Tick::TenMicros => Unit::TenMicroseconds,
            },
            sequence: u16::try_from(bundle.number % u64::from(SEQUENCES)).unwrap_or(0),
        };
        let kind = match self {
            Self::Ip(ip) | Self::Udp(ip) => ip_type(ip),
            Self::Label => ether_type::MPLS,
        };
        let bytes = packets.iter().map(Vec::len).sum();
        let mut frame = [&macs.concat()[..], &kind.to_be_bytes()].concat();
        frame.resize(HEADER_LEN + packing.packet_len(packets.len(), bytes), 0);
        packing.emit(&pieces, frame.get_mut(HEADER_LEN..)?).ok()?;
        let mut carried = Carried::parse_frame(frame).ok()?;
        for (place, inside) in (0..).zip(&bundle.inside) {
            if inside.packet.is_none() && inside.part == Part::Whole {
                carried.discard(place)?;
            }
        }
        Some(carried.parts().collect::<Vec<_>>().concat())
    }

    fn encapsulation(self, bundle: &Opened) -> Encapsulation {
        match self {
            Self::Ip(ip) => Encapsulation::Ip {
                addresses: addresses(ip, bundle.ends),
                service: 0,
            },
            Self::Udp(ip) => Encapsulation::Udp {
                addresses: addresses(ip, bundle.ends),
                service: 0,
                port: super::FIRST_PORT,
            },
            Self::Label => Encapsulation::Label {
                label: FIRST_LABEL + bundle.label.unwrap_or(0),
                class: 0,
            },
        }
    }
}
