//! Packets that wait to be aggregated.

use std::collections::{BTreeMap, VecDeque};

use queue::{Aggregator, AggregatorSettings, BadAggregator, Bundle, Packet};
use units::Time;

use super::{Address, Counts, Exit, Outgoing, Transmit};
use crate::timers::Timers;

/// Packets that wait to be aggregated, by exit.
#[derive(Debug)]
pub(super) struct Aggregations<P> {
    all: BTreeMap<Exit, Aggregation<P>>,
    /// Settings for single exits, which differ from those of all.
    own: BTreeMap<Exit, AggregatorSettings>,
    /// Bundles closed because the latest packet did not fit.
    full: VecDeque<Transmit<P>>,
    /// When packets are sent at the latest.
    must: Timers<Exit>,
    /// When they are sent if the link is idle, if that is before.
    may: Timers<Exit>,
    /// The aggregations that [`Aggregations::poll`] has not checked yet, the last one first.
    /// A set would allocate memory for every packet.
    pending: Vec<Exit>,
    /// Whether it is to check all.
    checks_all: bool,
    /// Packets that wait to be aggregated, or to be sent after that.
    waiting: u64,
}

/// Packets to one exit.
#[derive(Debug)]
struct Aggregation<P> {
    aggregate: Aggregator<P>,
    address: Address,
    /// Number of bundles sent.
    sent: u64,
    /// As [`Aggregations::must`] and [`Aggregations::may`] have it.
    must: Option<Time>,
    may: Option<Time>,
}

impl<P: Packet> Aggregations<P> {
    /// Nothing waits.
    pub(super) fn new() -> Self {
        Self {
            all: BTreeMap::new(),
            own: BTreeMap::new(),
            full: VecDeque::new(),
            must: Timers::default(),
            may: Timers::default(),
            pending: Vec::new(),
            checks_all: false,
            waiting: 0,
        }
    }

    /// Takes a packet to `exit`. The `settings` are those of exits without their own.
    pub(super) fn receive(
        &mut self,
        now: Time,
        packet: P,
        (exit, address): (Exit, Address),
        settings: AggregatorSettings,
        counts: &mut Counts,
    ) {
        let own = &self.own;
        let aggregation = self.all.entry(exit).or_insert_with(|| Aggregation {
            aggregate: Aggregator::new(*own.get(&exit).unwrap_or(&settings))
                .expect("the settings were checked"),
            address,
            sent: 0,
            must: None,
            may: None,
        });
        counts.aggregated += 1;
        let pieces = aggregation.push(now, exit, (packet, now), counts, &mut self.full);
        self.waiting += 1 + pieces;
        aggregation.renew(exit, &mut self.must, &mut self.may);
        self.check(exit);
    }

    /// See [`super::Edge::set_aggregate`].
    pub(super) fn set_aggregate(
        &mut self,
        now: Time,
        exit: Exit,
        settings: AggregatorSettings,
        counts: &mut Counts,
    ) -> Result<(), BadAggregator> {
        settings.check()?;
        self.own.insert(exit, settings);
        if let Some(aggregation) = self.all.get_mut(&exit) {
            let anew = Aggregator::new(settings)?;
            let before = std::mem::replace(&mut aggregation.aggregate, anew);
            for (packet, came) in before.into_waiting() {
                self.waiting += aggregation.push(now, exit, (packet, came), counts, &mut self.full);
            }
            aggregation.renew(exit, &mut self.must, &mut self.may);
            self.check(exit);
        }
        Ok(())
    }

    /// Sends what is aggregated with the next calls of [`Aggregations::poll`].
    pub(super) fn flush(&mut self, now: Time, counts: &mut Counts) {
        for (exit, aggregation) in &mut self.all {
            if let Some(bundle) = aggregation.aggregate.flush(now) {
                let transmit = aggregation.send(*exit, bundle, counts);
                self.full.push_back(transmit);
            }
            aggregation.renew(*exit, &mut self.must, &mut self.may);
        }
    }

    /// Makes [`Aggregations::poll`] check all waiting packets.
    pub(super) const fn check_all(&mut self) {
        self.checks_all = true;
    }

    /// The next packet or bundle to send at `now`; `free_at` as of
    /// [`super::Edge::poll_transmit`].
    pub(super) fn poll(
        &mut self,
        now: Time,
        mut free_at: impl FnMut(Exit) -> Time,
        counts: &mut Counts,
    ) -> Option<Transmit<P>> {
        let transmit = match self.full.pop_front() {
            Some(full) => full,
            None => self.poll_due(now, &mut free_at, counts)?,
        };
        self.waiting -= match &transmit {
            Transmit::Bundle(outgoing) => u64::from(outgoing.bundle.live()),
            Transmit::Bare(_) | Transmit::Released(_) => 1,
        };
        Some(transmit)
    }

