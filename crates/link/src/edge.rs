//! A domain edge: it aggregates packets that enter the domain into bundles, and unpacks
//! bundles whose packets leave the domain [Salyers2007].
//!
//! An [`Edge`] does no I/O and has no clock. Its driver is the simulator or a gateway
//! with network interfaces. It
//!
//! 1. looks up the exit at which a packet leaves the domain ([`longest_match`]), and
//!    hands the packet to [`Edge::receive`];
//! 2. hands a bundle to [`Edge::receive_bundle`] if this edge is its exit;
//! 3. calls [`Edge::handle_timeout`] at the time of [`Edge::next_timeout`];
//! 4. sends the output of [`Edge::poll_transmit`] after each of these calls, until
//!    there is none.
//!
//! The times that the driver passes never decrease.

mod aggregations;
mod labels;
mod outlets;
mod prefix;

use std::collections::BTreeMap;

use queue::{AggregatorSettings, BadAggregator, Bundle, Packet, Reassembled, Reassembler};
use units::{Span, Time};

use aggregations::Aggregations;
pub use labels::{Hop, Labels};
use outlets::Outlets;
pub use prefix::{Exit, Prefix, longest_match};

/// The settings of an edge.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of this edge, as in [`Exit::egress`].
    pub number: usize,
    /// Settings for aggregation packets that enter the domain here; `None`: packets are
    /// not aggregated.
    pub aggregate: Option<AggregatorSettings>,
    /// The addressing of bundles.
    pub addressing: Addressing,
    /// Whether packets leave the egress with the gaps that they had at the ingress
    /// [Mulahuwaish s2.B].
    pub shaping: bool,
}

/// The outer destination of bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// The edge that unpacks them.
    Egress,
    /// The destination of their first packet, which is behind that edge
    /// [Mulahuwaish s2.A].
    FirstPacket,
    /// A label for each exit [RFC3031]. Packets to an exit without a label are not
    /// aggregated.
    Label(BTreeMap<Exit, u32>),
}

/// The outer address of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The edge that unpacks it.
    Egress,
    /// The destination of its first packet.
    FirstPacket,
    /// An MPLS label.
    Label(u32),
}

/// A bundle that an edge sends into the domain.
#[derive(Debug)]
pub struct Outgoing<P> {
    /// The packets of the bundle.
    pub bundle: Bundle<P>,
    /// The exit at which the packets leave the domain.
    pub exit: Exit,
    /// The outer address.
    pub address: Address,
    /// Number of bundles sent to the same exit before.
    pub number: u64,
}

/// A packet or a bundle that an edge sends.
#[derive(Debug)]
pub enum Transmit<P> {
    /// A bundle, sent into the domain.
    Bundle(Outgoing<P>),
    /// A single packet without a bundle, sent into the domain.
    Bare(P),
    /// An unpacked packet, sent out of the domain.
    Released(P),
}

/// Counters of the packets and bundles of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that were received for aggregation.
    pub aggregated: u64,
    /// Pieces that cutting added to them: aggregated packets and pieces are sent bare, are
    /// sent in bundles, or wait.
    pub pieces: u64,
    /// Aggregated packets that were sent without a bundle.
    pub bare: u64,
    /// Bundles sent.
    pub bundles: u64,
    /// Packets in those bundles.
    pub bundled: u64,
    /// Bundles unpacked.
    pub unpacked: u64,
    /// Whole packets found in the unpacked bundles.
    pub survivors: u64,
    /// Pieces found in them whose packets stayed incomplete.
    pub incomplete: u64,
}

/// A router at the border of a domain.
#[derive(Debug)]
pub struct Edge<P> {
    settings: Settings,
    aggregations: Aggregations<P>,
    outlets: Outlets<P>,
    /// For each origin, the number of its latest bundle, and the packet that is not whole.
    incomplete: BTreeMap<u64, (u64, Reassembler<P>)>,
    counts: Counts,
}

impl<P: Packet> Edge<P> {
    /// An edge without any packets.
    ///
    /// # Errors
    /// If the settings do not allow aggregation.
    pub fn new(settings: Settings) -> Result<Self, BadAggregator> {
        if let Some(aggregate) = &settings.aggregate {
            aggregate.check()?;
        }
        Ok(Self {
            aggregations: Aggregations::new(),
            outlets: Outlets::new(settings.shaping),
            incomplete: BTreeMap::new(),
            settings,
            counts: Counts::default(),
        })
    }

