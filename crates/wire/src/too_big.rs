//! Error messages about packets that exceed the MTU: Packet Too Big [RFC4443 s3.2] and
//! Destination Unreachable, fragmentation needed [RFC1191 s4].
//!
//! A link between two hosts sends them with the packet's destination as their source,
//! because a wire has no address. Hosts check the quoted packet, not the source of the
//! message [RFC8201 s4].

use units::IpVersion;

use crate::Error;
use crate::bytes::demand_mut;
use crate::icmp_error::{Cause, IcmpError, Offending};
use crate::protocol::ip::Addresses;
use crate::protocol::{ethernet, ipv4, vlan};

/// The answer to a packet that exceeds the MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig<'a> {
    /// The Ethernet header with its tag.
    link_header: &'a [u8],
    error: IcmpError<'a>,
}

impl<'a> TooBig<'a> {
    /// The answer to the packet in the Ethernet frame `frame` (without FCS) from a link
    /// that carries IP packets of `mtu` bytes. `None` if no answer is allowed or
    /// possible:
    ///
    /// - the frame holds no whole IP packet, or one of at most `mtu` bytes;
    /// - an ICMP error [RFC4443 s2.4] [RFC1122 s3.2.2], or ICMPv6 that may be one;
    /// - a packet to a group or from an address that is no single host's, in either
    ///   layer; the exception for multicast [RFC4443 s2.4] is not made, because one
    ///   packet would cause many answers;
    /// - a fragment other than the first [RFC1122 s3.2.2];
    /// - IPv4 that may be fragmented: a router would fragment it, a wire does not;
    /// - IPv6 if `mtu` is below 1280 bytes, which hosts ignore.
    pub fn to(frame: &'a [u8], mtu: u32) -> Option<Self> {
        let (kind, header) = vlan::inside(frame, 1).ok()?;
        let (link_header, bytes) = frame.split_at_checked(header)?;
        let ends = ethernet::Header::of(link_header).addresses().ok()?;
        if ends.into_iter().any(ethernet::is_group) {
            return None;
        }
        let Offending { packet, addresses } = Offending::read(bytes)?;
        let larger = u32::try_from(packet.len()).is_ok_and(|length| length > mtu);
        let (heeded, reversed) = match addresses {
            Addresses::V4([source, destination]) => {
                let whole = ipv4::Header::of(packet).dont_fragment().ok()?;
                let heeded = whole && u16::try_from(mtu).is_ok();
                (heeded, Addresses::V4([destination, source]))
            }
            // Hosts ignore smaller values [RFC8201 s4].
            Addresses::V6([source, destination]) => {
                let heeded = mtu >= IpVersion::V6.smallest_mtu();
                (heeded, Addresses::V6([destination, source]))
            }
        };
        let right = kind == ethernet::ip_type(addresses.version());
        (right && larger && heeded).then_some(Self {
            link_header,
            error: IcmpError {
                cause: Cause::TooBig { mtu },
                packet,
                addresses: reversed,
            },
        })
    }

    /// Bytes that [`Self::emit`] writes: a frame without FCS.
    pub fn buffer_len(&self) -> usize {
        self.link_header.len() + self.error.buffer_len()
    }

    /// Writes the frame to send back, with checksums, to the first [`Self::buffer_len`]
    /// of `bytes`. It keeps a VLAN tag.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it has no room.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let bytes = demand_mut(bytes, self.buffer_len())?;
        let (link_header, packet) = bytes.split_at_mut(self.link_header.len());
        link_header.copy_from_slice(self.link_header);
        let [to, from] = ethernet::Header::of(&link_header).addresses()?;
        ethernet::Header::of(link_header).set_addresses([from, to])?;
        self.error.emit(packet)
    }
}

#[cfg(test)]
mod tests;
