//! What whoever runs an emulator may ask of it beside carrying frames: a record,
//! and cross traffic.

use proto::link::Event;
use units::{Seed, Time};

use super::lane::Lane;
use super::{Cross, Emulator, luck};
use crate::clock;
use crate::error::{Error, Result};

impl Emulator {
    /// Begins all chance anew, as if it had been opened with `seed`.
    pub fn reseed(&mut self, seed: Seed) {
        for (number, wire) in self.wires.iter_mut().enumerate() {
            for (way, lane) in wire.lanes.iter_mut().enumerate() {
                lane.reseed(luck(seed, number, way));
            }
        }
    }

    /// Keeps a record of what becomes of every packet.
    pub fn record(&mut self) {
        (0..self.wires.len()).for_each(|number| self.record_wire(number));
    }

    /// Likewise, on wire `number` alone; one that is not there has no packets.
    pub fn record_wire(&mut self, number: usize) {
        let lanes = self.wires.get_mut(number).map(|wire| &mut wire.lanes);
        lanes.into_iter().flatten().for_each(Lane::record);
    }

    /// Keeps a record no longer; what was not taken is gone.
    pub fn end_record(&mut self) {
        let lanes = self.wires.iter_mut().flat_map(|wire| &mut wire.lanes);
        lanes.for_each(Lane::end_record);
    }

    /// What became of packets since it was last asked: wire, way, event. Its
    /// instants count from when the emulator was opened.
    pub fn take_events(&mut self) -> Vec<(usize, usize, Event)> {
        let mut all = Vec::new();
        let since = |time: Time| Time::ZERO + time.since(self.opened).unwrap_or_default();
        for (number, wire) in self.wires.iter_mut().enumerate() {
            for (way, lane) in wire.lanes.iter_mut().enumerate() {
                let events = lane.take_events().into_iter().map(|event| Event {
                    arrival: since(event.arrival),
                    at: since(event.at),
                    ..event
                });
                all.extend(events.map(|event| (number, way, event)));
            }
        }
        all
    }

    /// How long it has emulated: the instants of events count from there.
    pub fn elapsed(&self) -> Time {
        Time::ZERO + clock::monotonic().since(self.opened).unwrap_or_default()
    }

    /// Begins cross traffic, in the place of what there was. Its luck
    /// follows from `seed`.
    ///
    /// # Errors
    /// Where there is no such way.
    pub fn begin_cross(&mut self, all: &[Cross], seed: Seed) -> Result<()> {
        self.end_cross();
        let now = clock::monotonic();
        for Cross {
            wire,
            way,
            gaps,
            sizes,
        } in all
        {
            let place = format!("wire/{wire}/{way}");
            let wire = self.wires.get_mut(*wire);
            let lane = wire.and_then(|wire| wire.lanes.get_mut(*way));
            let lane = lane.ok_or_else(|| {
                Error::new("beginning cross traffic", format!("there is no {place}"))
            })?;
            lane.begin_cross(now, gaps.clone(), sizes.clone(), seed.derive(&place));
        }
        Ok(())
    }

    /// Ends it.
    pub fn end_cross(&mut self) {
        let now = clock::monotonic();
        let lanes = self.wires.iter_mut().flat_map(|wire| &mut wire.lanes);
        lanes.for_each(|lane| lane.end_cross(now));
    }
}
