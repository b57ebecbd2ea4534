use proptest::prelude::*;
use queue::{Encapsulation, InnerDrop, Selection, Tick, Trigger, View};
use units::{Bytes, Span};

use super::*;

/// A packet of a flow, numbered among all that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    number: usize,
    flow: u64,
    size: u64,
}

impl Packet for Numbered {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.size),
            flow: self.flow,
            ..View::default()
        }
    }
}

const MILLI: Span = Span::from_millis(1);
/// The number of the edge under test.
const HERE: usize = 7;
/// The exits of flows 0 and 2, and of flow 1.
const EXITS: [Exit; 2] = [
    Exit {
        next_as: 1,
        egress: 9,
    },
    Exit {
        next_as: 2,
        egress: 9,
    },
];

fn exit_of(flow: u64) -> Exit {
    EXITS[usize::from(flow == 1)]
}

fn settings(mtu: u64, trigger: Trigger) -> Settings {
    Settings {
        number: HERE,
        aggregate: Some(AggregatorSettings {
            mtu: Bytes::new(mtu),
            whole: Bytes::new(mtu),
            trigger,
            encapsulation: Encapsulation {
                header: Bytes::new(26),
                entry: Bytes::new(4),
                framing: Bytes::ZERO,
            },
            tick: Tick::Micro,
            share: 1.0,
        }),
        addressing: Addressing::Egress,
        shaping: true,
    }
}

fn edge(mtu: u64, trigger: Trigger) -> Edge<Numbered> {
    Edge::new(settings(mtu, trigger)).unwrap()
}

const fn at(micros: u64) -> Time {
    Time::from_nanos(1_000 * micros)
}

const fn packet(number: usize, flow: u64) -> Numbered {
    Numbered {
        number,
        flow,
        size: 100,
    }
}

/// A transmission: its time and its packets.
struct Gone {
    at: Time,
    packets: Vec<Numbered>,
    /// `None` for a packet without a bundle.
    bundle: Option<Bundle<Numbered>>,
}

/// Takes the output at `now`; each transmission keeps the link toward its exit busy for
/// a nanosecond per byte, from `free` on.
fn poll(edge: &mut Edge<Numbered>, now: Time, free: &mut BTreeMap<Exit, Time>) -> Vec<Gone> {
    let mut gone = Vec::new();
    let free_at = |free: &BTreeMap<Exit, Time>, exit| free.get(&exit).copied().unwrap_or_default();
    while let Some(transmit) = edge.poll_transmit(now, |exit| free_at(free, exit)) {
        let (packets, size, bundle) = match transmit {
            Transmit::Bundle(Outgoing { bundle, exit, .. }) => {
                let inside = bundle.entries().iter();
                let packets: Vec<Numbered> =
                    inside.filter_map(|one| one.packet().copied()).collect();
                assert!(packets.iter().all(|packet| exit_of(packet.flow) == exit));
                (packets, bundle.view().size, Some(bundle))
            }
            Transmit::Bare(packet) | Transmit::Released(packet) => {
                (vec![packet], packet.view().size, None)
            }
        };
        let exit = exit_of(packets[0].flow);
        let begins = free_at(free, exit).max(now);
        free.insert(exit, begins + Span::from_nanos(size.get()));
        gone.push(Gone {
            at: now,
            packets,
            bundle,
        });
    }
    gone
}

/// Hands each arrival at its time to an edge by `take`, and calls the edge when it
/// asks for it. Returns the output, and the result of `check` after each step.
fn drive<T>(
    edge: &mut Edge<Numbered>,
    arrivals: Vec<(Time, T)>,
    mut take: impl FnMut(&mut Edge<Numbered>, Time, T),
    check: impl Fn(&Edge<Numbered>),
) -> Vec<Gone> {
    let mut free = BTreeMap::new();
    let mut all = Vec::new();
    let mut arrivals = arrivals.into_iter().peekable();
    loop {
        let free_at = |exit| free.get(&exit).copied().unwrap_or_default();
        let timeout = edge.next_timeout(free_at);
        let looked = edge.aggregations.next_by_looking(free_at);
        let looked = looked.into_iter().chain(edge.outlets.next_by_looking());
        assert_eq!(
            timeout,
            looked.min(),
            "what is due next is known without a look at all"
        );
        let arrival = arrivals.peek().map(|(at, _)| *at);
        let now = match (timeout, arrival) {
            (Some(timeout), arrival) if arrival.is_none_or(|arrival| timeout < arrival) => {
                edge.handle_timeout();
                timeout
            }
            (_, Some(_)) => {
                let (at, one) = arrivals.next().unwrap();
                take(edge, at, one);
                at
            }
            (_, None) => return all,
        };
        let gone = poll(edge, now, &mut free);
        let acted = timeout == Some(now) && arrival.is_none_or(|arrival| now < arrival);
        assert!(
            !acted || !gone.is_empty(),
            "a visit that was asked for is of use"
        );
        all.extend(gone);
        check(edge);
    }
}

