use alloc::vec::Vec;

use proptest::prelude::*;
use units::Bytes;

use super::*;
use crate::tests::Numbered;
use crate::{Aggregator, AggregatorSettings, Encapsulation, InnerDrop, Selection, Tick, Trigger};

const WAY: Span = Span::from_millis(3);

/// Aggregates packets that come with `gaps` for a millisecond each, hands every
/// bundle to `change`, and lets them out behind an idle direction of 3 ms: when each
/// came, by number, and when it went on, out of which bundle.
fn pass(
    gaps: &[u64],
    unit: Span,
    tick: Tick,
    shaping: bool,
    change: impl Fn(&mut Bundle<Numbered>),
) -> (Vec<Time>, Vec<(Time, u64, usize)>) {
    let settings = AggregatorSettings {
        mtu: Bytes::new(9_000),
        whole: Bytes::new(9_000),
        trigger: Trigger::Timer(Span::from_millis(1)),
        encapsulation: Encapsulation {
            header: Bytes::new(26),
            entry: Bytes::new(4),
            framing: Bytes::ZERO,
        },
        tick,
        share: 1.0,
    };
    let mut aggregate = Aggregator::new(settings).unwrap();
    let mut release = Release::new(shaping);
    let (mut came, mut went) = (Vec::new(), Vec::new());
    let mut now = Time::ZERO;
    let mut bundles = 0;
    let mut leave = |mut bundle: Bundle<Numbered>, at: Time| {
        change(&mut bundle);
        let out = release.unpack(at + WAY, bundle);
        went.extend(out.map(|(at, packet)| (at, packet.0, bundles)));
        bundles += 1;
    };
    for (number, gap) in (0..).zip(gaps) {
        now += unit * *gap;
        while let Some(due) = aggregate.due().filter(|due| *due <= now) {
            leave(aggregate.flush(due).unwrap(), due);
        }
        aggregate.push(now, Numbered(number, 40), |gone| panic!("{gone:?} is full"));
        came.push(now);
    }
    let due = aggregate.due();
    if let Some(bundle) = due.and_then(|due| aggregate.flush(due)) {
        leave(bundle, due.unwrap_or_default());
    }
    (came, went)
}

fn spans(instants: &[Time]) -> Vec<Span> {
    let pairs = instants.windows(2);
    pairs.map(|pair| pair[1].since(pair[0]).unwrap()).collect()
}

proptest! {
    #[test]
    fn behind_an_idle_direction_packets_go_on_with_the_gaps_with_which_they_came(
        gaps in prop::collection::vec(0u64..400, 1..150), ten in any::<bool>(),
    ) {
        let tick = if ten { Tick::TenMicros } else { Tick::Micro };
        // A timer of a millisecond holds at most so many ticks.
        let (came, went) = pass(&gaps, tick.span(), tick, true, |_| ());
        let went: Vec<Time> = went.into_iter().map(|one| one.0).collect();
        prop_assert_eq!(spans(&went), spans(&came));
        // Between ticks they are off by one of them at most.
        let (came, went) = pass(&gaps, Span::from_nanos(777), tick, true, |_| ());
        let went: Vec<Time> = went.into_iter().map(|one| one.0).collect();
        for (out, into) in spans(&went).into_iter().zip(spans(&came)) {
            prop_assert!(out - into <= tick.span() && into - out <= tick.span());
        }
    }

    #[test]
    fn survivors_keep_their_spacing_and_none_overtakes(
        gaps in prop::collection::vec(0u64..400, 1..150), dead in 1u32..4, shaping in any::<bool>(),
    ) {
        let inner_drop = InnerDrop { packets: dead, selection: Selection::Front, mark: false };
        let drop_inner = |bundle: &mut Bundle<Numbered>| { bundle.drop_inner(inner_drop, &mut |_| ()); };
        let (came, went) = pass(&gaps, Span::from_micros(1), Tick::Micro, shaping, drop_inner);
        prop_assert!(went.windows(2).all(|pair| pair[0] <= pair[1]));
        prop_assert!(went.windows(2).all(|pair| pair[0].1 < pair[1].1));
        for pair in went.windows(2) {
            let gap = pair[1].0.since(pair[0].0).unwrap();
            let [earlier, later] = [0, 1].map(|which: usize| came[usize::try_from(pair[which].1).unwrap()]);
            if pair[0].2 == pair[1].2 {
                let apart = later.since(earlier).unwrap();
                prop_assert_eq!(gap, if shaping { apart } else { Span::ZERO });
            }
        }
    }
}

#[test]
fn without_shaping_all_go_on_at_once() {
    let (_, went) = pass(
        &[0, 10, 20, 30],
        Span::from_micros(1),
        Tick::Micro,
        false,
        |_| (),
    );
    let at = Time::ZERO + Span::from_millis(4);
    assert_eq!(went, [0, 1, 2, 3].map(|number| (at, number, 0)));
}
