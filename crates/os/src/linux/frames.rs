//! Frames in reusable buffers.

mod bundled;

use std::cell::RefCell;
use std::rc::Rc;

use queue::{Advertised, InnerDrop, Packet, View};
use units::{Bytes, Framing};
use wire::bundle::{Carried, Inner, Part};
use wire::frame::Ports;
use wire::protocol::ethernet::ADDRESSES_LEN;

use crate::sys::packet::HEADER;

/// Sizes of buffers: for short packets, standard frames, jumbo frames, and the largest
/// frame of an interface, each with its virtio header.
const CLASSES: [usize; 4] = [256, 2_048, 10_240, 65_664];

/// Offsets in the header in front of a frame [Virtio s5.1.6].
mod virtio {
    pub(super) const FLAGS: usize = 0;
    /// The checksum is left to the interface.
    pub(super) const NEEDS_CHECKSUM: u8 = 1;
    /// The offset at which the checksummed data begin, in native byte order.
    pub(super) const CHECKSUM_START: usize = 6;
    /// The offset of the checksum in these data, likewise.
    pub(super) const CHECKSUM_OFFSET: usize = 8;
}

/// An Ethernet frame, whose buffer returns to its [`Pool`] when it is dropped. Queues
/// see its size on the wire and the fields of its headers.
#[derive(Debug)]
pub struct Frame {
    body: Body,
    flow: u64,
    /// The service byte of its IP packet; zero without one.
    service: u8,
    /// Whether queues see the size of its IP packet instead of that of the frame.
    bare: bool,
}

#[derive(Debug)]
enum Body {
    /// A frame as received, behind its virtio header.
    Bytes(Buffer),
    /// A frame with a bundle, likewise.
    Bundle(Box<Carried<Buffer>>),
    /// A packet dropped out of a bundle; the length is that of a frame of its own, and the
    /// headers are those that name its flow.
    Dropped(Bytes, Option<Ports>),
    /// A frame of cross traffic, which has a size and no bytes.
    Filler(Bytes),
}

/// Bytes that return to the pool when dropped.
#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    home: Pool,
}

impl Frame {
    /// The flow hash of cross traffic.
    pub const FILLER: u64 = u64::MAX;

    /// A frame of cross traffic of this size.
    pub const fn filler(size: Bytes) -> Self {
        Self {
            body: Body::Filler(size),
            flow: Self::FILLER,
            service: 0,
            bare: false,
        }
    }

    /// Whether it belongs to cross traffic.
    pub const fn is_filler(&self) -> bool {
        matches!(self.body, Body::Filler(_))
    }

    /// Its bytes, from the destination address to the last one before the FCS; empty
    /// for frames without bytes. A checksum of TCP or UDP may be left to the interface
    /// that sends it. A bundle still has the dropped packets here; they are left out
    /// when it is sent.
    pub fn ethernet(&self) -> &[u8] {
        self.bytes().get(HEADER..).unwrap_or_default()
    }