    /// Takes a packet that leaves the domain at `exit`. Returns the packet if it is not
    /// aggregated: its exit is unknown, is this edge or has no label, or this edge does
    /// not aggregate.
    pub fn receive(&mut self, now: Time, packet: P, exit: Option<Exit>) -> Option<P> {
        let exit = exit.filter(|exit| exit.egress != self.settings.number);
        let address = exit.and_then(|exit| self.address(exit));
        let (Some(settings), Some(exit), Some(address)) = (self.settings.aggregate, exit, address)
        else {
            return Some(packet);
        };
        let place = (exit, address);
        self.aggregations
            .receive(now, packet, place, settings, &mut self.counts);
        None
    }

    /// Changes the settings for aggregation packets to `exit`, whose path MTU or headers
    /// differ from those of others. Waiting packets are aggregated anew, as if they had
    /// come under these settings.
    ///
    /// # Errors
    /// If the settings do not allow aggregation; then nothing changes.
    pub fn set_aggregate(
        &mut self,
        now: Time,
        exit: Exit,
        settings: AggregatorSettings,
    ) -> Result<(), BadAggregator> {
        self.aggregations
            .set_aggregate(now, exit, settings, &mut self.counts)
    }

    /// Takes a bundle to be unpacked here, the one with this number of its `origin`, which
    /// identifies its sender: packets of one origin leave in order, and shaping keeps their
    /// gaps. Pieces of packets that stay incomplete go to `lost`.
    pub fn receive_bundle(
        &mut self,
        now: Time,
        bundle: Bundle<P>,
        (origin, number): (u64, u64),
        mut lost: impl FnMut(P),
    ) {
        let (latest, reassembler) = self.incomplete.entry(origin).or_default();
        let follows = *latest + 1 == number;
        *latest = number;
        let (mut whole, counts) = (Vec::new(), &mut self.counts);
        reassembler.receive(now, follows, bundle.unpack(), |out| match out {
            Reassembled::Whole { packet, waited, .. } => whole.push((packet, waited)),
            Reassembled::Lost { packet, pieces } => {
                counts.incomplete += u64::from(pieces);
                lost(packet);
            }
        });
        self.receive_packets(now, whole.into_iter(), origin);
    }

    /// Takes the whole packets of a bundle, each with how long it waited at the ingress.
    pub fn receive_packets(
        &mut self,
        now: Time,
        packets: impl Iterator<Item = (P, Span)>,
        origin: u64,
    ) {
        self.counts.unpacked += 1;
        self.counts.survivors += self.outlets.receive(now, packets, origin);
    }

    /// Sends what is aggregated with the next calls of [`Edge::poll_transmit`], whatever
    /// the trigger says.
    pub fn flush(&mut self, now: Time) {
        self.aggregations.flush(now, &mut self.counts);
    }

    /// How many packets wait to be aggregated, or to be sent after that.
    pub const fn aggregation(&self) -> u64 {
        self.aggregations.waiting()
    }

    /// How many packets wait to leave the domain.
    pub const fn leaving(&self) -> u64 {
        self.outlets.waiting()
    }

    /// Makes [`Edge::poll_transmit`] check all waiting packets.
    pub const fn handle_timeout(&mut self) {
        self.aggregations.check_all();
        self.outlets.check();
    }

    /// The next packet or bundle to send at `now`. `free_at` returns the time from
    /// which the link toward an exit is idle; it is called again after each bundle.
    pub fn poll_transmit(
        &mut self,
        now: Time,
        free_at: impl FnMut(Exit) -> Time,
    ) -> Option<Transmit<P>> {
        let aggregated = self.aggregations.poll(now, free_at, &mut self.counts);
        aggregated.or_else(|| self.outlets.release(now).map(Transmit::Released))
    }

    /// The counters so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// The time of the next call of [`Edge::handle_timeout`], valid once
    /// [`Edge::poll_transmit`] has returned `None`; `free_at` as there.
    pub fn next_timeout(&self, free_at: impl FnMut(Exit) -> Time) -> Option<Time> {
        let aggregated = self.aggregations.next_timeout(free_at);
        aggregated
            .into_iter()
            .chain(self.outlets.next_timeout())
            .min()
    }

    /// The address of bundles to `exit`; `None` if it needs a label and has none.
    pub fn address(&self, exit: Exit) -> Option<Address> {
        match &self.settings.addressing {
            Addressing::Egress => Some(Address::Egress),
            Addressing::FirstPacket => Some(Address::FirstPacket),
            Addressing::Label(labels) => labels.get(&exit).copied().map(Address::Label),
        }
    }
}

#[cfg(test)]
mod tests;
