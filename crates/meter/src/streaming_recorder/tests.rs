use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A recorder of arrivals a microsecond apart, each with a delay of 10 us.
fn ordered(sequences: &[u64]) -> StreamingFlowRecorder {
    let with_delays: Vec<(u64, i64)> = sequences.iter().map(|&number| (number, 10_000)).collect();
    delayed(&with_delays)
}

/// A recorder of numbers and delays in nanoseconds, with arrivals a microsecond apart.
fn delayed(arrivals: &[(u64, i64)]) -> StreamingFlowRecorder {
    let mut recorder = StreamingFlowRecorder::new(None);
    for (at, &(sequence, delay)) in (0..).zip(arrivals) {
        recorder.record(Arrival {
            sequence,
            at: at * 1000,
            delay: Some(delay),
            size: 100,
        });
    }
    recorder
}

#[track_caller]
fn check(seconds: Option<f64>, nanos: f64) {
    let found = seconds.unwrap() * 1e9;
    assert!(
        (found - nanos).abs() < 1e-6 * nanos.max(1.0),
        "{found} ns for {nanos} ns"
    );
}

/// One packet is late by four [RFC4737 s7]: its extent is 4, and it is
/// 4-reordered.
#[test]
fn a_packet_that_four_overtook_has_an_extent_of_four() {
    let order = ordered(&[0, 1, 2, 4, 5, 6, 7, 3, 8, 9]).summary(None).order;
    assert_eq!((order.reordered, order.largest_extent), (1, 4));
    assert_eq!(order.n_reordered, [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(order.reordering(), Some(0.1));
    assert_eq!((order.lost, order.loss_bursts, order.duplicates), (0, 0, 0));
}

/// One packet is early [RFC4737 s7]: the two it overtook have extents 1 and 2,
/// and only the first is 1-reordered.
#[test]
fn a_packet_that_overtook_two_reorders_both_of_them() {
    let order = ordered(&[0, 1, 2, 3, 6, 4, 5, 7, 8, 9]).summary(None).order;
    assert_eq!(
        (order.reordered, order.largest_extent, order.extents),
        (2, 2, 3)
    );
    assert_eq!(order.n_reordered, [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(order.mean_extent(), Some(1.5));
}

/// Two late packets among others [RFC4737 s7]: extents 2 and 4.
#[test]
fn late_packets_count_from_the_first_that_overtook_them() {
    let order = ordered(&[0, 1, 2, 3, 6, 7, 4, 8, 5, 9, 10])
        .summary(None)
        .order;
    assert_eq!(
        (order.reordered, order.extents, order.largest_extent),
        (2, 6, 4)
    );
    assert_eq!(order.n_reordered[..3], [2, 1, 0]);
}

#[test]
fn the_bytes_of_the_first_arrival_are_kept_apart() {
    assert_eq!(StreamingFlowRecorder::new(None).first_bytes(), 0);
    assert_eq!(ordered(&[4, 5, 6]).first_bytes(), 100);
}

#[test]
fn runs_of_lost_packets_are_bursts() {
    let summary = ordered(&[1, 2, 5, 6, 10]).summary(Some(13));
    let order = summary.order;
    // 0; 3 and 4; 7, 8 and 9; 11 and 12.
    assert_eq!((order.expected, order.lost, order.loss_bursts), (13, 8, 4));
    assert_eq!(
        (order.longest_loss_burst, order.mean_loss_burst()),
        (3, Some(2.0))
    );
    assert_eq!(order.loss(), Some(8.0 / 13.0));
}

#[test]
fn a_copy_is_neither_reordered_nor_counted_for_bytes() {
    let summary = ordered(&[0, 1, 1, 2, 0]).summary(None);
    assert_eq!((summary.order.duplicates, summary.order.reordered), (2, 0));
    assert_eq!((summary.received, summary.bytes), (5, 300));
}

#[test]
fn a_number_that_was_never_sent_hides_no_loss() {
    let mut recorder = StreamingFlowRecorder::new(Some(3));
    for sequence in [0, 2, 7, u64::MAX] {
        recorder.record(Arrival {
            sequence,
            at: 0,
            delay: None,
            size: 1,
        });
    }
    let summary = recorder.summary(Some(3));
    assert_eq!((summary.order.lost, summary.order.unexpected), (1, 2));
    assert_eq!((summary.unstamped, summary.bytes), (4, 2));
}

#[test]
fn loss_far_behind_the_highest_number_is_still_counted_in_bursts() {
    let far = 10 * WINDOW;
    let order = ordered(&[0, 1, far, far + 2, far + 3 * WINDOW])
        .summary(None)
        .order;
    assert_eq!(order.loss_bursts, 3);
    assert_eq!(order.longest_loss_burst, far - 2);
    assert_eq!(order.lost, far + 3 * WINDOW + 1 - 5);
    let late = ordered(&[far, 3]).summary(None).order;
    assert_eq!((late.stale, late.reordered, late.largest_extent), (1, 1, 1));
    // The window ends a word above the highest number but `WINDOW`.
    let late = ordered(&[WINDOW, 64, 63]).summary(None).order;
    assert_eq!((late.stale, late.reordered), (1, 2));
}

/// Delays of 10, 14, 12, 20 us, a microsecond apart, 100 bytes each.
#[test]
fn four_packets_in_order_give_the_figures_worked_by_hand() {
    let summary = delayed(&[(0, 10_000), (1, 14_000), (2, 12_000), (3, 20_000)]).summary(None);
    let delay = &summary.delay;
    check(delay.mean, 14_000.0);
    check(delay.min, 10_000.0);
    check(delay.max, 20_000.0);
    check(delay.standard_deviation, 14f64.sqrt() * 1000.0);
    check(delay.p99, 20_000.0);
    check(delay.pdv_p99, 10_000.0);
    check(delay.ipdv_mean, 14_000.0 / 3.0);
    check(delay.ipdv_max, 8000.0);
    check(delay.jitter_rfc3550, 836.914_062_5);
    assert_eq!((delay.count, delay.ipdv_count, delay.negative), (4, 3, 0));
    let goodput = summary.goodput.unwrap();
    assert!((goodput - 300.0 * 8.0 / 3e-6).abs() < 1.0, "{goodput}");
}

#[test]
fn clocks_that_disagree_leave_variation_as_it_is() {
    let summary = delayed(&[(0, -10_000), (1, -6000), (2, 8000)]).summary(None);
    assert_eq!((summary.delay.count, summary.delay.negative), (1, 2));
    check(summary.delay.mean, 8000.0);
    check(summary.delay.ipdv_mean, 9000.0);
}

/// 1 is lost, 3 arrives after 4, and 4 arrives twice: the pairs are 2-3 and 3-4.
#[test]
fn variation_is_between_neighbours_that_both_came() {
    let summary = delayed(&[(0, 5), (2, 10), (4, 17), (4, 99), (3, 30)]).summary(None);
    assert_eq!(summary.delay.ipdv_count, 2);
    check(summary.delay.ipdv_max, 20.0);
    check(summary.delay.ipdv_mean, (20.0 + 13.0) / 2.0);
}

#[test]
fn of_nothing_there_are_no_statistics() {
    let summary = StreamingFlowRecorder::new(None).summary(None);
    assert_eq!(
        (summary.goodput, summary.delay.p50, summary.order.loss()),
        (None, None, None)
    );
    assert_eq!(
        StreamingFlowRecorder::new(None)
            .summary(Some(7))
            .order
            .longest_loss_burst,
        7
    );
}

proptest! {
    /// Compares with a literal implementation of the definitions.
    #[test]
    fn order_is_as_defined(sequences in prop::collection::vec(0..60u64, 0..80), more in 0..5u64) {
        let highest = sequences.iter().max().map_or(0, |most| most + 1);
        let order = ordered(&sequences).summary(Some(highest + more)).order;
        let mut distinct: Vec<u64> = Vec::new();
        for &sequence in &sequences {
            if !distinct.contains(&sequence) {
                distinct.push(sequence);
            }
        }
        let mut extents = Vec::new();
        let mut degrees = [0; DEGREES];
        for (at, &sequence) in distinct.iter().enumerate() {
            let larger = distinct[..at].iter().position(|&before| before > sequence);
            extents.extend(larger.map(|first| (at - first) as u64));
            for n in 1..=DEGREES.min(at) {
                let all = distinct[at - n..at].iter().all(|&before| before > sequence);
                degrees[n - 1] += u64::from(all);
            }
        }
        let came: BTreeSet<u64> = distinct.iter().copied().collect();
        let lost: Vec<u64> = (0..highest + more).filter(|n| !came.contains(n)).collect();
        let bursts = lost.iter().filter(|&&n| n == 0 || came.contains(&(n - 1))).count();
        prop_assert_eq!(order.distinct + order.duplicates, sequences.len() as u64);
        prop_assert_eq!(order.distinct, distinct.len() as u64);
        prop_assert_eq!(order.lost, lost.len() as u64);
        prop_assert_eq!(order.loss_bursts, bursts as u64);
        prop_assert_eq!(order.reordered, extents.len() as u64);
        prop_assert_eq!(order.extents, u128::from(extents.iter().sum::<u64>()));
        prop_assert_eq!(order.largest_extent, extents.iter().copied().max().unwrap_or(0));
        prop_assert_eq!(order.n_reordered, degrees);
    }

    /// Compares with the recorder that keeps every arrival.
    #[test]
    fn delays_are_those_of_the_exact_recorder(
        arrivals in prop::collection::vec((0..60u64, 0..1_000_000i64), 0..80),
    ) {
        let recorder = delayed(&arrivals);
        let mut exact = crate::FlowRecorder::new();
        let mut first: BTreeMap<u64, i64> = BTreeMap::new();
        for &(sequence, delay) in &arrivals {
            first.entry(sequence).or_insert(delay);
            let nanos = delay.cast_unsigned();
            let (zero, then) = (units::Time::from_nanos(0), units::Time::from_nanos(nanos));
            exact.record(sequence, zero, then, units::Bytes::new(100));
        }
        let summary = recorder.summary(None);
        let exact = exact.finish(summary.order.expected);
        let close = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-12,
            (one, other) => one == other,
        };
        prop_assert_eq!(summary.order.lost, exact.lost);
        prop_assert_eq!(summary.order.reordered, exact.reordered);
        prop_assert!(close(summary.delay.mean, exact.delay_mean));
        prop_assert!(close(summary.delay.p50, exact.delay_p50));
        prop_assert!(close(summary.delay.p99, exact.delay_p99));
        prop_assert!(close(summary.delay.ipdv_p95, exact.ipdv_p95));
        prop_assert!(close(summary.delay.jitter_rfc3550, exact.jitter_rfc3550));
        prop_assert!(close(
            summary.delay.standard_deviation,
            exact.delay_standard_deviation
        ));
    }

    #[test]
    fn flows_added_up_are_as_one(
        one in prop::collection::vec(0..1_000_000i64, 0..40),
        other in prop::collection::vec(0..1_000_000i64, 0..40),
    ) {
        let delays = |delays: &[i64]| {
            let numbered: Vec<(u64, i64)> = (0..).step_by(2).zip(delays.iter().copied()).collect();
            delayed(&numbered).delays().clone()
        };
        let mut sum = delays(&one);
        sum.add(&delays(&other));
        let (sum, both) = (sum.summary(), delays(&[one, other].concat()).summary());
        prop_assert_eq!((sum.count, sum.mean, sum.min), (both.count, both.mean, both.min));
        prop_assert_eq!((sum.p50, sum.p999), (both.p50, both.p999));
        let nanos = |deviation: Option<f64>| deviation.map(|one| (one * 1e8).round());
        prop_assert_eq!(nanos(sum.standard_deviation), nanos(both.standard_deviation));
    }

    #[test]
    fn hostile_numbers_never_panic(
        arrivals in prop::collection::vec(any::<(u64, u64, Option<i64>, u32)>(), 0..12),
        expected: Option<u64>,
    ) {
        let mut recorder = StreamingFlowRecorder::new(expected);
        for (sequence, at, delay, size) in arrivals {
            recorder.record(Arrival { sequence, at, delay, size });
        }
        let summary = recorder.summary(expected);
        prop_assert_eq!(summary.order.distinct + summary.order.lost, summary.order.expected);
        let mut sum = DelayRecorder::default();
        sum.add(recorder.delays());
        sum.add(recorder.delays());
        prop_assert_eq!(sum.summary().count, 2 * summary.delay.count);
    }
}