fn triggers() -> impl Strategy<Value = (Trigger, Option<Span>)> {
    let span = (1u64..3_000).prop_map(Span::from_micros);
    prop_oneof![
        span.clone()
            .prop_map(|span| (Trigger::Timer(span), Some(span))),
        span.prop_map(|span| (Trigger::EgressBusy(span), Some(span))),
        Just((Trigger::Full, None)),
    ]
}

fn arrivals() -> impl Strategy<Value = Vec<(Time, Numbered)>> {
    let gap = prop_oneof![Just(0), 0u64..50, 0u64..5_000];
    let one = (gap, 0u64..3, prop_oneof![20u64..200, 20u64..3_000]);
    prop::collection::vec(one, 1..200).prop_map(|all| {
        let mut now = 0;
        let each = all.into_iter().enumerate();
        let each = each.map(|(number, (gap, flow, size))| {
            now += gap;
            (at(now), Numbered { number, flow, size })
        });
        each.collect()
    })
}

proptest! {
    #[test]
    fn all_that_comes_goes_on_once_in_order_in_time_and_no_larger_than_the_mtu(
        (trigger, longest) in triggers(),
        mtu in 1_500u64..9_000,
        arrivals in arrivals(),
    ) {
        let mut edge = edge(mtu, trigger);
        let came: Vec<Time> = arrivals.iter().map(|(at, _)| *at).collect();
        let take = |edge: &mut Edge<Numbered>, now, packet: Numbered| {
            assert_eq!(edge.receive(now, packet, Some(exit_of(packet.flow))), None);
        };
        let gone = drive(&mut edge, arrivals, take, |edge| {
            let counts = edge.counts();
            assert_eq!(counts.aggregated, counts.bare + counts.bundled + edge.aggregation());
        });
        let counts = edge.counts();
        prop_assert_eq!(counts.aggregated, came.len() as u64);
        if longest.is_some() {
            prop_assert_eq!(edge.aggregation(), 0);
        }
        let bare = gone.iter().filter(|gone| gone.bundle.is_none()).count() as u64;
        prop_assert_eq!((counts.bare, counts.bundles), (bare, gone.len() as u64 - bare));
        let mut last = [None; 3];
        for Gone { at, packets, bundle } in &gone {
            for packet in packets {
                let flow = usize::try_from(packet.flow).unwrap();
                prop_assert!(last[flow] < Some(packet.number), "order of a flow");
                last[flow] = Some(packet.number);
                let waited = at.since(came[packet.number]).unwrap();
                prop_assert!(longest.is_none_or(|longest| waited <= longest));
            }
            if let Some(bundle) = bundle {
                prop_assert!(packets.len() > 1 && bundle.view().size <= Bytes::new(mtu));
            }
        }
    }

    #[test]
    fn what_survives_in_bundles_leaves_once_in_order_and_with_its_gaps(
        (trigger, _) in triggers(),
        arrivals in arrivals(),
        inner_dropped in prop::collection::vec(0u32..4, 1..20),
        shaping: bool,
    ) {
        let mut ingress = edge(9_000, trigger);
        let take = |edge: &mut Edge<Numbered>, now, packet: Numbered| {
            edge.receive(now, packet, Some(EXITS[0]));
        };
        let sent = drive_to_one_exit(&mut ingress, arrivals, take);
        let mut dropped = inner_dropped.into_iter().cycle();
        let mut expected = Vec::new();
        let mut bundles = Vec::new();
        for (left, mut bundle) in sent {
            let inner_drop = InnerDrop {
                packets: dropped.next().unwrap(),
                selection: Selection::Front,
                mark: false,
            };
            bundle.drop_inner(inner_drop, &mut |_| ());
            let came = left + MILLI * 3;
            let alive = bundle.entries().iter().filter(|one| one.packet().is_some());
            let alive = alive.map(|one| (came, one.packet().unwrap().number, one.waited()));
            expected.push(alive.collect::<Vec<_>>());
            bundles.push((came, bundle));
        }
        let mut egress = Edge::new(Settings { shaping, aggregate: None, ..settings(9_000, trigger) }).unwrap();
        let left = drive(
            &mut egress,
            bundles,
            |edge, now, bundle| edge.receive_bundle(now, bundle, (5, 0), |lost| panic!("{lost:?}")),
            |edge| {
                assert!(edge.leaving() <= edge.counts().survivors);
            },
        );
        prop_assert_eq!(egress.leaving(), 0);
        let survivors = expected.iter().map(Vec::len).sum::<usize>();
        prop_assert_eq!(egress.counts().survivors, survivors as u64);
        prop_assert_eq!(egress.counts().unpacked, expected.len() as u64);
        let mut left = left.iter();
        let mut last = Time::ZERO;
        for bundle in expected {
            let begins = bundle.first().map_or(last, |first| first.0.max(last));
            for (_, number, waited) in &bundle {
                let gone = left.next().unwrap();
                let after = Tick::Micro.span() * u64::from(bundle[0].2 - waited);
                prop_assert_eq!(gone.packets[0].number, *number);
                prop_assert_eq!(gone.at, if shaping { begins + after } else { begins });
                last = gone.at;
            }
        }
        prop_assert!(left.next().is_none());
    }
}

