//! Windows at a given loss, against closed forms.

use model::{Growth, cubic_window, reno_window};
use proto::tcp::{Acknowledging, Control, Recovery, Settings};
use units::Span;

use crate::wire::{Ran, run};

fn settings(recovery: Recovery) -> Settings {
    Settings {
        recovery,
        acknowledging: Acknowledging::Each,
        initial_threshold: Some(10),
        shortest_timeout: Span::from_millis(400),
        ..Settings::new(1_000)
    }
}

/// Every `gap`-th segment is lost.
fn periodic(settings: &Settings, trip: Span, gap: u32, losses: u32) -> Ran {
    let loss = 1.0 / f64::from(gap);
    let window = cubic_window(loss, trip).unwrap();
    let seconds = f64::from(gap) * f64::from(losses) / window * trip.as_secs_f64();
    let seconds = (1u32..).find(|whole| f64::from(*whole) >= seconds).unwrap();
    let mut sent = 0;
    run(
        settings,
        trip,
        u64::from(seconds),
        u64::from(seconds / 3),
        || {
            sent += 1;
            sent % gap == 0
        },
    )
}

#[track_caller]
fn near(value: f64, expected: f64, relative: f64) {
    let off = (value / expected - 1.0).abs();
    assert!(off <= relative, "{value} is not {expected}");
}

#[test]
fn renos_window_follows_the_inverse_square_root() {
    let trip = Span::from_millis(100);
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        for gap in [1_000, 10_000] {
            let ran = periodic(&settings(recovery), trip, gap, 60);
            let expected = reno_window(1.0 / f64::from(gap), Growth::Segments).unwrap();
            near(ran.window, expected, 0.05);
        }
    }
}

#[test]
fn delayed_acknowledgements_halve_the_growth() {
    let delayed = Settings {
        acknowledging: Acknowledging::Delayed(Span::from_millis(100)),
        ..settings(Recovery::Sack)
    };
    let growth = Growth::DelayedAcknowledgements;
    for gap in [1_000, 10_000] {
        let ran = periodic(&delayed, Span::from_millis(100), gap, 60);
        near(
            ran.window,
            reno_window(1.0 / f64::from(gap), growth).unwrap(),
            0.05,
        );
    }
}

#[test]
fn cubic_outside_of_renos_region_follows_its_own_law() {
    let cubic = Settings {
        control: Control::Cubic,
        ..settings(Recovery::Sack)
    };
    let trip = Span::from_millis(200);
    let ran = periodic(&cubic, trip, 10_000, 60);
    near(ran.window, cubic_window(1e-4, trip).unwrap(), 0.10);
}

#[test]
fn with_independent_losses_renos_rate_is_that_of_padhye() {
    // 1/(sqrt(2p/3) + T0/RTT min(1, 3 sqrt(3p/8)) p (1 + 32 p^2)) segments a
    // round trip of 0.1 s, with T0 0.4 s [Padhye1998 eq 30].
    for (loss, window) in [(1e-4, 122.36), (1e-3, 38.38), (1e-2, 11.23)] {
        let mut state: u64 = 1;
        let lost = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 11) as f64) < loss * (1u64 << 53) as f64
        };
        let trip = Span::from_millis(100);
        let ran = run(&settings(Recovery::Sack), trip, 2_000, 100, lost);
        near(ran.rate, window, 0.15);
    }
}

#[test]
fn without_loss_nothing_is_sent_twice_and_all_arrives() {
    let few = Settings {
        window: 50,
        ..settings(Recovery::Sack)
    };
    let ran = run(&few, Span::from_millis(100), 20, 5, || false);
    assert_eq!(ran.sender.counts().retransmissions, 0);
    assert_eq!(ran.sender.counts().timeouts, 0);
    near(ran.rate, 50.0, 0.02);
    assert!(ran.receiver.octets() >= 1_000 * (ran.sender.counts().segments - 50));
}
