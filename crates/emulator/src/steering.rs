//! Controls of an emulator: random streams, records and cross traffic.

use link::{Arrival, Event, Reseed};
use units::{Seed, Time};

use super::link_driver::LinkDriver;
use super::{Cross, Emulator, Observation, direction_seed};
use os::clock;
use os::error::{Error, Result};

impl Emulator {
    /// Restarts all random streams and the faults, as if the emulator had been opened with
    /// `seed` now.
    pub fn reseed(&mut self, seed: Seed) {
        let now = clock::monotonic();
        self.first = None;
        for (number, link) in self.links.iter_mut().enumerate() {
            link.faults.restart(seed);
            for (direction, driver) in link.drivers.iter_mut().enumerate() {
                driver.reseed(now, direction_seed(seed, number, direction));
            }
        }
    }

    /// Starts a record of every packet.
    pub fn record(&mut self) {
        (0..self.links.len()).for_each(|number| self.record_link(number));
    }

    /// Starts a record on link `number` only; a link that does not exist has no
    /// packets.
    pub fn record_link(&mut self, number: usize) {
        let drivers = self.links.get_mut(number).map(|link| &mut link.drivers);
        drivers.into_iter().flatten().for_each(LinkDriver::record);
    }

    /// Ends the record; events that were not taken are lost.
    pub fn end_record(&mut self) {
        let drivers = self.links.iter_mut().flat_map(|link| &mut link.drivers);
        drivers.for_each(LinkDriver::end_record);
    }

    /// The events since the last call: link, direction, event. Times are on the
    /// monotonic clock.
    pub fn take_events(&mut self) -> Vec<(usize, usize, Event)> {
        let mut all = Vec::new();
        for (number, link) in self.links.iter_mut().enumerate() {
            for (direction, driver) in link.drivers.iter_mut().enumerate() {
                let events = driver.take_events().into_iter();
                all.extend(events.map(|event| (number, direction, event)));
            }
        }
        all
    }

    /// The recorded packets on link `number` that wait in each direction's queue.
    pub fn waiting(&self, number: usize) -> [Vec<Arrival>; 2] {
        self.of_drivers(number, |driver| driver.waiting().collect())
    }

    /// The restarts of the random streams in each direction of link `number` since its
    /// record began; the first entry is the state at that moment.
    pub fn reseeds(&self, number: usize) -> [Vec<Reseed>; 2] {
        self.of_drivers(number, |driver| driver.reseeds().to_vec())
    }

    fn of_drivers<T>(&self, number: usize, of: impl Fn(&LinkDriver) -> Vec<T>) -> [Vec<T>; 2] {
        let link = self.links.get(number);
        [0, 1].map(|direction| link.map_or_else(Vec::new, |link| of(&link.drivers[direction])))
    }

    /// Keeps observations of link `number`, from its first end to its second, with the
    /// headers of packets if `heads`; a link that does not exist has no packets.
    pub fn observe(&mut self, number: usize, heads: bool) {
        if let Some(link) = self.links.get_mut(number) {
            link.drivers[0].observe(heads);
        }
    }

    /// The observations of link `number` since then; no more are kept. They are in the
    /// order in which the link reported them: of each kind, times never decrease.
    pub fn take_observations(&mut self, number: usize) -> Vec<Observation> {
        let link = self.links.get_mut(number);
        link.map_or_else(Vec::new, |link| link.drivers[0].observations())
    }

    /// The time at which the emulator was opened, on the monotonic clock.
    pub const fn opened(&self) -> Time {
        self.opened
    }

    /// Starts cross traffic, which replaces any earlier one. Its random streams derive
    /// from `seed`.
    ///
    /// # Errors
    /// If a direction does not exist.
    pub fn begin_cross(&mut self, all: &[Cross], seed: Seed) -> Result<()> {
        self.end_cross();
        let now = clock::monotonic();
        for Cross {
            link,
            direction,
            gaps,
            sizes,
        } in all
        {
            let place = format!("wire/{link}/{direction}");
            let link = self.links.get_mut(*link);
            let driver = link.and_then(|link| link.drivers.get_mut(*direction));
            let driver = driver.ok_or_else(|| {
                Error::new("starting cross traffic", format!("there is no {place}"))
            })?;
            driver.begin_cross(now, gaps.clone(), sizes.clone(), seed.derive(&place));
        }
        Ok(())
    }

    /// Stops cross traffic.
    pub fn end_cross(&mut self) {
        let now = clock::monotonic();
        let drivers = self.links.iter_mut().flat_map(|link| &mut link.drivers);
        drivers.for_each(|driver| driver.end_cross(now));
    }
}
