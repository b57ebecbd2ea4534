//! A packet: headers without octets.

use proto::tcp::{Ack, Data};
use queue::View;
use units::{Bytes, IpVersion, Time};

use crate::Seen;

/// An IP packet under way. It is copied, never shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The flow, by its number in the engine.
    pub(crate) flow: u32,
    /// The host it goes to, by its number in the engine.
    pub(crate) to: u32,
    /// The number of its message.
    pub(crate) sequence: u64,
    /// When its message was sent.
    pub(crate) sent: Time,
    /// The flow as queues know it: a number that follows from its name.
    pub(crate) key: u64,
    /// Octets of IP.
    pub(crate) size: u32,
    /// Octets of the frame around it, on the link where it is.
    pub(crate) frame: u32,
    pub(crate) ip: IpVersion,
    pub(crate) class: u8,
    pub(crate) precedence: u8,
    pub(crate) body: Body,
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
}

/// A segment of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
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

impl Packet {
    /// The packet as a watch sees it; `flow` is its place in the scenario.
    pub(crate) fn seen(&self, flow: usize) -> Seen {
        let piece = match self.body {
            Body::Datagram(piece) => Some(piece),
            Body::TooBig { .. } | Body::Segment(_) => None,
        };
        let octets = |of: fn(Piece) -> u32| Bytes::new(piece.map_or(0, of).into());
        Seen {
            flow,
            sequence: self.sequence,
            size: Bytes::new(self.size.into()),
            offset: octets(|piece| piece.offset),
            length: octets(|piece| piece.length),
            whole: octets(|piece| piece.whole),
            answer: matches!(self.body, Body::TooBig { .. }),
            ack: matches!(self.body, Body::Segment(Segment::Ack(_))),
        }
    }
}

impl queue::Packet for Packet {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.frame.into()),
            flow: self.key,
            class: self.class,
            precedence: self.precedence,
        }
    }

    fn mark(&mut self) -> bool {
        match &mut self.body {
            Body::Segment(Segment::Data(data)) if data.capable => {
                data.marked = true;
                true
            }
            _ => false,
        }
    }
}
