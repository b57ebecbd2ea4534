//! Fragmentation of packets: by the source for either version, and by routers for IPv4
//! [RFC791 s3.2] [RFC8200 s4.5].

use crate::bytes::{demand, demand_mut};
use crate::ip_packet::{FragmentPlace, IpPacket};
use crate::protocol::ip::Addresses;
use crate::protocol::ipv6::extension;
use crate::protocol::{ip, ipv4, ipv6};
use crate::{Error, Field, ip_packet};

/// Offsets of fragments count units of so many bytes.
const UNIT: usize = 8;

/// The fragments of a packet, in order.
#[derive(Clone, Debug)]
pub struct Fragments<'a> {
    packet: IpPacket<'a>,
    service: u8,
    identification: u32,
    /// Bytes of the payload in each fragment but the last.
    step: usize,
    /// Bytes of the payload that earlier fragments carry.
    done: usize,
}

/// One fragment.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<'a> {
    packet: IpPacket<'a>,
    service: u8,
    place: FragmentPlace,
    payload: &'a [u8],
}

impl<'a> Fragments<'a> {
    /// Divides the whole packet in `bytes` into fragments of at most `mtu` bytes. An
    /// IPv4 packet keeps its own identification, and may be a fragment already; that of
    /// an IPv6 packet is `identification`.
    ///
    /// # Errors
    /// If the bytes are no whole packet, or have IPv4 options, extension headers, or
    /// the order not to fragment; if `mtu` has no room for headers and eight bytes.
    pub fn of(bytes: &'a [u8], mtu: usize, identification: u32) -> Result<Self, Error> {
        let packet = IpPacket::parse_whole(bytes)?;
        let (header, service, identification) = match packet.addresses {
            Addresses::V4(_) => {
                let header = ipv4::Header::of(bytes);
                if packet.dont_fragment {
                    return Err(Error::Malformed(Field::Flags));
                }
                if header.header_len()? != ipv4::HEADER_LEN {
                    return Err(Error::Malformed(Field::HeaderLength));
                }
                let own = header.identification()?;
                (ipv4::HEADER_LEN, header.service()?, own.into())
            }
            Addresses::V6(_) => {
                let header = ipv6::Header::of(bytes);
                if header.next_header()? != packet.protocol {
                    return Err(Error::Malformed(Field::Protocol));
                }
                let headers = ipv6::HEADER_LEN + extension::FRAGMENT_LEN;
                (headers, header.traffic_class()?, identification)
            }
        };
        let room = mtu.saturating_sub(header) / UNIT * UNIT;
        if room == 0 {
            return Err(Error::Malformed(Field::Fragment));
        }
        Ok(Self {
            packet,
            service,
            identification,
            step: room,
            done: 0,
        })
    }
}

impl<'a> Iterator for Fragments<'a> {
    type Item = Fragment<'a>;

    fn next(&mut self) -> Option<Fragment<'a>> {
        let rest = self.packet.payload.get(self.done..)?;
        let payload = &rest[..rest.len().min(self.step)];
        if payload.is_empty() {
            return None;
        }
        let before = self.packet.fragment;
        let offset = before.map_or(0, |place| usize::from(place.offset)) + self.done;
        self.done += payload.len();
        let more = payload.len() < rest.len() || before.is_some_and(|place| place.more);
        Some(Fragment {
            packet: self.packet,
            service: self.service,
            place: FragmentPlace {
                offset: u16::try_from(offset).ok()?,
                more,
                identification: self.identification,
            },
            payload,
        })
    }
}

impl Fragment<'_> {
    /// Bytes in front of the payload.
    const fn headers(&self) -> usize {
        match self.packet.addresses {
            Addresses::V4(_) => ipv4::HEADER_LEN,
            Addresses::V6(_) => ipv6::HEADER_LEN + extension::FRAGMENT_LEN,
        }
    }

    /// Bytes that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        self.headers() + self.payload.len()
    }

    /// Writes the packet to the first [`Self::buffer_len`] of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, self.buffer_len())?;
        let length =
            |bytes: usize| u16::try_from(bytes).map_err(|_| Error::Malformed(Field::Length));
        let behind = match self.packet.addresses {
            Addresses::V4(addresses) => {
                let fields = ipv4::Fields {
                    service: self.service,
                    total_length: length(bytes.len())?,
                    identification: (self.place.identification & 0xffff)
                        .try_into()
                        .unwrap_or_default(),
                    dont_fragment: false,
                    more_fragments: self.place.more,
                    offset: self.place.offset,
                    protocol: self.packet.protocol,
                    addresses,
                };
                fields.emit(bytes)?
            }
            Addresses::V6(addresses) => {
                let fields = ipv6::Fields {
                    traffic_class: self.service,
                    payload_length: length(bytes.len() - ipv6::HEADER_LEN)?,
                    next_header: ip::number::FRAGMENT,
                    addresses,
                };
                let header = extension::Fragment {
                    next_header: self.packet.protocol,
                    offset: self.place.offset,
                    more_fragments: self.place.more,
                    identification: self.place.identification,
                };
                header.emit(fields.emit(bytes)?)?
            }
        };
        behind.copy_from_slice(self.payload);
        if let Addresses::V6(_) = self.packet.addresses {
            ipv6::Header::of(&mut *bytes).set_flow_label(self.packet.flow_label)?;
        }
        ip_packet::set_hop_limit(bytes, self.packet.hop_limit)
    }
}

/// Writes the packet whose fragments' payload is `payload` to `bytes`: the IP header of
/// `first`, the first fragment, changed to that of a whole packet. Returns the length.
///
/// # Errors
/// If `first` is no first fragment without options, or the whole packet is larger than
/// its header can state or `bytes` have room for.
pub fn reassemble(first: &[u8], payload: &[u8], bytes: &mut [u8]) -> Result<usize, Error> {
    let packet = IpPacket::parse_whole(first)?;
    if packet.fragment.is_none_or(|place| place.offset != 0) {
        return Err(Error::Malformed(Field::Fragment));
    }
    let length = |bytes: usize| u16::try_from(bytes).map_err(|_| Error::Malformed(Field::Length));
    let whole = packet.addresses.header_len() + payload.len();
    let bytes = demand_mut(bytes, whole)?;
    match packet.addresses {
        Addresses::V4(addresses) => {
            let fields = ipv4::Fields {
                service: ipv4::Header::of(first).service()?,
                total_length: length(whole)?,
                identification: ipv4::Header::of(first).identification()?,
                dont_fragment: false,
                more_fragments: false,
                offset: 0,
                protocol: packet.protocol,
                addresses,
            };
            fields.emit(bytes)?.copy_from_slice(payload);
        }
        Addresses::V6(addresses) => {
            let fields = ipv6::Fields {
                traffic_class: ipv6::Header::of(demand(first, ipv6::HEADER_LEN)?)
                    .traffic_class()?,
                payload_length: length(payload.len())?,
                next_header: packet.protocol,
                addresses,
            };
            fields.emit(bytes)?.copy_from_slice(payload);
            ipv6::Header::of(&mut *bytes).set_flow_label(packet.flow_label)?;
        }
    }
    ip_packet::set_hop_limit(bytes, packet.hop_limit)?;
    Ok(whole)
}