    /// The headers that name the flows of its packets: one, or those that are left in a
    /// bundle.
    pub fn ports(&self) -> Vec<Option<Ports>> {
        match &self.body {
            Body::Bytes(_) | Body::Filler(_) => vec![Ports::of(self.ethernet())],
            Body::Bundle(bundle) => {
                let packets = bundle.packets();
                let ports = |inner: Inner<'_>| match inner.part {
                    Part::Rest { .. } => None,
                    Part::Whole | Part::First => Ports::of_packet(inner.bytes),
                };
                packets.map(ports).collect()
            }
            Body::Dropped(_, ports) => vec![*ports],
        }
    }

    /// Its bytes as [`Frame::ethernet`], to be changed. A checksum left to the interface
    /// is completed first, so that it can be updated. `None` for bundles and for frames
    /// without bytes.
    pub fn ethernet_mut(&mut self) -> Option<&mut [u8]> {
        let Body::Bytes(buffer) = &mut self.body else {
            return None;
        };
        complete_checksum(&mut buffer.bytes);
        buffer.bytes.get_mut(HEADER..)
    }

    /// All its bytes, with the virtio header; empty for frames without bytes. A
    /// bundle with inner drops has more than [`Frame::pieces`].
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Bytes(buffer) => &buffer.bytes,
            Body::Bundle(bundle) => &bundle.inside().bytes,
            Body::Dropped(..) | Body::Filler(_) => &[],
        }
    }

    /// The bytes to pass to a packet socket.
    pub fn pieces(&self) -> [&[u8]; 2] {
        match &self.body {
            Body::Bytes(buffer) => [&buffer.bytes, &[]],
            Body::Bundle(bundle) => bundled::pieces(bundle),
            Body::Dropped(..) | Body::Filler(_) => [&[], &[]],
        }
    }

    /// Lets queues see the size of its IP packet alone, for links without framing.
    pub const fn without_framing(mut self) -> Self {
        self.bare = true;
        self
    }

    /// A copy of it.
    pub fn again(&self) -> Self {
        let body = match &self.body {
            Body::Bytes(buffer) => Body::Bytes(buffer.home.copy(&[&buffer.bytes])),
            Body::Bundle(bundle) => {
                let home = &bundle.inside().home;
                body_of(home.copy(&bundled::pieces(bundle)))
            }
            Body::Dropped(size, ports) => Body::Dropped(*size, *ports),
            Body::Filler(size) => Body::Filler(*size),
        };
        Self {
            body,
            flow: self.flow,
            service: self.service,
            bare: self.bare,
        }
    }

    /// Bytes of framing around the IP packet, the FCS not among them.
    fn header(&self) -> Bytes {
        Framing::MAC_HEADER + self.tags()
    }
}

impl Packet for Frame {
    /// Its size on the wire, from the destination address to the FCS, which packet
    /// sockets never show.
    fn view(&self) -> View {
        let frame = match &self.body {
            Body::Bytes(buffer) => Bytes::new((buffer.bytes.len() - HEADER) as u64) + Framing::FCS,
            Body::Bundle(bundle) => Bytes::new(bundle.sent_len() as u64) + Framing::FCS,
            Body::Dropped(size, _) | Body::Filler(size) => *size,
        };
        View {
            size: match self.bare {
                false => frame.max(Framing::SMALLEST_FRAME),
                true => frame - self.header() - Framing::FCS,
            },
            flow: self.flow,
            class: wire::dscp::class_of(self.service),
            precedence: wire::dscp::precedence_of(self.service),
        }
    }

    fn live(&self) -> u32 {
        match &self.body {
            Body::Bundle(bundle) => u32::from(bundle.live()),
            _ => 1,
        }
    }

    fn advertised(&self) -> Advertised {
        match &self.body {
            Body::Bundle(bundle) => bundled::advertised(bundle),
            _ => Advertised {
                packets: 1,
                average: self.view().size,
            },
        }
    }

    /// Whether its transport is ECN-capable [RFC3168 s5]; for a bundle, that of all its
    /// packets.
    fn markable(&self) -> bool {
        match &self.body {
            Body::Bytes(_) => self.service & 0b11 != 0,
            Body::Bundle(bundle) => bundled::markable(bundle),
            Body::Dropped(..) | Body::Filler(_) => false,
        }
    }

    fn mark(&mut self) -> bool {
        match &mut self.body {
            Body::Bytes(buffer) => wire::frame::mark(&mut buffer.bytes[HEADER..]),
            Body::Bundle(bundle) => bundled::mark(bundle),
            Body::Dropped(..) | Body::Filler(_) => false,
        }
    }

    fn drop_inner(&mut self, inner_drop: InnerDrop, lost: &mut dyn FnMut(Self)) -> u32 {
        match &mut self.body {
            Body::Bundle(bundle) => {
                let bare = self.bare;
                bundled::drop_inner(bundle, inner_drop, &mut |frame| {
                    lost(Self { bare, ..frame })
                })
            }
            _ => 0,
        }
    }

    fn tags(&self) -> Bytes {
        Bytes::new(wire::frame::tags(self.ethernet()) as u64)
    }
}

/// The bytes of the frame, without the virtio header.
impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[HEADER..]
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[HEADER..]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.home.release(std::mem::take(&mut self.bytes));
    }
}

/// A pool of frame buffers, which clones share. It belongs to one thread.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// Free buffers, by class.
    free: Rc<RefCell<[Vec<Vec<u8>>; CLASSES.len()]>>,
}

