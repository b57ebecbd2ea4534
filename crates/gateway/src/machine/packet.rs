//! Packets inside a gateway.

use queue::{Advertised, Bundle, InnerDrop, Packet, Part, View};
use units::{Bytes, Framing, Time};
use wire::frame;

use super::Padding;
use super::record::Arrival;
use link::edge::Exit;

/// The ECN bits of a service byte [RFC3168 s5].
const CONGESTION: u8 = 0b11;

/// A packet from inside or from a bundle, or a piece of one.
#[derive(Debug)]
pub(super) struct Inner {
    /// The packet from its IP header on, without padding.
    pub(super) bytes: Vec<u8>,
    /// The bytes in front that are in other pieces: what is left of a packet need not be
    /// moved each time that a piece is cut off.
    cut_off: usize,
    view: View,
    part: Part,
    /// The service byte: its own, or out of a bundle that of the outer header.
    service: u8,
    /// Where it leaves the domain; toward the inside, the peer that it came from.
    pub(super) exit: Exit,
    /// Its number among those that were to be aggregated.
    pub(super) number: u64,
    /// Whether a queue of this gateway marked it.
    pub(super) marked: bool,
}

impl Inner {
    /// The IP packet in `bytes`, which is whole. Its flow is only told `with_flow`: the
    /// hash of its addresses and ports takes time.
    pub(super) fn new(bytes: Vec<u8>, exit: Exit, with_flow: bool) -> Self {
        let service = frame::service_of(&bytes).unwrap_or(0);
        let flow = with_flow.then(|| frame::flow_of(&bytes));
        Self {
            view: View {
                size: Bytes::new(bytes.len() as u64),
                flow: flow.unwrap_or(0),
                class: wire::dscp::class_of(service),
                precedence: wire::dscp::precedence_of(service),
            },
            service,
            part: Part::Whole,
            bytes,
            cut_off: 0,
            exit,
            number: 0,
            marked: false,
        }
    }

    /// A packet out of a bundle whose outer header has the byte `service`, or a plain one.
    /// No queue sorts it by flow.
    pub(super) fn arrived(bytes: Vec<u8>, exit: Exit, part: Part, service: u8) -> Self {
        Self {
            view: View {
                size: Bytes::new(bytes.len() as u64),
                ..View::default()
            },
            part,
            service,
            bytes,
            cut_off: 0,
            exit,
            number: 0,
            marked: false,
        }
    }

    /// A packet of a record: zeros behind a header that can be marked.
    pub(super) fn replayed(arrival: &Arrival) -> Self {
        let size = usize::try_from(arrival.size.get()).unwrap_or(usize::MAX);
        let mut bytes = vec![0; size.min(1 << 16)];
        // The shortest header of IPv4 [RFC791 s3.1].
        if let [version, service, ..] = &mut bytes[..] {
            (*version, *service) = (0x45, arrival.service);
        }
        let mut packet = Self::new(bytes, arrival.exit, false);
        packet.view.size = arrival.size;
        packet.view.flow = arrival.flow;
        packet
    }

    /// As a record has it.
    pub(super) const fn arrival(&self, at: Time) -> Arrival {
        Arrival {
            at,
            number: self.number,
            exit: self.exit,
            size: self.view.size,
            flow: self.view.flow,
            service: self.service,
        }
    }

    /// Its bytes: all, or those of a piece.
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[self.cut_off..]
    }

    /// The service byte of the packet, or of the outer header of its bundle.
    pub(super) const fn service(&self) -> u8 {
        self.service
    }
}

impl Packet for Inner {
    fn view(&self) -> View {
        self.view
    }

    fn part(&self) -> Part {
        self.part
    }

    fn cut(&mut self, size: Bytes) -> Option<Self> {
        let place = self.cut_off + usize::try_from(size.get()).ok()?;
        if place >= self.bytes.len() {
            return None;
        }
        let bytes = self.bytes[self.cut_off..place].to_vec();
        self.cut_off = place;
        self.view.size = Bytes::new((self.bytes.len() - place) as u64);
        let part = self.part.cut(self.view.size);
        Some(Self {
            bytes,
            cut_off: 0,
            view: View { size, ..self.view },
            part,
            ..*self
        })
    }