/// The transmissions of an edge if all arrivals have the same exit.
fn drive_to_one_exit(
    edge: &mut Edge<Numbered>,
    arrivals: Vec<(Time, Numbered)>,
    take: impl FnMut(&mut Edge<Numbered>, Time, Numbered),
) -> Vec<(Time, Bundle<Numbered>)> {
    let arrivals = arrivals.into_iter();
    let arrivals = arrivals.map(|(at, packet)| (at, Numbered { flow: 0, ..packet }));
    let gone = drive(edge, arrivals.collect(), take, |_| ());
    let bundles = gone.into_iter();
    bundles
        .filter_map(|gone| Some((gone.at, gone.bundle?)))
        .collect()
}

#[test]
fn what_has_no_other_exit_is_not_aggregated() {
    let mut aggregates = edge(9_000, Trigger::Timer(MILLI));
    let here = Exit {
        next_as: 1,
        egress: HERE,
    };
    let one = packet(0, 0);
    assert_eq!(aggregates.receive(at(0), one, None), Some(one));
    assert_eq!(aggregates.receive(at(0), one, Some(here)), Some(one));
    let without = Settings {
        aggregate: None,
        ..settings(9_000, Trigger::Full)
    };
    let mut passes = Edge::new(without).unwrap();
    assert_eq!(passes.receive(at(0), one, Some(EXITS[0])), Some(one));
    let labelled = Settings {
        addressing: Addressing::Label([(EXITS[0], 17)].into()),
        ..settings(9_000, Trigger::Timer(MILLI))
    };
    let mut labels = Edge::new(labelled).unwrap();
    assert_eq!(labels.receive(at(0), one, Some(EXITS[1])), Some(one));
    assert_eq!(labels.receive(at(0), one, Some(EXITS[0])), None);
    assert_eq!(labels.counts().aggregated, 1);
    assert!(Edge::<Numbered>::new(settings(20, Trigger::Full)).is_err());
}

