use proptest::prelude::*;
use queue::{AverageQueue, Backlog, Reason};
use serde_json::Value;
use units::Bytes;

use super::*;

const SECOND: u64 = 1_000_000_000_000;

fn packet() -> Seen {
    Seen {
        flow: 0,
        sequence: 0,
        size: Bytes::new(1500),
        offset: Bytes::ZERO,
        length: Bytes::ZERO,
        whole: Bytes::ZERO,
        answer: false,
        segment: None,
        live: 1,
        number: 0,
        is_bundle: false,
        sent: Time::ZERO,
        marks: 0,
    }
}

fn at(picos: u64) -> Time {
    Time::ZERO + Span::from_picos(picos)
}

fn counter(interval: u64) -> Counter {
    let window = |name: &str, from: u64, to: u64| {
        let window = spec::Window {
            name: name.to_owned(),
            from: Span::from_picos(from),
            to: Span::from_picos(to),
        };
        Window::new(&window, None)
    };
    let series = Series::new(Span::from_picos(interval), Span::from_secs(2));
    let link = LinkCounters {
        name: "wire".to_owned(),
        mark: 0,
        windows: vec![
            window("early", 0, SECOND),
            window("late", SECOND, 2 * SECOND),
            window("all", 0, 2 * SECOND),
        ],
        series: Some(series),
        transfer: None,
        losses: None,
    };
    Counter::new(vec![Some(link)], None, false)
}

/// A packet that waits between the two times and is then sent or dropped.
fn wait(counter: &mut Counter, from: u64, to: u64, is_sent: bool) {
    let state = QueueState {
        backlog: Backlog::default(),
        average: Some(AverageQueue {
            frames: 1.5,
            bytes: 4_500.0,
            of_max: 0.3,
        }),
    };
    counter.queued(at(from), (0, 0), packet(), state);
    match is_sent {
        true => counter.sent(at(to), at(to + SECOND / 10), (0, 0), packet(), Span::ZERO),
        false => counter.lost(
            at(to),
            Location::Direction(0, 0),
            packet(),
            Loss::Queue(Reason::Full),
        ),
    }
}

fn numbers(text: &Value) -> Vec<f64> {
    let words = text.as_str().unwrap().split(' ');
    words.map(|word| word.parse().unwrap_or(f64::NAN)).collect()
}

#[test]
fn windows_and_intervals_have_what_waited_while_they_were_open() {
    let mut counter = counter(SECOND / 2);
    // Half a second of the first window and a quarter of the second one.
    wait(&mut counter, SECOND / 2, SECOND * 5 / 4, true);
    // Transmitted in both windows.
    wait(&mut counter, SECOND * 24 / 25, SECOND * 24 / 25, true);
    wait(&mut counter, SECOND * 3 / 2, SECOND * 3 / 2, false);
    // Later packets, the other direction and events after the link do not
    // count.
    wait(&mut counter, 3 * SECOND, 4 * SECOND, true);
    counter.lost(
        at(SECOND),
        Location::Direction(0, 0),
        packet(),
        Loss::Chance,
    );
    counter.lost(
        at(SECOND),
        Location::Direction(0, 1),
        packet(),
        Loss::Queue(Reason::Full),
    );
    let mut measurements = Measurements::default();
    counter.finish(&mut measurements, None);
    for (metric, value) in [
        ("mean_queue_early", 0.5),
        ("mean_queue_late", 0.25),
        ("mean_queue_all", 0.375),
        ("drop_percent_early", 0.0),
        ("drop_percent_late", 100.0),
        ("drop_percent_all", 100.0 / 3.0),
        ("utilisation_percent_early", 4.0),
        ("utilisation_percent_late", 16.0),
        ("utilisation_percent_all", 10.0),
    ] {
        assert!(
            (measurements.metrics[metric] - value).abs() < 1e-9,
            "{metric}"
        );
    }
    let series = &measurements.evidence["series"]["wire"];
    assert_eq!(series["interval_s"], 0.5);
    assert_eq!(series["queue"], "0 1 0.5 0");
    assert_eq!(series["arrivals"], "0 2 0 1");
    assert_eq!(series["drops"], "0 0 0 1");
    assert_eq!(series["average"], "- 1.5 - 1.5");
}

proptest! {
    #[test]
    fn a_series_adds_up_to_the_window_that_it_covers(
        packets in prop::collection::vec((0..2 * SECOND, 0..SECOND, any::<bool>()), 1..50),
        interval in SECOND / 100..3 * SECOND,
    ) {
        let mut counter = counter(interval);
        for &(from, wait_for, is_sent) in &packets {
            wait(&mut counter, from, from + wait_for, is_sent);
        }
        let mut measurements = Measurements::default();
        counter.finish(&mut measurements, None);
        let series = &measurements.evidence["series"]["wire"];
        prop_assert_eq!(numbers(&series["arrivals"]).iter().sum::<f64>(), packets.len() as f64);
        let mut waited = 0.0;
        for (number, mean) in (0_u64..).zip(numbers(&series["queue"])) {
            let begin = number * interval;
            let length = interval.min(2 * SECOND - begin) as f64 / SECOND as f64;
            prop_assert!(mean >= 0.0);
            waited += mean * length;
        }
        let mean = measurements.metrics["mean_queue_all"];
        prop_assert!((waited / 2.0 - mean).abs() <= 0.005 + 1e-9, "{} {}", waited / 2.0, mean);
        let parts = measurements.metrics["mean_queue_early"] + measurements.metrics["mean_queue_late"];
        prop_assert!((parts / 2.0 - mean).abs() < 1e-9);
    }
}
