//! How drops are spread over arrivals.

/// How drops are spread over arrivals while the probability stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Spread {
    /// Each arrival for itself: gaps are geometric, 1/p on average, and drops
    /// come in clusters [Floyd1993 s7].
    Independent,
    /// Gaps are uniform from 1 to 1/p: p / (1 - n p) at the n-th arrival since
    /// the last drop [Floyd1993 s7].
    Uniform,
    /// As uniform, but after a wait of 1/p: gaps from 1/p to 2/p,
    /// p / (2 - n p) from n p = 1 on.
    Wait,
}

impl Spread {
    /// The probability of dropping the `count`-th arrival since the last drop,
    /// itself counted, where the curve says `probability`.
    pub fn share(self, probability: f64, count: f64) -> f64 {
        let sum = count * probability;
        match self {
            Self::Independent => probability,
            Self::Uniform if sum < 1.0 => (probability / (1.0 - sum)).min(1.0),
            Self::Wait if sum < 1.0 => 0.0,
            Self::Wait if sum < 2.0 => (probability / (2.0 - sum)).min(1.0),
            Self::Uniform | Self::Wait => 1.0,
        }
    }
}
