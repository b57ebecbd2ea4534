//! Segments that are one super-packet.

use units::IpVersion;

use super::set_place;
use crate::Error;
use crate::protocol::ip::{ends, number, pseudo_header, version};
use crate::protocol::tcp::flag;
use crate::protocol::{ipv4, ipv6, tcp};

/// Bytes of the longest headers in front of the payload of a segment.
const LONGEST_HEADERS: usize = ipv6::HEADER_LEN + tcp::LONGEST_HEADER;

/// Consecutive segments of a TCP connection. [`super::SuperPacket`] cuts what
/// [`Run::finish`] makes of them into the same segments again, byte for byte.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    version: IpVersion,
    /// Offset of the header of TCP, and of the payload.
    start: usize,
    payload: usize,
    /// Bytes of payload in each segment but the last.
    size: usize,
    /// Bytes of payload of all segments.
    joined: usize,
    count: usize,
    /// FIN and PSH of the last segment.
    last: u8,
}

impl Run {
    /// Offset of the checksum in the header of TCP.
    pub const CHECKSUM: usize = tcp::CHECKSUM;

    /// A run of the IP packet `packet` alone; `None` if nothing can be joined to it. That
    /// is so unless it is a segment with data and without IP options, extension headers,
    /// and flags that a super-packet would repeat or lose.
    pub fn begin(packet: &[u8]) -> Option<Self> {
        let (version, start, stated) = match version(packet).ok()? {
            4 => {
                let header = ipv4::Header::of(packet);
                let is_plain = header.header_len() == Ok(ipv4::HEADER_LEN)
                    && header.protocol() == Ok(number::TCP)
                    && header.is_fragment() == Ok(false)
                    && header.checksum_holds() == Ok(true);
                let length = is_plain.then(|| header.total_length().ok())??;
                (IpVersion::V4, ipv4::HEADER_LEN, usize::from(length))
            }
            6 => {
                let header = ipv6::Header::of(packet);
                let is_plain = header.next_header() == Ok(number::TCP);
                let length = is_plain.then(|| header.payload_length().ok())??;
                let length = ipv6::HEADER_LEN + usize::from(length);
                (IpVersion::V6, ipv6::HEADER_LEN, length)
            }
            _ => return None,
        };
        let header = tcp::Header::of(packet.get(start..)?);
        let payload = start + header.header_len().ok()?.max(tcp::HEADER_LEN);
        let size = packet.len().checked_sub(payload).filter(|size| *size > 0)?;
        let flags = header.flags().ok()?;
        let is_data = flags & !flag::ECE == flag::ACK;
        (is_data && stated == packet.len()).then_some(Self {
            version,
            start,
            payload,
            size,
            joined: size,
            count: 1,
            last: 0,
        })
    }

    /// Joins `packet` if it is the segment behind this run, which begins with the packet
    /// `first`. Returns its payload, which goes behind what is joined already. The checksums
    /// of both packets must hold: nobody can see later that they did not.
    pub fn join<'a>(&mut self, first: &[u8], packet: &'a [u8]) -> Option<&'a [u8]> {
        let payload = packet.get(self.payload..)?;
        let room = usize::from(u16::MAX).checked_sub(self.payload + self.joined)?;
        let is_closed = self.last != 0 || !self.joined.is_multiple_of(self.size);
        if is_closed || !(1..=self.size.min(room)).contains(&payload.len()) {
            return None;
        }
        let mut head = [0; LONGEST_HEADERS];
        let head = head.get_mut(..self.payload)?;
        head.copy_from_slice(first.get(..self.payload)?);
        let last = self.put_headers(packet, head).ok()?;
        if *head != packet[..self.payload] || !self.sum_holds(packet) {
            return None;
        }
        if self.count == 1 && !self.sum_holds(first.get(..self.payload + self.size)?) {
            return None;
        }
        self.joined += payload.len();
        self.count += 1;
        self.last = last;
        Some(payload)
    }

    /// Makes the headers of the super-packet out of those of the first packet, in `bytes`.
    /// Its checksum is left to an interface: the field has the sum of the pseudo-header
    /// [Virtio s5.1.6].
    ///
    /// # Errors
    /// [`Error::Truncated`] if the packet is not there.
    pub fn finish(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let first = tcp::Header::of(bytes.get(self.start..).unwrap_or_default());
        let flags = first.flags()? | self.last;
        let length = self.payload + self.joined;
        set_place(self.version, 0, length, bytes)?;
        let behind = u32::try_from(length - self.start).unwrap_or(u32::MAX);
        let sum = pseudo_header(ends(self.version, bytes), number::TCP, behind);
        let mut header = tcp::Header::of(&mut bytes[self.start..]);
        header.set_flags(flags)?;
        header.set_checksum(!sum.finish())
    }

    /// Number of segments, at least one.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The version of IP.
    pub const fn version(&self) -> IpVersion {
        self.version
    }

    /// Bytes of payload in each segment but the last.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Offset of the header of TCP.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// Bytes of all headers.
    pub const fn headers(&self) -> usize {
        self.payload
    }

    /// Makes `head`, a copy of the headers of the `first` packet, those of the next one, of
    /// which only the flags that the last segment has and the checksum are its own. Returns
    /// these flags.
    fn put_headers(&self, packet: &[u8], head: &mut [u8]) -> Result<u8, Error> {
        set_place(self.version, self.count, packet.len(), head)?;
        let own = tcp::Header::of(packet.get(self.start..).unwrap_or_default());
        let last = own.flags()? & (flag::FIN | flag::PSH);
        let mut header = tcp::Header::of(&mut head[self.start..]);
        let joined = u32::try_from(self.joined).unwrap_or(u32::MAX);
        header.set_sequence(header.sequence()?.wrapping_add(joined))?;
        header.set_flags(header.flags()? | last)?;
        header.set_checksum(own.checksum()?)?;
        Ok(last)
    }

    /// Whether the checksum of a segment is right.
    fn sum_holds(&self, packet: &[u8]) -> bool {
        let segment = packet.get(self.start..).unwrap_or_default();
        let behind = u32::try_from(segment.len()).unwrap_or(u32::MAX);
        let sum = pseudo_header(ends(self.version, packet), number::TCP, behind);
        sum.add(segment).finish() == 0
    }
}
