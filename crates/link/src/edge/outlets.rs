//! Packets that wait to leave the domain.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use queue::{Packet, Release};
use units::{Span, Time};

use crate::timers::Timers;

/// Packets that wait to leave the domain, by the origin of their bundles.
#[derive(Debug)]
pub(super) struct Outlets<P> {
    shaping: bool,
    all: BTreeMap<u64, Outlet<P>>,
    /// When the first packet of each origin leaves, except of those in `due`.
    timers: Timers<u64>,
    /// Origins whose first packet was due when it was looked at.
    due: BTreeSet<u64>,
    /// Whether [`Outlets::release`] has something to look at.
    releasing: bool,
    /// Packets that wait.
    waiting: u64,
}

/// Packets unpacked from the bundles of one origin.
#[derive(Debug)]
struct Outlet<P> {
    release: Release,
    /// Packets in order, each with the time of its release.
    waiting: VecDeque<(Time, P)>,
    /// As [`Outlets::timers`] has it.
    timer: Option<Time>,
}

impl<P: Packet> Outlets<P> {
    /// Nothing waits. With `shaping`, packets leave with the gaps that they had at the
    /// ingress.
    pub(super) fn new(shaping: bool) -> Self {
        Self {
            shaping,
            all: BTreeMap::new(),
            timers: Timers::default(),
            due: BTreeSet::new(),
            releasing: false,
            waiting: 0,
        }
    }

    /// Takes the packets of a bundle, each with its waiting time. Returns their number.
    pub(super) fn receive(
        &mut self,
        now: Time,
        packets: impl Iterator<Item = (P, Span)>,
        origin: u64,
    ) -> u64 {
        let shaping = self.shaping;
        let outlet = self.all.entry(origin).or_insert_with(|| Outlet {
            release: Release::new(shaping),
            waiting: VecDeque::new(),
            timer: None,
        });
        let before = outlet.waiting.len();
        let packets = outlet.release.schedule(now, packets);
        outlet.waiting.extend(packets);
        let came = (outlet.waiting.len() - before) as u64;
        self.waiting += came;
        if !self.due.contains(&origin) {
            let first = outlet.first();
            self.timers.set(origin, &mut outlet.timer, first);
        }
        self.releasing = true;
        came
    }

    /// Makes [`Outlets::release`] look at all that waits.
    pub(super) const fn check(&mut self) {
        self.releasing = true;
    }

    /// The next packet that leaves by `now`: those of the lowest origin first.
    pub(super) fn release(&mut self, now: Time) -> Option<P> {
        if !self.releasing {
            return None;
        }
        self.due.extend(self.timers.due(now));
        while let Some(origin) = self.due.first().copied() {
            let outlet = self.all.get_mut(&origin)?;
            if let Some((_, packet)) = outlet.waiting.pop_front_if(|(at, _)| *at <= now) {
                self.timers.set(origin, &mut outlet.timer, None);
                self.waiting -= 1;
                return Some(packet);
            }
            self.due.pop_first();
            let first = outlet.first();
            self.timers.set(origin, &mut outlet.timer, first);
        }
        self.releasing = false;
        None
    }

    /// When the next packet leaves.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let due = self.due.iter().filter_map(|origin| self.all.get(origin));
        due.filter_map(Outlet::first)
            .chain(self.timers.first())
            .min()
    }

    /// The same by a look at all.
    #[cfg(test)]
    pub(super) fn next_by_looking(&self) -> Option<Time> {
        self.all.values().filter_map(Outlet::first).min()
    }

    /// The number of packets that wait.
    pub(super) const fn waiting(&self) -> u64 {
        self.waiting
    }
}

impl<P> Outlet<P> {
    /// When its first packet leaves.
    fn first(&self) -> Option<Time> {
        Some(self.waiting.front()?.0)
    }
}
