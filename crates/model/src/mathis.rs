//! The throughput of a long TCP flow at a given loss: the formula of the inverse
//! square root and its kin.
//!
//! One window of segments crosses the path per round trip. At a given loss the
//! window in segments does not depend on the MTU, so goodput grows with the size
//! of the segment: a larger MTU gains the ratio of the segment sizes.

use units::{Bytes, Span};

/// C of CUBIC, in segments per cubic second [RFC9438 s5.1].
const CUBIC_SCALE: f64 = 0.4;

/// CUBIC's factor of the window at a loss [RFC9438 s4.6].
const CUBIC_DECREASE: f64 = 0.7;

/// How Reno's window grows by a segment in a round trip or in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By every acknowledged segment, whatever the number of
    /// acknowledgements [RFC5681 s3.1]: a segment a round trip.
    Segments,
    /// By every acknowledgement, where one is sent for two segments
    /// [RFC5681 s4.2]: half a segment a round trip.
    DelayedAcknowledgements,
}

impl Growth {
    /// C^2 of W = C/sqrt(p) at losses 1/p segments apart: 3/2, or half of that
    /// [Mathis1997 Table 1].
    const fn square(self) -> f64 {
        match self {
            Self::Segments => 1.5,
            Self::DelayedAcknowledgements => 0.75,
        }
    }
}

/// Reno's mean window in segments where a share `loss` of them is lost:
/// sqrt(3/(2p)) [Mathis1997 eq 3]. `None` where nothing is lost, because then
/// the path and not loss is the bound; never less than a segment.
///
/// The losses that the formula stands for are 1/p segments apart. Independent
/// ones let the window grow by 7 % more on average [Mathis1997 Table 1]. Time-outs, which cost
/// the more the more is lost, are not in it.
pub fn reno_window(loss: f64, growth: Growth) -> Option<f64> {
    (loss > 0.0).then(|| (growth.square() / loss).sqrt().max(1.0))
}

/// CUBIC's mean window in segments where a share `loss` of them is lost: the
/// larger of its own, (C (3 + b)/(4 (1 - b)))^(1/4) RTT^(3/4)/p^(3/4) with b the factor at a
/// loss, and that of the Reno it estimates [RFC9438 s5.1].
pub fn cubic_window(loss: f64, round_trip: Span) -> Option<f64> {
    let reno = reno_window(loss, Growth::Segments)?;
    let scale = CUBIC_SCALE * (3.0 + CUBIC_DECREASE) / (4.0 * (1.0 - CUBIC_DECREASE));
    let cubic = scale.powf(0.25) * (round_trip.as_secs_f64() / loss).powf(0.75);
    Some(cubic.max(reno))
}

/// The rate of `window` segments of `segment` bytes of payload a round trip,
/// in bits per second. `None` for a round trip that takes no time.
pub fn window_rate(window: f64, segment: Bytes, round_trip: Span) -> Option<f64> {
    let seconds = round_trip.as_secs_f64();
    (seconds > 0.0).then(|| window * segment.bits() as f64 / seconds)
}

/// The share of frames that a path loses: of each link, in turn, `losses` gives
/// the probability of losing a frame and that of a bit being wrong, and a frame
/// of n bytes is whole with (1 - rate)^(8n), errors being independent.
pub fn path_loss(losses: impl IntoIterator<Item = (f64, f64)>, frame: Bytes) -> f64 {
    let kept = |(loss, bit_error_rate): (f64, f64)| {
        (-loss).ln_1p() + (-bit_error_rate).ln_1p() * frame.bits() as f64
    };
    // Logarithms, because 1 - 1e-12 has few digits left of what is lost.
    let kept: f64 = losses.into_iter().map(kept).sum();
    -kept.exp_m1()
}

