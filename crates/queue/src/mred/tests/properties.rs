//! Properties of MRED that hold for all settings.

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn settings() -> impl Strategy<Value = MredSettings> {
    let limit = prop_oneof![
        (1_500u64..12_000).prop_map(|most| Limit::Bytes(Bytes::new(most))),
        (1u32..20).prop_map(Limit::Packets),
    ];
    let picks = [
        Rounding::Each,
        Rounding::Round,
        Rounding::Ceil,
        Rounding::Binomial,
    ];
    let overs = [Candidates::Arriving, Candidates::Head, Candidates::Queue];
    let units = [Unit::Frames, Unit::Inner, Unit::Bytes];
    let choices = (
        prop::sample::select(picks.to_vec()),
        prop::sample::select(overs.to_vec()),
        prop::sample::select(units.to_vec()),
        prop::option::of((0.0f64..0.5, 0.5f64..1.0)),
        prop::option::of(1u64..3_000),
    );
    let flags = any::<(bool, bool, bool, bool, bool)>();
    (limit, choices, flags).prop_map(
        |(
            limit,
            (rounding, candidates, unit, bounds, micros),
            (room, header, spread, mark, ns2),
        )| {
            let scale = if unit == Unit::Bytes { 300.0 } else { 1.0 };
            MredSettings {
                unit,
                weight: 0.3,
                curve: Curve {
                    min: 1.0 * scale,
                    max: 8.0 * scale,
                    max_probability: 0.4,
                    gentle: true,
                },
                interpretation: match bounds {
                    Some((low, high)) => Interpretation::Letter(Bounds { low, high }),
                    None => Interpretation::Inner,
                },
                trigger: if room {
                    MredTrigger::NoRoom
                } else {
                    MredTrigger::Average
                },
                candidates,
                size: if header { SizeOf::Header } else { SizeOf::Live },
                selection: if spread {
                    Selection::Spread
                } else {
                    Selection::Front
                },
                profile: if ns2 && rounding == Rounding::Each {
                    Profile::Ns2
                } else {
                    Profile::Clean
                },
                rounding,
                mark,
                mark_time: micros.filter(|_| room).map(Span::from_micros),
                drop_time: micros.map(Span::from_micros),
                ..MredSettings::new(limit, Bytes::new(300))
            }
        },
    )
}

proptest! {
    #[test]
    fn every_packet_leaves_once_is_dropped_once_or_waits_and_none_overtakes(
        settings in settings(),
        acts in prop::collection::vec((0u32..5, 1u64..9, 40u64..400, any::<bool>()), 0..200),
    ) {
        let mut mred = queue(&settings);
        let mut drops = Drops::new();
        let (mut gone, mut left) = (Vec::new(), Vec::new());
        let mut came = 0;
        let mut now = Time::ZERO;
        for (act, count, bytes, able) in acts {
            now += Span::from_micros(500);
            if act < 3 {
                let packets = (came..came + count).map(inner);
                let mut arrival = pack(packets.map(|packet| Inner { bytes, able, ..packet }));
                if act == 0 && count > 1 {
                    // Packets were dropped out of it before.
                    let inner_drop = crate::InnerDrop { packets: 1, selection: Selection::Front, mark: false };
                    arrival.drop_inner(inner_drop, &mut |lost| gone.extend(numbers(lost)));
                }
                came += count;
                mred.enqueue(now, arrival, &mut drops);
            } else if let Some(frame) = mred.dequeue(now, &mut drops) {
                prop_assert!(frame.live() > 0);
                left.extend(numbers(frame));
            }
            gone.extend(drops.drain_inner().flat_map(|drop| numbers(drop.0)));
            gone.extend(drops.drain().flat_map(|drop| numbers(drop.0)));
            let backlog = mred.backlog();
            match settings.capacity() {
                Limit::Packets(most) => prop_assert!(backlog.packets <= most),
                Limit::Bytes(most) if settings.profile == Profile::Clean => {
                    prop_assert!(backlog.bytes <= most);
                }
                Limit::Bytes(_) => {}
            }
            prop_assert_eq!(mred.ready_at().is_some(), backlog.packets > 0);
        }
        let backlog = mred.backlog();
        let waiting: Vec<Bundle<Inner>> = core::iter::from_fn(|| mred.frames.take(0)).collect();
        prop_assert_eq!(backlog.packets as usize, waiting.len());
        prop_assert_eq!(backlog.bytes, waiting.iter().map(|frame| frame.view().size).sum());
        prop_assert_eq!(mred.frames.queue(Unit::Inner, SizeOf::Live).to_bits(), 0);
        prop_assert_eq!(mred.frames.queue(Unit::Bytes, SizeOf::Header).to_bits(), 0);
        left.extend(waiting.into_iter().flat_map(numbers));
        prop_assert!(left.is_sorted(), "none overtakes");
        let mut ends: BTreeMap<u64, u32> = BTreeMap::new();
        for number in left.into_iter().chain(gone) {
            *ends.entry(number).or_default() += 1;
        }
        prop_assert!(ends.values().all(|&times| times == 1));
        prop_assert_eq!(ends.len() as u64, came);
    }

    #[test]
    fn over_the_queue_no_frame_dies_whole_while_another_has_packets_to_spare(
        sizes in prop::collection::vec(1u64..6, 1..8), count in 0u32..30,
    ) {
        let mut mred = queue(&MredSettings { candidates: Candidates::Queue, ..plain() });
        for (frame, &size) in (0..).zip(&sizes) {
            mred.frames.push(bundle(10 * frame, size));
        }
        let mut drops = Drops::new();
        let met = DropAction { reason: Reason::Early, mark: false };
        let rest = mred.meet_waiting(Time::ZERO, count, met, &mut drops);
        let died = drops.drain().count();
        let lives: Vec<u32> = (0..mred.frames.len()).map(|place| mred.frames.unmarked(place)).collect();
        prop_assert!(died == 0 || lives.iter().all(|&live| live == 1));
        prop_assert!(rest == 0 || lives.is_empty());
        let there: u64 = sizes.iter().sum();
        prop_assert_eq!(u64::from(lives.iter().sum::<u32>()), there.saturating_sub(count.into()));
    }
}
