//! Statistics of a link.

use link::{Counters, Entered, LinkObserver, PacketOutcome, QueueState};
use queue::{Packet as _, Part, Reason, Tick};
use units::{Bytes, Span, Time};

use crate::load::Load;
use crate::packet::{Header, Packet};
use crate::{DirectionOutcome, Loss};

/// The statistics that the observer of a direction collects.
pub(crate) struct LinkStats {
    averages: Averages,
    /// Packets in bundles that the queue dropped whole, beyond the first of each; a
    /// bundle of which every packet was dropped before counts as -1.
    beyond: i64,
    /// Headers of packets that will not be delivered, those in bundles included, each
    /// with whether its source may be notified.
    gone: Vec<(Header, bool)>,
    /// Notes for a tracer; `None` if no tracer observes the direction.
    notes: Option<Vec<Note>>,
    /// Whether notes include the contents of bundles.
    opens: bool,
}

/// The busy time of a wire, and the waiting time of packets.
pub(crate) struct Averages {
    /// The end of the averaging period.
    end: Time,
    busy: u64,
    /// Of a link at which packets waited.
    waits: Option<Box<Waits>>,
}

/// The waiting time of packets.
#[derive(Clone, Copy, Default)]
struct Waits {
    /// Picoseconds times waiting packets, and times their bytes.
    packets: u128,
    bytes: u128,
}

/// The detail in which a tracer sees a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceDepth {
    /// Not observed.
    Off,
    /// Packets.
    Packets,
    /// Packets and the contents of bundles.
    Inner,
}

/// An event of a packet on a direction of a link.
pub(crate) struct Note {
    pub(crate) packet: Header,
    pub(crate) at: Time,
    pub(crate) what: EventKind,
    /// Number of packets in it at that time.
    pub(crate) live: u32,
    /// Number among the packets that arrived; of a packet in a bundle that of the
    /// bundle.
    pub(crate) number: u64,
    /// The contents of a bundle, if requested.
    pub(crate) opened: Option<Box<Opening>>,
}

impl Note {
    /// The packets that are left in a bundle, if its contents were requested.
    pub(crate) fn inside(&self) -> impl Iterator<Item = &Header> {
        let inside = self.opened.iter().flat_map(|opened| &opened.inside);
        inside.filter_map(|entry| entry.header.as_ref())
    }
}

/// The contents of a bundle at a time.
pub(crate) struct Opening {
    pub(crate) number: u64,
    pub(crate) ingress: usize,
    pub(crate) egress: usize,
    pub(crate) tick: Tick,
    pub(crate) inside: Vec<OpenedEntry>,
}

/// An entry of a bundle.
pub(crate) struct OpenedEntry {
    /// The header of its packet, if it was not dropped and is no later piece.
    pub(crate) header: Option<Header>,
    pub(crate) part: Part,
    /// Its bytes of IP as it was packed.
    pub(crate) size: Bytes,
    pub(crate) waited: u16,
}

/// The kind of an event.
pub(crate) enum EventKind {
    Queued { state: QueueState },
    Sent { ends: Time, waited: Span },
    Lost(Loss),
    InnerDropped(Reason),
}

impl Opening {
    fn of(load: &Load) -> Box<Self> {
        let entries = load.bundle.entries().iter();
        let inside = entries.map(|entry| {
            let packet = entry.packet();
            let part = packet.map_or(Part::Whole, queue::Packet::part);
            let header = packet.filter(|_| !matches!(part, Part::Rest { .. }));
            OpenedEntry {
                header: header.map(|packet| packet.header),
                part,
                size: entry.packed(),
                waited: entry.waited(),
            }
        });
        Box::new(Self {
            number: load.number,
            ingress: load.ingress,
            egress: load.egress,
            tick: load.bundle.tick(),
            inside: inside.collect(),
        })
    }
}

impl LinkStats {
    /// Statistics with averages until `end`, with notes of depth `looks` for a tracer.
    pub(crate) fn new(end: Time, looks: TraceDepth) -> Self {
        Self {
            averages: Averages::new(end),
            beyond: 0,
            gone: Vec::new(),
            notes: (looks != TraceDepth::Off).then(Vec::new),
            opens: looks == TraceDepth::Inner,
        }
    }

    /// The averages.
    pub(crate) const fn averages(&mut self) -> &mut Averages {
        &mut self.averages
    }

    /// Packets in bundles that the queue dropped whole, beyond the first of each.
    pub(crate) const fn beyond(&self) -> i64 {
        self.beyond
    }

    /// Headers of lost packets that were not removed yet.
    pub(crate) const fn gone(&mut self) -> &mut Vec<(Header, bool)> {
        &mut self.gone
    }

    /// The notes since the last [`LinkStats::put_back`].
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the memory of `notes` for reuse.
    pub(crate) fn put_back(&mut self, mut notes: Vec<Note>) {
        notes.clear();
        if self.notes.is_some() {
            self.notes = Some(notes);
        }
    }

