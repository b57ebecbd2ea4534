use alloc::vec::Vec;

use proptest::prelude::*;
use units::Seed;

use super::*;
use crate::rng::Rng;
use crate::tests::Numbered;

const IPV4: Encapsulation = Encapsulation {
    header: Bytes::new(26),
    entry: Bytes::new(4),
    framing: Bytes::ZERO,
};

fn settings(mtu: u64, trigger: Trigger) -> AggregatorSettings {
    AggregatorSettings {
        mtu: Bytes::new(mtu),
        whole: Bytes::new(mtu),
        trigger,
        encapsulation: IPV4,
        tick: Tick::Micro,
        share: 1.0,
    }
}

fn aggregate(mtu: u64, trigger: Trigger) -> Aggregator<Numbered> {
    Aggregator::new(settings(mtu, trigger)).unwrap()
}

/// The bundles that go because `packet` comes.
fn pushed(
    aggregate: &mut Aggregator<Numbered>,
    now: Time,
    packet: Numbered,
) -> Vec<Bundle<Numbered>> {
    let mut gone = Vec::new();
    aggregate.push(now, packet, |bundle| gone.push(bundle));
    gone
}

const MILLI: Span = Span::from_millis(1);

#[test]
fn of_what_goes_on_a_share_is_bundled_and_the_rest_bare_in_order() {
    let mut aggregate = Aggregator::new(AggregatorSettings {
        share: 0.25,
        ..settings(1_000, Trigger::Timer(MILLI))
    })
    .unwrap();
    let mut gone: Vec<Vec<u64>> = Vec::new();
    for number in 0..36 {
        let now = Time::ZERO + Span::from_micros(number);
        aggregate.push(now, Numbered(number, 200), |bundle| {
            let packets = bundle.unpack();
            gone.push(packets.map(|(packet, _)| packet.0).collect());
        });
        if aggregate.due().is_some_and(|due| due <= now) {
            let packets = aggregate.flush(now).unwrap().unpack();
            gone.push(packets.map(|(packet, _)| packet.0).collect());
        }
    }
    let sizes: Vec<usize> = gone.iter().map(Vec::len).collect();
    assert_eq!(sizes[..20], [1, 1, 1, 4].repeat(5), "{gone:?}");
    assert!(gone.concat().is_sorted());
    let zero = AggregatorSettings {
        share: 0.0,
        ..settings(1_000, Trigger::Full)
    };
    assert_eq!(zero.check(), Err(BadAggregator::Share));
}

#[test]
fn a_timer_aggregates_as_many_of_poisson_arrivals_as_the_closed_form_says() {
    // E[N] = 1 + lambda T = 11; mean hold (T + lambda T^2 / 2) / E[N] = 545.45 us.
    let mut rng = Rng::new(Seed::new(15));
    let mut aggregate = aggregate(1 << 40, Trigger::Timer(MILLI));
    let mut now = Time::ZERO;
    let mut came = Vec::new();
    // Of each bundle its packets, and how long they were held together, in ms.
    let mut bundles: Vec<(f64, f64)> = Vec::new();
    while bundles.len() < 20_000 {
        let gap = -libm::log1p(-rng.draw()) * 1e8;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw"
        )]
        let next = now + Span::from_picos(gap as u64);
        if let Some(due) = aggregate.due()
            && due <= next
        {
            let bundle = aggregate.flush(due).unwrap();
            assert_eq!(bundle.entries().len(), came.len());
            let hold = |came: Time| due.since(came).unwrap().as_millis_f64();
            bundles.push((came.len() as f64, came.drain(..).map(hold).sum()));
        }
        assert!(pushed(&mut aggregate, next, Numbered(0, 100)).is_empty());
        came.push(next);
        now = next;
    }
    covers(bundles.iter().map(|(packets, _)| packets - 11.0));
    covers(
        bundles
            .iter()
            .map(|(packets, hold)| hold - packets * 6.0 / 11.0),
    );
}

/// Whether the 99 % interval around the mean of `values` covers 0.
fn covers(values: impl Iterator<Item = f64>) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / count;
    let error = libm::sqrt((squares / count - mean * mean) / count);
    assert!(mean.abs() < 2.576 * error, "{mean} +- {error}");
}

#[test]
fn a_bundle_over_ipv4_holds_as_many_packets_as_the_mtu_allows() {
    for mtu in [576, 1_500, 3_000, 4_000, 9_000] {
        for length in [20, 40, 64, 100, 250] {
            let mut aggregate = aggregate(mtu, Trigger::Full);
            let full = (0..).find_map(|number| {
                let gone = pushed(&mut aggregate, Time::ZERO, Numbered(number, length)).pop();
                gone.or_else(|| aggregate.due().and_then(|_| aggregate.flush(Time::ZERO)))
            });
            let packets = full.unwrap().entries().len();
            assert_eq!(packets as u64, (mtu - 26) / (length + 4), "{mtu}, {length}");
        }
    }
}

