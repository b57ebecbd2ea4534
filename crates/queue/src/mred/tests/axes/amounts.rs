//! When packets go, how many together, and what cannot be asked for.

use super::*;

#[test]
fn drops_that_take_time_fall_due_one_after_the_other_and_who_leaves_keeps_the_rest() {
    let milli = Span::from_millis(1);
    let at = |millis: u64| Time::ZERO + milli * millis;
    let settings = MredSettings {
        interpretation: Interpretation::Letter(Bounds {
            low: 0.5,
            high: 0.5,
        }),
        candidates: Candidates::Queue,
        trigger: MredTrigger::NoRoom,
        limit: Limit::Bytes(Bytes::new(3 * 442 + 400)),
        drop_time: Some(milli),
        ..half()
    };
    // Two of each of three frames of four are marked at 0: due at 1 to 6 ms.
    // The first makes room for the arrival at once, before its time.
    let mut mred = filled(&settings, 3, 4);
    let mut drops = Drops::new();
    mred.enqueue(at(0), bundle(1_000, 4), &mut drops);
    let lost = |mred: &mut Mred<_>, now, drops: &mut Drops<Bundle<Inner>>| {
        mred.frames.meet_due(now, drops);
        drops
            .drain_inner()
            .flat_map(|drop| numbers(drop.0))
            .collect::<Vec<u64>>()
    };
    assert_eq!(lost(&mut mred, Time::ZERO, &mut drops), [0]);
    assert_eq!(lost(&mut mred, at(1), &mut drops), []);
    // At 1 ms the first frame leaves, with what was to be dropped at 2 ms.
    let first = mred.dequeue(at(1), &mut drops).map(numbers);
    assert_eq!(first, Some([1, 2, 3].into()));
    assert_eq!(lost(&mut mred, at(2), &mut drops), []);
    assert_eq!(lost(&mut mred, at(3), &mut drops), [10]);
    assert_eq!(lost(&mut mred, at(5), &mut drops), [11, 20]);
    let second = mred.dequeue(at(6), &mut drops).map(numbers);
    assert_eq!(second, Some([12, 13].into()));
    assert_eq!(
        lost(&mut mred, at(6), &mut drops),
        [21],
        "it was due before"
    );
    // Marked packets of an arrival wait with it.
    let arriving = MredSettings {
        drop_time: Some(milli),
        ..half()
    };
    let mut mred = filled(&arriving, 10, 6);
    mred.enqueue(at(0), bundle(1_000, 4), &mut drops);
    assert!(drops.is_empty());
    assert_eq!(lost(&mut mred, at(2), &mut drops), [1_000, 1_001]);
}

#[test]
fn an_arrival_without_room_is_helped_by_as_few_packets_as_it_takes() {
    let full = |candidates| MredSettings {
        candidates,
        limit: Limit::Bytes(Bytes::new(10 * 650 + 100)),
        curve: Curve {
            min: 99.0,
            max: 100.0,
            ..plain().curve
        },
        ..half()
    };
    // 442 bytes come and 100 are free: four packets of 100 make room.
    let after_arriving = after(&full(Candidates::Arriving));
    assert_eq!(after_arriving.inner_dropped, [1_000, 1_001, 1_002]);
    assert_eq!(
        after_arriving.whole,
        [[1_003]],
        "headers alone are no frame"
    );
    let head = after(&full(Candidates::Head));
    assert_eq!(head.inner_dropped, [0, 1, 2, 3]);
    let queue = after(&full(Candidates::Queue));
    assert_eq!(queue.inner_dropped, [0, 10, 20, 30]);
    // Where frames are what is limited, nothing less than a frame helps.
    for (candidates, gone) in [
        (Candidates::Arriving, [1_000, 1_001, 1_002, 1_003].to_vec()),
        (Candidates::Head, (0..6).collect()),
        (Candidates::Queue, (0..6).collect()),
    ] {
        let limit = Limit::Packets(10);
        let after = after(&MredSettings {
            limit,
            ..full(candidates)
        });
        assert_eq!((after.inner_dropped.len(), after.whole), (0, [gone].into()));
    }
}