    /// The packet has met congestion if one of its pieces has [RFC3168 s5.3].
    fn join(&mut self, rest: Self) {
        self.part = self.part.joined(rest.view.size);
        self.view.size += rest.view.size;
        self.bytes.extend_from_slice(rest.content());
        if rest.service & CONGESTION == CONGESTION {
            self.service |= CONGESTION;
        }
    }

    fn markable(&self) -> bool {
        self.service & CONGESTION != 0
    }

    /// The outer header marks the packet of a piece that has no IP header.
    fn mark(&mut self) -> bool {
        let marked = match self.part {
            Part::Rest { .. } => self.markable(),
            Part::Whole | Part::First { .. } => frame::mark_packet(&mut self.bytes),
        };
        if marked {
            self.marked |= self.service & CONGESTION != CONGESTION;
            self.service |= CONGESTION;
        }
        marked
    }
}

/// A bundle or a packet for a peer.
#[derive(Debug)]
pub(super) struct Departing {
    pub(super) peer: usize,
    /// The number of the bundle among those to the peer.
    pub(super) number: u64,
    pub(super) load: Load,
    /// The bytes of headers around a packet alone; a bundle's count among its own.
    pub(super) around: Bytes,
    /// The zeros behind it, and the path MTU, which they do not exceed.
    pub(super) padding: (Padding, Bytes),
    /// The framing of the link that it waits for.
    pub(super) framing: Framing,
    /// The flow as which a queue sees a bundle.
    pub(super) flow: u64,
}

/// Packets that travel together, or one that does not.
#[derive(Debug)]
pub(super) enum Load {
    Bundle(Bundle<Inner>),
    Alone(Inner),
}

impl Departing {
    /// The numbers of its packets, with their waiting times in ticks and marks.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (u64, u16, bool)> {
        let (entries, alone) = match &self.load {
            Load::Bundle(bundle) => (bundle.entries(), None),
            Load::Alone(packet) => (&[][..], Some((packet.number, 0, packet.marked))),
        };
        let entries = entries.iter().filter_map(|entry| {
            let packet = entry.packet()?;
            Some((packet.number, entry.waited(), packet.marked))
        });
        entries.chain(alone)
    }

    /// The size of its IP packet with the zeros behind it, of `size` bytes without them.
    pub(super) fn padded(&self, size: Bytes) -> Bytes {
        let (padding, mtu) = self.padding;
        padding.padded(size, mtu)
    }

    /// How many packets it carries.
    pub(super) fn packets(&self) -> u64 {
        u64::from(self.live())
    }
}

impl Packet for Departing {
    fn view(&self) -> View {
        let (view, flow) = match &self.load {
            Load::Bundle(bundle) => (bundle.view(), self.flow),
            Load::Alone(packet) => (packet.view(), packet.view().flow),
        };
        View {
            size: self
                .framing
                .frame_size(self.padded(view.size + self.around)),
            flow,
            ..view
        }
    }

    fn live(&self) -> u32 {
        match &self.load {
            Load::Bundle(bundle) => bundle.live(),
            Load::Alone(_) => 1,
        }
    }

    fn advertised(&self) -> Advertised {
        match &self.load {
            Load::Bundle(bundle) => bundle.advertised(),
            Load::Alone(_) => Advertised {
                packets: 1,
                average: self.view().size,
            },
        }
    }

    fn markable(&self) -> bool {
        match &self.load {
            Load::Bundle(bundle) => bundle.markable(),
            Load::Alone(packet) => packet.markable(),
        }
    }

    fn mark(&mut self) -> bool {
        match &mut self.load {
            Load::Bundle(bundle) => bundle.mark(),
            Load::Alone(packet) => packet.mark(),
        }
    }

    fn drop_inner(&mut self, inner_drop: InnerDrop, lost: &mut dyn FnMut(Self)) -> u32 {
        let Self {
            peer,
            number,
            around,
            padding,
            framing,
            flow,
            ref mut load,
        } = *self;
        let Load::Bundle(bundle) = load else {
            return 0;
        };
        let mut each = |bare: Bundle<Inner>| {
            for (packet, _) in bare.unpack() {
                lost(Self {
                    peer,
                    number,
                    load: Load::Alone(packet),
                    around,
                    padding,
                    framing,
                    flow,
                });
            }
        };
        bundle.drop_inner(inner_drop, &mut each)
    }
}
