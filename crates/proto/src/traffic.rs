//! When the packets of a flow leave and how large they are: laws of gaps and
//! sizes, drawn without I/O, so that a simulator, an emulator and a sender
//! that follow the same law with the same seed offer the same packets.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use units::{Bytes, Rate, Seed, Span, Time};

/// What gaps or sizes are drawn from, each with the unit of what it describes:
/// picoseconds for gaps, octets for sizes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Law {
    /// Always the same.
    Constant(f64),
    /// Exponential with this mean: with such gaps packets come as a Poisson
    /// process.
    Exponential(f64),
    /// Uniform between the first and the second.
    Uniform(f64, f64),
    /// One of these, all alike: a value that was seen twice as often stands
    /// there twice. Nothing but zeros where nothing was seen.
    Empirical(Vec<f64>),
}

impl Law {
    /// The mean of what is drawn.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) => *mean,
            Self::Uniform(least, most) => f64::midpoint(*least, *most),
            #[expect(clippy::cast_precision_loss, reason = "a list fits the memory")]
            Self::Empirical(seen) => seen.iter().sum::<f64>() / seen.len().max(1) as f64,
        }
    }

    fn draw(&self, generator: &mut ChaCha8Rng) -> f64 {
        // In [0, 1), so that the logarithm below is of no zero.
        let mut uniform = || generator.random::<f64>();
        match self {
            Self::Constant(value) => *value,
            Self::Exponential(mean) => -mean * libm::log1p(-uniform()),
            Self::Uniform(least, most) => least + (most - least) * uniform(),
            Self::Empirical(seen) if seen.is_empty() => 0.0,
            Self::Empirical(seen) => seen[generator.random_range(0..seen.len())],
        }
    }
}

/// The mean gap, in picoseconds, between packets that take `size` octets of a
/// wire each and `rate` together. It is no whole number.
#[expect(
    clippy::cast_precision_loss,
    reason = "a gap to f64's 53 bits: a picosecond in hours"
)]
pub fn mean_gap(size: Bytes, rate: Rate) -> f64 {
    const PICOS: f64 = 1e12;
    size.bits() as f64 * PICOS / rate.bits_per_second() as f64
}

/// The packets of a flow, one after the other, without an end: when each
/// leaves, and how large it is.
#[derive(Clone, Debug)]
pub struct Schedule {
    at: Time,
    gaps: Stream,
    sizes: Stream,
}

/// A law with luck of its own: what is drawn from one never changes the other.
#[derive(Clone, Debug)]
struct Stream {
    law: Law,
    generator: ChaCha8Rng,
    /// What the last whole number left of what was drawn, so that means are
    /// exact although each draw is rounded down.
    rest: f64,
}

impl Schedule {
    /// A flow whose first packet leaves one gap after `begin`. Gaps are in
    /// picoseconds, sizes in octets; what is below zero counts as zero.
    pub fn new(begin: Time, gaps: Law, sizes: Law, seed: Seed) -> Self {
        Self {
            at: begin,
            gaps: Stream::new(gaps, seed.derive("gaps")),
            sizes: Stream::new(sizes, seed.derive("sizes")),
        }
    }
}

impl Iterator for Schedule {
    type Item = (Time, Bytes);

    fn next(&mut self) -> Option<(Time, Bytes)> {
        self.at += Span::from_picos(self.gaps.next());
        Some((self.at, Bytes::new(self.sizes.next())))
    }
}

impl Stream {
    fn new(law: Law, seed: Seed) -> Self {
        Self {
            law,
            generator: ChaCha8Rng::seed_from_u64(seed.get()),
            rest: 0.0,
        }
    }

    fn next(&mut self) -> u64 {
        let drawn = self.law.draw(&mut self.generator).max(0.0) + self.rest;
        let whole = drawn.floor();
        self.rest = drawn - whole;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number that is not below zero; the largest stay the largest"
        )]
        let whole = whole as u64;
        whole
    }
}

#[cfg(test)]
mod tests;
