//! A packet: headers without octets.

use proto::tcp::{Ack, Data};
use queue::{Advertised, Bundle, InnerDrop, View};
use units::{Bytes, IpVersion, Time};

use crate::Seen;
use crate::load::Load;

/// An IP packet in flight. It moves from ring to ring, so it is small; what only
/// its ends need is its [`Content`], which stays where it is.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) header: Header,
    /// The packets in it, if it is a bundle.
    pub(crate) load: Option<Box<Load>>,
}

/// What links, queues and routers look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The flow as queues know it: a number that follows from its name.
    pub(crate) key: u64,
    /// The flow, by its number in the engine.
    pub(crate) flow: u32,
    /// The host it goes to, by its number in the engine.
    pub(crate) to: u32,
    /// Octets of IP.
    pub(crate) size: u32,
    /// Octets of the frame around it, on the link where it is.
    pub(crate) frame: u32,
    /// Where its content is kept.
    pub(crate) content: u32,
    pub(crate) ip: IpVersion,
    pub(crate) class: u8,
    pub(crate) precedence: u8,
    /// Without meaning for a bundle: each packet in it has its own.
    pub(crate) congestion: Congestion,
}

/// What a packet says of congestion [RFC3168 s5].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// Nothing; queues must drop it.
    Unable,
    /// It could say that it was met.
    Able,
    /// It was met.
    Met,
}

/// What is in a packet for its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// The number of its message.
    pub(crate) sequence: u64,
    /// When its message was sent.
    pub(crate) sent: Time,
    /// The marks of the links that it came out of.
    pub(crate) marks: u64,
    pub(crate) body: Body,
}

/// Packets that are to be sent, with what is in them.
pub(crate) type Outbox = Vec<(Header, Content)>;

/// The contents of all packets in flight.
#[derive(Default)]
pub(crate) struct Contents {
    all: Vec<Content>,
    /// Places that are free, the latest last: it is still in the cache.
    free: Vec<u32>,
    /// Places that will be, once nobody asks any more.
    leaving: Vec<u32>,
}

impl Contents {
    /// Keeps `content`; returns its place.
    pub(crate) fn put(&mut self, content: Content) -> u32 {
        if let Some(place) = self.free.pop() {
            self.all[place as usize] = content;
            return place;
        }
        self.all.push(content);
        u32::try_from(self.all.len() - 1).expect("memory ends before numbers do")
    }

    /// The content of a packet.
    pub(crate) fn of(&self, packet: &Header) -> &Content {
        &self.all[packet.content as usize]
    }

    /// `packet`, and what lives in it, has come out of a link with these marks.
    pub(crate) fn mark(&mut self, packet: &Packet, marks: u64) {
        self.all[packet.header.content as usize].marks |= marks;
        for inside in packet.load.iter().flat_map(|load| load.headers()) {
            self.all[inside.content as usize].marks |= marks;
        }
    }

    /// The packet is gone, with what lives in it; its content can be read until
    /// [`Contents::forget`].
    pub(crate) fn discard(&mut self, packet: &Packet) {
        self.leaving.push(packet.header.content);
        let inside = packet.load.iter().flat_map(|load| load.headers());
        self.leaving.extend(inside.map(|header| header.content));
    }

    /// Frees the places of packets that are gone.
    #[inline]
    pub(crate) fn forget(&mut self) {
        while let Some(place) = self.leaving.pop() {
            self.free.push(place);
        }
    }
}

/// What is in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A UDP datagram or a fragment of one.
    Datagram(Piece),
    /// A router's word to the source that packets above `mtu` do not pass
    /// [RFC4443 s3.2] [RFC1191 s4].
    TooBig { mtu: u32 },
    /// A segment of TCP, which no router may cut.
    Segment(Segment),
    /// A queue's word to the source that it dropped this segment, and whether
    /// the window is to come down.
    Notice { lost: Data, reduce: bool },
    /// Packets, kept elsewhere; what else is said of it is the first one's.
    Bundle,
}

