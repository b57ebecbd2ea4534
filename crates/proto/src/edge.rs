//! A domain edge: it gathers packets that enter the domain into bundles, and unpacks
//! bundles whose packets leave the domain [Salyers2007].
//!
//! An [`Edge`] does no I/O and has no clock. Its driver is the simulator or a gateway
//! with network interfaces. It
//!
//! 1. looks up the exit at which a packet leaves the domain ([`longest_match`]), and
//!    hands the packet to [`Edge::receive`];
//! 2. hands a bundle to [`Edge::receive_bundle`] if this edge is its exit;
//! 3. calls [`Edge::handle_timeout`] at the instant of [`Edge::next_timeout`];
//! 4. sends the output of [`Edge::poll_transmit`] after each of these calls, until
//!    there is none.
//!
//! The instants that the driver passes never decrease.

mod labels;
mod prefix;

use std::collections::{BTreeMap, VecDeque};

use queue::{BadGather, Bundle, Gather, GatherSettings, Packet, Release};
use units::{Span, Time};

pub use labels::{Hop, Labels};
pub use prefix::{Exit, Prefix, longest_match};

/// The settings of an edge.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of this edge, as in [`Exit::egress`].
    pub number: usize,
    /// Settings for gathering packets that enter the domain here; `None`: packets are
    /// not gathered.
    pub gather: Option<GatherSettings>,
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
    /// gathered.
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
    /// Packets that were received for gathering.
    pub gathered: u64,
    /// Gathered packets that were sent without a bundle.
    pub bare: u64,
    /// Bundles sent.
    pub bundles: u64,
    /// Packets in those bundles.
    pub bundled: u64,
    /// Bundles unpacked.
    pub unpacked: u64,
    /// Packets found in the unpacked bundles.
    pub survivors: u64,
}

/// A router at the border of a domain.
#[derive(Debug)]
pub struct Edge<P> {
    settings: Settings,
    /// Packets that wait to be gathered, by exit.
    gatherings: BTreeMap<Exit, Gathering<P>>,
    /// Packets that wait to leave the domain, by the origin of their bundles.
    outlets: BTreeMap<u64, Outlet<P>>,
    /// Bundles closed because the latest packet did not fit.
    full: VecDeque<Transmit<P>>,
    /// Settings for single exits, which differ from those of all.
    own: BTreeMap<Exit, GatherSettings>,
    /// The gatherings that [`Edge::poll_transmit`] has not checked yet, the last one
    /// first. A set would allocate memory for every packet.
    pending: Vec<Exit>,
    /// Whether it has not checked the outlets yet.
    releasing: bool,
    counts: Counts,
}

/// Packets to one exit.
#[derive(Debug)]
struct Gathering<P> {
    gather: Gather<P>,
    address: Address,
    /// Number of bundles sent.
    sent: u64,
}

/// Packets unpacked from the bundles of one origin.
#[derive(Debug)]
struct Outlet<P> {
    release: Release,
    /// Packets in order, each with the instant of its release.
    waiting: VecDeque<(Time, P)>,
}

impl<P: Packet> Edge<P> {
    /// An edge without any packets.
    ///
    /// # Errors
    /// If the settings do not allow gathering.
    pub fn new(settings: Settings) -> Result<Self, BadGather> {
        if let Some(gather) = &settings.gather {
            gather.check()?;
        }
        Ok(Self {
            settings,
            gatherings: BTreeMap::new(),
            outlets: BTreeMap::new(),
            full: VecDeque::new(),
            own: BTreeMap::new(),
            pending: Vec::new(),
            releasing: false,
            counts: Counts::default(),
        })
    }

    /// Takes a packet that leaves the domain at `exit`. Returns the packet if it is not
    /// gathered: its exit is unknown, is this edge or has no label, or this edge does
    /// not gather.
    pub fn receive(&mut self, now: Time, packet: P, exit: Option<Exit>) -> Option<P> {
        let exit = exit.filter(|exit| exit.egress != self.settings.number);
        let address = exit.and_then(|exit| self.address(exit));
        let (Some(settings), Some(exit), Some(address)) = (self.settings.gather, exit, address)
        else {
            return Some(packet);
        };
        let own = &self.own;
        let gathering = self.gatherings.entry(exit).or_insert_with(|| Gathering {
            gather: Gather::new(*own.get(&exit).unwrap_or(&settings))
                .expect("the settings were checked"),
            address,
            sent: 0,
        });
        let gone = gathering.gather.push(now, packet);
        self.counts.gathered += 1;
        if let Some(bundle) = gone {
            let transmit = gathering.send(exit, bundle, &mut self.counts);
            self.full.push_back(transmit);
        }
        self.check(exit);
        None
    }

    /// Changes the settings for gathering packets to `exit`, whose path MTU or headers
    /// differ from those of others. Waiting packets are gathered anew, as if they had
    /// come under these settings; one that is larger than a bundle is sent alone.
    ///
    /// # Errors
    /// If the settings do not allow gathering; then nothing changes.
    pub fn set_gather(
        &mut self,
        now: Time,
        exit: Exit,
        settings: GatherSettings,
    ) -> Result<(), BadGather> {
        settings.check()?;
        self.own.insert(exit, settings);
        if let Some(gathering) = self.gatherings.get_mut(&exit) {
            let anew = Gather::new(settings)?;
            let before = std::mem::replace(&mut gathering.gather, anew);
            for (packet, came) in before.into_waiting() {
                if let Some(bundle) = gathering.gather.push_late(now, packet, came) {
                    let transmit = gathering.send(exit, bundle, &mut self.counts);
                    self.full.push_back(transmit);
                }
            }
            self.check(exit);
        }
        Ok(())
    }

