//! Packets that travel together: a jumbo frame of aggregated packets.

use alloc::vec::Vec;

use units::{Bytes, Span};

use crate::{Advertised, InnerDrop, Packet, Part, View};

/// The overhead of carrying packets in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Encapsulation {
    /// Bytes of IP of an empty bundle: the outer header and the 6 of the jumbo
    /// frame's header [Mulahuwaish s2.A].
    pub header: Bytes,
    /// Bytes of IP that each packet adds besides its own: 4
    /// [Mulahuwaish s2.A].
    pub entry: Bytes,
    /// Bytes of link framing around each IP packet, part of the sizes that
    /// queues see. A packet in a bundle loses its own.
    pub framing: Bytes,
}

impl Encapsulation {
    /// The bytes that a bundle of `packets` adds to their sum:
    /// HIP + 6 + 4 N - Hp (N - 1). The paper prints N - 4 in place of 4 N, which
    /// contradicts its own example
    /// [Mulahuwaish Equation 1].
    pub fn cost(&self, packets: u32) -> i128 {
        let packets = i128::from(packets);
        let [header, entry, framing] =
            [self.header, self.entry, self.framing].map(|bytes| i128::from(bytes.get()));
        header + entry * packets - framing * (packets - 1)
    }

    /// The bytes of IP of a packet whose frame takes `view` in a queue.
    pub(crate) fn inside<P: Packet>(&self, packet: &P) -> Bytes {
        packet.view().size - self.framing - packet.tags()
    }
}

/// The unit in which a bundle states the waiting time of each packet. The field
/// has 16 bits; a longer time is stated as the largest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Tick {
    /// 1 us: up to 65.5 ms.
    #[default]
    Micro,
    /// 10 us: up to 655 ms.
    TenMicros,
}

impl Tick {
    /// How long it is.
    pub const fn span(self) -> Span {
        match self {
            Self::Micro => Span::from_micros(1),
            Self::TenMicros => Span::from_micros(10),
        }
    }

    /// Whole ticks in `span`, or the most that there can be.
    pub fn count(self, span: Span) -> u16 {
        u16::try_from(span.as_picos() / self.span().as_picos()).unwrap_or(u16::MAX)
    }
}

/// A packet in a bundle, or what is left of it.
#[derive(Clone, Debug)]
pub struct Entry<P> {
    /// `None` once it is dead.
    packet: Option<P>,
    /// Its bytes of IP as it was packed.
    size: Bytes,
    /// How many ticks it waited for the others.
    waited: u16,
}

impl<P> Entry<P> {
    /// The packet, while it lives.
    pub const fn packet(&self) -> Option<&P> {
        self.packet.as_ref()
    }

    /// Its length as the bundle's header states it: none once it is dead.
    pub const fn length(&self) -> Bytes {
        match self.packet {
            Some(_) => self.size,
            None => Bytes::ZERO,
        }
    }

    /// Its bytes of IP as it was packed, dead or not.
    pub const fn packed(&self) -> Bytes {
        self.size
    }

    /// How many ticks it waited in the aggregation (pQTime).
    pub const fn waited(&self) -> u16 {
        self.waited
    }
}

/// Packets that travel as one, or one that travels bare.
///
/// An inner drop takes packets out and moves none of those that stay: their entries
/// say a length of zero from then on, and the number of entries and the average
/// length are advertised unchanged [Mulahuwaish s3].
#[derive(Clone, Debug)]
pub struct Bundle<P> {
    entries: Vec<Entry<P>>,
    /// `None` where its only packet travels bare.
    encapsulation: Option<Encapsulation>,
    tick: Tick,
    view: View,
    tags: Bytes,
    live: u32,
    /// Bytes of IP of its packets on average, as they were packed.
    average: Bytes,
}

impl<P: Packet> Bundle<P> {
    /// A packet that travels without any other, as it came.
    pub fn bare(packet: P) -> Self {
        Self {
            encapsulation: None,
            tick: Tick::default(),
            view: packet.view(),
            tags: packet.tags(),
            live: 1,
            average: packet.view().size,
            entries: [Entry {
                size: packet.view().size,
                packet: Some(packet),
                waited: 0,
            }]
            .into(),
        }
    }

    /// Packets, each with how long it waited, in the order in which they came;
    /// a single one travels bare, unless it is a piece. To queues it looks like a packet of `flow`,
    /// else of the flow of the first, and in all else like the first. `None`
    /// where there is no packet.
    pub fn pack(
        packets: impl IntoIterator<Item = (P, Span)>,
        encapsulation: Encapsulation,
        tick: Tick,
        flow: Option<u64>,
    ) -> Option<Self> {
        let mut packets = packets.into_iter().peekable();
        let (first, waited) = packets.next()?;
        if packets.peek().is_none() && first.part() == Part::Whole {
            return Some(Self::bare(first));
        }
        let (view, tags) = (first.view(), first.tags());
        let entries: Vec<Entry<P>> = core::iter::once((first, waited))
            .chain(packets)
            .map(|(packet, waited)| Entry {
                size: encapsulation.inside(&packet),
                packet: Some(packet),
                waited: tick.count(waited),
            })
            .collect();
        let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        let bytes: Bytes = entries.iter().map(|entry| entry.size).sum();
        let around = encapsulation.framing + encapsulation.header + encapsulation.entry * count;
        Some(Self {
            view: View {
                size: around + bytes + tags,
                flow: flow.unwrap_or(view.flow),
                ..view
            },
            tags,
            live: u32::try_from(count).unwrap_or(u32::MAX),
            average: Bytes::new(bytes.get() / count),
            encapsulation: Some(encapsulation),
            tick,
            entries,
        })
    }

