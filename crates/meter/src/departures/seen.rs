//! Observed values, for drawing from them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use units::Seed;

/// Observed values, cheap to clone.
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<f64>", into = "Vec<f64>"))]
pub struct Seen(Arc<[f64]>);

impl Seen {
    /// Longer lists are shown by their length and digest.
    const SHOWN: usize = 1_000;

    /// A digest of the values and their order.
    pub fn digest(&self) -> u64 {
        let fold = |seed: Seed, value: &f64| seed.with(value.to_bits());
        self.iter().fold(Seed::new(0), fold).get()
    }
}

impl Deref for Seen {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl From<Vec<f64>> for Seen {
    fn from(values: Vec<f64>) -> Self {
        Self(values.into())
    }
}

impl From<Seen> for Vec<f64> {
    fn from(seen: Seen) -> Self {
        seen.to_vec()
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            0..=Self::SHOWN => self.0.fmt(f),
            number => write!(f, "{number} values, digest {:016x}", self.digest()),
        }
    }
}
