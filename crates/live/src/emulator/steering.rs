//! What whoever runs an emulator may ask of it beside carrying frames: a record,
//! and cross traffic.

use proto::link::{Arrival, Event, Reseed};
use units::{Seed, Time};

use super::link_driver::LinkDriver;
use super::{Cross, Emulator, direction_seed};
use crate::clock;
use crate::error::{Error, Result};

impl Emulator {
    /// Begins all chance anew, as if it had been opened with `seed`.
    pub fn reseed(&mut self, seed: Seed) {
        let now = clock::monotonic();
        for (number, link) in self.links.iter_mut().enumerate() {
            for (direction, driver) in link.drivers.iter_mut().enumerate() {
                driver.reseed(now, direction_seed(seed, number, direction));
            }
        }
    }

    /// Keeps a record of what becomes of every packet.
    pub fn record(&mut self) {
        (0..self.links.len()).for_each(|number| self.record_link(number));
    }

    /// Likewise, on link `number` alone; one that is not there has no packets.
    pub fn record_link(&mut self, number: usize) {
        let drivers = self.links.get_mut(number).map(|link| &mut link.drivers);
        drivers.into_iter().flatten().for_each(LinkDriver::record);
    }

    /// Keeps a record no longer; what was not taken is gone.
    pub fn end_record(&mut self) {
        let drivers = self.links.iter_mut().flat_map(|link| &mut link.drivers);
        drivers.for_each(LinkDriver::end_record);
    }

    /// What became of packets since it was last asked: link, direction, event. Its
    /// instants are those of the clock that is never set.
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

    /// The packets on link `number` that wait in each direction's queue, if they are
    /// recorded.
    pub fn waiting(&self, number: usize) -> [Vec<Arrival>; 2] {
        self.of_drivers(number, |driver| driver.waiting().collect())
    }

    /// When the chance of each direction of link `number` began anew since it is
    /// recorded, what it went on from first.
    pub fn reseeds(&self, number: usize) -> [Vec<Reseed>; 2] {
        self.of_drivers(number, |driver| driver.reseeds().to_vec())
    }

    fn of_drivers<T>(&self, number: usize, of: impl Fn(&LinkDriver) -> Vec<T>) -> [Vec<T>; 2] {
        let link = self.links.get(number);
        [0, 1].map(|direction| link.map_or_else(Vec::new, |link| of(&link.drivers[direction])))
    }

    /// When it was opened, by the clock that is never set.
    pub const fn opened(&self) -> Time {
        self.opened
    }

    /// Begins cross traffic, in the place of what there was. Its chance
    /// follows from `seed`.
    ///
    /// # Errors
    /// Where there is no such direction.
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
                Error::new("beginning cross traffic", format!("there is no {place}"))
            })?;
            driver.begin_cross(now, gaps.clone(), sizes.clone(), seed.derive(&place));
        }
        Ok(())
    }

    /// Ends it.
    pub fn end_cross(&mut self) {
        let now = clock::monotonic();
        let drivers = self.links.iter_mut().flat_map(|link| &mut link.drivers);
        drivers.for_each(|driver| driver.end_cross(now));
    }
}
