use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::tests::Numbered;

/// The bytes of a packet on every Ethernet link, framing included.
const ETHERNET: Bytes = Bytes::new(38);

const IPV4: Encapsulation = Encapsulation {
    header: Bytes::new(26),
    entry: Bytes::new(4),
    framing: ETHERNET,
};

/// A packet of one of a few flows, which can be marked or cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flowing {
    number: u64,
    bytes: u64,
    flow: u64,
    able: bool,
    marked: bool,
}

impl Packet for Flowing {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.bytes) + ETHERNET,
            flow: self.flow,
            ..View::default()
        }
    }

    fn markable(&self) -> bool {
        self.able
    }

    fn mark(&mut self) -> bool {
        self.marked |= self.able;
        self.able
    }
}

fn packets() -> impl Strategy<Value = Vec<Flowing>> {
    let packet = (20u64..1_500, 0u64..4, any::<bool>());
    prop::collection::vec(packet, 2..40).prop_map(|packets| {
        (0..)
            .zip(packets)
            .map(|(number, (bytes, flow, able))| Flowing {
                number,
                bytes,
                flow,
                able,
                marked: false,
            })
            .collect()
    })
}

/// The flow of a packet, to count by.
fn flow<P: Packet>(packet: &P) -> usize {
    usize::try_from(packet.view().flow).unwrap()
}

fn pack<P: Packet>(packets: impl IntoIterator<Item = P>) -> Bundle<P> {
    let packets = packets.into_iter().map(|packet| (packet, Span::ZERO));
    Bundle::pack(packets, IPV4, Tick::Micro, None).unwrap()
}

#[test]
fn a_bare_packet_is_given_back_and_a_bundle_stays_whole() {
    let [one, two] = [Numbered(1, 100), Numbered(2, 100)];
    assert_eq!(Bundle::bare(one).into_bare().ok(), Some(one));
    let both = [(one, Span::ZERO), (two, Span::ZERO)];
    let bundle = Bundle::pack(both, IPV4, Tick::Micro, None).unwrap();
    let whole = bundle.into_bare().err().unwrap();
    let packets: Vec<Numbered> = whole.unpack().map(|(packet, _)| packet).collect();
    assert_eq!(packets, [one, two]);
}

#[test]
fn two_packets_of_ethernet_in_a_bundle_are_four_bytes_shorter_than_bare() {
    assert_eq!(IPV4.cost(2), -4);
    for count in 2..50 {
        let bare: Vec<Numbered> = (0..count).map(|number| Numbered(number, 100)).collect();
        let alone: u64 = bare.iter().map(|packet| packet.view().size.get()).sum();
        let bundle = pack(bare).view().size.get();
        let cost = i128::from(bundle) - i128::from(alone);
        assert_eq!(cost, IPV4.cost(u32::try_from(count).unwrap()));
    }
}

#[test]
fn a_bundle_has_one_vlan_tag_in_place_of_those_of_its_packets() {
    struct Tagged(Numbered);

    impl Packet for Tagged {
        fn view(&self) -> View {
            let view = self.0.view();
            View {
                size: view.size + self.tags(),
                ..view
            }
        }

        fn tags(&self) -> Bytes {
            Bytes::new(4)
        }
    }

    let packets = || [1, 2, 3].map(|number| Numbered(number, 100));
    let (plain, tagged) = (pack(packets()), pack(packets().map(Tagged)));
    assert_eq!(tagged.view().size, plain.view().size + Bytes::new(4));
    assert_eq!((plain.tags(), tagged.tags()), (Bytes::ZERO, Bytes::new(4)));
}

#[test]
fn a_single_packet_travels_bare() {
    let bundle = pack([Numbered(7, 100)]);
    assert!(bundle.is_bare());
    assert_eq!(bundle.view(), Numbered(7, 100).view());
    assert_eq!(bundle.unpack().next(), Some((Numbered(7, 100), Span::ZERO)));
}

#[test]
fn a_bundle_looks_like_its_first_packet_unless_it_has_a_flow_of_its_own() {
    let packets = [3, 1].map(|flow| Flowing {
        number: flow,
        bytes: 100,
        flow,
        able: false,
        marked: false,
    });
    for (own, seen) in [(None, 3), (Some(9), 9)] {
        let packets = packets.map(|packet| (packet, Span::ZERO));
        let bundle = Bundle::pack(packets, IPV4, Tick::Micro, own).unwrap();
        // The bundle's header, and two packets with an entry each.
        let view = View {
            size: ETHERNET + Bytes::new(26 + 2 * 104),
            flow: seen,
            ..packets[0].0.view()
        };
        assert_eq!(bundle.view(), view);
    }
}