impl Pool {
    /// A frame with a copy of `bytes`, from the destination address to the last byte
    /// before the FCS. Its checksums are complete.
    pub fn frame(&self, bytes: &[u8]) -> Frame {
        // An empty virtio header [Virtio s5.1.6].
        frame_of(self.copy(&[&[0; HEADER], bytes]))
    }

    /// A frame with a copy of `bytes`, which begin with a virtio header; `tag` is
    /// re-inserted if the kernel removed it.
    pub fn keep(&self, bytes: &[u8], tag: Option<[u8; 4]>) -> Frame {
        let tag = tag.as_ref().map_or(&[][..], |tag| &tag[..]);
        let (before, after) = bytes.split_at(bytes.len().min(HEADER + ADDRESSES_LEN));
        let mut kept = self.copy(&[before, tag, after]);
        if kept.bytes[virtio::FLAGS] & virtio::NEEDS_CHECKSUM != 0 {
            move_checksum(&mut kept.bytes, tag.len());
        }
        frame_of(kept)
    }

    /// A buffer with copies of `parts`.
    fn copy(&self, parts: &[&[u8]]) -> Buffer {
        let size = parts.iter().map(|part| part.len()).sum();
        let class = class_of(size);
        let free = self.free.borrow_mut()[class].pop();
        let mut bytes = free.unwrap_or_else(|| Vec::with_capacity(CLASSES[class].max(size)));
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Buffer {
            bytes,
            home: self.clone(),
        }
    }

    fn release(&self, mut bytes: Vec<u8>) {
        let class = class_of(bytes.len());
        bytes.clear();
        self.free.borrow_mut()[class].push(bytes);
    }
}

/// The frame in `buffer`.
fn frame_of(buffer: Buffer) -> Frame {
    let frame = buffer.as_ref();
    Frame {
        flow: wire::frame::flow(frame),
        service: wire::frame::service(frame).unwrap_or(0),
        body: body_of(buffer),
        bare: false,
    }
}

/// The kind of frame in `buffer`.
fn body_of(mut buffer: Buffer) -> Body {
    if Carried::parse_frame(buffer.as_ref()).is_err() {
        return Body::Bytes(buffer);
    }
    // A checksum left to the interface is computed here, because an inner drop updates
    // a complete checksum only.
    let unsummed = buffer.bytes[virtio::FLAGS] & virtio::NEEDS_CHECKSUM != 0;
    if unsummed {
        buffer.bytes[..HEADER].fill(0);
    }
    let bundle = Carried::parse_frame(buffer).expect("it was one a moment ago");
    let mut bundle = Box::new(bundle);
    if unsummed {
        bundle.seal();
    }
    Body::Bundle(bundle)
}

fn class_of(size: usize) -> usize {
    let fits = |&class: &usize| size <= class;
    CLASSES.iter().position(fits).unwrap_or(CLASSES.len() - 1)
}

/// Moves the start of the checksummed data by `bytes`.
fn move_checksum(header: &mut [u8], bytes: usize) {
    let place = virtio::CHECKSUM_START..virtio::CHECKSUM_START + 2;
    let moved = number(header, virtio::CHECKSUM_START)
        .saturating_add(u16::try_from(bytes).unwrap_or(u16::MAX));
    header[place].copy_from_slice(&moved.to_ne_bytes());
}

/// Completes the checksum of a frame behind its virtio header, if the kernel left it to
/// the interface.
fn complete_checksum(bytes: &mut [u8]) {
    let (header, frame) = bytes.split_at_mut(HEADER);
    if header[virtio::FLAGS] & virtio::NEEDS_CHECKSUM == 0 {
        return;
    }
    let place = [virtio::CHECKSUM_START, virtio::CHECKSUM_OFFSET];
    let [start, offset] = place.map(|place| usize::from(number(header, place)));
    if wire::frame::complete_checksum(frame, start, offset).is_ok() {
        header.fill(0);
    }
}

