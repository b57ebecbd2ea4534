//! Parity of bundles: queues treat a bundle of bytes like a bundle of simulated
//! packets.

mod packets;

use std::collections::BTreeMap;

use link::{Entered, Link, LinkObserver, QueueState, Settings};
use os::frames::Pool;
use proptest::prelude::*;
use queue::law::{Rounding, Spread};
use queue::{
    Bundle, Candidates, Drops, InnerDrop, Limit, MredSettings, MredTrigger, Packet, Reason,
    Selection, SizeOf, Spec, Unit as Counting, View,
};
use units::{Bytes, Rate, Seed, Span, Time};

use super::{Arrival, Header, disciplines};
use crate::observation::{Observation, Observer};
use packets::{Aggregated, aggregated, among, firsts, frame, headers, inside, services};

/// A decision of a queue.
#[derive(Debug, PartialEq)]
enum Decision {
    Out(Time, Vec<(u32, bool)>),
    Dropped(Time, View, Vec<(u32, bool)>, Reason),
    InnerDropped(Time, View, Reason),
}

/// The decisions of `spec` for arrivals with the given gaps.
fn run<P: Packet + 'static>(
    spec: &Spec,
    arrivals: impl Iterator<Item = (Span, P)>,
    inside: impl Fn(&P) -> Vec<(u32, bool)>,
) -> Vec<Decision> {
    let rate = Rate::from_bits_per_second(10_000_000).unwrap();
    let mut queue = spec.build::<P>(Some(rate), Seed::new(7)).unwrap();
    let (mut now, mut free, mut drops) = (Time::ZERO, Time::ZERO, Drops::new());
    let mut decisions = Vec::new();
    let mut note = |at: Time, drops: &mut Drops<P>, out: Option<&P>| {
        let whole = drops.drain();
        decisions.extend(
            whole.map(|(packet, reason)| {
                Decision::Dropped(at, packet.view(), inside(&packet), reason)
            }),
        );
        let inner_dropped = drops.drain_inner();
        decisions.extend(
            inner_dropped.map(|(packet, reason)| Decision::InnerDropped(at, packet.view(), reason)),
        );
        decisions.extend(out.map(|packet| Decision::Out(at, inside(packet))));
    };
    let end = (Span::from_secs(100), None);
    let arrivals = arrivals.map(|(gap, packet)| (gap, Some(packet)));
    for (gap, packet) in arrivals.chain([end]) {
        let next = now + gap;
        while let Some(ready) = queue.ready_at() {
            let start = free.max(ready).max(now);
            if start > next {
                break;
            }
            now = start;
            let packet = queue.dequeue(now, &mut drops);
            note(now, &mut drops, packet.as_ref());
            if let Some(packet) = packet {
                free = now + rate.serialise(packet.view().size);
            }
        }
        now = next;
        if let Some(packet) = packet {
            queue.enqueue(now, packet, &mut drops);
            note(now, &mut drops, None);
        }
    }
    assert_eq!(queue.backlog().packets, 0);
    decisions
}

/// The deliveries of a link with the queue `spec`.
fn carry<P: Packet + 'static>(
    spec: &Spec,
    arrivals: impl Iterator<Item = (Span, P)>,
    inside: impl Fn(&P) -> Vec<(u32, bool)>,
) -> Vec<(Time, Vec<(u32, bool)>)> {
    let rate = Rate::from_bits_per_second(10_000_000);
    let mut link = Link::new(Settings::perfect(rate, spec.clone()), Seed::new(7)).unwrap();
    let mut now = Time::ZERO;
    for (gap, packet) in arrivals {
        now += gap;
        assert!(link.receive(now, packet).is_none());
    }
    let mut out = Vec::new();
    while let Some(next) = link.next_timeout() {
        while let Some(delivery) = link.poll_transmit(next) {
            out.push((delivery.at, inside(&delivery.packet)));
        }
    }
    out
}

/// Packets that came to a link, and that its queue dropped, by their source port.
type ByFlow = BTreeMap<u16, [u32; 2]>;

/// Counts simulated packets by the port that each has in bytes.
struct FlowCounter {
    ports: Vec<u16>,
    flows: ByFlow,
}

impl FlowCounter {
    fn count(&mut self, bundle: &Bundle<Header>, place: usize) {
        for header in bundle.entries().iter().filter_map(|entry| entry.packet()) {
            let port = self.ports[header.number as usize];
            self.flows.entry(port).or_default()[place] += 1;
        }
    }
}