#[test]
fn each_trigger_says_when_a_bundle_must_go_and_when_it_may() {
    let came = Time::ZERO + MILLI;
    for (trigger, due, idle) in [
        (
            Trigger::Timer(MILLI),
            Some(came + MILLI),
            Some(came + MILLI),
        ),
        (Trigger::EgressBusy(MILLI), Some(came + MILLI), Some(came)),
        (Trigger::Full, None, None),
    ] {
        let mut aggregate = aggregate(1_500, trigger);
        assert_eq!(
            (aggregate.due(), aggregate.due_on_idle_link()),
            (None, None)
        );
        assert!(pushed(&mut aggregate, came, Numbered(0, 100)).is_empty());
        assert_eq!((aggregate.due(), aggregate.due_on_idle_link()), (due, idle));
        assert!(pushed(&mut aggregate, came + MILLI, Numbered(1, 1_360)).is_empty());
        assert_eq!(aggregate.due(), Some(came), "it is full: {trigger:?}");
        assert_eq!((aggregate.len(), aggregate.is_empty()), (2, false));
        let bundle = aggregate.flush(came + MILLI).unwrap();
        assert_eq!(bundle.entries()[0].waited(), 1_000);
        assert_eq!((aggregate.due(), aggregate.len()), (None, 0));
        assert!(aggregate.is_empty());
    }
}

#[test]
fn a_packet_too_long_for_an_entry_of_a_bundle_goes_alone() {
    let mut aggregate = aggregate(1 << 40, Trigger::Full);
    for (number, bytes) in [(0, LARGEST.get() + 1), (1, LARGEST.get() + 1), (2, 100)] {
        let gone = pushed(&mut aggregate, Time::ZERO, Numbered(number, bytes));
        let gone: Vec<_> = gone.into_iter().flat_map(Bundle::unpack).collect();
        let numbers: Vec<u64> = gone.iter().map(|(packet, _)| packet.0).collect();
        assert_eq!(numbers, Vec::from_iter(number.checked_sub(1)));
    }
}

#[test]
fn what_cannot_aggregate_is_rejected() {
    let rejected = |mtu, trigger| Aggregator::<Numbered>::new(settings(mtu, trigger)).err();
    let small = |mtu| Some(BadAggregator::Mtu { mtu, least: 74 });
    assert_eq!(rejected(73, Trigger::Full), small(73));
    assert_eq!(rejected(74, Trigger::Full), None);
    assert_eq!(rejected(0, Trigger::Timer(MILLI)), small(0));
    assert_eq!(
        rejected(1_500, Trigger::Timer(Span::ZERO)),
        Some(BadAggregator::Timer)
    );
    assert_eq!(rejected(1_500, Trigger::EgressBusy(Span::ZERO)), None);
}

proptest! {
    #[test]
    fn what_goes_in_comes_out_in_order_and_no_bundle_passes_the_mtu(
        sizes in prop::collection::vec((20u64..3_000, 0u64..400), 0..200),
        mtu in 74u64..4_000,
        trigger in prop_oneof![
            Just(Trigger::Timer(MILLI)), Just(Trigger::EgressBusy(MILLI)), Just(Trigger::Full)
        ],
    ) {
        let mut aggregate = aggregate(mtu, trigger);
        let mut out = Vec::new();
        let mut now = Time::ZERO;
        let sent: Vec<Numbered> = (0..).zip(&sizes).map(|(number, size)| Numbered(number, size.0)).collect();
        for (packet, (_, micros)) in sent.iter().zip(&sizes) {
            now += Span::from_micros(*micros);
            while let Some(due) = aggregate.due().filter(|due| *due <= now) {
                out.extend(aggregate.flush(due));
            }
            aggregate.push(now, *packet, |bundle| out.push(bundle));
        }
        out.extend(aggregate.flush(now));
        for bundle in &out {
            let size = bundle.view().size.get();
            prop_assert!(bundle.is_bare() || size <= mtu);
            prop_assert!(!bundle.is_bare() || bundle.entries().len() == 1);
            let inside: u64 = bundle.entries().iter().map(|entry| entry.length().get() + 4).sum();
            prop_assert!(bundle.is_bare() || inside + 26 == size);
        }
        let received: Vec<Numbered> = out.into_iter().flat_map(Bundle::unpack).map(|one| one.0).collect();
        prop_assert_eq!(received, sent);
    }
}
