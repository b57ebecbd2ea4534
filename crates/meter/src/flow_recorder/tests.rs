use super::*;
use proptest::prelude::*;

/// A recorder of (sequence, sent, received), in milliseconds, 100 bytes each.
fn recorder(arrivals: &[(u64, u64, u64)]) -> FlowRecorder {
    let millis = |millis: u64| Time::from_nanos(millis * 1_000_000);
    let mut recorder = FlowRecorder::new();
    for &(sequence, sent, received) in arrivals {
        recorder.record(sequence, millis(sent), millis(received), Bytes::new(100));
    }
    recorder
}

/// Checks that `seconds` equal `millis`, to a millionth.
#[track_caller]
fn check(seconds: Option<f64>, millis: f64) {
    let seconds = seconds.unwrap();
    assert!(
        (seconds * 1e3 - millis).abs() < 1e-6,
        "{seconds} s for {millis} ms"
    );
}

/// The same for a percentile, which has three digits.
#[track_caller]
fn check_roughly(seconds: Option<f64>, millis: f64) {
    let seconds = seconds.unwrap();
    assert!(
        (seconds * 1e3 / millis - 1.0).abs() < 1e-3,
        "{seconds} s for {millis} ms"
    );
}

/// Delays of 10, 14, 12, 20 ms: mean 14, deviations 4, 0, 2, 6, steps 4, 2, 8.
#[test]
fn four_messages_in_order_give_the_figures_worked_by_hand() {
    let summary = recorder(&[(0, 0, 10), (1, 20, 34), (2, 40, 52), (3, 60, 80)]).finish(5);
    assert_eq!(
        (summary.received, summary.expected, summary.lost),
        (4, 5, 1)
    );
    assert_eq!(summary.loss_fraction, Some(0.2));
    assert_eq!((summary.duplicates, summary.unexpected), (0, 0));
    assert_eq!((summary.reordered, summary.negative_delays), (0, 0));
    assert_eq!(summary.bytes, Bytes::new(400));
    check(summary.delay_mean, 14.0);
    check(summary.delay_min, 10.0);
    check(summary.delay_max, 20.0);
    check(summary.delay_standard_deviation, 14f64.sqrt()); // (16 + 0 + 4 + 36) / 4
    check_roughly(summary.delay_p50, 12.0);
    check(summary.delay_p95, 20.0);
    check(summary.delay_p99, 20.0);
    check(summary.jitter_mean_deviation, 3.0);
    check(summary.jitter_ditg, 14.0 / 3.0);
    check(summary.ipdv_p95, 8.0);
    // 4/16 = 0.25; + 1.75/16 = 0.359375; + 7.640625/16 = 0.8369140625
    check(summary.jitter_rfc3550, 0.836_914_062_5);
}

/// Arrivals 0, 2, 1, 4, 4 with delays 10, 10, 40, 13, 23 ms; 3 is lost. By number: 10,
/// 40, 10, -, 13.
#[test]
fn each_definition_takes_reordering_loss_and_copies_in_its_own_way() {
    let summary = recorder(&[
        (0, 0, 10),
        (2, 20, 30),
        (1, 10, 50),
        (4, 40, 53),
        (4, 40, 63),
    ])
    .finish(5);
    assert_eq!(
        (summary.received, summary.lost, summary.duplicates),
        (5, 1, 1)
    );
    assert_eq!(summary.reordered, 1, "a copy is not reordered");
    check(summary.delay_mean, 73.0 / 4.0);
    check(summary.delay_max, 40.0);
    check(summary.jitter_ditg, (0.0 + 30.0 + 27.0 + 10.0) / 4.0);
    check(summary.ipdv_p95, 30.0); // of 0-1 and 1-2 alone
}

#[test]
fn what_arrived_before_it_was_sent_is_counted_and_left_out() {
    let summary = recorder(&[(0, 0, 10), (1, 20, 19), (2, 40, 54)]).finish(3);
    assert_eq!((summary.received, summary.lost), (3, 0));
    assert_eq!(summary.negative_delays, 1);
    check(summary.delay_mean, 12.0);
    check(summary.jitter_ditg, 4.0);
    assert_eq!(summary.ipdv_p95, None, "no two neighbours have a delay");
}

#[test]
fn what_is_undefined_is_none() {
    let nothing = FlowRecorder::new().finish(0);
    assert_eq!((nothing.lost, nothing.loss_fraction), (0, None));
    assert_eq!((nothing.delay_mean, nothing.delay_p50), (None, None));
    assert_eq!(FlowRecorder::new().finish(7).loss_fraction, Some(1.0));
    let single = recorder(&[(0, 0, 10)]).finish(1);
    check(single.delay_p99, 10.0);
    check(single.delay_standard_deviation, 0.0);
    assert_eq!((single.jitter_ditg, single.jitter_rfc3550), (None, None));
}