    /// Whether it is one packet without a bundle around it.
    pub const fn is_bare(&self) -> bool {
        self.encapsulation.is_none()
    }

    /// The packet that travels bare, or else the bundle as it is.
    ///
    /// # Errors
    /// The bundle, where it is one.
    pub fn into_bare(mut self) -> Result<P, Self> {
        if self.is_bare()
            && let Some(packet) = self.entries.pop().and_then(|entry| entry.packet)
        {
            return Ok(packet);
        }
        Err(self)
    }

    /// The packets that it was made of, dropped ones included.
    pub fn entries(&self) -> &[Entry<P>] {
        &self.entries
    }

    /// The unit of [`Entry::waited`].
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// The packets that live, in the order in which they came, each with how
    /// long it waited.
    pub fn unpack(self) -> impl Iterator<Item = (P, Span)> {
        let tick = self.tick.span();
        self.entries.into_iter().filter_map(move |entry| {
            let waited = tick * u64::from(entry.waited);
            Some((entry.packet?, waited))
        })
    }

    /// The places of the packets that `inner_drop` meets, in rising order. Pieces are not
    /// among them: the other pieces of the packet are on their way.
    fn met(&self, inner_drop: InnerDrop) -> Vec<usize> {
        let living = self.entries.iter().enumerate();
        let living = living.filter_map(|(place, entry)| {
            let packet = entry.packet().filter(|one| one.part() == Part::Whole)?;
            Some((place, packet.view().flow))
        });
        inner_drop.selection.among(living, inner_drop.packets)
    }
}

/// Which packets an inner drop takes out of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Selection {
    /// Those that live and came first [Mulahuwaish s3].
    Front,
    /// One of each flow before a second of any; of these those that came
    /// first.
    Spread,
}

impl Selection {
    /// Whom it takes of `living`, each with its place and its flow, in rising
    /// order of places: at most `packets`, as places in the same order.
    pub fn among(
        self,
        living: impl Iterator<Item = (usize, u64)> + Clone,
        packets: u32,
    ) -> Vec<usize> {
        let most = usize::try_from(packets).unwrap_or(usize::MAX);
        if self == Self::Front {
            return living.take(most).map(|(place, _)| place).collect();
        }
        // How many of its flow are before it.
        let rank = |place: usize, flow: u64| {
            let before = living.clone().take_while(|(other, _)| *other < place);
            before.filter(|(_, other)| *other == flow).count()
        };
        let ranked = living.clone();
        let mut ranked: Vec<(usize, usize)> = ranked
            .map(|(place, flow)| (rank(place, flow), place))
            .collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        let mut places: Vec<usize> = ranked.into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        places
    }
}

impl<P: Packet> Packet for Bundle<P> {
    fn view(&self) -> View {
        self.view
    }

    fn tags(&self) -> Bytes {
        self.tags
    }

    fn live(&self) -> u32 {
        self.live
    }

    fn advertised(&self) -> Advertised {
        Advertised {
            packets: u32::try_from(self.entries.len()).unwrap_or(u32::MAX),
            average: self.average,
        }
    }

    fn markable(&self) -> bool {
        let mut living = self.entries.iter().filter_map(Entry::packet);
        self.live > 0 && living.all(Packet::markable)
    }

    /// Marks all of its packets, or none.
    fn mark(&mut self) -> bool {
        if !self.markable() {
            return false;
        }
        let living = self.entries.iter_mut();
        let living = living.filter_map(|entry| entry.packet.as_mut());
        // Each can be marked, so that none is left out.
        living.map(Packet::mark).fold(true, |all, one| all & one)
    }

    fn drop_inner(&mut self, inner_drop: InnerDrop, lost: &mut dyn FnMut(Self)) -> u32 {
        if self.is_bare() {
            return 0;
        }
        let mut marked = 0;
        for place in self.met(inner_drop) {
            let entry = &mut self.entries[place];
            if inner_drop.mark && entry.packet.as_mut().is_some_and(Packet::mark) {
                marked += 1;
            } else if let Some(packet) = entry.packet.take() {
                self.view.size = self.view.size - entry.size;
                self.live -= 1;
                lost(Self::bare(packet));
            }
        }
        marked
    }
}

#[cfg(test)]
mod tests;
