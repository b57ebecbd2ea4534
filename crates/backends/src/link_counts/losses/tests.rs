use serde_json::json;
use units::Span;

use super::*;

const MILLISECOND: u64 = 1_000_000_000;

fn losses(flows: usize) -> Losses {
    let settings = spec::Losses {
        from: Span::from_millis(10),
        to: Span::from_millis(1000),
        epoch: Span::from_millis(100),
    };
    let named = |place: usize| Group {
        name: format!("flow{place}"),
        arrivals: 0,
        drops: 0,
    };
    Losses {
        group: (0..flows).collect(),
        groups: (0..flows).map(named).collect(),
        ..Losses::new(settings, &[])
    }
}

fn segment(flow: usize, sequence: u64) -> Attributed {
    Attributed {
        flow,
        data: Some((sequence, 1)),
    }
}

fn datagram(flow: usize) -> Attributed {
    Attributed { flow, data: None }
}

fn measurements(losses: &Losses) -> Measurements {
    let mut measurements = Measurements::default();
    losses.put(&mut measurements);
    measurements
}

#[test]
fn drops_in_proportion_have_no_bias_and_drops_of_one_flow_alone_have_all() {
    let mut fair = losses(2);
    let mut unfair = losses(2);
    for number in 0..100 {
        let at = (20 + number) * MILLISECOND;
        // Three of four packets are of flow 0.
        let flow = usize::from(number % 4 == 3);
        for losses in [&mut fair, &mut unfair] {
            losses.came(at, datagram(flow));
        }
        if (number / 4) % 5 == 0 {
            fair.dropped(at, datagram(flow));
        }
        if flow == 1 {
            unfair.dropped(at, datagram(1));
        }
    }
    assert!(measurements(&fair).metrics["drop_bias"].abs() < 1e-9);
    // The flow has a quarter of the arrivals and all of the drops.
    assert!((measurements(&unfair).metrics["drop_bias"] - 75.0).abs() < 1e-9);
    assert_eq!(
        measurements(&unfair).evidence["losses"]["flows"]["flow1"],
        json!([25, 25])
    );
}

#[test]
fn connections_that_lose_within_one_epoch_lose_together() {
    let mut losses = losses(4);
    for flow in 0..4 {
        losses.came(20 * MILLISECOND, segment(flow, 1));
    }
    // All of them in one epoch, then one alone, twice.
    for flow in 0..4 {
        losses.dropped((100 + flow as u64) * MILLISECOND, segment(flow, 2));
    }
    losses.dropped(200 * MILLISECOND, segment(1, 3));
    losses.dropped(250 * MILLISECOND, segment(1, 4));
    let together = measurements(&losses).metrics["synchronisation"];
    assert!(
        (together - 100.0 * (1.0 + 0.25) / 2.0).abs() < 1e-9,
        "{together}"
    );
}

#[test]
fn a_notice_lasts_from_a_drop_until_the_segment_comes_again() {
    let mut losses = losses(2);
    losses.dropped(50 * MILLISECOND, segment(0, 7));
    // A later loss of the same flow is repaired together with the first.
    losses.dropped(60 * MILLISECOND, segment(0, 8));
    losses.came(90 * MILLISECOND, segment(0, 9));
    losses.came(100 * MILLISECOND, segment(0, 7));
    // A retransmission after a timeout is not a notice.
    losses.dropped(60 * MILLISECOND, segment(1, 5));
    losses.acted(1, 1);
    losses.came(900 * MILLISECOND, segment(1, 5));
    assert!((measurements(&losses).metrics["notice"] - 50.0).abs() < 1e-9);
}

#[test]
fn what_happens_outside_the_window_counts_nowhere() {
    let mut losses = losses(1);
    for at in [9, 1000] {
        losses.came(at * MILLISECOND, segment(0, 1));
        losses.dropped(at * MILLISECOND, segment(0, 1));
    }
    assert!(measurements(&losses).metrics.is_empty());
}

#[test]
fn a_retransmission_may_begin_in_front_of_the_missed_byte() {
    let mut losses = losses(1);
    let bytes = |first, count| Attributed {
        flow: 0,
        data: Some((first, count)),
    };
    losses.dropped(50 * MILLISECOND, bytes(1_448, 1_448));
    losses.came(60 * MILLISECOND, bytes(0, 1_448));
    losses.came(70 * MILLISECOND, bytes(2_896, 1_448));
    assert!(!measurements(&losses).metrics.contains_key("notice"));
    losses.came(80 * MILLISECOND, bytes(1_000, 500));
    assert!((measurements(&losses).metrics["notice"] - 30.0).abs() < 1e-9);
}
