//! The chance that laws ask for.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use units::Seed;

/// A stream of chance, the same for the same seed everywhere.
#[derive(Debug)]
pub(crate) struct Rng(ChaCha8Rng);

impl Rng {
    pub(crate) fn new(seed: Seed) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed.get()))
    }

    /// Uniform in [0, 1).
    pub(crate) fn draw(&mut self) -> f64 {
        self.0.random()
    }

    /// Uniform from 0 to `last`, both possible.
    pub(crate) fn place(&mut self, last: usize) -> usize {
        self.0.random_range(0..=last)
    }
}
