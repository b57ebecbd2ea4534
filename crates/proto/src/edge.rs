//! An edge of a domain: packets are gathered into bundles where they enter it
//! and let out again where they leave it [Salyers2007].
//!
//! An [`Edge`] does no I/O and has no clock. Its driver, the simulator or a
//! gateway with interfaces,
//!
//! 1. looks up where a packet leaves the domain ([`longest_match`]) and hands the
//!    packet to [`Edge::receive`];
//! 2. hands a bundle whose exit this edge is to [`Edge::receive_bundle`];
//! 3. calls [`Edge::handle_timeout`] at the instant of [`Edge::next_timeout`];
//! 4. takes what goes on from [`Edge::poll_transmit`] after each of these calls,
//!    until there is nothing more.
//!
//! The instants that a driver passes never decrease.

mod labels;
mod prefix;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use queue::{BadGather, Bundle, Gather, GatherSettings, Packet, Release};
use units::Time;

pub use labels::{Hop, Labels};
pub use prefix::{Exit, Prefix, longest_match};

/// The settings of an edge.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of this edge, as [`Exit::egress`] has it.
    pub number: usize,
    /// How packets are gathered that enter the domain here; `None` where none are.
    pub gather: Option<GatherSettings>,
    /// How bundles are addressed.
    pub addressing: Addressing,
    /// Whether packets leave bundles with the gaps with which they came
    /// [Mulahuwaish s2.B].
    pub shaping: bool,
}

/// How an edge addresses its bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// To the edge that unpacks them.
    Egress,
    /// To the destination of their first packet, which is behind that edge
    /// [Mulahuwaish s2.A].
    FirstPacket,
    /// By a label for each exit [RFC3031]. Packets to an exit without a label
    /// are not gathered.
    Label(BTreeMap<Exit, u32>),
}

/// The outer address of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// That of the edge that unpacks it.
    Egress,
    /// That of its first packet.
    FirstPacket,
    /// A label.
    Label(u32),
}

/// A bundle that an edge sends into the domain.
#[derive(Debug)]
pub struct Outgoing<P> {
    /// The packets.
    pub bundle: Bundle<P>,
    /// Where they leave the domain.
    pub exit: Exit,
    /// The outer address.
    pub address: Address,
    /// How many bundles went to the same exit before.
    pub number: u64,
}

/// A packet or a bundle that goes on from an edge.
#[derive(Debug)]
pub enum Transmit<P> {
    /// A bundle, into the domain.
    Bundle(Outgoing<P>),
    /// A packet that was gathered with no other, into the domain.
    Bare(P),
    /// A packet out of a bundle, out of the domain.
    Released(P),
}

/// The packets and bundles of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came to be gathered.
    pub gathered: u64,
    /// Of these, those that went on alone.
    pub bare: u64,
    /// Bundles that were sent.
    pub bundles: u64,
    /// Packets in them.
    pub bundled: u64,
    /// Bundles that were unpacked here.
    pub unpacked: u64,
    /// Packets that were alive in them.
    pub survivors: u64,
}

/// A router at the border of a domain.
#[derive(Debug)]
pub struct Edge<P> {
    settings: Settings,
    /// Packets that wait to be gathered, by where they leave.
    gatherings: BTreeMap<Exit, Gathering<P>>,
    /// Packets that wait to leave the domain, by the origin of their bundles.
    outlets: BTreeMap<u64, Outlet<P>>,
    /// Bundles that had no room for the packet that came last.
    full: VecDeque<Transmit<P>>,
    /// The gatherings that [`Edge::poll_transmit`] has still to look at.
    pending: BTreeSet<Exit>,
    /// Whether it has still to look at the outlets.
    releasing: bool,
    counts: Counts,
}

/// Packets that leave at one exit.
#[derive(Debug)]
struct Gathering<P> {
    gather: Gather<P>,
    address: Address,
    /// Bundles that were sent.
    sent: u64,
}

/// Packets out of the bundles of one origin.
#[derive(Debug)]
struct Outlet<P> {
    release: Release,
    /// In order, each with the instant at which it goes on.
    waiting: VecDeque<(Time, P)>,
}

impl<P: Packet> Edge<P> {
    /// An edge at which nothing waits.
    ///
    /// # Errors
    /// Where packets cannot be gathered as the settings say.
    pub fn new(settings: Settings) -> Result<Self, BadGather> {
        if let Some(gather) = &settings.gather {
            gather.check()?;
        }
        Ok(Self {
            settings,
            gatherings: BTreeMap::new(),
            outlets: BTreeMap::new(),
            full: VecDeque::new(),
            pending: BTreeSet::new(),
            releasing: false,
            counts: Counts::default(),
        })
    }

