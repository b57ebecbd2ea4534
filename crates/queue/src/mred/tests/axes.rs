//! The effect of each setting.

mod amounts;

use super::*;
use crate::InnerDrop;

/// Lets one more bundle of four, numbered from 1000 on, come: what waits then,
/// and the packets that were dropped, whole frames apart.
#[derive(Debug, PartialEq, Eq)]
struct After {
    waiting: Vec<Vec<u64>>,
    inner_dropped: Vec<u64>,
    whole: Vec<Vec<u64>>,
}

fn arrive(mred: &mut Mred<Bundle<Inner>>, now: Time, arrival: Bundle<Inner>) -> After {
    let mut drops = Drops::new();
    mred.enqueue(now, arrival, &mut drops);
    After {
        inner_dropped: drops
            .drain_inner()
            .flat_map(|drop| numbers(drop.0))
            .collect(),
        whole: drops.drain().map(|drop| numbers(drop.0)).collect(),
        waiting: drain(mred),
    }
}

/// After a bundle of four came to ten of six.
fn after(settings: &MredSettings) -> After {
    let mut mred = filled(settings, 10, 6);
    arrive(&mut mred, Time::ZERO, bundle(1_000, 4))
}

/// Always half of what there is.
fn half() -> MredSettings {
    MredSettings {
        rounding: Rounding::Round,
        ..plain()
    }
}

#[test]
fn over_says_which_frames_lose() {
    let arriving = after(&half());
    assert_eq!(arriving.inner_dropped, [1_000, 1_001]);
    assert_eq!(arriving.waiting[10], [1_002, 1_003]);
    let head = after(&MredSettings {
        candidates: Candidates::Head,
        ..half()
    });
    assert_eq!(head.inner_dropped, [0, 1]);
    assert_eq!(head.waiting[0], [2, 3, 4, 5]);
    let queue = after(&MredSettings {
        candidates: Candidates::Queue,
        ..half()
    });
    assert_eq!(queue.inner_dropped, [0, 10]);
    for after in [arriving, head, queue] {
        assert_eq!((after.waiting.len(), after.whole.len()), (11, 0));
    }
}

#[test]
fn at_the_head_a_frame_goes_whole_before_the_next_loses_any() {
    let settings = MredSettings {
        candidates: Candidates::Head,
        ..half()
    };
    let mut mred = filled(&settings, 10, 3);
    let lost = arrive(&mut mred, Time::ZERO, bundle(1_000, 8));
    assert_eq!(
        (lost.inner_dropped, lost.whole),
        ([0, 1, 10].into(), [[2].into()].into())
    );
    // The arrival loses the packets that the waiting frames cannot.
    let settings = MredSettings {
        curve: Curve {
            max: 1.0,
            ..plain().curve
        },
        ..settings
    };
    let mut mred = filled(&settings, 1, 3);
    let lost = arrive(&mut mred, Time::ZERO, bundle(1_000, 8));
    assert_eq!(lost.waiting, [[1_005, 1_006, 1_007]]);
}

#[test]
fn when_there_must_be_no_room_nothing_is_lost_before() {
    let settings = MredSettings {
        trigger: MredTrigger::NoRoom,
        limit: Limit::Packets(10),
        ..half()
    };
    let mut mred = filled(&settings, 9, 6);
    let before = arrive(&mut mred, Time::ZERO, bundle(1_000, 4));
    assert_eq!((before.inner_dropped.len(), before.whole.len()), (0, 0));
    // And where there is none, the law comes first and the frame goes then.
    let then = after(&settings);
    assert_eq!(
        (then.inner_dropped, then.whole),
        ([1_000, 1_001].into(), [[1_002, 1_003].into()].into())
    );
}

#[test]
fn the_letter_takes_a_share_within_bounds_of_every_frame_that_waits() {
    let letter = |low, high, candidates| MredSettings {
        interpretation: Interpretation::Letter(Bounds { low, high }),
        trigger: MredTrigger::NoRoom,
        limit: Limit::Bytes(Bytes::new(10 * 650 + 150)),
        candidates,
        ..half()
    };
    let all = after(&letter(0.0, 1.0, Candidates::Queue));
    assert_eq!(all.inner_dropped.len(), 30, "half of each of ten");
    assert!(all.waiting[..10].iter().all(|frame| frame.len() == 3));
    assert_eq!(all.waiting[10], [1_000, 1_001, 1_002, 1_003]);
    let head = after(&letter(0.0, 1.0, Candidates::Head));
    assert_eq!(head.waiting[0], [3, 4, 5]);
    let fewer = after(&letter(0.0, 1.0 / 3.0, Candidates::Queue));
    assert_eq!(fewer.inner_dropped.len(), 20, "the upper bound");
    let more = after(&letter(5.0 / 6.0, 1.0, Candidates::Queue));
    assert_eq!(more.inner_dropped.len(), 50, "the lower bound");
    let most = after(&letter(1.0, 1.0, Candidates::Queue));
    assert_eq!(
        (most.inner_dropped.len(), most.whole.len()),
        (50, 0),
        "one of each frame is left"
    );
}