impl LinkObserver<Bundle<Header>> for FlowCounter {
    fn arrived(&mut self, packet: &Bundle<Header>, _: Entered, _: impl FnOnce() -> QueueState) {
        self.count(packet, 0);
    }

    fn dropped(&mut self, packet: &Bundle<Header>, _: Entered, _: Time, why: Option<Reason>) {
        assert!(why.is_some(), "nothing is too big");
        self.count(packet, 1);
    }

    fn inner_dropped(&mut self, packet: &Bundle<Header>, _: Entered, _: Time, _: Reason) {
        self.count(packet, 1);
    }
}

/// The same counts of what the emulator kept.
fn by_flow(observations: Vec<Observation>) -> ByFlow {
    let mut flows = ByFlow::new();
    for observation in observations {
        let (heads, place) = match observation {
            Observation::Arrived(_, live, _, heads) => (heads, Some((live, 0))),
            Observation::Dropped(_, live, heads) | Observation::InnerDropped(_, live, heads) => {
                (heads, Some((live, 1)))
            }
            Observation::Sent(..) => (vec![], None),
        };
        if let Some((live, place)) = place {
            assert_eq!(heads.len(), live as usize);
            for head in heads {
                let [source, _] = head.unwrap().ports;
                flows.entry(source).or_default()[place] += 1;
            }
        }
    }
    flows
}

/// Sends all arrivals over `link`.
fn drive<P: Packet + 'static, W: LinkObserver<P>>(
    link: &mut Link<P, W>,
    arrivals: impl Iterator<Item = (Span, P)>,
) {
    let mut now = Time::ZERO;
    for (gap, packet) in arrivals {
        now += gap;
        assert!(link.receive(now, packet).is_none());
    }
    while let Some(next) = link.next_timeout() {
        while link.poll_transmit(next).is_some() {}
    }
}

