//! How many of the packets in a bundle are met.

/// How a probability becomes a number of packets out of N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Rounding {
    /// Each for itself: where a law spreads its drops over arrivals, each is an
    /// arrival to it.
    Each,
    /// p N, rounded up with the probability of what is left over, else down.
    Round,
    /// p N, rounded up: more than the law asks for.
    Ceil,
    /// Each by a draw of its own, whatever the law spreads.
    Binomial,
}

impl Rounding {
    /// How many of `packets` are met, each with the probability `share`;
    /// `draw` is uniform in [0, 1).
    pub fn count(self, share: f64, packets: u32, mut draw: impl FnMut() -> f64) -> u32 {
        let whole = share * f64::from(packets);
        match self {
            Self::Each | Self::Binomial => {
                let met = (0..packets).filter(|_| draw() < share).count();
                u32::try_from(met).unwrap_or(packets)
            }
            Self::Round => {
                let down = libm::floor(whole);
                below(down, packets) + u32::from(draw() < whole - down)
            }
            Self::Ceil => below(libm::ceil(whole), packets),
        }
    }
}

/// A whole number from 0 to `most`.
fn below(number: f64, most: u32) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number that lies between two of 32 bits"
    )]
    let number = number.clamp(0.0, most.into()) as u32;
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use units::Seed;

    #[test]
    fn every_pick_but_ceil_meets_the_share_on_average() {
        let mut rng = Rng::new(Seed::new(20));
        for share in [0.0, 0.03, 0.3, 0.5, 0.97, 1.0] {
            for packets in [1, 2, 7, 40] {
                for rounding in [Rounding::Each, Rounding::Round, Rounding::Binomial] {
                    let times = 4_000;
                    let met: u32 = (0..times)
                        .map(|_| rounding.count(share, packets, || rng.draw()))
                        .sum();
                    let all = f64::from(times) * f64::from(packets);
                    let error = libm::sqrt(share * (1.0 - share) / all);
                    let off = f64::from(met) / all - share;
                    assert!(off.abs() <= 3.9 * error, "{rounding:?} {share} {packets}");
                }
                let most = libm::ceil(share * f64::from(packets));
                let met = f64::from(Rounding::Ceil.count(share, packets, || 0.0));
                assert!((met - most).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn rounding_keeps_to_both_sides_of_the_product() {
        for (draw, met) in [(0.0, 3), (0.49, 3), (0.51, 2), (0.999, 2)] {
            assert_eq!(Rounding::Round.count(0.25, 10, || draw), met);
        }
    }
}