#[test]
fn a_wait_is_stated_in_whole_ticks_up_to_the_most_there_can_be() {
    for (tick, micros, ticks) in [
        (Tick::Micro, 0, 0),
        (Tick::Micro, 65_535, 65_535),
        (Tick::Micro, 65_536, 65_535),
        (Tick::TenMicros, 9, 0),
        (Tick::TenMicros, 65_536, 6_553),
        (Tick::TenMicros, 655_360, 65_535),
    ] {
        assert_eq!(tick.count(Span::from_micros(micros)), ticks, "{micros}");
    }
}

#[test]
fn a_bundle_is_marked_with_all_its_packets_or_not_at_all() {
    let able = |number, able| Flowing {
        number,
        bytes: 100,
        flow: 0,
        able,
        marked: false,
    };
    let mut one_cannot = pack([able(0, true), able(1, false)]);
    assert!(!one_cannot.markable() && !one_cannot.mark());
    assert!(one_cannot.unpack().all(|(packet, _)| !packet.marked));
    let mut all_can = pack([able(0, true), able(1, true)]);
    assert!(all_can.markable() && all_can.mark());
    assert!(all_can.unpack().all(|(packet, _)| packet.marked));
}

proptest! {
    #[test]
    fn thinning_takes_the_first_and_leaves_the_rest_as_they_were(
        packets in packets(), count in 0u32..50,
    ) {
        let mut bundle = pack(packets.clone());
        let (size, advertised) = (bundle.view().size, bundle.advertised());
        let mut lost = Vec::new();
        let inner_drop = InnerDrop { packets: count, selection: Selection::Front, mark: false };
        bundle.drop_inner(inner_drop, &mut |packet| lost.push(packet));
        let dead = packets.len().min(count as usize);
        let lost: Vec<Flowing> = lost.into_iter().flat_map(Bundle::unpack).map(|one| one.0).collect();
        prop_assert_eq!(&lost, &packets[..dead]);
        prop_assert_eq!(bundle.advertised(), advertised);
        prop_assert_eq!(bundle.live() as usize, packets.len() - dead);
        let shorter: u64 = lost.iter().map(|packet| packet.bytes).sum();
        prop_assert_eq!(size - bundle.view().size, Bytes::new(shorter));
        let zeros = bundle.entries().iter().filter(|entry| entry.length() == Bytes::ZERO);
        prop_assert_eq!(zeros.count(), dead);
        let left: Vec<Flowing> = bundle.unpack().map(|one| one.0).collect();
        prop_assert_eq!(&left, &packets[dead..]);
    }

    #[test]
    fn two_hops_of_inner_drops_leave_what_one_would(packets in packets(), a in 0u32..20, b in 0u32..20) {
        let inner_drop = |packets| InnerDrop { packets, selection: Selection::Front, mark: false };
        let (mut twice, mut once) = (pack(packets.clone()), pack(packets));
        let mut flows = [0u64; 4];
        for count in [a, b] {
            twice.drop_inner(inner_drop(count), &mut |packet| flows[flow(&packet)] += 1);
        }
        once.drop_inner(inner_drop(a + b), &mut |packet| flows[flow(&packet)] -= 1);
        prop_assert_eq!(flows, [0; 4]);
        prop_assert_eq!(twice.view(), once.view());
        let survivors = |bundle: Bundle<Flowing>| bundle.unpack().collect::<Vec<_>>();
        prop_assert_eq!(survivors(twice), survivors(once));
    }

    #[test]
    fn spread_thinning_meets_each_flow_before_it_meets_any_twice(
        packets in packets(), count in 0u32..50,
    ) {
        let mut bundle = pack(packets.clone());
        let mut lost = [0usize; 4];
        let inner_drop = InnerDrop { packets: count, selection: Selection::Spread, mark: false };
        bundle.drop_inner(inner_drop, &mut |packet| lost[flow(&packet)] += 1);
        for (flow, &gone) in lost.iter().enumerate() {
            let there = packets.iter().filter(|packet| packet.flow == flow as u64).count();
            let most = lost.iter().max().unwrap();
            prop_assert!(gone == there || gone + 1 >= *most, "{lost:?}");
        }
    }

    #[test]
    fn marking_drops_only_who_cannot_be_marked(packets in packets(), count in 0u32..50) {
        let mut bundle = pack(packets.clone());
        let inner_drop = InnerDrop { packets: count, selection: Selection::Front, mark: true };
        let mut lost = 0;
        let marked = bundle.drop_inner(inner_drop, &mut |_| lost += 1);
        let met = &packets[..packets.len().min(count as usize)];
        let able = met.iter().filter(|packet| packet.able).count();
        prop_assert_eq!((marked as usize, lost), (able, met.len() - able));
        let survivors = bundle.unpack().filter(|(packet, _)| packet.marked).count();
        prop_assert_eq!(survivors, able);
    }
}
