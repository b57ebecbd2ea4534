//! One direction of a link in the network, and its books.

use proto::link::{Fate, Found, Link, Settings, Witness};
use queue::{Packet as _, Reason};
use units::{Bytes, Framing, Span, Time};

use crate::packet::Packet;
use crate::{Loss, WayOutcome};

/// A direction of a link and the node at its far end.
pub(crate) struct Way {
    pub(crate) link: Link<Packet, Account>,
    /// The node at the far end.
    pub(crate) to: usize,
    /// The largest IP packet that it carries.
    pub(crate) mtu: u32,
    framing: Framing,
    /// Its link's place in the scenario, and its direction.
    pub(crate) place: (usize, usize),
}

/// What a way's witness writes down.
pub(crate) struct Account {
    /// The instant to which averages go.
    end: Time,
    busy: u64,
    /// Picoseconds times packets that waited, and times their octets.
    waited: u128,
    waited_octets: u128,
    /// Packets that will not come out.
    gone: Vec<Packet>,
    /// Kept only while somebody watches.
    notes: Option<Vec<Note>>,
}

/// Something that happened to a packet on a way.
pub(crate) struct Note {
    pub(crate) packet: Packet,
    pub(crate) at: Time,
    pub(crate) what: What,
}

/// What happened.
pub(crate) enum What {
    Queued { found: Found },
    Sent { ends: Time, waited: Span },
    Lost(Loss),
}

/// The largest packet of a link; `u32::MAX` where it carries any.
pub(crate) fn mtu(settings: &Settings) -> u32 {
    settings.largest_packet.map_or(u32::MAX, |largest| {
        u32::try_from(largest.get()).unwrap_or(u32::MAX)
    })
}

/// The framing of a link.
pub(crate) const fn framing(settings: &Settings) -> Framing {
    match settings.ethernet {
        true => Framing::Ethernet,
        false => Framing::None,
    }
}

impl Way {
    /// A way to node `to`.
    pub(crate) fn new(
        link: Link<Packet, Account>,
        settings: &Settings,
        to: usize,
        place: (usize, usize),
    ) -> Self {
        Self {
            link,
            to,
            mtu: mtu(settings),
            framing: framing(settings),
            place,
        }
    }

    /// The octets of the frame around a packet.
    pub(crate) fn frame(&self, packet: u32) -> u32 {
        let frame = self.framing.frame_size(Bytes::new(packet.into()));
        u32::try_from(frame.get()).unwrap_or(u32::MAX)
    }

    /// What it carried.
    pub(crate) fn outcome(&mut self) -> WayOutcome {
        let counters = self.link.counters();
        let account = self.link.witness();
        #[expect(clippy::cast_precision_loss, reason = "figures for people")]
        let share = |sum: u128| match account.end.as_picos() {
            0 => 0.0,
            end => sum as f64 / end as f64,
        };
        WayOutcome {
            counters,
            utilisation: share(account.busy.into()),
            mean_queue: share(account.waited),
            mean_queue_bytes: share(account.waited_octets),
        }
    }
}

impl Account {
    /// Books that average until `end`, with notes for a watch or without.
    pub(crate) fn new(end: Time, notes: bool) -> Self {
        Self {
            end,
            busy: 0,
            waited: 0,
            waited_octets: 0,
            gone: Vec::new(),
            notes: notes.then(Vec::new),
        }
    }

    /// The packets that were lost and not yet taken away.
    pub(crate) const fn gone(&mut self) -> &mut Vec<Packet> {
        &mut self.gone
    }

    /// The notes since they were last put back.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Gives the memory of `notes` back.
    pub(crate) fn put_back(&mut self, mut notes: Vec<Note>) {
        notes.clear();
        if self.notes.is_some() {
            self.notes = Some(notes);
        }
    }

    fn note(&mut self, packet: &Packet, at: Time, what: What) {
        if let Some(notes) = &mut self.notes {
            notes.push(Note {
                packet: *packet,
                at,
                what,
            });
        }
    }

    /// The picoseconds between two instants that averages count.
    fn counted(&self, from: Time, to: Time) -> u64 {
        let span = to.min(self.end).since(from.min(self.end));
        span.unwrap_or_default().as_picos()
    }

    fn wait(&mut self, packet: &Packet, arrival: Time, until: Time) {
        if arrival == until {
            return;
        }
        let waited = u128::from(self.counted(arrival, until));
        self.waited += waited;
        self.waited_octets += waited * u128::from(packet.view().size.get());
    }
}

impl Witness<Packet> for Account {
    fn arrived(&mut self, packet: &Packet, at: Time, found: impl FnOnce() -> Found) {
        if self.notes.is_some() {
            self.note(packet, at, What::Queued { found: found() });
        }
    }

    fn sent(&mut self, packet: &Packet, arrival: Time, begins: Time, ends: Time, fate: Fate) {
        self.busy += self.counted(begins, ends);
        self.wait(packet, arrival, begins);
        if self.notes.is_some() {
            let waited = begins.since(arrival).unwrap_or_default();
            self.note(packet, begins, What::Sent { ends, waited });
        }
        let lost = match fate {
            Fate::Lost => Loss::Chance,
            Fate::Damaged => Loss::Damage,
            Fate::Delivered | Fate::Duplicated | Fate::Dropped | Fate::TooBig => return,
        };
        self.note(packet, begins, What::Lost(lost));
        self.gone.push(*packet);
    }

    fn dropped(&mut self, packet: &Packet, arrival: Time, at: Time, reason: Option<Reason>) {
        self.wait(packet, arrival, at);
        let why = reason.map_or(Loss::TooBig, Loss::Queue);
        self.note(packet, at, What::Lost(why));
        // One that is too big comes back to who sent it.
        if reason.is_some() {
            self.gone.push(*packet);
        }
    }
}