#[test]
fn the_share_of_a_frame_may_go_by_its_packets() {
    // How many packets each of three frames loses as one of four packets comes:
    // the probability is a half, and the average half-way between thresholds.
    let lost = |share, (low, high), frames: [u64; 3]| {
        let settings = MredSettings {
            interpretation: Interpretation::Letter(Bounds { low, high }),
            share,
            trigger: MredTrigger::NoRoom,
            candidates: Candidates::Queue,
            limit: Limit::Bytes(
                frames
                    .iter()
                    .map(|&packets| bundle(0, packets).view().size)
                    .sum(),
            ),
            curve: Curve {
                max: 6.0,
                ..plain().curve
            },
            ..half()
        };
        let mut mred = queue(&settings);
        for (place, packets) in (0..).zip(frames) {
            mred.frames.push(bundle(100 * place, packets));
        }
        let lost = arrive(&mut mred, Time::ZERO, bundle(1_000, 4)).inner_dropped;
        [0, 1, 2].map(|place| lost.iter().filter(|number| *number / 100 == place).count())
    };
    let all = (0.0, 1.0);
    assert_eq!(lost(Share::Same, all, [4, 8, 16]), [2, 4, 8]);
    // The average frame, the one that arrives included, has eight; the last keeps one.
    assert_eq!(lost(Share::Weighted, all, [4, 8, 16]), [1, 4, 15]);
    assert_eq!(lost(Share::Weighted, (0.5, 0.75), [4, 8, 16]), [2, 4, 12]);
    // Half of the way from bound to bound for the largest, a quarter for half of it.
    assert_eq!(lost(Share::Own, all, [4, 8, 8]), [1, 4, 4]);
    assert_eq!(lost(Share::Own, (0.5, 0.5), [4, 8, 8]), [2, 4, 4]);
}

#[test]
fn the_letter_asked_at_every_arrival_acts_where_red_would_drop() {
    let settings = |max| MredSettings {
        interpretation: Interpretation::Letter(Bounds {
            low: 0.5,
            high: 0.5,
        }),
        candidates: Candidates::Queue,
        curve: Curve {
            min: max - 1.0,
            max,
            ..plain().curve
        },
        ..half()
    };
    assert_eq!(after(&settings(100.0)).inner_dropped.len(), 0);
    assert_eq!(after(&settings(10.0)).inner_dropped.len(), 30);
}

#[test]
fn the_unit_is_what_the_average_counts() {
    // Ten frames of 650 bytes with six packets each.
    for (unit, queue) in [
        (Unit::Frames, 10.0),
        (Unit::Inner, 60.0),
        (Unit::Bytes, 6_500.0),
    ] {
        let settings = MredSettings { unit, ..plain() };
        let mut mred = filled(&settings, 10, 6);
        mred.enqueue(Time::ZERO, bundle(0, 2), &mut Drops::new());
        // What is reported has the same units whatever the law counts.
        let reported = AverageQueue {
            frames: 10.0,
            bytes: 6_500.0,
            of_max: queue / settings.curve.max,
        };
        assert_eq!(mred.average(), Some(reported), "{unit:?}");
        assert_eq!(mred.law.average(), queue, "{unit:?}");
    }
}