#[test]
fn a_number_that_was_never_sent_hides_no_loss() {
    let summary = recorder(&[(0, 0, 1), (9, 0, 1), (u64::MAX, 0, 1)]).finish(2);
    assert_eq!((summary.lost, summary.unexpected), (1, 2));
    assert_eq!(summary.loss_fraction, Some(0.5));
}

#[cfg(feature = "serde")]
#[test]
fn a_summary_that_is_written_is_read_as_it_was() {
    for summary in [
        recorder(&[(0, 0, 10), (2, 20, 30), (1, 10, 50)]).finish(5),
        FlowRecorder::new().finish(0),
    ] {
        let text = serde_json::to_string(&summary).unwrap();
        let read: Summary = serde_json::from_str(&text).unwrap();
        assert_eq!(read, summary, "{text}");
    }
}

proptest! {
    #[test]
    fn every_message_is_accounted_for_and_every_figure_is_in_range(
        arrivals in prop::collection::vec((0..40u64, 0..100u64, 0..200u64), 0..80),
        expected in 0..50u64,
    ) {
        let summary = recorder(&arrivals).finish(expected);
        prop_assert_eq!(
            summary.received + summary.lost,
            summary.expected + summary.duplicates + summary.unexpected
        );
        prop_assert!(summary.lost <= expected && summary.reordered <= summary.received);
        let quantiles = summary.delay_quantiles.iter().flatten();
        prop_assert!(quantiles.is_sorted());
        prop_assert_eq!(summary.delay_p95, summary.delay_quantiles.map(|all| all[7]));
        prop_assert!(summary.delay_min <= summary.delay_p50);
        prop_assert!(summary.delay_p50 <= summary.delay_p95);
        prop_assert!(summary.delay_p95 <= summary.delay_p99);
        prop_assert!(summary.delay_p99 <= summary.delay_max);
        // The mean absolute deviation is never above the standard deviation.
        let slack = summary.delay_standard_deviation.map(|deviation| deviation + 1e-12);
        prop_assert!(summary.jitter_mean_deviation <= slack);
        let range = summary.delay_max.zip(summary.delay_min).map(|(max, min)| max - min + 1e-12);
        prop_assert!(summary.ipdv_p95.is_none() || summary.ipdv_p95 <= range);
    }

    #[test]
    fn a_quantile_is_the_nearest_rank_to_three_digits(
        nanos in prop::collection::vec(0..1u64 << 50, 1..60),
    ) {
        let spans: Vec<Span> = nanos.iter().copied().map(Span::from_nanos).collect();
        let mut sorted = spans.clone();
        sorted.sort_unstable();
        for (found, percent) in quantiles(&spans, [0.5, 0.95, 0.99]).into_iter().flatten().zip([50, 95, 99]) {
            let rank = (spans.len() * percent).div_ceil(100);
            let exact = sorted[rank - 1].as_secs_f64();
            prop_assert!((found - exact).abs() <= exact * 1e-3);
        }
    }

    #[test]
    fn hostile_numbers_never_panic(
        arrivals in prop::collection::vec(any::<(u64, u64, u64, u64)>(), 0..8), expected: u64,
    ) {
        let mut recorder = FlowRecorder::new();
        for (sequence, sent, received, size) in arrivals {
            let (sent, received) = (Time::from_picos(sent), Time::from_picos(received));
            recorder.record(sequence, sent, received, Bytes::new(size));
        }
        let _ = recorder.finish(expected);
    }

    #[test]
    fn a_constant_delay_has_no_jitter(count in 2..100u64, delay in 0..1000u64) {
        let arrivals: Vec<_> = (0..count).map(|at| (at, at * 7, at * 7 + delay)).collect();
        let summary = recorder(&arrivals).finish(count);
        prop_assert_eq!(summary.jitter_ditg, Some(0.0));
        prop_assert_eq!(summary.jitter_rfc3550, Some(0.0));
        prop_assert_eq!(summary.ipdv_p95, Some(0.0));
        prop_assert!(summary.jitter_mean_deviation.unwrap() < 1e-12);
    }
}

#[test]
fn a_correction_of_arrivals_changes_their_delays() {
    let mut recorder = recorder(&[(0, 10, 9), (1, 20, 31)]);
    assert_eq!(recorder.finish(2).negative_delays, 1);
    recorder.correct(|received| received + Span::from_millis(3));
    let summary = recorder.finish(2);
    assert_eq!(summary.negative_delays, 0);
    check(summary.delay_min, 2.0);
    check(summary.delay_mean, 8.0);
}
