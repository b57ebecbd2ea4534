//! How long slow start keeps a transfer from the rate of its path.

use units::Span;

/// The time until `segments` segments have passed the slowest station of a path,
/// which takes `each` for one, from the moment when the first arrives there. The
/// window begins with `initial` segments and grows by the factor `growth` with each
/// `round_trip` [RFC5681 s3.1]; nothing is lost.
///
/// A window that lasts a round trip keeps the station busy from then on; the windows
/// before leave it idle for the rest of theirs.
pub fn slow_start(
    segments: u64,
    (initial, growth): (f64, f64),
    round_trip: Span,
    each: Span,
) -> f64 {
    let (trip, each) = (round_trip.as_secs_f64(), each.as_secs_f64());
    let mut left = segments as f64;
    let mut window = initial.max(1.0);
    let mut began = 0.0;
    // A window that does not grow never fills the path; then the count ends with
    // the segments.
    while window * each < trip && left > window {
        left -= window;
        began += trip;
        window *= growth;
    }
    began + left * each
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EACH: Span = Span::from_micros(12);

    #[test]
    fn windows_that_do_not_fill_the_path_cost_a_round_trip_each() {
        let trip = Span::from_micros(1_200);
        // 10, 20, 40 and 80 segments need four round trips; then the path of 100 is full.
        let time = |segments| slow_start(segments, (10.0, 2.0), trip, EACH) * 1e6;
        for (segments, micros) in [
            (10, 120.0),
            (11, 1_212.0),
            (150, 3.0 * 1_200.0 + 960.0),
            (1_150, 4.0 * 1_200.0 + 12_000.0),
        ] {
            let found = time(segments);
            assert!((found - micros).abs() < 1e-6, "{segments}: {found}");
        }
    }

    #[test]
    fn a_window_that_fills_the_path_at_once_costs_nothing() {
        let time = slow_start(1_000, (10.0, 2.0), EACH * 10, EACH);
        assert!((time - 0.012).abs() < 1e-12, "{time}");
    }

    proptest! {
        #[test]
        fn no_transfer_is_faster_than_its_slowest_station(
            segments in 1u64..1_000_000, initial in 1.0f64..64.0, growth in 1.1f64..2.0,
            trip in 0u64..1_000_000, each in 1u64..1_000,
        ) {
            let (trip, each) = (Span::from_micros(trip), Span::from_micros(each));
            let time = |segments| slow_start(segments, (initial, growth), trip, each);
            let found = time(segments);
            prop_assert!(found >= segments as f64 * each.as_secs_f64() * (1.0 - 1e-9));
            prop_assert!(time(segments + 1) > found);
        }
    }
}
