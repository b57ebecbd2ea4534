//! Results of searches, the number of their probes, and the share of wrong ones.

use proptest::prelude::*;
use units::{Span, Time};

use super::path::{Path, Run, found, quick};
use crate::pmtu::{Limit, State};

#[test]
fn eight_probes_and_a_second_find_the_sizes_of_most_links_without_a_message() {
    for (mtu, most) in [(1500, 8), (9000, 8), (65_535, 2)] {
        let mut run = Run::new(quick(65_535), 1);
        run.until_settled(&Path::silent(mtu));
        assert_eq!(run.found(), Some(mtu));
        assert!(
            run.discovery.probes() <= most,
            "{mtu}: {:?}",
            run.discovery.probes()
        );
        let took = run.now.since(Time::ZERO).unwrap();
        assert!(took <= Span::from_secs(1), "{mtu}: {took}");
    }
}

#[test]
fn with_messages_four_probes_are_enough() {
    for mtu in [1400, 1473, 1500, 8996, 9000] {
        let mut run = Run::new(quick(65_535), 1);
        run.until_settled(&Path::answering(mtu));
        assert_eq!(run.found(), Some(mtu));
        assert!(
            run.discovery.probes() <= 4,
            "{mtu}: {:?}",
            run.discovery.probes()
        );
        let Some(Limit::Rejected(size)) = run.discovery.limit() else {
            panic!("{:?}", run.discovery.limit());
        };
        assert_eq!(u64::from(size.get()), mtu + 1);
    }
}

#[test]
fn a_router_that_announces_too_little_does_not_lower_the_result() {
    for announces in [1280, 1400, 1499] {
        let path = Path {
            announces: Some(announces),
            ..Path::silent(1500)
        };
        assert_eq!(found(&path, quick(9000), 1), Some(1500), "{announces}");
    }
}

#[test]
fn messages_that_announce_too_much_or_nothing_leave_the_search_to_losses() {
    for announces in [0, 68, 60_000, 1 << 40] {
        let path = Path {
            announces: Some(announces),
            ..Path::silent(1500)
        };
        assert_eq!(found(&path, quick(9000), 1), Some(1500), "{announces}");
    }
}

/// Searches over a path of `mtu` that lose `loss` find less, in this share of seeds.
fn false_alarms(mtu: u64, loss: f64, up_to: u64) -> f64 {
    const SEEDS: u32 = 4000;
    let path = Path {
        loss,
        ..Path::silent(mtu)
    };
    let wrong = (0..SEEDS)
        .filter(|&seed| found(&path, quick(up_to), u64::from(seed)) != Some(mtu))
        .count();
    f64::from(u32::try_from(wrong).unwrap()) / f64::from(SEEDS)
}

#[test]
fn ordinary_loss_is_taken_for_a_limit_in_one_of_a_hundred_searches_at_most() {
    // Packets and answers are lost: 7.8 % each make 15 % of exchanges.
    for loss in [0.01, 0.05, 0.078] {
        for (mtu, up_to) in [(9000, 9000), (1500, 9000), (8996, 65_535), (65_535, 65_535)] {
            let share = false_alarms(mtu, loss, up_to);
            assert!(share <= 0.01, "{mtu} up to {up_to}, loss {loss}: {share}");
        }
    }
}

#[test]
fn a_loss_by_chance_costs_few_probes() {
    let path = Path {
        loss: 0.03,
        ..Path::silent(9000)
    };
    let mut probes: Vec<u64> = (0..500)
        .map(|seed| {
            Run::new(quick(65_535), seed)
                .until_settled(&path)
                .discovery
                .probes()
        })
        .collect();
    probes.sort_unstable();
    assert!(
        probes[250] <= 9 && probes[495] <= 40,
        "{} {}",
        probes[250],
        probes[495]
    );
}

#[test]
fn an_interruption_is_no_limit() {
    // Nothing passes for ten seconds, from the second probe on.
    let mut run = Run::new(quick(9000), 1);
    let probe = run.discovery.poll_probe(run.now).unwrap();
    run.discovery.acknowledged(probe.id, run.now);
    let end = run.now + Span::from_secs(10);
    while run.now < end && run.discovery.state() != State::Disabled {
        match run.discovery.poll_probe(run.now) {
            Some(_) => {}
            None => run.now = run.discovery.poll_timeout().unwrap_or(end),
        }
        assert_ne!(run.discovery.state(), State::SearchComplete);
    }
    // Connectivity is lost, which is another verdict than a limit.
    assert_eq!(run.discovery.state(), State::Disabled);
    assert_eq!(run.discovery.limit(), None);
}

proptest! {
    #[test]
    fn the_result_passed_and_what_limits_it_did_not(
        mtu in 1280_u64..=65_535, up_to in 1280_u64..=65_535, answers: bool, announced in 0_u64..70_000, loss in 0.0..0.2, seed: u64,
    ) {
        let path = Path { loss, announces: answers.then_some(announced), ..Path::silent(mtu) };
        let mut run = Run::new(quick(up_to), seed);
        run.until_settled(&path);
        if let Some(found) = run.found() {
            prop_assert!(found <= mtu.min(up_to), "{found}");
            prop_assert!(found >= 1280);
            if loss == 0.0 {
                prop_assert_eq!(found, mtu.min(up_to));
            }
        }
    }

    #[test]
    fn any_path_is_found_exactly_with_few_probes(mtu in 1280_u64..=65_535, up_to in 1280_u64..=65_535, answers: bool) {
        let path = if answers { Path::answering(mtu) } else { Path::silent(mtu) };
        let mut run = Run::new(quick(up_to), 1);
        run.until_settled(&path);
        prop_assert_eq!(run.found(), Some(mtu.min(up_to)));
        prop_assert!(run.discovery.probes() <= 60, "{}", run.discovery.probes());
    }
}