    /// Takes a packet that leaves the domain at `exit`. Returns the packet where
    /// it is not gathered: its exit is unknown, is this edge or has no label, or
    /// this edge gathers nothing.
    pub fn receive(&mut self, now: Time, packet: P, exit: Option<Exit>) -> Option<P> {
        let exit = exit.filter(|exit| exit.egress != self.settings.number);
        let address = exit.and_then(|exit| self.address(exit));
        let (Some(settings), Some(exit), Some(address)) = (self.settings.gather, exit, address)
        else {
            return Some(packet);
        };
        let gathering = self.gatherings.entry(exit).or_insert_with(|| Gathering {
            gather: Gather::new(settings).expect("the settings were checked"),
            address,
            sent: 0,
        });
        let gone = gathering.gather.push(now, packet);
        self.counts.gathered += 1;
        if let Some(bundle) = gone {
            let transmit = gathering.send(exit, bundle, &mut self.counts);
            self.full.push_back(transmit);
        }
        self.pending.insert(exit);
        None
    }

    /// Takes a bundle that came to be unpacked here. `origin` is a number of its
    /// sender: packets of one origin leave in order, and shaping keeps their gaps.
    pub fn receive_bundle(&mut self, now: Time, bundle: Bundle<P>, origin: u64) {
        self.counts.unpacked += 1;
        self.counts.survivors += u64::from(bundle.live());
        let shaping = self.settings.shaping;
        let outlet = self.outlets.entry(origin).or_insert_with(|| Outlet {
            release: Release::new(shaping),
            waiting: VecDeque::new(),
        });
        outlet.waiting.extend(outlet.release.unpack(now, bundle));
        self.releasing = true;
    }

    /// Lets [`Edge::poll_transmit`] look at all that waits.
    pub fn handle_timeout(&mut self) {
        self.pending.extend(self.gatherings.keys());
        self.releasing = true;
    }

    /// The next that goes on at `now`. `free_at` says from when on the link
    /// toward an exit has nothing else to send; it is asked again after each
    /// bundle.
    pub fn poll_transmit(
        &mut self,
        now: Time,
        mut free_at: impl FnMut(Exit) -> Time,
    ) -> Option<Transmit<P>> {
        if let Some(full) = self.full.pop_front() {
            return Some(full);
        }
        while let Some(exit) = self.pending.first().copied() {
            if let Some(gathering) = self.gatherings.get_mut(&exit)
                && gathering
                    .due(|| free_at(exit))
                    .is_some_and(|due| due <= now)
                && let Some(bundle) = gathering.gather.flush(now)
            {
                return Some(gathering.send(exit, bundle, &mut self.counts));
            }
            self.pending.remove(&exit);
        }
        self.release(now).map(Transmit::Released)
    }

    /// The packets and bundles so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// When [`Edge::handle_timeout`] is to be called next, once
    /// [`Edge::poll_transmit`] has nothing more; `free_at` as there.
    pub fn next_timeout(&self, mut free_at: impl FnMut(Exit) -> Time) -> Option<Time> {
        let gatherings = self.gatherings.iter();
        let gatherings = gatherings.filter_map(|(exit, one)| one.due(|| free_at(*exit)));
        let outlets = self.outlets.values();
        let outlets = outlets.filter_map(|outlet| Some(outlet.waiting.front()?.0));
        gatherings.chain(outlets).min()
    }

    /// The address of bundles to `exit`; `None` where they would need a label
    /// that there is not.
    pub fn address(&self, exit: Exit) -> Option<Address> {
        match &self.settings.addressing {
            Addressing::Egress => Some(Address::Egress),
            Addressing::FirstPacket => Some(Address::FirstPacket),
            Addressing::Label(labels) => labels.get(&exit).copied().map(Address::Label),
        }
    }

    /// The next packet that leaves the domain by `now`.
    fn release(&mut self, now: Time) -> Option<P> {
        if !self.releasing {
            return None;
        }
        for outlet in self.outlets.values_mut() {
            if let Some((_, packet)) = outlet.waiting.pop_front_if(|(at, _)| *at <= now) {
                return Some(packet);
            }
        }
        self.releasing = false;
        // The last packet of an empty outlet has gone on, so that the next bundle
        // would find a new outlet in the same state.
        self.outlets.retain(|_, outlet| !outlet.waiting.is_empty());
        None
    }
}

impl<P: Packet> Gathering<P> {
    /// When its packets go: when they must, or while the link is idle.
    fn due(&self, free_at: impl FnOnce() -> Time) -> Option<Time> {
        let (must, may) = (self.gather.due(), self.gather.due_on_idle_link());
        if must == may {
            return must;
        }
        let may = may.map(|may| may.max(free_at()));
        [must, may].into_iter().flatten().min()
    }

    /// Counts `bundle` and makes it what is sent.
    fn send(&mut self, exit: Exit, bundle: Bundle<P>, counts: &mut Counts) -> Transmit<P> {
        let bundle = match bundle.into_bare() {
            Ok(packet) => {
                counts.bare += 1;
                return Transmit::Bare(packet);
            }
            Err(bundle) => bundle,
        };
        counts.bundles += 1;
        counts.bundled += u64::from(bundle.live());
        self.sent += 1;
        Transmit::Bundle(Outgoing {
            bundle,
            exit,
            address: self.address,
            number: self.sent - 1,
        })
    }
}

#[cfg(test)]
mod tests;