/// Disciplines that drop packets out of bundles.
fn dropping_inner() -> Vec<Spec> {
    let limit = Limit::Packets(12);
    let size = Bytes::new(1_000);
    let inner = MredSettings {
        weight: 0.2,
        ..MredSettings::new(limit, size)
    };
    let letter = MredSettings {
        weight: 0.2,
        ..MredSettings::letter(limit, size)
    };
    vec![
        MredSettings {
            mark: true,
            selection: Selection::Spread,
            spread: Spread::Wait,
            ..inner.clone()
        },
        MredSettings {
            unit: Counting::Bytes,
            rounding: Rounding::Round,
            candidates: Candidates::Head,
            size: SizeOf::Header,
            ..inner.clone()
        },
        MredSettings {
            unit: Counting::Frames,
            rounding: Rounding::Binomial,
            candidates: Candidates::Queue,
            selection: Selection::Spread,
            ..inner.clone()
        },
        MredSettings {
            limit: Limit::Bytes(Bytes::new(20_000)),
            drop_time: Some(Span::from_micros(400)),
            candidates: Candidates::Queue,
            ..inner.clone()
        },
        inner,
        MredSettings {
            trigger: MredTrigger::Average,
            rounding: Rounding::Ceil,
            mark: true,
            ..letter.clone()
        },
        MredSettings {
            drop_time: Some(Span::from_millis(1)),
            selection: Selection::Spread,
            ..letter.clone()
        },
        letter,
    ]
    .into_iter()
    .map(Spec::Mred)
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_discipline_treats_bundles_of_bytes_as_it_treats_bundles_of_headers(
        arrivals in aggregated(),
    ) {
        let pool = Pool::default();
        let (firsts, services) = (firsts(&arrivals), services(&arrivals));
        let coming = || arrivals.iter().zip(&firsts);
        for spec in disciplines().into_iter().chain(dropping_inner()) {
            let bytes = coming().map(|(aggregated, first)| {
                (aggregated.packets[0].gap, frame(aggregated, *first, &pool))
            });
            let packets = coming().map(|(aggregated, first)| {
                (aggregated.packets[0].gap, headers(aggregated, *first, &pool))
            });
            let bytes = run(&spec, bytes, inside);
            let packets = run(&spec, packets, |bundle| among(bundle, &services));
            prop_assert_eq!(bytes, packets, "{:?}", spec);
        }
    }

    #[test]
    fn a_link_carries_what_is_left_of_bytes_when_it_carries_it_of_headers(
        arrivals in aggregated(), which in 0usize..8,
    ) {
        let pool = Pool::default();
        let (firsts, services) = (firsts(&arrivals), services(&arrivals));
        let coming = || arrivals.iter().zip(&firsts);
        let spec = &dropping_inner()[which];
        let bytes = carry(
            spec,
            coming().map(|(aggregated, first)| {
                (aggregated.packets[0].gap, frame(aggregated, *first, &pool))
            }),
            inside,
        );
        let packets = carry(
            spec,
            coming().map(|(aggregated, first)| {
                (aggregated.packets[0].gap, headers(aggregated, *first, &pool))
            }),
            |bundle| among(bundle, &services),
        );
        prop_assert_eq!(bytes, packets, "{:?}", spec);
    }

    #[test]
    fn drops_of_bundles_of_bytes_are_of_the_flows_of_which_those_of_headers_are(
        arrivals in aggregated(),
    ) {
        let pool = Pool::default();
        let firsts = firsts(&arrivals);
        let packets = arrivals.iter().flat_map(|aggregated| &aggregated.packets);
        let ports: Vec<u16> = packets.map(|one| u16::from_be_bytes([4, one.port])).collect();
        let coming = || arrivals.iter().zip(&firsts);
        for spec in disciplines().into_iter().chain(dropping_inner()) {
            let settings = || {
                let rate = Rate::from_bits_per_second(2_000_000);
                (Settings::perfect(rate, spec.clone()), Seed::new(7))
            };
            let (perfect, seed) = settings();
            let mut bytes = Link::observed(perfect, seed, Observer::default()).unwrap();
            bytes.observer().begin(true);
            drive(&mut bytes, coming().map(|(aggregated, first)| {
                (aggregated.packets[0].gap, frame(aggregated, *first, &pool))
            }));
            let counter = FlowCounter { ports: ports.clone(), flows: ByFlow::new() };
            let (perfect, seed) = settings();
            let mut headers_link = Link::observed(perfect, seed, counter).unwrap();
            drive(&mut headers_link, coming().map(|(aggregated, first)| {
                (aggregated.packets[0].gap, headers(aggregated, *first, &pool))
            }));
            let kept = by_flow(bytes.observer().end());
            prop_assert_eq!(&kept, &headers_link.observer().flows, "{:?}", spec);
        }
    }

    #[test]
    fn thinning_takes_the_same_packets_out_of_bytes_as_out_of_headers(
        aggregated in aggregated(),
        orders in prop::collection::vec((0u32..4, any::<bool>(), any::<bool>()), 1..6),
    ) {
        let pool = Pool::default();
        let services = services(&aggregated);
        for (aggregated, first) in aggregated.iter().zip(firsts(&aggregated)) {
            let mut bytes = frame(aggregated, first, &pool);
            let mut packets = headers(aggregated, first, &pool);
            for (most, spread, mark) in &orders {
                let inner_drop = InnerDrop {
                    packets: *most,
                    selection: if *spread { Selection::Spread } else { Selection::Front },
                    mark: *mark,
                };
                prop_assert_eq!(bytes.advertised(), packets.advertised());
                let (mut here, mut there) = (vec![], vec![]);
                let marked = bytes.drop_inner(inner_drop, &mut |lost| here.push(lost.view()));
                let other = packets.drop_inner(inner_drop, &mut |lost| there.push(lost.view()));
                prop_assert_eq!((marked, here), (other, there));
                prop_assert_eq!(bytes.live(), packets.live());
                prop_assert_eq!(inside(&bytes), among(&packets, &services));
                prop_assert_eq!(inside(&bytes.again()), inside(&bytes));
                if bytes.live() > 0 {
                    prop_assert_eq!(bytes.view(), packets.view());
                }
                prop_assert_eq!(bytes.markable(), packets.markable());
            }
            prop_assert_eq!(bytes.mark(), packets.mark());
            prop_assert_eq!(inside(&bytes), among(&packets, &services));
        }
    }
}

#[test]
fn every_discipline_that_thins_thins_some_of_these() {
    let pool = Pool::default();
    let packet = Arrival {
        gap: Span::from_micros(900),
        size: 300,
        port: 1,
        service: 0,
    };
    for spec in dropping_inner() {
        let arrivals = (0..60).map(|place| {
            let aggregated = Aggregated {
                packets: vec![packet; 6],
                encapsulation: place % 4,
            };
            (packet.gap, frame(&aggregated, 0, &pool))
        });
        let decisions = run(&spec, arrivals, inside);
        let inner_dropped = |decision: &Decision| matches!(decision, Decision::InnerDropped(..));
        let shorter = |decision: &Decision| matches!(decision, Decision::Out(_, left) if (1..6).contains(&left.len()));
        assert!(
            decisions.iter().any(inner_dropped) && decisions.iter().any(shorter),
            "{spec:?}"
        );
    }
}
