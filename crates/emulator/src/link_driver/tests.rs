use meter::departures::mean_gap;
use queue::{Limit, Spec};
use units::Rate;

use super::*;

const FRAME: u64 = 1518;
/// Transmission time of a full frame at one gigabit per second.
const TAKES: Span = Span::from_nanos(12_304);

fn driver(limit: Limit) -> LinkDriver {
    let gigabit = Rate::from_bits_per_second(1_000_000_000);
    let settings = Settings::perfect(gigabit, Spec::DropTail { limit });
    LinkDriver::new(settings, Seed::new(1)).unwrap()
}

/// Distributions of full frames at this rate.
fn distributions(megabits: u64) -> (Distribution, Distribution) {
    let rate = Rate::from_bits_per_second(megabits * 1_000_000).unwrap();
    let gap = mean_gap(Bytes::new(FRAME + 20), rate);
    (Distribution::Constant(gap), Distribution::Constant(1518.0))
}

fn frame(pool: &Pool) -> Frame {
    pool.frame(&[0; 1514])
}

fn flow_of_a_frame() -> u64 {
    wire::frame::flow(&[0; 1514])
}

fn at(micros: u64) -> Time {
    Time::from_nanos(micros * 1_000)
}

#[test]
fn cross_traffic_comes_in_its_place_however_late_it_is_looked_at() {
    // At half the rate a packet of cross traffic arrives every 24.608 us. A frame that
    // arrives right after one waits for it, whether or not the link was polled in
    // between.
    let delivered = |looks: &[u64]| {
        let pool = Pool::default();
        let mut driver = driver(Limit::Packets(100));
        let (gaps, sizes) = distributions(500);
        driver.begin_cross(Time::ZERO, gaps, sizes, Seed::new(1));
        for &look in looks {
            driver.catch_up(at(look));
            assert!(driver.poll_transmit(at(look)).is_none(), "nobody's frame");
            assert_eq!(
                driver.next_timeout(),
                None,
                "nobody waits for cross traffic"
            );
        }
        let sent = at(4 * 24_608 / 1_000 + 1);
        let kept = frame(&pool);
        assert!(driver.receive(sent, kept, &pool).is_none());
        let due = driver.next_timeout().unwrap();
        let delivery = driver.poll_transmit(at(1_000)).unwrap();
        assert!(due <= delivery.at);
        delivery.at
    };
    let filler_came = Time::from_nanos(4 * 24_608);
    assert_eq!(delivered(&[]), filler_came + TAKES + TAKES);
    assert_eq!(delivered(&[10, 30, 31, 77]), delivered(&[]));
}

#[test]
fn every_packet_of_cross_traffic_is_accounted_for() {
    // Twice the link's rate: half of the packets are dropped.
    let mut driver = driver(Limit::Packets(10));
    let (gaps, sizes) = distributions(2_000);
    driver.begin_cross(Time::ZERO, gaps, sizes, Seed::new(1));
    let end = at(100_000);
    assert!(driver.poll_transmit(end).is_none());
    driver.end_cross(end);
    let crossed = driver.crossed(at(200_000));
    assert!(driver.poll_transmit(at(200_000)).is_none());
    let crossed_later = driver.crossed(at(200_000));
    let counters = crossed_later.counters;
    assert_eq!(counters.arrived, 16_254, "100 ms in gaps of 6.152 us");
    assert_eq!(crossed.lasted, Span::from_millis(100));
    let outcomes: u64 = counters.outcomes.iter().sum();
    assert_eq!(outcomes, counters.arrived, "none waits any longer");
    assert_eq!(crossed_later.offered, Bytes::new(16_254 * 1_538));
    assert_eq!(
        crossed_later.carried,
        Bytes::new(counters.of(PacketOutcome::Delivered) * 1_538)
    );
    // 8127 packets are sent in the time; ten and one wait or leave at its end.
    let passed = counters.of(PacketOutcome::Delivered);
    assert!((8_127..=8_139).contains(&passed), "{passed}");
    assert_eq!(driver.counters(), counters, "there is nothing else");
    assert_eq!(driver.next_timeout(), None);
}