    fn note(&mut self, packet: &Packet, number: u64, at: Time, what: EventKind) {
        let opens = self.opens && !matches!(what, EventKind::InnerDropped(_));
        if let Some(notes) = &mut self.notes {
            let load = packet.load().filter(|_| opens);
            notes.push(Note {
                packet: packet.header,
                at,
                what,
                live: packet.live(),
                number,
                opened: load.map(Opening::of),
            });
        }
    }

    /// Records a packet that will not be delivered, with all packets in it.
    fn give_up(&mut self, packet: &Packet, by_queue: bool) {
        // For a bundle, the sources of its packets are notified instead.
        let notifies = by_queue && !packet.is_bundle();
        self.gone.push((packet.header, notifies));
        if let Some(load) = packet.load() {
            let inside = load.headers().map(|header| (header, by_queue));
            self.gone.extend(inside);
        }
    }
}

impl LinkObserver<Packet> for LinkStats {
    fn arrived(&mut self, packet: &Packet, arrival: Entered, state: impl FnOnce() -> QueueState) {
        if self.notes.is_some() {
            let what = EventKind::Queued { state: state() };
            self.note(packet, arrival.number, arrival.at, what);
        }
    }

    fn sent(
        &mut self,
        packet: &Packet,
        arrival: Entered,
        begins: Time,
        ends: Time,
        outcome: PacketOutcome,
    ) {
        self.averages.sent(packet, arrival, begins, ends, outcome);
        if self.notes.is_some() {
            let waited = begins.since(arrival.at).unwrap_or_default();
            self.note(
                packet,
                arrival.number,
                begins,
                EventKind::Sent { ends, waited },
            );
        }
        let lost = match outcome {
            PacketOutcome::Lost => Loss::Chance,
            PacketOutcome::Damaged => Loss::Damage,
            PacketOutcome::Delivered
            | PacketOutcome::Duplicated
            | PacketOutcome::Dropped
            | PacketOutcome::TooBig => return,
        };
        self.note(packet, arrival.number, begins, EventKind::Lost(lost));
        self.give_up(packet, false);
    }

    fn dropped(&mut self, packet: &Packet, arrival: Entered, at: Time, reason: Option<Reason>) {
        self.averages.dropped(packet, arrival, at, reason);
        let why = reason.map_or(Loss::TooBig, Loss::Queue);
        self.note(packet, arrival.number, at, EventKind::Lost(why));
        // An oversized packet is returned to the caller.
        if reason.is_some() {
            self.beyond += i64::from(packet.live()) - 1;
            self.give_up(packet, true);
        }
    }

    fn inner_dropped(&mut self, packet: &Packet, arrival: Entered, at: Time, reason: Reason) {
        self.note(packet, arrival.number, at, EventKind::InnerDropped(reason));
        self.give_up(packet, true);
    }
}

impl Averages {
    /// Averages until `end`.
    pub(crate) const fn new(end: Time) -> Self {
        Self {
            end,
            busy: 0,
            waits: None,
        }
    }

    /// The outcome of a direction with these `counters`.
    pub(crate) fn outcome(&self, counters: Counters) -> DirectionOutcome {
        let share = |sum: u128| match self.end.as_picos() {
            0 => 0.0,
            end => sum as f64 / end as f64,
        };
        let waits = self.waits.as_deref().copied().unwrap_or_default();
        DirectionOutcome {
            counters,
            utilisation: share(self.busy.into()),
            mean_queue: share(waits.packets),
            mean_queue_bytes: share(waits.bytes),
        }
    }

    /// The picoseconds between two times, limited to the averaging period.
    #[inline]
    fn counted(&self, from: Time, to: Time) -> u64 {
        let to = to.min(self.end).as_picos();
        to.saturating_sub(from.as_picos())
    }

    #[inline]
    fn wait(&mut self, size: Bytes, arrival: Time, until: Time) {
        if arrival == until {
            return;
        }
        let waited = u128::from(self.counted(arrival, until));
        let waits = self.waits.get_or_insert_default();
        waits.packets += waited;
        waits.bytes += waited * u128::from(size.get());
    }
}

impl<P: queue::Packet> LinkObserver<P> for Averages {
    #[inline]
    fn sent(
        &mut self,
        packet: &P,
        arrival: Entered,
        begins: Time,
        ends: Time,
        _outcome: PacketOutcome,
    ) {
        self.busy += self.counted(begins, ends);
        if arrival.at != begins {
            self.wait(packet.view().size, arrival.at, begins);
        }
    }

    fn dropped(&mut self, packet: &P, arrival: Entered, at: Time, _reason: Option<Reason>) {
        self.wait(packet.view().size, arrival.at, at);
    }
}