#[test]
fn bundles_are_addressed_as_the_settings_say_and_counted_by_exit() {
    let label = Addressing::Label([(EXITS[0], 17), (EXITS[1], 18)].into());
    for (addressing, expected) in [
        (Addressing::Egress, [Address::Egress; 2]),
        (Addressing::FirstPacket, [Address::FirstPacket; 2]),
        (label, [Address::Label(17), Address::Label(18)]),
    ] {
        let settings = Settings {
            addressing,
            ..settings(9_000, Trigger::Timer(MILLI))
        };
        let mut edge = Edge::new(settings).unwrap();
        let mut sent = Vec::new();
        for round in 0..2 {
            for flow in [0, 1, 0, 1] {
                edge.receive(at(5_000 * round), packet(0, flow), Some(exit_of(flow)));
            }
            let due = edge.next_timeout(|_| Time::ZERO).unwrap();
            assert_eq!(due, at(5_000 * round) + MILLI);
            edge.handle_timeout();
            while let Some(transmit) = edge.poll_transmit(due, |_| Time::ZERO) {
                let Transmit::Bundle(outgoing) = transmit else {
                    panic!("two packets each");
                };
                sent.push((outgoing.exit, outgoing.address, outgoing.number));
            }
        }
        let [first, second] = EXITS.map(|exit| (exit, expected[usize::from(exit == EXITS[1])]));
        let number = |(exit, address), number: u64| (exit, address, number);
        assert_eq!(
            sent,
            [
                number(first, 0),
                number(second, 0),
                number(first, 1),
                number(second, 1)
            ]
        );
    }
}

#[test]
fn while_the_link_is_busy_packets_are_aggregated_until_it_is_free_or_they_are_due() {
    let mut edge = edge(9_000, Trigger::EgressBusy(MILLI));
    let mut busy_until = |now: u64, free: u64| {
        edge.receive(at(now), packet(0, 0), Some(EXITS[0]));
        let bare = edge.poll_transmit(at(now), |_| at(free)).is_some();
        (bare, edge.next_timeout(|_| at(free)))
    };
    assert_eq!(busy_until(0, 0), (true, None));
    assert_eq!(busy_until(10, 50), (false, Some(at(50))));
    assert_eq!(busy_until(20, 5_000), (false, Some(at(1_010))));
    edge.handle_timeout();
    assert!(edge.poll_transmit(at(49), |_| at(50)).is_none());
    edge.handle_timeout();
    let gone = edge.poll_transmit(at(50), |_| at(50));
    assert!(matches!(gone, Some(Transmit::Bundle(_))));
    assert_eq!((edge.counts().bare, edge.counts().bundled), (1, 2));
}

#[test]
fn an_arrival_lets_go_what_leaves_where_it_does_and_a_timeout_everything() {
    let mut edge = edge(9_000, Trigger::Timer(MILLI));
    edge.receive(at(0), packet(0, 0), Some(EXITS[0]));
    edge.receive(at(0), packet(1, 1), Some(EXITS[1]));
    let mut free = BTreeMap::new();
    assert!(poll(&mut edge, at(0), &mut free).is_empty());
    edge.receive(at(1_000), packet(2, 1), Some(EXITS[1]));
    let gone = poll(&mut edge, at(1_000), &mut free);
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].packets, [packet(1, 1), packet(2, 1)]);
    assert_eq!(edge.next_timeout(|_| Time::ZERO), Some(at(1_000)));
    edge.handle_timeout();
    let gone = poll(&mut edge, at(1_000), &mut free);
    assert_eq!(gone[0].packets, [packet(0, 0)]);
}

#[test]
fn each_label_of_a_path_is_known_to_one_router() {
    let mut labels = Labels::default();
    labels.lay(1, EXITS[0], [10, 11, 12]);
    labels.lay(1, EXITS[1], [10, 13]);
    labels.lay(2, EXITS[0], [14]);
    let path = |edge: usize, exit: Exit, hops: usize| -> Vec<usize> {
        let mut label = labels.of_edge(edge)[&exit];
        let mut hops = (0..hops).map(|_| {
            let hop = labels.hop(label).unwrap();
            label = hop.next;
            hop.link
        });
        hops.by_ref().collect()
    };
    assert_eq!(path(1, EXITS[0], 3), [10, 11, 12]);
    assert_eq!(path(1, EXITS[1], 2), [10, 13]);
    assert_eq!(path(2, EXITS[0], 1), [14]);
    assert_eq!(labels.of_edge(2).len(), 1);
    assert_eq!(labels.hop(6), None);
}