    fn poll_due(
        &mut self,
        now: Time,
        free_at: &mut impl FnMut(Exit) -> Time,
        counts: &mut Counts,
    ) -> Option<Transmit<P>> {
        if std::mem::take(&mut self.checks_all) {
            let idle = self.may.due(now).filter(|exit| free_at(*exit) <= now);
            self.pending.extend(self.must.due(now).chain(idle));
            self.pending.sort_unstable_by(|one, other| other.cmp(one));
            self.pending.dedup();
        }
        while let Some(exit) = self.pending.last().copied() {
            if let Some(aggregation) = self.all.get_mut(&exit)
                && aggregation
                    .due(|| free_at(exit))
                    .is_some_and(|due| due <= now)
                && let Some(bundle) = aggregation.aggregate.flush(now)
            {
                aggregation.renew(exit, &mut self.must, &mut self.may);
                return Some(aggregation.send(exit, bundle, counts));
            }
            self.pending.pop();
        }
        None
    }

    /// When the next packets are sent.
    pub(super) fn next_timeout(&self, mut free_at: impl FnMut(Exit) -> Time) -> Option<Time> {
        let mut next = self.must.first();
        for (may, exit) in self.may.iter() {
            if next.is_some_and(|next| next <= may) {
                break;
            }
            let idle = may.max(free_at(exit));
            next = Some(next.map_or(idle, |next| next.min(idle)));
        }
        next
    }

    /// The same by a look at all.
    #[cfg(test)]
    pub(super) fn next_by_looking(&self, free_at: impl Fn(Exit) -> Time) -> Option<Time> {
        let due = self.all.iter().filter_map(|(exit, one)| {
            let idle = one.aggregate.due_on_idle_link();
            let must = one.aggregate.due();
            let idle = idle.filter(|_| idle != must);
            [must, idle.map(|idle| idle.max(free_at(*exit)))]
                .into_iter()
                .flatten()
                .min()
        });
        due.min()
    }

    /// The number of packets that wait to be aggregated, or to be sent after that.
    pub(super) const fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Makes [`Aggregations::poll`] check the packets to `exit`.
    fn check(&mut self, exit: Exit) {
        let place = self.pending.binary_search_by(|other| exit.cmp(other));
        if let Err(place) = place {
            self.pending.insert(place, exit);
        }
    }
}

impl<P: Packet> Aggregation<P> {
    /// The time at which the packets are sent: at the deadline, or earlier if the
    /// link is idle.
    fn due(&self, free_at: impl FnOnce() -> Time) -> Option<Time> {
        let idle = self.may.map(|may| may.max(free_at()));
        [self.must, idle].into_iter().flatten().min()
    }

    /// Enters when its packets are sent.
    fn renew(&mut self, exit: Exit, must: &mut Timers<Exit>, may: &mut Timers<Exit>) {
        let due = self.aggregate.due();
        let idle = self.aggregate.due_on_idle_link();
        let idle = idle.filter(|_| idle != due);
        must.set(exit, &mut self.must, due);
        may.set(exit, &mut self.may, idle);
    }

    /// Lets a packet wait that came before. What has no more room for it goes to `full`.
    /// Returns the number of pieces that cutting added.
    fn push(
        &mut self,
        now: Time,
        exit: Exit,
        (packet, came): (P, Time),
        counts: &mut Counts,
        full: &mut VecDeque<Transmit<P>>,
    ) -> u64 {
        let Self {
            aggregate,
            address,
            sent,
            ..
        } = self;
        let before = aggregate.len() as u64 + 1;
        let mut gone = 0;
        aggregate.push_late(now, packet, came, |bundle| {
            gone += u64::from(bundle.live());
            full.push_back(transmit(bundle, (exit, *address), sent, counts));
        });
        let pieces = gone + aggregate.len() as u64 - before;
        counts.pieces += pieces;
        pieces
    }

    /// Counts `bundle` and wraps it for sending.
    fn send(&mut self, exit: Exit, bundle: Bundle<P>, counts: &mut Counts) -> Transmit<P> {
        transmit(bundle, (exit, self.address), &mut self.sent, counts)
    }
}

/// Counts `bundle`, before which `sent` others went to the same place, and wraps it for
/// sending.
fn transmit<P: Packet>(
    bundle: Bundle<P>,
    (exit, address): (Exit, Address),
    sent: &mut u64,
    counts: &mut Counts,
) -> Transmit<P> {
    let bundle = match bundle.into_bare() {
        Ok(packet) => {
            counts.bare += 1;
            return Transmit::Bare(packet);
        }
        Err(bundle) => bundle,
    };
    counts.bundles += 1;
    counts.bundled += u64::from(bundle.live());
    *sent += 1;
    Transmit::Bundle(Outgoing {
        bundle,
        exit,
        address,
        number: *sent - 1,
    })
}
