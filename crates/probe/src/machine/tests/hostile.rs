//! A hostile reflector, which answers each probe many times, late, with other numbers and
//! sizes: the investigation ends within its bounds, and does not grow. And forged messages.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bytes, Seed, Span, Time};

use super::path::{Backend, FAR_END, Path, drive, router, settings};
use crate::machine::{
    Answer, AnswerKind, Investigation, Probe, Protocol, Reflected, Reflector, Settings, Target,
};

/// Answers of a reflector to one probe that are not what it received.
fn answers(rng: &mut ChaCha8Rng, probe: &Probe, count: usize) -> Vec<Answer> {
    let answer = |rng: &mut ChaCha8Rng| Answer {
        // Now and then of another probe.
        id: if rng.random_bool(0.9) {
            probe.id
        } else {
            rng.random()
        },
        from: FAR_END,
        kind: AnswerKind::Reply {
            size: Bytes::new(rng.random_range(0..100_000)),
            fragment_size: rng
                .random_bool(0.1)
                .then(|| Bytes::new(rng.random_range(0..9_000))),
            mss: rng.random_bool(0.1).then(|| rng.random()),
            is_unreachable: rng.random_bool(0.1),
            reflected: rng.random_bool(0.9).then(|| Reflected {
                sequence: rng.random(),
                sent: rng.random(),
                stateful: rng.random_bool(0.5),
                hop_limit: rng.random(),
                piece: rng
                    .random_bool(0.5)
                    .then(|| Bytes::new(rng.random_range(0..9_000))),
            }),
        },
    };
    (0..count).map(|_| answer(rng)).collect()
}

/// Bytes of the text of an investigation of a path whose far end gives `count` answers
/// to a share of the probes, each after up to `late`; and its probes.
fn size(seed: u64, count: usize, share: f64, late: Span) -> (usize, u64) {
    let settings = Settings {
        reflector: Reflector::ShortReplies,
        protocols: vec![Protocol::Udp],
        ..settings()
    };
    let most = settings.most_time;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut investigation = Investigation::new(settings, Seed::new(seed)).unwrap();
    let mut waiting: BTreeMap<(Time, usize), Answer> = BTreeMap::new();
    let mut number = 0;
    let mut now = Time::ZERO;
    while !investigation.is_done() {
        if let Some(probe) = investigation.poll_probe(now) {
            if probe.to == Target::FarEnd && rng.random_bool(share) {
                for answer in answers(&mut rng, &probe, count) {
                    let picos = rng.random_range(0..=late.as_picos());
                    waiting.insert((now + Span::from_picos(picos), number), answer);
                    number += 1;
                }
            }
            continue;
        }
        let Some(wake) = investigation.poll_timeout() else {
            continue;
        };
        let due = waiting.first_key_value().map(|((at, _), _)| *at);
        now = now.max(due.map_or(wake, |due| due.min(wake)));
        while let Some(first) = waiting.first_entry()
            && first.key().0 <= now
        {
            investigation.answered(now, &first.remove());
        }
        assert!(now <= Time::ZERO + most + Span::from_secs(3), "it hangs");
    }
    let report = investigation.report();
    assert!(report.forward.mtu <= Some(Bytes::new(9_000)));
    (format!("{investigation:?}").len(), report.probes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn many_answers_to_each_probe_take_no_more_memory_than_one(seed: u64, share in 0.0..1.0, late in 0_u64..3_000) {
        let late = Span::from_millis(late);
        for count in [1, 20] {
            let (bytes, probes) = size(seed, count, share, late);
            // The text of a probe with its record and its place in the indices.
            prop_assert!(bytes as u64 <= 20_000 + 2_000 * probes, "{bytes} {probes}");
        }
    }

    /// Even messages that quote the identifier do not lower the result where the probes
    /// arrive.
    #[test]
    fn messages_about_probes_that_arrive_do_not_lower_the_result(seed: u64, share in 0.0..1.0, announced in 68_u64..9_000) {
        let mut backend = Backend::new(&Path::clean(), seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let report = drive(settings().thorough(), seed, &mut |probe: &Probe, now: Time| {
            let kind = AnswerKind::TooBig { announced: Bytes::new(announced), quoted: probe.size };
            let from = if rng.random() { FAR_END } else { router(1) };
            let forged = (now, Answer { id: probe.id, from, kind });
            let is_forged = rng.random_bool(share);
            backend.carry(probe, now).into_iter().chain(is_forged.then_some(forged)).collect()
        });
        prop_assert_eq!(report.forward.mtu, Some(Bytes::new(9_000)));
    }
}
