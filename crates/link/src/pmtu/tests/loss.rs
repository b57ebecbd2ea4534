//! The outcome of losses of the found size: nothing if they are ordinary, a smaller size if
//! they depend on the size.
//!
//! Other implementations got these wrong. quinn took ordinary losses of a bulk transfer for a
//! black hole, and sent packets of the base size from then on (its issue 2791). quic-go kept a
//! size of which the path always loses a share, because single acknowledgements confirm it (its
//! issue 5768).

use units::Span;

use super::path::{Path, Run, quick};
use crate::pmtu::{Limit, State};

/// The time between two searches for larger sizes.
const RAISE: Span = Span::from_secs(600);

/// A path of 9000 bytes that loses this share of the packets above a size.
fn lossy(size: u64, share: f64) -> Path {
    Path {
        large_loss: Some((size, share)),
        ..Path::silent(9000)
    }
}

/// A discovery that has settled on 9000 bytes.
fn settled(seed: u64) -> Run {
    let mut run = Run::new(quick(9000), seed);
    run.until_settled(&Path::silent(9000));
    assert_eq!(run.found(), Some(9000));
    run
}

/// How often a smaller size than before was used.
fn falls(used: &[u64]) -> usize {
    used.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

#[test]
fn ordinary_loss_of_data_is_no_black_hole() {
    for loss in [0.01, 0.02, 0.05, 0.1] {
        let path = Path {
            loss,
            ..Path::silent(9000)
        };
        let mut all = 0;
        for seed in 0..10 {
            let mut run = settled(seed);
            let used = run.with_data(&path, RAISE * 6);
            all += falls(&used);
            assert_eq!(
                used.last(),
                Some(&9000),
                "loss {loss}, seed {seed}: {used:?}"
            );
        }
        // An hour has six searches, each with a false alarm in a hundred.
        assert!(all <= 1, "loss {loss}: {all} falls in ten hours");
    }
}

#[test]
fn a_size_of_which_a_share_is_lost_gives_way_to_the_largest_that_is_delivered() {
    for (limit, largest) in [(1440, 1420), (4352, 4352), (1280, 1280)] {
        for share in [0.2, 0.4, 0.6] {
            for seed in 0..5 {
                let path = lossy(limit, share);
                let mut run = settled(seed);
                let first = run.with_data(&path, RAISE);
                assert!(falls(&first) <= 3, "{limit}, {share}, {seed}: {first:?}");
                // It stays there, though larger sizes are tried again every ten minutes.
                let used = run.with_data(&path, RAISE * 5);
                assert_eq!(used, [largest], "{limit}, {share}, {seed}");
                run.until_settled(&path);
                let limit = run.discovery.limit();
                assert!(matches!(limit, Some(Limit::Lossy(_))), "{limit:?}");
            }
        }
    }
}

#[test]
fn a_size_of_which_a_twentieth_is_lost_gives_way_within_an_hour() {
    for seed in 0..10 {
        let mut run = settled(seed);
        let used = run.with_data(&lossy(1440, 0.05), RAISE * 6);
        assert_eq!(used.last(), Some(&1420), "{seed}: {used:?}");
    }
}

#[test]
fn loss_that_depends_on_the_size_is_told_from_ordinary_loss_beside_it() {
    for seed in 0..5 {
        let path = Path {
            loss: 0.02,
            ..lossy(4352, 0.3)
        };
        let mut run = settled(seed);
        run.with_data(&path, RAISE);
        let used = run.with_data(&path, RAISE * 3);
        assert_eq!(used.last(), Some(&4352), "{seed}: {used:?}");
    }
}

#[test]
fn confirmations_alone_find_a_size_of_which_a_share_is_lost() {
    for seed in 0..5 {
        let settings = crate::pmtu::Settings {
            confirm_after: Some(Span::from_secs(30)),
            ..quick(9000)
        };
        let mut run = Run::new(settings, seed);
        run.until_settled(&Path::silent(9000));
        let end = run.now + RAISE * 6;
        let path = lossy(1440, 0.4);
        while run.now < end {
            run.until_settled(&path);
            run.now = run.discovery.poll_timeout().unwrap();
        }
        assert_eq!(run.found(), Some(1420), "{seed}");
    }
}

#[test]
fn a_black_hole_is_found_within_a_minute_after_an_hour_of_ordinary_loss() {
    for seed in 0..5 {
        let path = Path {
            loss: 0.02,
            ..Path::silent(9000)
        };
        let mut run = settled(seed);
        run.with_data(&path, RAISE * 6);
        let smaller = Path { mtu: 1473, ..path };
        let used = run.with_data(&smaller, Span::from_secs(60));
        assert_eq!(used.last(), Some(&1473), "{seed}: {used:?}");
    }
}

#[test]
fn a_path_that_heals_carries_large_packets_again() {
    let mut run = settled(1);
    run.with_data(&lossy(1440, 0.3), RAISE);
    assert_eq!(run.found(), Some(1420));
    let used = run.with_data(&Path::silent(9000), RAISE * 2);
    assert_eq!(used.last(), Some(&9000), "{used:?}");
    assert_eq!(run.discovery.limit(), Some(Limit::Asked));
}

#[test]
fn probes_of_pairs_have_a_pause_and_are_due_at_its_end() {
    let mut run = settled(1);
    run.discovery.doubt(run.now);
    run.discovery.poll_probe(run.now).unwrap();
    // It is lost; the path delivers the rest at once.
    run.now = run.discovery.poll_timeout().unwrap();
    let mut sizes = Vec::new();
    while let Some(probe) = run.discovery.poll_probe(run.now) {
        sizes.push(probe.size.get());
        run.discovery.acknowledged(probe.id, run.now);
        assert_eq!(run.discovery.poll_probe(run.now), None);
        let next = run.discovery.poll_timeout().unwrap();
        if next.since(run.now) == Some(Span::from_millis(10)) {
            run.now = next;
        }
    }
    assert_eq!(sizes, [1280, 9000].repeat(6));
    assert!(run.discovery.poll_timeout().unwrap().since(run.now) > Some(Span::from_secs(1)));
}

#[test]
fn a_late_answer_does_not_bring_a_lossy_size_back() {
    let path = lossy(1440, 0.5);
    let mut run = settled(1);
    run.with_data(&path, RAISE);
    assert_eq!(run.found(), Some(1420));
    run.discovery.raise(run.now);
    let probes = std::iter::from_fn(|| {
        run.now = run.discovery.poll_timeout()?.max(run.now);
        run.discovery.poll_probe(run.now)
    });
    let large = probes
        .take(4)
        .find(|probe| probe.size.get() > 1420)
        .unwrap();
    let late = run.discovery.poll_timeout().unwrap();
    run.discovery.poll_probe(late);
    run.discovery.acknowledged(large.id, late);
    assert_eq!(run.discovery.state(), State::Searching);
    assert_eq!(run.found(), Some(1420));
}
