//! Schedules with limits, and with alternating periods.

use units::Span;

use super::*;

const MILLI: f64 = 1e9;

fn every_ms() -> Schedule {
    Schedule::new(
        Time::ZERO,
        Distribution::Constant(MILLI),
        Distribution::Constant(100.0),
        SEED,
    )
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn turns(on: f64, off: f64) -> Bursts {
    Bursts {
        on: Distribution::Constant(on * MILLI),
        off: Distribution::Constant(off * MILLI),
    }
}

fn instants(schedule: Schedule) -> Vec<u64> {
    schedule.map(|(at, _)| at.as_picos() / 1_000_000).collect()
}

#[test]
fn a_schedule_ends_before_its_end_after_its_packets_or_with_its_bytes() {
    assert_eq!(instants(every_ms().until(at(3_000))), [1_000, 2_000]);
    assert_eq!(instants(every_ms().until(at(3_001))), [1_000, 2_000, 3_000]);
    assert_eq!(every_ms().packets(5).count(), 5);
    assert_eq!(every_ms().packets(0).count(), 0);
    // The packet that reaches the limit is whole.
    assert_eq!(every_ms().bytes(300).count(), 3);
    assert_eq!(every_ms().bytes(301).count(), 4);
    assert_eq!(every_ms().bytes(0).count(), 0);
    assert_eq!(every_ms().bytes(1_000).packets(2).count(), 2);
    // An ended schedule stays ended.
    let mut ended = every_ms().until(at(1));
    assert!((0..3).all(|_| ended.next().is_none()));
}

#[test]
fn sizes_that_cannot_be_sent_are_drawn_and_count_among_packets_alone() {
    let sizes = Distribution::Empirical(vec![10.0, 100.0, 1e6].into());
    let drawn = |bytes: Option<u64>| {
        let schedule = Schedule::new(Time::ZERO, Distribution::Constant(1e9), sizes.clone(), SEED)
            .carried(Bytes::new(50)..=Bytes::new(200))
            .packets(1_000);
        let schedule = match bytes {
            Some(bytes) => schedule.bytes(bytes),
            None => schedule,
        };
        schedule.map(|(_, size)| size.get()).collect::<Vec<_>>()
    };
    let all = drawn(None);
    assert_eq!(all.len(), 1_000);
    assert!([10, 100, 1_000_000].iter().all(|size| all.contains(size)));
    let some = drawn(Some(1_000));
    assert_eq!(some.iter().filter(|&&size| size == 100).count(), 10);
    assert_eq!(some[..], all[..some.len()]);
}

#[test]
fn gaps_pass_in_periods_of_sending_only() {
    // 2.5 ms of sending, 10 ms of silence: half a gap is carried over to the next
    // period.
    let schedule = every_ms().bursts(turns(2.5, 10.0)).unwrap();
    assert_eq!(
        instants(schedule.packets(7)),
        [1_000, 2_000, 13_000, 14_000, 15_000, 26_000, 27_000]
    );
    // A gap of several periods includes several silences.
    let schedule = every_ms().bursts(turns(0.4, 1.0)).unwrap();
    assert_eq!(instants(schedule.packets(2)), [3_000, 5_000 + 1_000]);
}

#[test]
fn what_leaves_at_the_end_of_a_period_belongs_to_it() {
    let schedule = every_ms().bursts(turns(1.0, 10.0)).unwrap();
    assert_eq!(instants(schedule.packets(3)), [1_000, 12_000, 23_000]);
}

#[test]
fn no_silence_changes_no_instant() {
    let bursts = Bursts {
        on: Distribution::Exponential(MILLI),
        off: Distribution::Constant(0.0),
    };
    let gaps = || {
        Schedule::new(
            Time::ZERO,
            Distribution::Exponential(MILLI),
            Distribution::Constant(1.0),
            SEED,
        )
    };
    let broken = gaps().bursts(bursts).unwrap();
    assert!(broken.take(1_000).eq(gaps().take(1_000)));
}

#[test]
fn periods_of_sending_below_a_microsecond_are_rejected() {
    let none = every_ms().bursts(turns(0.0, 1.0));
    assert_eq!(none.unwrap_err(), BadDistribution::Periods);
    let wrong = every_ms().bursts(turns(1.0, f64::NAN));
    assert_eq!(wrong.unwrap_err(), BadDistribution::Numbers);
}

#[test]
fn a_flow_sends_in_its_share_of_the_time() {
    let bursts = Bursts {
        on: Distribution::Exponential(10.0 * MILLI),
        off: Distribution::Weibull(2.0, 30.0 * MILLI),
    };
    let share = bursts.on.mean() / (bursts.on.mean() + bursts.off.mean());
    let seconds = 400;
    let schedule = every_ms().until(Time::ZERO + Span::from_secs(seconds));
    let sent = schedule.bursts(bursts).unwrap().count() as f64;
    // Four standard errors of about ten thousand pairs of periods.
    let expected = 1_000.0 * seconds as f64 * share;
    assert!(
        (sent / expected - 1.0).abs() < 0.05,
        "{sent}, not {expected}"
    );
}

proptest! {
    #[test]
    fn bursts_never_go_back_and_move_neither_sizes_nor_number(
        gaps in distributions(), sizes in distributions(), on in distributions(), off in distributions(), seed: u64,
    ) {
        let bursts = Bursts { on, off };
        prop_assume!(bursts.check().is_ok());
        // The end of the flow limits the periods that a gap may span.
        let until = at(10_000);
        let plain = Schedule::new(Time::ZERO, gaps, sizes, Seed::new(seed)).until(until);
        let broken = plain.clone().bursts(bursts).unwrap();
        let both: Vec<_> = broken.take(200).zip(plain).collect();
        for ((later, size), (sooner, other)) in &both {
            prop_assert!(later >= sooner && size == other);
        }
        prop_assert!(both.is_sorted_by_key(|((at, _), _)| *at));
    }

    #[test]
    fn bytes_are_reached_by_the_last_packet_alone(sizes in distributions(), bytes in 1u64..1_000_000) {
        let schedule = Schedule::new(Time::ZERO, Distribution::Constant(1.0), sizes, SEED);
        let sent: Vec<_> = schedule.bytes(bytes).take(2_000).collect();
        let before: u64 = sent.iter().rev().skip(1).map(|(_, size)| size.get()).sum();
        prop_assert!(before < bytes);
        let all = before + sent.last().unwrap().1.get();
        prop_assert!(sent.len() == 2_000 || all >= bytes);
    }
}