#[test]
fn a_header_tells_of_packets_that_are_dead() {
    let inner_dropped = |frame: u64, count: u32| {
        let mut bundle = bundle(10 * frame, 6);
        let inner_drop = InnerDrop {
            packets: count,
            selection: Selection::Front,
            mark: false,
        };
        bundle.drop_inner(inner_drop, &mut |_| ());
        bundle
    };
    for (size, lost, inner, bytes) in [
        (SizeOf::Live, 1, 20.0, 2_500.0),
        (SizeOf::Header, 3, 60.0, 6_000.0),
    ] {
        for (unit, average) in [
            (Unit::Inner, inner),
            (Unit::Bytes, bytes),
            (Unit::Frames, 10.0),
        ] {
            let curve = Curve {
                max: 2.0 * average,
                ..plain().curve
            };
            let mut mred = queue(&MredSettings {
                size,
                unit,
                curve,
                ..half()
            });
            for frame in 0..10 {
                mred.frames.push(inner_dropped(frame, 4));
            }
            let after = arrive(&mut mred, Time::ZERO, inner_dropped(100, 4));
            assert_eq!(mred.law.average(), average);
            let gone = after.inner_dropped.len() + after.whole.concat().len();
            assert_eq!(gone, lost.min(2), "no more than live");
        }
    }
}

#[test]
fn the_size_that_is_believed_decides_how_often_ns2_draws_by_bytes() {
    // A bundle of two that was packed of six: 100 bytes a packet by its header,
    // 125 with what is left of the frame.
    let draws = |size| {
        let settings = MredSettings {
            size,
            unit: Unit::Bytes,
            profile: Profile::Ns2,
            mean_size: Bytes::new(100),
            curve: Curve {
                min: 1.0,
                max: 20_000.0,
                ..plain().curve
            },
            ..MredSettings {
                rounding: Rounding::Each,
                ..plain()
            }
        };
        let mut mred = filled(&settings, 10, 6);
        let mut drops = Drops::new();
        for number in 0..400 {
            let mut arrival = bundle(number, 6);
            let inner_drop = InnerDrop {
                packets: 4,
                selection: Selection::Front,
                mark: false,
            };
            arrival.drop_inner(inner_drop, &mut |_| ());
            mred.enqueue(Time::ZERO, arrival, &mut drops);
            if mred.frames.len() > 10 {
                mred.dequeue(Time::ZERO, &mut drops);
            }
        }
        let whole: u32 = drops.drain().map(|drop| drop.0.live()).sum();
        whole + u32::try_from(drops.drain_inner().count()).unwrap()
    };
    let (header, live) = (draws(SizeOf::Header), draws(SizeOf::Live));
    assert_ne!(header, live);
    // Ten bundles of 250 bytes wait: the probability is 1/8 for the mean size
    // and 5/32 for 125 bytes, so that about 125 of 800 packets are drawn.
    assert!((100..170).contains(&live), "{live}");
}

#[test]
fn victims_are_the_first_or_one_of_each_flow() {
    // Two of flow 0, then two of flow 1.
    let arrival = || pack([0, 3, 1, 4].map(|number| inner(1_000 * 3 + number)));
    let front = arrive(&mut filled(&half(), 10, 6), Time::ZERO, arrival());
    assert_eq!(front.inner_dropped, [3_000, 3_003]);
    let spread = MredSettings {
        selection: Selection::Spread,
        ..half()
    };
    let spread = arrive(&mut filled(&spread, 10, 6), Time::ZERO, arrival());
    assert_eq!(spread.inner_dropped, [3_000, 3_001]);
}

#[test]
fn packets_are_marked_where_they_can_be_and_the_average_is_not_beyond_max() {
    let settings = MredSettings {
        mark: true,
        ..half()
    };
    let arrival = || {
        let packets = bundle(1_000, 4).unpack().map(|(packet, _)| packet);
        pack(packets.map(|packet| Inner {
            able: packet.number != 1_001,
            ..packet
        }))
    };
    let mut mred = filled(&settings, 10, 6);
    let mut drops = Drops::new();
    mred.enqueue(Time::ZERO, arrival(), &mut drops);
    assert_eq!(
        drops
            .drain_inner()
            .flat_map(|drop| numbers(drop.0))
            .collect::<Vec<_>>(),
        [1_001]
    );
    let last = mred.frames.take(10).unwrap();
    let marked = last.unpack().filter(|(packet, _)| packet.marked);
    assert_eq!(
        marked.map(|(packet, _)| packet.number).collect::<Vec<_>>(),
        [1_000]
    );
    let beyond = MredSettings {
        curve: Curve {
            max: 8.0,
            max_probability: 0.5,
            gentle: true,
            ..plain().curve
        },
        ..settings
    };
    let after = arrive(&mut filled(&beyond, 10, 6), Time::ZERO, arrival());
    assert!(after.inner_dropped.contains(&1_000));
}
