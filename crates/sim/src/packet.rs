//! Packets: headers without bytes.

use queue::{Advertised, Bundle, InnerDrop, Part, View};
use tcp::{Ack, Data, Range};
use units::{Bytes, IpVersion, Time};

use crate::Seen;
use crate::load::Load;

/// An IP packet in flight. Packets move between ring buffers, so they are small; data
/// that only the endpoints need are in a [`Content`], which never moves.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) header: Header,
    /// What few packets have: it keeps the others small.
    pub(crate) extra: Option<Box<Extra>>,
}

/// What a packet is besides its header.
#[derive(Debug)]
pub(crate) enum Extra {
    /// A bundle, with the packets in it.
    Bundle(Load),
    /// A piece of a packet in a bundle. The first piece has the packet's content; in the
    /// others [`Header::content`] has no meaning.
    Piece(Part),
}

/// The fields that links, queues and routers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The flow's hash for queues, derived from its name.
    pub(crate) key: u64,
    /// Number of the flow in the engine.
    pub(crate) flow: u32,
    /// Number of the destination host in the engine.
    pub(crate) to: u32,
    /// Bytes of the IP packet.
    pub(crate) size: u32,
    /// Bytes of its frame on the current link.
    pub(crate) frame: u32,
    /// Index of its content in [`Contents`].
    pub(crate) content: u32,
    pub(crate) ip: IpVersion,
    pub(crate) class: u8,
    pub(crate) precedence: u8,
    /// Unused for a bundle, because each packet in it has its own.
    pub(crate) congestion: Congestion,
}

/// The ECN field of a packet [RFC3168 s5].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// Not ECN-capable: queues must drop it.
    Unable,
    /// ECN-capable, without a mark.
    Able,
    /// Marked.
    Met,
}

/// The contents of a packet for its endpoints, in one line of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Content {
    /// Number of its message.
    pub(crate) sequence: u64,
    /// Instant at which its message was sent.
    pub(crate) sent: Time,
    /// The marks of the links that it has passed.
    pub(crate) marks: u64,
    pub(crate) body: Body,
}

const _: () = assert!(size_of::<Content>() == 64, "see there");

impl Content {
    /// Of no packet.
    const EMPTY: Self = Self {
        sequence: 0,
        sent: Time::ZERO,
        marks: 0,
        body: Body::Bundle,
    };
}

/// Packets to send, whose contents are stored already.
pub(crate) type Outbox = Vec<Header>;

/// The contents of all packets in flight.
#[derive(Default)]
pub(crate) struct Contents {
    /// The packets of one endpoint while they are sent.
    outbox: Outbox,
    all: Vec<Content>,
    /// Free indices, the latest last, because its memory is still in the cache.
    free: Vec<u32>,
    /// Indices that become free once their contents are no longer needed.
    leaving: Vec<u32>,
}

impl Contents {
    /// Puts a packet into the outbox.
    #[inline]
    pub(crate) fn post(&mut self, header: Header, content: Content) {
        let content = self.put(content);
        self.outbox.push(Header { content, ..header });
    }

    /// Puts a packet whose content is stored already into the outbox.
    #[inline]
    pub(crate) fn post_stored(&mut self, header: Header) {
        self.outbox.push(header);
    }

    /// The packets in the outbox. Its memory is to be returned.
    #[inline]
    pub(crate) fn take_outbox(&mut self) -> Outbox {
        std::mem::take(&mut self.outbox)
    }

    /// Returns the memory of the outbox, which is empty.
    #[inline]
    pub(crate) fn put_back(&mut self, outbox: Outbox) {
        debug_assert!(outbox.is_empty() && self.outbox.is_empty(), "all was sent");
        self.outbox = outbox;
    }

    /// Stores `content`. Returns its index.
    #[inline]
    pub(crate) fn put(&mut self, content: Content) -> u32 {
        if let Some(place) = self.free.pop() {
            self.all[place as usize] = content;
            return place;
        }
        self.all.push(content);
        u32::try_from(self.all.len() - 1).expect("memory ends before numbers do")
    }