    /// Takes a bundle to be unpacked here. `origin` identifies its sender: packets of
    /// one origin leave in order, and shaping keeps their gaps.
    pub fn receive_bundle(&mut self, now: Time, bundle: Bundle<P>, origin: u64) {
        self.receive_packets(now, bundle.unpack(), origin);
    }

    /// The same for the packets that are left in a bundle, each with how long it waited
    /// at the ingress.
    pub fn receive_packets(
        &mut self,
        now: Time,
        packets: impl Iterator<Item = (P, Span)>,
        origin: u64,
    ) {
        let shaping = self.settings.shaping;
        let outlet = self.outlets.entry(origin).or_insert_with(|| Outlet {
            release: Release::new(shaping),
            waiting: VecDeque::new(),
        });
        let before = outlet.waiting.len();
        let packets = outlet.release.schedule(now, packets);
        outlet.waiting.extend(packets);
        self.counts.unpacked += 1;
        self.counts.survivors += (outlet.waiting.len() - before) as u64;
        self.releasing = true;
    }

    /// Sends what is gathered with the next calls of [`Edge::poll_transmit`], whatever
    /// the trigger says.
    pub fn flush(&mut self, now: Time) {
        for (exit, gathering) in &mut self.gatherings {
            if let Some(bundle) = gathering.gather.flush(now) {
                let transmit = gathering.send(*exit, bundle, &mut self.counts);
                self.full.push_back(transmit);
            }
        }
    }

    /// How many packets wait to be gathered, or to be sent after that.
    pub fn gathering(&self) -> u64 {
        let waiting = self.gatherings.values().map(|one| one.gather.len() as u64);
        let full = self.full.iter().map(|transmit| match transmit {
            Transmit::Bundle(outgoing) => u64::from(outgoing.bundle.live()),
            Transmit::Bare(_) => 1,
            Transmit::Released(_) => 0,
        });
        waiting.chain(full).sum()
    }

    /// How many packets wait to leave the domain.
    pub fn leaving(&self) -> u64 {
        let outlets = self.outlets.values();
        outlets.map(|outlet| outlet.waiting.len() as u64).sum()
    }

    /// Makes [`Edge::poll_transmit`] check all waiting packets.
    pub fn handle_timeout(&mut self) {
        self.pending.clear();
        self.pending.extend(self.gatherings.keys().rev());
        self.releasing = true;
    }

    /// The next packet or bundle to send at `now`. `free_at` returns the instant from
    /// which the link toward an exit is idle; it is called again after each bundle.
    pub fn poll_transmit(
        &mut self,
        now: Time,
        mut free_at: impl FnMut(Exit) -> Time,
    ) -> Option<Transmit<P>> {
        if let Some(full) = self.full.pop_front() {
            return Some(full);
        }
        while let Some(exit) = self.pending.last().copied() {
            if let Some(gathering) = self.gatherings.get_mut(&exit)
                && gathering
                    .due(|| free_at(exit))
                    .is_some_and(|due| due <= now)
                && let Some(bundle) = gathering.gather.flush(now)
            {
                return Some(gathering.send(exit, bundle, &mut self.counts));
            }
            self.pending.pop();
        }
        self.release(now).map(Transmit::Released)
    }

    /// The counters so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// The instant of the next call of [`Edge::handle_timeout`], valid once
    /// [`Edge::poll_transmit`] has returned `None`; `free_at` as there.
    pub fn next_timeout(&self, mut free_at: impl FnMut(Exit) -> Time) -> Option<Time> {
        let gatherings = self.gatherings.iter();
        let gatherings = gatherings.filter_map(|(exit, one)| one.due(|| free_at(*exit)));
        let outlets = self.outlets.values();
        let outlets = outlets.filter_map(|outlet| Some(outlet.waiting.front()?.0));
        gatherings.chain(outlets).min()
    }

    /// The address of bundles to `exit`; `None` if it needs a label and has none.
    pub fn address(&self, exit: Exit) -> Option<Address> {
        match &self.settings.addressing {
            Addressing::Egress => Some(Address::Egress),
            Addressing::FirstPacket => Some(Address::FirstPacket),
            Addressing::Label(labels) => labels.get(&exit).copied().map(Address::Label),
        }
    }

    /// Makes [`Edge::poll_transmit`] check the packets to `exit`.
    fn check(&mut self, exit: Exit) {
        let place = self.pending.binary_search_by(|other| exit.cmp(other));
        if let Err(place) = place {
            self.pending.insert(place, exit);
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
        None
    }
}

impl<P: Packet> Gathering<P> {
    /// The instant at which the packets are sent: at the deadline, or earlier if the
    /// link is idle.
    fn due(&self, free_at: impl FnOnce() -> Time) -> Option<Time> {
        let (must, may) = (self.gather.due(), self.gather.due_on_idle_link());
        if must == may {
            return must;
        }
        let may = may.map(|may| may.max(free_at()));
        [must, may].into_iter().flatten().min()
    }

    /// Counts `bundle` and wraps it for sending.
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
