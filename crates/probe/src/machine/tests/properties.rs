//! Properties of all investigations, and the share of wrong ones under loss.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bytes, Span, Time};

use super::path::{
    Backend, FAR_END, Narrow, Path, Told, Which, drive, investigate, router, settings,
};
use crate::machine::{
    Answer, AnswerKind, FindingKind, PathReport, Probe, QuotedHeader, Settings, Target, Verdict,
};
use link::Direction;

/// An answer of any content to a probe.
fn any_answer(rng: &mut ChaCha8Rng, probe: &Probe) -> Answer {
    let size = Bytes::new(rng.random_range(0..70_000));
    let kind = match rng.random_range(0..6) {
        0 | 1 => AnswerKind::Reply {
            size,
            fragment_size: rng.random_bool(0.1).then_some(size),
            mss: rng.random_bool(0.5).then(|| rng.random()),
            is_unreachable: rng.random(),
            reflected: None,
        },
        2 => AnswerKind::HopLimitExceeded {
            quoted: rng.random_bool(0.5).then(|| QuotedHeader {
                piece: rng.random_bool(0.5).then_some(size),
                dont_fragment: rng.random(),
            }),
        },
        3 => AnswerKind::TooBig {
            announced: size,
            quoted: probe.size,
        },
        4 => AnswerKind::Unreachable {
            code: rng.random(),
            prohibited: rng.random(),
        },
        _ => AnswerKind::LocallyTooBig { mtu: size },
    };
    Answer {
        id: probe.id,
        from: router(rng.random_range(0..5)),
        kind,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_answers_come_it_ends_within_its_bounds_and_never_above_what_passed(seed: u64, share in 0.0..1.0) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut passed = Bytes::ZERO;
        let settings = settings();
        let (most_time, most_probes) = (settings.most_time, u64::from(settings.most_probes));
        let report = drive(settings, seed, &mut |probe: &Probe, now: Time| {
            let mut answers = Vec::new();
            while rng.random_bool(share) && answers.len() < 4 {
                let answer = any_answer(&mut rng, probe);
                let is_reply = matches!(answer.kind, AnswerKind::Reply { .. });
                if is_reply && probe.to == Target::FarEnd {
                    passed = passed.max(probe.size);
                }
                answers.push((now + Span::from_millis(rng.random_range(0..2000)), answer));
            }
            answers
        });
        prop_assert!(report.forward.mtu <= Some(passed), "{:?} {passed:?}", report.forward);
        prop_assert!(report.reverse.mtu <= Some(passed));
        prop_assert!(report.probes <= most_probes);
        prop_assert!(report.took <= most_time + Span::from_secs(3));
    }

    #[test]
    fn answers_without_the_identifier_change_nothing(seed: u64, mtu in 1280_u64..9000) {
        let path = Path::with(Narrow::silent(1, mtu));
        let expected = investigate(&path, settings(), seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut backend = Backend::new(&path, seed);
        let report = drive(settings(), seed, &mut |probe: &Probe, now: Time| {
            let mut forged = any_answer(&mut rng, probe);
            forged.id ^= 1 << rng.random_range(0..64);
            let at = now + Span::from_micros(100);
            backend.carry(probe, now).into_iter().chain([(at, forged)]).collect()
        });
        prop_assert_eq!(report, expected);
    }

    #[test]
    fn messages_that_do_not_quote_the_probe_do_not_lower_the_result(seed: u64) {
        let mut backend = Backend::new(&Path::clean(), seed);
        let report = drive(settings(), seed, &mut |probe: &Probe, now: Time| {
            let kind = AnswerKind::TooBig { announced: Bytes::new(1280), quoted: probe.size + Bytes::new(1) };
            let forged = Answer { id: probe.id, from: FAR_END, kind };
            backend.carry(probe, now).into_iter().chain([(now, forged)]).collect()
        });
        prop_assert_eq!(report.verdict, Verdict::Clean);
        prop_assert_eq!(report.forward.mtu, Some(Bytes::new(9000)));
    }

    #[test]
    fn the_size_is_exact_without_loss_and_never_too_large_with_it(
        mtu in 1200_u64..=9216, link in 0_u8..=3, told in prop_oneof![Just(None), (0_u64..10_000).prop_map(Some)], loss in 0.0..0.15, seed: u64,
    ) {
        let told = told.map_or(Told::Silent, Told::Announces);
        let path = Path::with(Narrow { told, ..Narrow::silent(link, mtu) });
        let truth = Some(Bytes::new(mtu.min(9000)));
        let report = investigate(&path, settings(), seed);
        prop_assert_eq!(report.forward.mtu, truth);
        prop_assert_eq!(report.verdict == Verdict::Clean, mtu >= 9000);
        let report = investigate(&path.losing(loss), settings(), seed);
        prop_assert!(report.forward.mtu <= truth);
    }
}

/// The settings for paths with this loss: where much is lost, more probes are needed, and
/// not for a narrow interval of the loss.
fn settings_for(loss: f64) -> Settings {
    match loss {
        0.0..=0.05 => settings(),
        _ => Settings {
            loss_interval: 0.9,
            ..settings().thorough()
        },
    }
}

/// The share of seeds with a wrong report.
fn wrong(path: &Path, settings: &Settings, is_right: impl Fn(&PathReport) -> bool) -> f64 {
    const SEEDS: u32 = 100;
    let wrong = (0..SEEDS).filter(|&seed| {
        let report = investigate(path, settings.clone(), u64::from(seed));
        !is_right(&report)
    });
    f64::from(u32::try_from(wrong.count()).unwrap()) / f64::from(SEEDS)
}

#[test]
fn loss_is_taken_for_a_problem_in_one_of_a_hundred_investigations_at_most() {
    for loss in [0.0, 0.05, 0.10, 0.15] {
        let path = Path::clean().losing(loss);
        let share = wrong(&path, &settings_for(loss), |report| {
            report.verdict == Verdict::Clean
        });
        assert!(share <= 0.01, "loss {loss}: {share}");
    }
}

#[test]
fn a_black_hole_is_missed_or_misplaced_in_one_of_a_hundred_investigations_at_most() {
    for loss in [0.0, 0.05, 0.10, 0.15] {
        let path = Path::with(Narrow::silent(2, 1500)).losing(loss);
        let share = wrong(&path, &settings_for(loss), |report| {
            let place = report.findings.iter().find_map(|one| match one.kind {
                FindingKind::BlackHole {
                    direction: Some(Direction::Forward),
                    place,
                    ..
                } => Some(place),
                _ => None,
            });
            let behind = place.and_then(|place| place.behind);
            report.forward.mtu == Some(Bytes::new(1500))
                && behind.is_some_and(|hop| hop.number == 2)
        });
        assert!(share <= 0.01, "loss {loss}: {share}");
    }
}

#[test]
fn a_small_branch_is_missed_in_one_of_a_hundred_investigations_at_most() {
    for loss in [0.0, 0.15] {
        for rest in [0, 1] {
            let narrow = Narrow {
                which: Which::Flows(rest),
                direction: Some(Direction::Forward),
                ..Narrow::silent(1, 1500)
            };
            let path = Path::with(narrow).losing(loss);
            let share = wrong(&path, &settings_for(loss), |report| {
                let is_named = |kind: &FindingKind| matches!(kind, FindingKind::Branches { .. });
                report.findings.iter().any(|one| is_named(&one.kind))
                    && report.forward.mtu == Some(Bytes::new(1500))
            });
            assert!(share <= 0.01, "loss {loss}, flows {rest}: {share}");
        }
    }
}