    /// A place for a content, and its index: a content that is written there field by
    /// field need not be copied as a whole.
    #[inline]
    pub(crate) fn place(&mut self) -> (&mut Content, u32) {
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.put(Content::EMPTY),
        };
        (&mut self.all[place as usize], place)
    }

    /// The content of a packet.
    #[inline]
    pub(crate) fn of(&self, packet: &Header) -> &Content {
        &self.all[packet.content as usize]
    }

    /// The content of a packet, to be changed.
    #[inline]
    pub(crate) fn of_mut(&mut self, packet: &Header) -> &mut Content {
        &mut self.all[packet.content as usize]
    }

    /// Adds these marks to `packet`, which has passed a link, and to the packets in it.
    pub(crate) fn mark(&mut self, packet: &Packet, marks: u64) {
        self.all[packet.header.content as usize].marks |= marks;
        for inside in packet.load().into_iter().flat_map(|load| load.headers()) {
            self.all[inside.content as usize].marks |= marks;
        }
    }

    /// Removes a packet and those in it. Their contents stay readable until
    /// [`Contents::forget`].
    pub(crate) fn discard(&mut self, packet: &Packet) {
        self.leaving.push(packet.header.content);
        let inside = packet.load().into_iter().flat_map(|load| load.headers());
        self.leaving.extend(inside.map(|header| header.content));
    }

    /// Frees the index of a packet whose content is no longer needed.
    #[inline]
    pub(crate) fn release(&mut self, packet: &Header) {
        self.free.push(packet.content);
    }

    /// Frees the indices of removed packets.
    #[inline]
    pub(crate) fn forget(&mut self) {
        while let Some(place) = self.leaving.pop() {
            self.free.push(place);
        }
    }
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A UDP datagram or a fragment of one.
    Datagram(Piece),
    /// A router's notification to the source that packets above `mtu` do not pass
    /// [RFC4443 s3.2] [RFC1191 s4].
    TooBig { mtu: u32 },
    /// A TCP segment, which is never fragmented.
    Segment(Segment),
    /// A queue's notification to the source that it dropped this segment, and whether
    /// the window is to be reduced.
    Notice { lost: Range, reduce: bool },
    /// A bundle, stored elsewhere; the other fields are those of its first packet.
    Bundle,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// To the receiver.
    Data(Data),
    /// To the sender.
    Ack(Ack),
}

/// The place of a packet's data, all behind the IP header, in their datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the datagram in front of it.
    pub(crate) offset: u32,
    /// Bytes of the datagram in it.
    pub(crate) length: u32,
    /// Bytes of the whole datagram, its UDP header included.
    pub(crate) whole: u32,
    /// Whether routers must not fragment the packet.
    pub(crate) dont_fragment: bool,
}

impl Piece {
    /// Whether it is the whole datagram.
    pub(crate) const fn is_whole(self) -> bool {
        self.length == self.whole
    }
}

impl Header {
    /// The same with so many bytes of IP, within a domain.
    const fn of_size(self, size: u32) -> Self {
        Self {
            size,
            frame: size,
            ..self
        }
    }

    /// The packet in the form that tracers see, if it is not a bundle; `flow` is the
    /// flow's index in the scenario.
    pub(crate) fn seen(&self, content: &Content, flow: usize) -> Seen {
        let piece = match content.body {
            Body::Datagram(piece) => Some(piece),
            Body::TooBig { .. } | Body::Segment(_) | Body::Notice { .. } | Body::Bundle => None,
        };
        let bytes = |of: fn(Piece) -> u32| Bytes::new(piece.map_or(0, of).into());
        Seen {
            flow,
            sequence: content.sequence,
            size: Bytes::new(self.size.into()),
            offset: bytes(|piece| piece.offset),
            length: bytes(|piece| piece.length),
            whole: bytes(|piece| piece.whole),
            answer: matches!(content.body, Body::TooBig { .. } | Body::Notice { .. }),
            segment: match content.body {
                Body::Segment(Segment::Data(data)) => Some(Segment::Data(self.arrived(data))),
                Body::Segment(segment) => Some(segment),
                Body::Datagram(_) | Body::TooBig { .. } | Body::Notice { .. } | Body::Bundle => {
                    None
                }
            },
            live: 1,
            number: 0,
            is_bundle: content.body == Body::Bundle,
            sent: content.sent,
            marks: content.marks,
        }
    }

    /// The data of this packet, with its congestion mark.
    pub(crate) fn arrived(&self, data: Data) -> Data {
        Data {
            marked: self.congestion == Congestion::Met,
            ..data
        }
    }
}

impl Packet {
    /// A packet that is not a bundle.
    pub(crate) const fn bare(header: Header) -> Self {
        Self {
            header,
            extra: None,
        }
    }

    /// Whether it is a bundle.
    pub(crate) fn is_bundle(&self) -> bool {
        self.load().is_some()
    }

