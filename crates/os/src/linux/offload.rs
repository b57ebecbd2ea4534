//! Work on packets that the kernel left to an interface: checksums, and the cutting of
//! super-packets; and packets that leave such work to the kernel [Virtio s5.1.6].

use units::IpVersion;
use wire::super_packet::{Run, SuperPacket, Transport};

use crate::sys::packet::HEADER;

/// Bytes of the largest packet that is not cut, with headers in front of it.
const LARGEST: usize = 65_600;

/// Bytes of the largest super-packet that the kernel makes [LinuxUapi if_link.h].
pub const LARGEST_SUPER: u32 = 8 * 65_535;

/// Offsets in the header in front of a packet [Virtio s5.1.6].
mod field {
    pub(super) const FLAGS: usize = 0;
    pub(super) const TYPE: usize = 1;
    /// Bytes of all headers in front of the payload.
    pub(super) const HEADERS: usize = 2;
    /// Bytes of payload in each piece, in native byte order like all that follow.
    pub(super) const SIZE: usize = 4;
    /// The offset at which the checksummed data begin.
    pub(super) const CHECKSUM_START: usize = 6;
    /// The offset of the checksum in these data.
    pub(super) const CHECKSUM_OFFSET: usize = 8;
}

/// The flag of a checksum that is left to the interface.
const NEEDS_CHECKSUM: u8 = 1;

/// Types of super-packets; the bit for ECN is not part of them.
mod kind {
    pub(super) const NONE: u8 = 0;
    pub(super) const TCP_V4: u8 = 1;
    pub(super) const TCP_V6: u8 = 4;
    pub(super) const UDP: u8 = 5;
    pub(super) const ECN: u8 = 0x80;
}

/// Does this work, in a buffer of its own.
pub struct Cutter {
    room: Vec<u8>,
}

/// Packets that could not be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl Default for Cutter {
    fn default() -> Self {
        Self {
            room: vec![0; LARGEST],
        }
    }
}