/// The number at `place` of a virtio header, in native byte order.
fn number(header: &[u8], place: usize) -> u16 {
    u16::from_ne_bytes([header[place], header[place + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_to_their_class_and_frames_count_as_on_the_wire() {
        let pool = Pool::default();
        for (frame, wire) in [
            (60, 64),
            (42, 64),
            (1514, 1518),
            (9014, 9018),
            (65_549, 65_553),
        ] {
            let bytes = vec![0; HEADER + frame];
            let kept = pool.keep(&bytes, None);
            assert_eq!(kept.view().size, Bytes::new(wire));
            assert_eq!(kept.bytes(), bytes);
            let place = kept.bytes().as_ptr();
            drop(kept);
            let again = pool.keep(&bytes, None);
            assert_eq!(again.bytes().as_ptr(), place, "no allocation for {frame}");
        }
    }

    #[test]
    fn a_frame_of_bytes_has_them_and_leaves_nothing_to_the_interface() {
        let bytes: Vec<u8> = (0..100).collect();
        let frame = Pool::default().frame(&bytes);
        assert_eq!(frame.ethernet(), bytes);
        assert_eq!(frame.bytes()[..HEADER], [0; HEADER]);
        assert_eq!(frame.view().size, Bytes::new(104));
    }

    #[test]
    fn a_tag_that_was_taken_out_is_back_behind_the_addresses_and_the_checksum_moves() {
        let pool = Pool::default();
        let bytes: Vec<u8> = (0..100).collect();
        let tag = [0x81, 0x00, 0x20, 0x07];
        for (flags, start) in [(virtio::NEEDS_CHECKSUM, 34 + 4), (0, 34)] {
            let mut bytes = bytes.clone();
            bytes[virtio::FLAGS] = flags;
            bytes[virtio::CHECKSUM_START..][..2].copy_from_slice(&34u16.to_ne_bytes());
            let kept = pool.keep(&bytes, Some(tag));
            let (header, frame) = kept.bytes().split_at(HEADER);
            assert_eq!(
                header[virtio::CHECKSUM_START..][..2],
                u16::to_ne_bytes(start)
            );
            assert_eq!(frame[..12], bytes[HEADER..HEADER + 12]);
            assert_eq!(frame[12..16], tag);
            assert_eq!(frame[16..], bytes[HEADER + 12..]);
            assert_eq!(
                (kept.view().size, kept.tags()),
                (Bytes::new(98), Bytes::new(4))
            );
            assert_eq!(kept.again().bytes(), kept.bytes());
        }
    }

    #[test]
    fn without_framing_queues_see_the_bytes_of_the_packet_alone() {
        let pool = Pool::default();
        for (frame, packet) in [(1_497, 1_483), (54, 40)] {
            let bare = pool.keep(&vec![0; HEADER + frame], None).without_framing();
            assert_eq!(bare.view().size, Bytes::new(packet));
            assert_eq!(bare.again().view().size, Bytes::new(packet));
        }
        let bytes: Vec<u8> = (0..100).collect();
        let tagged = pool.keep(&bytes, Some([0x81, 0x00, 0x20, 0x07]));
        let packet = bytes.len() - HEADER - 14;
        let size = tagged.without_framing().view().size;
        assert_eq!(size, Bytes::new(packet as u64));
    }

    #[test]
    fn class_and_precedence_are_those_of_the_field_and_a_mark_reaches_the_bytes() {
        let pool = Pool::default();
        // Codepoints: default, CS6, AF11, AF22, AF43, EF; with ECT(0).
        for (codepoint, class, precedence) in [
            (0, 0, 0),
            (48, 6, 0),
            (10, 1, 0),
            (20, 2, 1),
            (38, 4, 2),
            (46, 5, 0),
        ] {
            let mut bytes = [0; HEADER + 60];
            let frame = &mut bytes[HEADER..];
            frame[12..14].copy_from_slice(&[0x08, 0]);
            frame[14..16].copy_from_slice(&[0x45, codepoint << 2 | 0b10]);
            let mut kept = pool.keep(&bytes, None);
            let view = kept.view();
            assert_eq!((view.class, view.precedence), (class, precedence));
            assert!(kept.mark());
            assert_eq!(kept.bytes()[HEADER + 15] & 0b11, 0b11);
        }
        let mut without = pool.keep(&[0; HEADER + 60], None);
        assert!(!without.mark() && without.view().class == 0);
    }
}