    /// The packets in it, if it is a bundle.
    #[inline]
    pub(crate) fn load(&self) -> Option<&Load> {
        match self.extra.as_deref()? {
            Extra::Bundle(load) => Some(load),
            Extra::Piece(_) => None,
        }
    }

    fn load_mut(&mut self) -> Option<&mut Load> {
        match self.extra.as_deref_mut()? {
            Extra::Bundle(load) => Some(load),
            Extra::Piece(_) => None,
        }
    }

    /// Takes the bundle out that `egress` unpacks.
    pub(crate) fn take_load(&mut self, egress: usize) -> Option<Load> {
        self.load().filter(|load| load.egress == egress)?;
        match *self.extra.take()? {
            Extra::Bundle(load) => Some(load),
            Extra::Piece(_) => None,
        }
    }

    fn set_part(&mut self, part: Part) {
        self.extra = match part {
            Part::Whole => None,
            Part::First { .. } | Part::Rest { .. } => Some(Box::new(Extra::Piece(part))),
        };
    }
}

/// The properties of a packet, not a bundle, that the queue of a fast link reads.
pub(crate) struct Frame {
    bytes: u32,
    markable: bool,
    pub(crate) marked: bool,
}

impl Frame {
    #[inline]
    pub(crate) const fn of(packet: &Header) -> Self {
        Self {
            bytes: packet.frame,
            markable: !matches!(packet.congestion, Congestion::Unable),
            marked: false,
        }
    }
}

impl queue::Packet for Frame {
    #[inline]
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.bytes.into()),
            ..View::default()
        }
    }

    fn markable(&self) -> bool {
        self.markable
    }

    fn mark(&mut self) -> bool {
        self.marked |= self.markable;
        self.markable
    }
}

impl queue::Packet for Packet {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.header.frame.into()),
            flow: self.header.key,
            class: self.header.class,
            precedence: self.header.precedence,
        }
    }

    fn live(&self) -> u32 {
        self.load().map_or(1, |load| load.bundle.live())
    }

    fn part(&self) -> Part {
        match self.extra.as_deref() {
            Some(Extra::Piece(part)) => *part,
            Some(Extra::Bundle(_)) | None => Part::Whole,
        }
    }

    fn cut(&mut self, size: Bytes) -> Option<Self> {
        let size = u32::try_from(size.get()).ok()?;
        let rest = self
            .header
            .size
            .checked_sub(size)
            .filter(|rest| *rest > 0)?;
        if self.is_bundle() {
            return None;
        }
        let mut part = self.part();
        let first = part.cut(Bytes::new(rest.into()));
        let piece = Self {
            header: self.header.of_size(size),
            extra: Some(Box::new(Extra::Piece(first))),
        };
        self.header = self.header.of_size(rest);
        self.set_part(part);
        Some(piece)
    }

    /// The packet has met congestion if one of its pieces has [RFC3168 s5.3].
    fn join(&mut self, rest: Self) {
        let part = self.part().joined(Bytes::new(rest.header.size.into()));
        self.header = self.header.of_size(self.header.size + rest.header.size);
        self.set_part(part);
        if rest.header.congestion == Congestion::Met {
            self.header.congestion = Congestion::Met;
        }
    }

    fn advertised(&self) -> Advertised {
        let bare = Advertised {
            packets: 1,
            average: Bytes::new(self.header.frame.into()),
        };
        self.load().map_or(bare, |load| load.bundle.advertised())
    }

    fn markable(&self) -> bool {
        match self.load() {
            Some(load) => load.bundle.markable(),
            None => self.header.congestion != Congestion::Unable,
        }
    }

    fn mark(&mut self) -> bool {
        if let Some(load) = self.load_mut() {
            return load.bundle.mark();
        }
        let markable = self.header.congestion != Congestion::Unable;
        if markable {
            self.header.congestion = Congestion::Met;
        }
        markable
    }

    fn drop_inner(&mut self, inner_drop: InnerDrop, lost: &mut dyn FnMut(Self)) -> u32 {
        let Some(load) = self.load_mut() else {
            return 0;
        };
        let mut each = |bare: Bundle<Self>| bare.unpack().for_each(|(packet, _)| lost(packet));
        let marked = load.bundle.drop_inner(inner_drop, &mut each);
        let size = u32::try_from(load.bundle.view().size.get()).unwrap_or(u32::MAX);
        // The framing around it stays the same.
        self.header.frame -= self.header.size - size;
        self.header.size = size;
        marked
    }
}
