//! A flow as a schedule: departures and sizes, one after the other.

use core::ops::RangeInclusive;

use units::{Bytes, Seed, Span, Time};

use super::draw::Stream;
use super::law::{BadLaw, Law};

/// Periods in which a flow sends, and others in which it is silent, by turns.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bursts {
    /// How long it sends each time, in picoseconds.
    pub on: Law,
    /// How long it is silent after that, in picoseconds.
    pub off: Law,
}

impl Bursts {
    /// A microsecond: the least that periods of sending last on average.
    const LEAST: f64 = 1e6;

    /// Whether there are such periods.
    ///
    /// # Errors
    /// Those of either law, and where periods of sending are below a
    /// microsecond on average.
    pub fn check(&self) -> Result<(), BadLaw> {
        self.on.check()?;
        self.off.check()?;
        match self.on.mean() >= Self::LEAST {
            true => Ok(()),
            false => Err(BadLaw::Periods),
        }
    }
}

/// The packets of a flow, one after the other: when each leaves, and how large
/// it is. Without an end, until it is given one.
#[derive(Clone, Debug)]
pub struct Schedule {
    at: Time,
    gaps: Stream,
    sizes: Stream,
    seed: Seed,
    bursts: Option<Turns>,
    until: Option<Time>,
    packets: Option<u64>,
    octets: Option<u64>,
    carried: RangeInclusive<Bytes>,
}

/// Periods of sending and of silence as they are drawn.
#[derive(Clone, Debug)]
struct Turns {
    on: Stream,
    off: Stream,
    /// What is left of the period of sending.
    left: Span,
}

impl Schedule {
    /// A flow whose first packet leaves one gap after `begin`. Gaps are in
    /// picoseconds, sizes in octets; what is below zero counts as zero.
    ///
    /// Each law draws from a stream of its own, named below `seed`: `gaps`,
    /// `sizes`, and with [`Schedule::bursts`] `on` and `off`.
    pub fn new(begin: Time, gaps: Law, sizes: Law, seed: Seed) -> Self {
        Self {
            at: begin,
            gaps: Stream::new(gaps, seed.derive("gaps")),
            sizes: Stream::new(sizes, seed.derive("sizes")),
            seed,
            bursts: None,
            until: None,
            packets: None,
            octets: None,
            carried: Bytes::ZERO..=Bytes::new(u64::MAX),
        }
    }

    /// Sends by turns only, at first and then after each silence. Gaps pass
    /// while it sends and stand still while it is silent, so that one that is
    /// longer than a period goes on in the next.
    ///
    /// # Errors
    /// See [`Bursts::check`].
    pub fn bursts(self, bursts: Bursts) -> Result<Self, BadLaw> {
        bursts.check()?;
        let mut on = Stream::new(bursts.on, self.seed.derive("on"));
        let left = Span::from_picos(on.next());
        let off = Stream::new(bursts.off, self.seed.derive("off"));
        Ok(Self {
            bursts: Some(Turns { on, off, left }),
            ..self
        })
    }

    /// Ends before `until`: what would leave then or later does not.
    #[must_use]
    pub fn until(self, until: Time) -> Self {
        Self {
            until: Some(until),
            ..self
        }
    }

    /// Ends after so many packets.
    #[must_use]
    pub fn packets(self, packets: u64) -> Self {
        Self {
            packets: Some(packets),
            ..self
        }
    }

    /// Ends with the packet by which so many octets have been sent in all; it
    /// is not cut short.
    #[must_use]
    pub fn octets(self, octets: u64) -> Self {
        Self {
            octets: Some(octets),
            ..self
        }
    }

    /// Sizes that can be sent. Others are drawn all the same, for whoever sends to
    /// refuse them, and count among packets; among octets they do not.
    #[must_use]
    pub fn carried(self, carried: RangeInclusive<Bytes>) -> Self {
        Self { carried, ..self }
    }

    /// One gap on; nothing once that is as late as the end.
    fn advance(&mut self) -> Option<Time> {
        let mut gap = Span::from_picos(self.gaps.next());
        if let Some(turns) = &mut self.bursts {
            while gap > turns.left {
                gap = gap - turns.left;
                self.at += turns.left + Span::from_picos(turns.off.next());
                turns.left = Span::from_picos(turns.on.next());
                // Clocks end, and periods may be short: no gap takes for ever.
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

/// Where instants saturate.
const END: Time = Time::from_picos(u64::MAX);

impl Iterator for Schedule {
    type Item = (Time, Bytes);

    fn next(&mut self) -> Option<(Time, Bytes)> {
        if self.packets == Some(0) || self.octets == Some(0) {
            return None;
        }
        let Some(at) = self.advance() else {
            // Instants never go back, so that an end stays one.
            self.packets = Some(0);
            return None;
        };
        let size = Bytes::new(self.sizes.next());
        self.packets = self.packets.map(|left| left - 1);
        if self.carried.contains(&size) {
            self.octets = self.octets.map(|left| left.saturating_sub(size.get()));
        }
        Some((at, size))
    }
}