impl Cutter {
    /// Passes the IP packets in `bytes` to `take`, whole and with their checksums.
    /// `bytes` begin with a virtio header, `link` bytes of other headers follow. A
    /// super-packet is cut. Returns the number of packets.
    ///
    /// # Errors
    /// If the header contradicts the packet.
    pub fn pass(
        &mut self,
        bytes: &[u8],
        link: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Result<u64, Malformed> {
        let (header, frame) = bytes.split_at_checked(HEADER).ok_or(Malformed)?;
        let packet = frame.get(link..).ok_or(Malformed)?;
        if header[field::TYPE] & !kind::ECN != kind::NONE {
            return self.cut(bytes, link, |piece| take(&piece[HEADER + link..]));
        }
        if header[field::FLAGS] & NEEDS_CHECKSUM == 0 {
            take(packet);
            return Ok(1);
        }
        let room = self.room.get_mut(..packet.len()).ok_or(Malformed)?;
        room.copy_from_slice(packet);
        let offset = number(header, field::CHECKSUM_OFFSET);
        let start = number(header, field::CHECKSUM_START).checked_sub(link);
        let start = start.ok_or(Malformed)?;
        wire::frame::complete_checksum(room, start, offset).map_err(|_| Malformed)?;
        take(room);
        Ok(1)
    }

    /// Cuts the super-packet in `bytes` as [`Cutter::pass`], and passes the pieces behind
    /// the `link` bytes of other headers, and these behind an empty virtio header. Returns
    /// their number.
    ///
    /// # Errors
    /// If it is none, or the header contradicts the packet.
    pub(crate) fn cut(
        &mut self,
        bytes: &[u8],
        link: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Result<u64, Malformed> {
        let begin = HEADER + link;
        let (headers, packet) = bytes.split_at_checked(begin).ok_or(Malformed)?;
        let transport = match headers[field::TYPE] & !kind::ECN {
            kind::TCP_V4 | kind::TCP_V6 => Transport::Tcp,
            kind::UDP => Transport::Udp,
            _ => return Err(Malformed),
        };
        let size = number(headers, field::SIZE);
        let start = number(headers, field::CHECKSUM_START).checked_sub(link);
        let start = start.ok_or(Malformed)?;
        let whole = SuperPacket::parse(packet, transport, start, size).map_err(|_| Malformed)?;
        // An empty virtio header: nothing is left to the interface [Virtio s5.1.6].
        self.room[..HEADER].fill(0);
        self.room[HEADER..begin].copy_from_slice(&headers[HEADER..]);
        let mut count = 0;
        for piece in 0..whole.count() {
            let length = whole.emit(piece, &mut self.room[begin..]);
            let length = length.map_err(|_| Malformed)?;
            take(&self.room[..begin + length]);
            count += 1;
        }
        Ok(count)
    }
}

/// A packet for the kernel behind a virtio header, and behind headers of a link. Segments of
/// TCP that follow each other become one super-packet, which the kernel takes in one piece.
#[derive(Debug, Default)]
pub struct Joiner {
    bytes: Vec<u8>,
    /// Where the packet begins.
    begin: usize,
    run: Option<Run>,
}

impl Joiner {
    /// Begins with an IP packet behind `link`, in place of what was there.
    pub fn begin(&mut self, link: &[u8], packet: &[u8]) {
        self.bytes.clear();
        // An empty virtio header: nothing is left to the kernel.
        self.bytes.resize(HEADER, 0);
        self.bytes.extend_from_slice(link);
        self.begin = self.bytes.len();
        self.bytes.extend_from_slice(packet);
        self.run = Run::begin(packet);
    }

    /// Joins an IP packet behind `link` if it continues the packet. Returns whether it does.
    pub fn join(&mut self, link: &[u8], packet: &[u8]) -> bool {
        let Some(run) = &mut self.run else {
            return false;
        };
        let (headers, first) = self.bytes.split_at(self.begin);
        if headers[HEADER..] != *link {
            return false;
        }
        let Some(payload) = run.join(first, packet) else {
            return false;
        };
        self.bytes.extend_from_slice(payload);
        true
    }

    /// The number of packets that became one.
    pub fn count(&self) -> u64 {
        self.run.map_or(1, |run| run.count() as u64)
    }

    /// Writes the headers of a super-packet. Nothing is joined to it any more.
    pub fn finish(&mut self) {
        let Some(run) = self.run.filter(|run| run.count() > 1) else {
            return;
        };
        let link = self.begin - HEADER;
        let (header, packet) = self.bytes.split_at_mut(self.begin);
        // The packet is there: it was joined.
        let _ = run.finish(packet);
        header[field::FLAGS] = NEEDS_CHECKSUM;
        header[field::TYPE] = match run.version() {
            IpVersion::V4 => kind::TCP_V4,
            IpVersion::V6 => kind::TCP_V6,
        };
        for (place, number) in [
            (field::HEADERS, link + run.headers()),
            (field::SIZE, run.size()),
            (field::CHECKSUM_START, link + run.start()),
            (field::CHECKSUM_OFFSET, Run::CHECKSUM),
        ] {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            header[place..place + 2].copy_from_slice(&number.to_ne_bytes());
        }
    }

    /// The virtio header, those of the link, and the packet.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The number at `place` of a header, in native byte order.
fn number(header: &[u8], place: usize) -> usize {
    u16::from_ne_bytes([header[place], header[place + 1]]).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wire::protocol::ip::Addresses;
    use wire::protocol::tcp::flag;
    use wire::segment::Segment;

    use super::*;

    /// A packet of IPv4 and UDP without a checksum, behind a virtio header and a header of
    /// `link` bytes.
    fn datagram(link: usize, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + link];
        let length = u16::try_from(28 + payload).unwrap().to_be_bytes();
        bytes.extend([0x45, 0, length[0], length[1], 0, 1, 0, 0, 64, 17, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0, 1, 0, 2, 0, 0, 0, 0]);
        bytes.extend((0..=250).cycle().take(payload));
        bytes
    }

    /// A super-packet of three segments of TCP as a kernel leaves it, behind a virtio header
    /// and a header of `link` bytes.
    fn super_packet(six: bool, link: usize) -> Vec<u8> {
        let addresses = match six {
            false => Addresses::V4([[10, 0, 0, 1].into(), [10, 0, 0, 2].into()]),
            true => Addresses::V6([[1; 16].into(), [2; 16].into()]),
        };
        let segment = Segment {
            ethernet: None,
            addresses,
            ports: [50_000, 80],
            service: 2,
            identification: 5,
            sequence: 6,
            acknowledgement: 7,
            flags: flag::ACK | flag::PSH,
            window: 8,
            timestamps: None,
            blocks: &[],
            header: 20,
            payload: 2_500,
        };
        let mut packet = vec![0; segment.header_len()];
        segment.emit(&mut packet).unwrap();
        let start = packet.len() - 20;
        packet.extend((0..=250).cycle().take(2_500));
        // The sum of the pseudo-header, which is not complemented.
        let behind = u16::try_from(packet.len() - start).unwrap();
        let sum = pseudo_sum(&packet[if six { 8 } else { 12 }..start], behind);
        packet[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
        let mut bytes = vec![0; HEADER];
        bytes[field::FLAGS] = NEEDS_CHECKSUM;
        bytes[field::TYPE] = if six { kind::TCP_V6 } else { kind::TCP_V4 };
        let near = |offset: usize| u16::try_from(link + offset).unwrap();
        put(&mut bytes, field::HEADERS, near(start + 20));
        put(&mut bytes, field::SIZE, 1_000);
        put(&mut bytes, field::CHECKSUM_START, near(start));
        put(&mut bytes, field::CHECKSUM_OFFSET, 16);
        bytes.extend((1..).take(link));
        bytes.extend(packet);
        bytes
    }

    /// The sum of a pseudo-header of TCP with these addresses [RFC1071].
    fn pseudo_sum(ends: &[u8], length: u16) -> u16 {
        let words = ends.chunks_exact(2);
        let words = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let mut sum = words.sum::<u32>() + u32::from(length) + 6;
        while sum > u32::from(u16::MAX) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::try_from(sum).unwrap()
    }

    fn put(bytes: &mut [u8], place: usize, number: u16) {
        bytes[place..place + 2].copy_from_slice(&number.to_ne_bytes());
    }

    #[test]
    fn a_whole_packet_passes_as_it_is_and_a_missing_checksum_is_completed() {
        for link in [0, 14] {
            let mut cutter = Cutter::default();
            let mut bytes = datagram(link, 100);
            let mut passed = Vec::new();
            let count = cutter.pass(&bytes, link, |packet| passed.push(packet.to_vec()));
            assert_eq!(count, Ok(1));
            assert_eq!(passed[0], bytes[HEADER + link..]);
            bytes[field::FLAGS] = NEEDS_CHECKSUM;
            put(
                &mut bytes,
                field::CHECKSUM_START,
                20 + u16::try_from(link).unwrap(),
            );
            put(&mut bytes, field::CHECKSUM_OFFSET, 6);
            let count = cutter.pass(&bytes, link, |packet| passed.push(packet.to_vec()));
            assert_eq!(count, Ok(1));
            assert_ne!(passed[1][26..28], [0, 0]);
            assert_eq!(passed[1][28..], passed[0][28..]);
        }
    }

    #[test]
    fn a_super_packet_becomes_packets_with_the_same_payload() {
        let mut bytes = datagram(14, 1_000);
        bytes[field::TYPE] = kind::UDP;
        bytes[field::FLAGS] = NEEDS_CHECKSUM;
        put(&mut bytes, field::SIZE, 300);
        put(&mut bytes, field::CHECKSUM_START, 34);
        put(&mut bytes, field::CHECKSUM_OFFSET, 6);
        let mut payload = Vec::new();
        let count = Cutter::default().pass(&bytes, 14, |packet| {
            payload.extend_from_slice(&packet[28..])
        });
        assert_eq!(count, Ok(4));
        assert_eq!(payload, bytes[HEADER + 14 + 28..]);
    }

    #[test]
    fn the_frames_of_a_super_packet_have_its_link_headers_and_an_empty_virtio_header() {
        // Addresses, a tag, and a type in front of the packet.
        for link in [14, 18, 22] {
            let mut bytes = datagram(link, 2_500);
            bytes[HEADER..HEADER + link].fill(0xb3);
            let whole = bytes.clone();
            bytes[field::TYPE] = kind::UDP;
            bytes[field::FLAGS] = NEEDS_CHECKSUM;
            put(&mut bytes, field::SIZE, 1_100);
            let start = 20 + u16::try_from(link).unwrap();
            put(&mut bytes, field::CHECKSUM_START, start);
            let mut payload = Vec::new();
            let count = Cutter::default().cut(&bytes, link, |frame| {
                assert_eq!(frame[..HEADER + link], whole[..HEADER + link]);
                payload.extend_from_slice(&frame[HEADER + link + 28..]);
            });
            assert_eq!(count, Ok(3));
            assert_eq!(payload, whole[HEADER + link + 28..]);
            assert!(Cutter::default().cut(&whole, link, |_| {}).is_err());
        }
    }

    #[test]
    fn the_segments_that_were_cut_are_joined_to_the_same_super_packet() {
        for six in [false, true] {
            for link in [0, 14] {
                let whole = super_packet(six, link);
                let mut segments = Vec::new();
                let take = |segment: &[u8]| segments.push(segment.to_vec());
                assert_eq!(Cutter::default().pass(&whole, link, take), Ok(3));
                let mut joiner = Joiner::default();
                let around = &whole[HEADER..HEADER + link];
                joiner.begin(around, &segments[0]);
                assert_eq!(joiner.bytes()[..HEADER], [0; HEADER]);
                assert!(joiner.join(around, &segments[1]));
                assert!(!joiner.join(b"another link", &segments[2]));
                assert!(joiner.join(around, &segments[2]));
                assert_eq!(joiner.count(), 3);
                joiner.finish();
                assert_eq!(joiner.bytes(), whole);
            }
        }
    }

    #[test]
    fn a_packet_alone_leaves_nothing_to_the_kernel() {
        let mut segments = Vec::new();
        let take = |segment: &[u8]| segments.push(segment.to_vec());
        assert_eq!(
            Cutter::default().pass(&super_packet(false, 0), 0, take),
            Ok(3)
        );
        let datagram = datagram(0, 100);
        for alone in [&segments[1], &datagram[HEADER..].to_vec()] {
            let mut joiner = Joiner::default();
            joiner.begin(&[], alone);
            assert!(!joiner.join(&[], &datagram[HEADER..]));
            joiner.finish();
            assert_eq!(joiner.count(), 1);
            assert_eq!(joiner.bytes()[..HEADER], [0; HEADER]);
            assert_eq!(joiner.bytes()[HEADER..], alone[..]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_pass_or_are_rejected(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            link in prop::sample::select(vec![0_usize, 14]),
        ) {
            let mut bytes = bytes;
            if let Some(kind) = bytes.get_mut(field::TYPE) {
                *kind %= 6;
            }
            let _ = Cutter::default().pass(&bytes, link, |_| {});
        }
    }
}