#[test]
fn a_record_has_cross_traffic_as_a_flow_of_its_own_and_ends_when_asked() {
    let pool = Pool::default();
    let mut driver = driver(Limit::Packets(10));
    driver.record();
    let (gaps, sizes) = distributions(500);
    driver.begin_cross(Time::ZERO, gaps, sizes, Seed::new(1));
    let kept = frame(&pool);
    assert!(driver.receive(at(60), kept, &pool).is_none());
    driver.end_cross(at(80));
    assert!(driver.poll_transmit(at(1_000)).is_some());
    let events = driver.take_events();
    let flows: Vec<u64> = events.iter().map(|event| event.flow).collect();
    let own = flow_of_a_frame();
    assert_eq!(flows, [u64::MAX, u64::MAX, own, u64::MAX]);
    assert!(events.iter().all(|event| event.size == FRAME));
    driver.end_record();
    let kept = frame(&pool);
    assert!(driver.receive(at(2_000), kept, &pool).is_none());
    assert!(driver.next_timeout().is_some() && driver.take_events().is_empty());
    assert!(driver.link.take_events().is_empty(), "nothing piles up");
}

/// Frames other than cross traffic that were dropped by `now`.
fn frames_dropped(driver: &mut LinkDriver, now: Time) -> u64 {
    let crossed = driver.crossed(now).counters.of(PacketOutcome::Dropped);
    driver.counters().of(PacketOutcome::Dropped) - crossed
}

#[test]
fn a_frame_beside_cross_traffic_is_waited_for_until_it_is_out_or_lost() {
    let pool = Pool::default();
    let mut driver = driver(Limit::Packets(1));
    let (gaps, sizes) = distributions(1_500);
    driver.begin_cross(Time::ZERO, gaps, sizes, Seed::new(1));
    let (mut passed, mut lost) = (0, 0);
    for number in 1..200u64 {
        let now = at(number * 100);
        let before = frames_dropped(&mut driver, now);
        let kept = frame(&pool);
        assert!(driver.receive(now, kept, &pool).is_none());
        let out = driver.next_timeout();
        let dropped = frames_dropped(&mut driver, now) > before;
        assert_eq!(out.is_none(), dropped, "{number}");
        let came = driver.poll_transmit(at(number * 100 + 90));
        assert_eq!(came.is_some(), out.is_some());
        assert_eq!(driver.next_timeout(), None);
        (passed, lost) = (passed + u32::from(!dropped), lost + u32::from(dropped));
    }
    assert!(passed > 20 && lost > 20, "{passed} passed, {lost} did not");
}

#[test]
fn a_frame_waits_behind_poisson_traffic_as_long_as_theory_says() {
    // M/D/1: load / (2 (1 - load)) services on average [Kleinrock1975 ch 5]. Frames of
    // 64 bytes arrive every 40 services and add little.
    const PROBES: u32 = 6_000;
    let service = TAKES.as_picos() as f64;
    for load in [0.3, 0.5, 0.8] {
        let pool = Pool::default();
        let mut driver = driver(Limit::Packets(10_000));
        let gaps = Distribution::Exponential(service / load);
        driver.begin_cross(
            Time::ZERO,
            gaps,
            Distribution::Constant(1518.0),
            Seed::new(5),
        );
        driver.record();
        let mut waits = Vec::new();
        for number in 1..=u64::from(PROBES) {
            let sent = at(492 * number);
            let probe = pool.frame(&[0; 60]);
            assert!(driver.receive(sent, probe, &pool).is_none());
            while driver.poll_transmit(sent).is_some() {}
            let events = driver.take_events();
            let probes = events.iter().filter(|event| event.flow != Frame::FILLER);
            waits.extend(probes.filter_map(|event| event.at.since(event.arrival)));
        }
        let waits: Vec<f64> = waits
            .iter()
            .map(|wait| wait.as_picos() as f64 / service)
            .collect();
        let count = waits.len() as f64;
        let mean = waits.iter().sum::<f64>() / count;
        let square = |wait: &f64| (wait - mean).powi(2);
        let error = (waits.iter().map(square).sum::<f64>() / count / count).sqrt();
        let theory = load / (2.0 * (1.0 - load));
        assert!(
            (mean - theory).abs() < 2.576 * error + 0.002,
            "load {load}: {mean} of {theory}, standard error {error}"
        );
    }
}