/// The share of its link that one Reno flow uses behind a drop-tail buffer of
/// `buffer` times the bandwidth-delay product, slow start apart: the window is
/// halved at a loss and grows back, and until it fills the path the link idles.
/// (3/4)(1 + b)^2/(1 + b + b^2), and 1 from b = 1 on.
///
/// Follows from the sawtooth of [Mathis1997 Fig 1], a segment more each round trip from W/2 to
/// W = (1 + b) BDP: it carries 3 W^2/8 segments, while the link had time for
/// BDP (BDP - W/2) of them before the window filled the path and (W^2 - BDP^2)/2 from then on.
pub fn sawtooth_utilisation(buffer: f64) -> f64 {
    let depth = buffer.clamp(0.0, 1.0);
    0.75 * (1.0 + depth).powi(2) / (1.0 + depth + depth * depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(value: f64, expected: f64, relative: f64) {
        let off = (value / expected - 1.0).abs();
        assert!(off <= relative, "{value} is not {expected}");
    }

    #[test]
    fn renos_window_is_that_of_the_inverse_square_root() {
        for (loss, window, delayed) in [
            (1e-4, 122.47, 86.60),
            (1e-3, 38.73, 27.39),
            (1e-2, 12.25, 8.66),
        ] {
            let of = |growth| reno_window(loss, growth).unwrap();
            near(of(Growth::Segments), window, 1e-3);
            near(of(Growth::DelayedAcknowledgements), delayed, 1e-3);
        }
        assert_eq!(reno_window(0.0, Growth::Segments), None);
        assert_eq!(reno_window(1.0, Growth::DelayedAcknowledgements), Some(1.0));
    }

    #[test]
    fn cubics_window_is_that_of_the_standard_and_never_below_renos() {
        // RFC 9438, Table 1: an RTT of 0.1 s.
        for (loss, window) in [(1e-2, 12.0), (1e-3, 38.0), (1e-4, 187.0), (1e-5, 1_054.0)] {
            let cubic = cubic_window(loss, Span::from_millis(100)).unwrap();
            near(cubic, window, 0.025);
        }
        let outside: f64 = 1.0538 * 0.1f64.powf(0.75) / 1e-6f64.powf(0.75);
        near(
            cubic_window(1e-6, Span::from_millis(100)).unwrap(),
            outside,
            1e-3,
        );
    }

    #[test]
    fn a_tenfold_round_trip_divides_the_rate_of_a_window_by_ten() {
        let rate = |millis| window_rate(10.0, Bytes::new(1_428), Span::from_millis(millis));
        near(rate(10).unwrap(), 11.424e6, 1e-12);
        near(rate(100).unwrap(), 1.1424e6, 1e-12);
        assert_eq!(rate(0), None);
    }

    #[test]
    fn a_flow_uses_what_its_buffer_lets_it() {
        for (buffer, share) in [
            (0.0, 0.75),
            (0.1, 0.8176),
            (0.25, 0.8929),
            (0.5, 0.9643),
            (0.75, 0.9932),
            (1.0, 1.0),
            (3.0, 1.0),
        ] {
            near(sawtooth_utilisation(buffer), share, 1e-4);
        }
    }

    #[test]
    fn wrong_bits_cost_large_frames_more_and_links_lose_in_turn() {
        let (small, large) = (Bytes::new(1_518), Bytes::new(9_018));
        near(path_loss([(0.0, 1e-9)], small), 12_144e-9, 1e-4);
        near(path_loss([(0.0, 1e-9)], large), 72_144e-9, 1e-4);
        near(path_loss([(0.1, 0.0), (0.2, 0.0)], small), 0.28, 1e-12);
        assert!(path_loss([(0.0, 0.0)], large) <= 0.0);
        near(path_loss([(1.0, 0.0)], small), 1.0, 1e-12);
    }

    proptest! {
        #[test]
        fn more_loss_never_means_a_larger_window(
            loss in 1e-7f64..0.5, more in 1.0f64..2.0, millis in 1u64..500,
        ) {
            let trip = Span::from_millis(millis);
            let window = |loss| cubic_window(loss, trip).unwrap();
            prop_assert!(window(loss * more) <= window(loss));
            prop_assert!(window(loss) >= reno_window(loss, Growth::Segments).unwrap());
        }

        #[test]
        fn a_path_loses_no_less_than_its_worst_link(
            losses in prop::collection::vec((0.0f64..1.0, 0.0f64..1e-4), 1..5), bytes in 64u64..9_100,
        ) {
            let frame = Bytes::new(bytes);
            let whole = path_loss(losses.iter().copied(), frame);
            prop_assert!((0.0..=1.0).contains(&whole));
            for &link in &losses {
                prop_assert!(whole >= path_loss([link], frame) - 1e-12);
            }
        }
    }
}