/// A segment of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// To the end that receives.
    Data(Data),
    /// To the end that sends.
    Ack(Ack),
}

/// Where a packet's data, all behind the IP header, belong in their datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Octets before it.
    pub(crate) offset: u32,
    /// Octets in it.
    pub(crate) length: u32,
    /// Octets of the whole datagram, its UDP header included.
    pub(crate) whole: u32,
    /// Whether no router may cut it.
    pub(crate) dont_fragment: bool,
}

impl Piece {
    /// Whether it is all of the datagram.
    pub(crate) const fn is_whole(self) -> bool {
        self.length == self.whole
    }
}

impl Header {
    /// The packet as a tracer sees it, where it is no bundle; `flow` is its place
    /// in the scenario.
    pub(crate) fn seen(&self, content: &Content, flow: usize) -> Seen {
        let piece = match content.body {
            Body::Datagram(piece) => Some(piece),
            Body::TooBig { .. } | Body::Segment(_) | Body::Notice { .. } | Body::Bundle => None,
        };
        let octets = |of: fn(Piece) -> u32| Bytes::new(piece.map_or(0, of).into());
        Seen {
            flow,
            sequence: content.sequence,
            size: Bytes::new(self.size.into()),
            offset: octets(|piece| piece.offset),
            length: octets(|piece| piece.length),
            whole: octets(|piece| piece.whole),
            answer: matches!(content.body, Body::TooBig { .. } | Body::Notice { .. }),
            segment: match content.body {
                Body::Segment(Segment::Data(data)) => Some(Segment::Data(self.arrived(data))),
                Body::Segment(segment) => Some(segment),
                Body::Datagram(_) | Body::TooBig { .. } | Body::Notice { .. } | Body::Bundle => {
                    None
                }
            },
            live: 1,
            is_bundle: content.body == Body::Bundle,
            sent: content.sent,
            marks: content.marks,
        }
    }

    /// The data of this packet, with the mark that it met on its way.
    pub(crate) fn arrived(&self, data: Data) -> Data {
        Data {
            marked: self.congestion == Congestion::Met,
            ..data
        }
    }
}

impl Packet {
    /// A packet that is no bundle.
    pub(crate) const fn bare(header: Header) -> Self {
        Self { header, load: None }
    }

    /// Whether there are packets in it.
    pub(crate) const fn is_bundle(&self) -> bool {
        self.load.is_some()
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
        self.load.as_ref().map_or(1, |load| load.bundle.live())
    }

    fn advertised(&self) -> Advertised {
        let bare = Advertised {
            packets: 1,
            average: Bytes::new(self.header.frame.into()),
        };
        self.load
            .as_ref()
            .map_or(bare, |load| load.bundle.advertised())
    }

    fn markable(&self) -> bool {
        match &self.load {
            Some(load) => load.bundle.markable(),
            None => self.header.congestion != Congestion::Unable,
        }
    }

    fn mark(&mut self) -> bool {
        if let Some(load) = &mut self.load {
            return load.bundle.mark();
        }
        let markable = self.header.congestion != Congestion::Unable;
        if markable {
            self.header.congestion = Congestion::Met;
        }
        markable
    }

    fn drop_inner(&mut self, inner_drop: InnerDrop, lost: &mut dyn FnMut(Self)) -> u32 {
        let Some(load) = &mut self.load else {
            return 0;
        };
        let mut each = |bare: Bundle<Self>| bare.unpack().for_each(|(packet, _)| lost(packet));
        let marked = load.bundle.drop_inner(inner_drop, &mut each);
        let size = u32::try_from(load.bundle.view().size.get()).unwrap_or(u32::MAX);
        // The frame around it is as much larger as it was.
        self.header.frame -= self.header.size - size;
        self.header.size = size;
        marked
    }
}
