//! Encapsulations: the headers in front of a bundle.

use super::offsets::{Offsets, Outer};
use crate::bytes::demand_mut;
use crate::datagram::Datagram;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{mpls, udp};
use crate::{Error, Field};

/// The protocol number in the IP header: the first of the two reserved for experiments
/// [RFC3692 s2.1], the same in IPv4 and IPv6 [RFC4727 s2] [RFC4727 s3].
pub const PROTOCOL: u8 = 253;
/// The UDP port of bundles: our choice from the dynamic range, which is never assigned
/// [RFC6335 s6].
pub const PORT: u16 = 50_253;

/// The header in front of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// IP, with [`PROTOCOL`].
    Ip {
        /// Addresses of ingress and egress.
        addresses: Addresses,
        /// Service byte (DSCP and ECN) [RFC2474 s3].
        service: u8,
    },
    /// UDP to [`PORT`]. It passes address translators, and its source port spreads
    /// bundles over the queues of network cards.
    Udp {
        /// Addresses of ingress and egress.
        addresses: Addresses,
        /// Service byte (DSCP and ECN) [RFC2474 s3].
        service: u8,
        /// The source port.
        port: u16,
    },
    /// An MPLS label of a path to an egress that expects bundles [RFC3032]. Other
    /// labels may precede it.
    Label {
        /// The label, 20 bits.
        label: u32,
        /// The traffic class, 3 bits [RFC3032 s2.1].
        class: u8,
    },
}

impl Encapsulation {
    /// Bytes of the header in front of the bundle.
    pub const fn header_len(&self) -> usize {
        match self {
            Self::Ip { addresses, .. } => addresses.header_len(),
            Self::Udp { addresses, .. } => addresses.header_len() + udp::HEADER_LEN,
            Self::Label { .. } => mpls::ENTRY_LEN,
        }
    }

    /// Writes the header in front of a payload that takes the rest of `bytes`, from
    /// [`Encapsulation::header_len`] on, with all checksums.
    ///
    /// # Errors
    /// [`Error::Truncated`] without room for the header; [`Error::Malformed`] if the
    /// payload is too long, or a label or its class too large.
    pub fn enclose(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.emit(bytes)?.seal(bytes)
    }

    /// Writes the header in front of a bundle that takes the rest of `bytes`, with all
    /// checksums but that of UDP, which [`Offsets::seal`] adds. Returns the offsets of
    /// the parts.
    ///
    /// # Errors
    /// [`Error::Truncated`] without room for the header; [`Error::Malformed`] if the
    /// bundle is too long, or a label or its class too large.
    pub(super) fn emit(&self, bytes: &mut [u8]) -> Result<Offsets, Error> {
        let (header, all) = (self.header_len(), bytes.len());
        demand_mut(bytes, header)?;
        let datagram = |addresses: &Addresses, service, port| {
            let after = all - addresses.header_len();
            // Total length counts the header, payload length does not.
            let counted = match addresses {
                Addresses::V4(_) => all,
                Addresses::V6(_) => after,
            };
            u16::try_from(counted).map_err(|_| Error::Malformed(Field::Length))?;
            let length = u16::try_from(after).map_err(|_| Error::Malformed(Field::Length))?;
            Ok(Datagram {
                ethernet: None,
                addresses: *addresses,
                ports: [port, PORT],
                service,
                // Packets that are never fragmented need no identification
                // [RFC6864 s4.1].
                identification: 0,
                whole: length,
                offset: 0,
                length,
                dont_fragment: true,
            })
        };
        match self {
            Self::Ip { addresses, service } => {
                datagram(addresses, *service, 0)?.emit_around(&mut bytes[..header], PROTOCOL)?;
            }
            Self::Udp {
                addresses,
                service,
                port,
            } => {
                let datagram = datagram(addresses, *service, *port)?;
                let udp = datagram.emit_around(&mut bytes[..header], number::UDP)?;
                let fields = udp::Fields {
                    ports: datagram.ports,
                    length: datagram.whole,
                };
                fields.emit(udp)?;
            }
            Self::Label { label, class } => {
                let entry = mpls::Entry {
                    label: *label,
                    class: *class,
                    bottom: true,
                };
                bytes[..header].copy_from_slice(&entry.bytes()?);
            }
        }
        let outer = match self {
            Self::Ip { addresses, .. } | Self::Udp { addresses, .. } => {
                Outer::Ip(addresses.version())
            }
            Self::Label { .. } => Outer::Label,
        };
        Ok(Offsets {
            start: 0,
            udp: matches!(self, Self::Udp { .. }).then(|| header - udp::HEADER_LEN),
            bundle: header,
            end: all,
            outer,
        })
    }
}
