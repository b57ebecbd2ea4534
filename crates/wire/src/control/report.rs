//! What a receiver says of a flow.

use super::{Fields, Room};
use crate::Error;

/// What arrived of a flow. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The flow's number in the session.
    pub flow: u16,
    /// Messages that arrived, copies not counted.
    pub messages: u64,
    /// Their octets.
    pub octets: u64,
    /// Copies of messages that had arrived before.
    pub duplicates: u64,
    /// Messages that arrived after one with a higher number [RFC4737 s3].
    pub reordered: u64,
    /// From the first arrival to the last.
    pub lasted: u64,
    /// Messages whose delay is known and not below zero.
    pub delayed: u64,
    /// Messages that arrived before they were sent, by clocks that differ.
    pub negative: u64,
    /// The least of their delays.
    pub least: u64,
    /// The mean of their delays.
    pub mean: u64,
    /// Half of them took no longer.
    pub median: u64,
    /// 95 of 100 took no longer.
    pub p95: u64,
    /// 99 of 100 took no longer.
    pub p99: u64,
    /// The longest of their delays.
    pub most: u64,
    /// Interarrival jitter [RFC3550 s6.4.1], at the end.
    pub jitter: u64,
    /// Arrivals without the kernel's stamp, timed by the program's clock.
    pub unstamped: u64,
    /// Datagrams that the receiving kernel had no room for.
    pub overflowed: u64,
    /// Reads that held several datagrams, merged by the kernel.
    pub merged: u64,
}

impl Report {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Error> {
        let mut report = Self {
            flow: fields.u16()?,
            ..Self::default()
        };
        for field in report.fields() {
            *field = fields.u64()?;
        }
        Ok(report)
    }

    pub(super) fn write(&self, fields: &mut Room<'_>) {
        fields.u16(self.flow);
        let mut report = *self;
        for field in report.fields() {
            fields.u64(*field);
        }
    }

    /// All but the flow's number, in the order in which they travel.
    fn fields(&mut self) -> [&mut u64; 17] {
        [
            &mut self.messages,
            &mut self.octets,
            &mut self.duplicates,
            &mut self.reordered,
            &mut self.lasted,
            &mut self.delayed,
            &mut self.negative,
            &mut self.least,
            &mut self.mean,
            &mut self.median,
            &mut self.p95,
            &mut self.p99,
            &mut self.most,
            &mut self.jitter,
            &mut self.unstamped,
            &mut self.overflowed,
            &mut self.merged,
        ]
    }
}
