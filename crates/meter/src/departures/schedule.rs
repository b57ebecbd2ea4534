//! Schedules: the departures and sizes of the packets of a flow.

use core::ops::RangeInclusive;

use units::{Bytes, Seed, Span, Time};

use super::distribution::{BadDistribution, Distribution};
use super::draw::Stream;

/// Alternating periods of sending and of silence.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bursts {
    /// Length of a sending period, in picoseconds.
    pub on: Distribution,
    /// Length of a silent period, in picoseconds.
    pub off: Distribution,
}

impl Bursts {
    /// Minimum mean length of a sending period: a microsecond.
    const LEAST: f64 = 1e6;

    /// Checks the lengths of the periods.
    ///
    /// # Errors
    /// Those of either distribution, and a mean sending period below a microsecond.
    pub fn check(&self) -> Result<(), BadDistribution> {
        self.on.check()?;
        self.off.check()?;
        match self.on.mean() >= Self::LEAST {
            true => Ok(()),
            false => Err(BadDistribution::Periods),
        }
    }
}

/// The packets of a flow in order: the departure and the size of each. Infinite unless
/// a limit is set.
#[derive(Clone, Debug)]
pub struct Schedule {
    at: Time,
    gaps: Stream,
    sizes: Stream,
    seed: Seed,
    bursts: Option<Turns>,
    until: Option<Time>,
    packets: Option<u64>,
    bytes: Option<u64>,
    /// Both limits before the last packet.
    before: (Option<u64>, Option<u64>),
    carried: RangeInclusive<Bytes>,
}

/// The samplers of sending and silent periods.
#[derive(Clone, Debug)]
struct Turns {
    on: Stream,
    off: Stream,
    /// The rest of the current sending period.
    left: Span,
}

impl Schedule {
    /// A flow whose first packet leaves one gap after `begin`. Gaps are in picoseconds,
    /// sizes in bytes; negative values count as zero.
    ///
    /// Each distribution draws from its own random stream, named below `seed`: `gaps`, `sizes`,
    /// and with [`Schedule::bursts`] `on` and `off`.
    pub fn new(begin: Time, gaps: Distribution, sizes: Distribution, seed: Seed) -> Self {
        Self {
            at: begin,
            gaps: Stream::new(gaps, seed.derive("gaps")),
            sizes: Stream::new(sizes, seed.derive("sizes")),
            seed,
            bursts: None,
            until: None,
            packets: None,
            bytes: None,
            before: (None, None),
            carried: Bytes::ZERO..=Bytes::new(u64::MAX),
        }
    }

    /// Restricts the flow to alternating periods, sending first. Gaps elapse in sending
    /// periods only, so a gap longer than the rest of a period continues in the next.
    ///
    /// # Errors
    /// See [`Bursts::check`].
    pub fn bursts(self, bursts: Bursts) -> Result<Self, BadDistribution> {
        bursts.check()?;
        let mut on = Stream::new(bursts.on, self.seed.derive("on"));
        let left = Span::from_picos(on.next());
        let off = Stream::new(bursts.off, self.seed.derive("off"));
        Ok(Self {
            bursts: Some(Turns { on, off, left }),
            ..self
        })
    }

    /// Ends the flow before `until`: later packets are not sent.
    #[must_use]
    pub fn until(self, until: Time) -> Self {
        Self {
            until: Some(until),
            ..self
        }
    }

    /// Ends the flow after `packets` packets.
    #[must_use]
    pub fn packets(self, packets: u64) -> Self {
        Self {
            packets: Some(packets),
            ..self
        }
    }

    /// Ends the flow with the packet that makes the total reach `bytes`; the packet is
    /// not cut short.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self {
            bytes: Some(bytes),
            ..self
        }
    }

    /// The sizes that can be sent. Other sizes are still drawn, and the sender rejects
    /// them. They count as packets, but not for the total of bytes.
    #[must_use]
    pub fn carried(self, carried: RangeInclusive<Bytes>) -> Self {
        Self { carried, ..self }
    }

    /// Does not count the last packet for the limits of packets and bytes.
    pub fn uncount_last(&mut self) {
        (self.packets, self.bytes) = self.before;
    }

    /// Advances by one gap; `None` at or after the end.
    fn advance(&mut self) -> Option<Time> {
        let mut gap = Span::from_picos(self.gaps.next());
        if let Some(turns) = &mut self.bursts {
            while gap > turns.left {
                gap = gap - turns.left;
                self.at += turns.left + Span::from_picos(turns.off.next());
                turns.left = Span::from_picos(turns.on.next());
                // Clocks have an end, and periods may be short: the loop always
                // terminates.
                if self.at >= self.until.unwrap_or(END) {
                    return None;
                }
            }
            turns.left = turns.left - gap;
        }
        self.at += gap;
        (self.at < self.until.unwrap_or(END)).then_some(self.at)
    }
}

/// The time at which additions saturate.
const END: Time = Time::from_picos(u64::MAX);

impl Iterator for Schedule {
    type Item = (Time, Bytes);

    fn next(&mut self) -> Option<(Time, Bytes)> {
        if self.packets == Some(0) || self.bytes == Some(0) {
            return None;
        }
        let Some(at) = self.advance() else {
            // Times never decrease, so the flow stays ended.
            self.packets = Some(0);
            return None;
        };
        let size = Bytes::new(self.sizes.next());
        self.before = (self.packets, self.bytes);
        self.packets = self.packets.map(|left| left - 1);
        if self.carried.contains(&size) {
            self.bytes = self.bytes.map(|left| left.saturating_sub(size.get()));
        }
        Some((at, size))
    }
}
