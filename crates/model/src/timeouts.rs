//! TCP where losses also cost time-outs: the throughput of a long flow by Padhye
//! and others.

use units::Span;

/// Segments a second of a Reno flow that loses a share `loss` of them:
/// 1/(R sqrt(2bp/3) + T min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2)), with b segments
/// for each acknowledgement and T the first retransmission timeout
/// [Padhye1998]. `None` where nothing is lost, or no time passes.
pub fn segments_per_second(
    loss: f64,
    round_trip: Span,
    timeout: Span,
    segments_per_acknowledgement: f64,
) -> Option<f64> {
    let (trip, timeout) = (round_trip.as_secs_f64(), timeout.as_secs_f64());
    let twice = segments_per_acknowledgement * loss;
    let recovery = trip * (2.0 * twice / 3.0).sqrt();
    let expiry = (3.0 * (3.0 * twice / 8.0).sqrt()).min(1.0);
    let time = recovery + timeout * expiry * loss * (1.0 + 32.0 * loss * loss);
    (time > 0.0).then(|| 1.0 / time)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Growth, reno_window};

    const TRIP: Span = Span::from_millis(100);
    const TIMEOUT: Span = Span::from_millis(400);

    #[test]
    fn the_formula_has_the_values_of_a_calculation_by_hand() {
        // 0.1 sqrt(0.02/1.5) + 0.4 x 3 sqrt(0.0075) x 0.01 x 1.0032 = 0.012 589 5 s
        for (loss, acknowledged, rate) in [
            (0.01, 2.0, 79.431),
            (0.01, 1.0, 112.333),
            (0.1, 2.0, 12.517),
        ] {
            let found = segments_per_second(loss, TRIP, TIMEOUT, acknowledged).unwrap();
            assert!((found / rate - 1.0).abs() < 2e-3, "{loss}: {found}");
        }
        assert_eq!(segments_per_second(0.0, TRIP, TIMEOUT, 2.0), None);
        assert_eq!(segments_per_second(0.1, Span::ZERO, Span::ZERO, 2.0), None);
    }

    #[test]
    fn without_time_outs_it_is_the_formula_of_the_inverse_square_root() {
        for loss in [1e-5, 1e-3, 0.1] {
            let window = reno_window(loss, Growth::Segments).unwrap();
            let found = segments_per_second(loss, TRIP, Span::ZERO, 1.0).unwrap();
            assert!((found / (window / 0.1) - 1.0).abs() < 1e-12);
        }
    }

    proptest! {
        #[test]
        fn more_loss_longer_trips_and_longer_timeouts_slow_a_flow(
            loss in 1e-7f64..0.5, trip in 1u64..1_000, timeout in 1u64..5_000,
        ) {
            let of = |loss, trip, timeout| {
                let (trip, timeout) = (Span::from_millis(trip), Span::from_millis(timeout));
                segments_per_second(loss, trip, timeout, 2.0).unwrap()
            };
            let found = of(loss, trip, timeout);
            prop_assert!(of(loss * 1.1, trip, timeout) < found);
            prop_assert!(of(loss, trip * 2, timeout) < found);
            prop_assert!(of(loss, trip, timeout * 2) < found);
            let window = reno_window(loss, Growth::DelayedAcknowledgements).unwrap();
            prop_assert!(loss > 0.1 || found <= window / (trip as f64 / 1e3) * (1.0 + 1e-9));
        }
    }
}