#[test]
fn the_pick_and_the_spread_decide_how_many_go_together() {
    let met = |settings: &MredSettings| -> Vec<usize> {
        let mut mred = filled(settings, 10, 6);
        let mut drops = Drops::new();
        let counts = (0..200).map(|_| {
            mred.enqueue(Time::ZERO, bundle(0, 6), &mut drops);
            let whole: usize = drops.drain().map(|drop| numbers(drop.0).len()).sum();
            if mred.frames.len() > 10 {
                mred.dequeue(Time::ZERO, &mut drops);
            }
            whole + drops.drain_inner().count()
        });
        counts.collect()
    };
    let round = met(&MredSettings {
        rounding: Rounding::Round,
        ..plain()
    });
    assert!(round.iter().all(|&count| count == 3), "half of six");
    let each = met(&plain());
    let binomial = met(&MredSettings {
        rounding: Rounding::Binomial,
        ..plain()
    });
    assert!(each.iter().max() == Some(&6) && each.contains(&0));
    assert_eq!(each, binomial, "without a spread each is for itself");
    let uniform = MredSettings {
        spread: Spread::Uniform,
        ..plain()
    };
    assert!(
        met(&uniform).iter().all(|&count| count >= 3),
        "no two in a row pass"
    );
    let binomial = MredSettings {
        rounding: Rounding::Binomial,
        ..uniform
    };
    assert_eq!(met(&binomial), each, "whatever the law spreads");
}

#[test]
fn the_weight_the_adaptation_and_the_profile_are_those_of_red() {
    let lost = |settings: &MredSettings| {
        let mut mred = queue(settings);
        let mut drops = Drops::new();
        let lost = (0..3_000u64).map(|number| {
            let now = Time::ZERO + Span::from_millis(1) * number;
            mred.enqueue(now, bundle(0, 1 + number % 4), &mut drops);
            if number % 3 > 0 {
                mred.dequeue(now, &mut drops);
            }
            drops.drain_inner().count() + drops.drain().count()
        });
        lost.collect::<Vec<_>>()
    };
    let usual = MredSettings::new(Limit::Packets(1_000), Bytes::new(300));
    let base = lost(&usual);
    let others = [
        MredSettings {
            weight: 0.01,
            ..usual.clone()
        },
        MredSettings {
            adaptive: true,
            ..usual.clone()
        },
        MredSettings {
            profile: Profile::Ns2,
            ..usual.clone()
        },
        MredSettings {
            mean_size: Bytes::new(20),
            ..usual.clone()
        },
        MredSettings {
            limit: Limit::Packets(20),
            ..usual.clone()
        },
        MredSettings {
            curve: Curve {
                gentle: false,
                ..usual.curve
            },
            ..usual.clone()
        },
    ];
    for other in others {
        assert_ne!(lost(&other), base, "{other:?}");
    }
}

#[test]
fn what_does_not_go_together_is_rejected() {
    let bounds = |low, high| MredSettings {
        interpretation: Interpretation::Letter(Bounds { low, high }),
        ..plain()
    };
    for (settings, rejection) in [
        (bounds(-0.1, 0.5), BadSpec::Probability("the lower bound")),
        (bounds(0.1, 1.1), BadSpec::Probability("the upper bound")),
        (
            bounds(f64::NAN, 1.0),
            BadSpec::Probability("the lower bound"),
        ),
        (bounds(0.6, 0.5), BadSpec::Bounds),
        (
            MredSettings {
                drop_time: Some(Span::ZERO),
                ..plain()
            },
            BadSpec::Zero("drop_time"),
        ),
        (
            MredSettings {
                mark_time: Some(Span::ZERO),
                ..plain()
            },
            BadSpec::Zero("mark_time"),
        ),
        (
            MredSettings {
                profile: Profile::Ns2,
                ..half()
            },
            BadSpec::Rounding,
        ),
        (
            MredSettings {
                weight: 0.0,
                ..plain()
            },
            BadSpec::Weight,
        ),
        (
            MredSettings {
                limit: Limit::Packets(0),
                ..plain()
            },
            BadSpec::Empty,
        ),
    ] {
        let rejected = Mred::<Bundle<Inner>>::new(&settings, RATE, Seed::new(1));
        assert_eq!(rejected.err(), Some(rejection));
    }
    let letter = MredSettings::letter(Limit::Packets(20), Bytes::new(3_000));
    assert_eq!(letter.check(), Ok(()));
}
