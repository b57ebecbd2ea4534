use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::route::{RouteHeader, RouteMetric, RouteNextHop, RouteScope};
use proptest::prelude::*;

use super::super::follow::messages;
use super::*;

/// A default route that a user entered: `default via 10.0.1.2 dev eth0 proto static rtt 100ms
/// initcwnd 20 rto_min 5ms`.
const DEFAULT: &str = "5800000018000200010000006b00000002000000fe0400010000000008000f00fe00000024000800080001000020000008000400\
    2003000008000b001400000008000d0005000000080005000a0001020800040002000000";
/// `10.9.0.0/16 via 10.0.1.2 dev eth0 mtu lock 1450 advmss 1400`, its metrics written by hand.
const LOCKED: &str = "5800000018000200010000006b00000002100000fe0300010000000008000f00fe000000080001000a0900001c00080008000100\
    0400000008000200aa0500000800080078050000080005000a0001020800040002000000";
/// The path MTU of 1300 to 10.0.2.2 that the kernel remembers for 599.88 s, by that route.
const REMEMBERED: &str = "8c00000018000200010000006b00000002200000fe0000010002000008000f00fe000000080001000a0002020800040002000000\
    080005000a0001022c00080008000100002000000800020014050000080004002003000008000b001400000008000d0005000000\
    24000c00010000000b00000054ea00000000000000000000000000000000000000000000";
/// `fd00:2::/64 via fd00:1::2 dev eth0 metric 1024 mtu 9900`.
const SIX: &str = "9400000018000200010000006b0000000a400000fe0300010000000008000f00fe00000014000100fd000002000000000000000000\
    0000000c00080008000200ac260000080006000004000014000500fd000001000000000000000000000002080004000200000024\
    000c0000000000000000000000000000000000000000000000000000000000000000000500140000000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|one| one.to_digit(16)).collect();
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
        .collect()
}

/// The routes in messages of the kernel, with one interface.
fn routes(bytes: &[u8]) -> Vec<TableRoute> {
    let names = BTreeMap::from([(2, "eth0")]);
    let routes = messages(bytes).into_iter().filter_map(|one| match one {
        RouteNetlinkMessage::NewRoute(message) => read(&message, &names),
        _ => None,
    });
    routes.collect()
}

#[track_caller]
fn route(hex: &str) -> TableRoute {
    let mut routes = routes(&bytes(hex));
    assert_eq!(routes.len(), 1, "{hex}");
    routes.remove(0)
}

fn change(route: &TableRoute, mtu: Option<u32>) -> Option<String> {
    route.words.as_ref().map(|words| words.change(mtu))
}

#[test]
fn the_metrics_of_routes_are_read_and_written_as_a_command() {
    let default = route(DEFAULT);
    assert_eq!((default.mtu, default.length), (None, 0));
    assert_eq!(
        change(&default, Some(1_400)).unwrap(),
        "ip route change default via 10.0.1.2 dev eth0 proto static rtt 100ms initcwnd 20 rto_min 5ms mtu 1400"
    );
    let locked = route(LOCKED);
    assert_eq!((locked.mtu, locked.is_locked), (Some(1_450), true));
    assert_eq!(locked.interfaces, [2]);
    assert_eq!(locked.router, Some([10, 0, 1, 2].into()));
    assert_eq!(
        change(&locked, None).unwrap(),
        "ip route change 10.9.0.0/16 via 10.0.1.2 dev eth0 advmss 1400"
    );
    let six = route(SIX);
    assert_eq!((six.mtu, six.expires), (Some(9_900), None));
    assert_eq!(
        change(&six, None).unwrap(),
        "ip -6 route change fd00:2::/64 via fd00:1::2 dev eth0 metric 1024"
    );
}

#[test]
fn a_path_mtu_that_the_kernel_remembers_has_the_time_until_it_is_forgotten() {
    let remembered = route(REMEMBERED);
    assert_eq!(remembered.network, IpAddr::from([10, 0, 2, 2]));
    assert_eq!((remembered.length, remembered.mtu), (32, Some(1_300)));
    assert_eq!(remembered.expires, Some(Span::from_millis(599_880)));
    // A route that ends, as those of router advertisements do, is none.
    let mut ends = bytes(REMEMBERED);
    ends[16 + 9] = 0;
    assert_eq!(routes(&ends)[0].expires, None);
}

#[test]
fn a_time_that_no_kernel_has_is_no_time() {
    for ticks in [0u32, 0x8000_0000, u32::MAX] {
        let mut wrong = bytes(REMEMBERED);
        let at = wrong.len() - 24;
        wrong[at..at + 4].copy_from_slice(&ticks.to_le_bytes());
        assert_eq!(routes(&wrong)[0].expires, None, "{ticks}");
    }
}

#[test]
fn several_next_hops_are_written_last_and_unknown_attributes_give_no_command() {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.kind = RouteType::Unicast;
    message.header.scope = RouteScope::Universe;
    let hop = |index, weight, router: [u8; 4]| {
        let mut hop = RouteNextHop::default();
        hop.interface_index = index;
        hop.hops = weight;
        hop.attributes = vec![RouteAttribute::Gateway(IpAddr::from(router).into())];
        hop
    };
    let hops = vec![hop(2, 0, [10, 0, 1, 2]), hop(3, 4, [10, 0, 3, 2])];
    message.attributes = vec![
        RouteAttribute::Metrics(vec![RouteMetric::Mtu(1_400)]),
        RouteAttribute::Priority(50),
        RouteAttribute::MultiPath(hops),
    ];
    let names = BTreeMap::from([(2, "eth0"), (3, "eth1")]);
    let read = |message: &RouteMessage| read(message, &names).unwrap();
    let found = read(&message);
    assert_eq!(found.interfaces, [2, 3]);
    assert_eq!(
        change(&found, Some(1_500)).unwrap(),
        "ip route change default metric 50 mtu 1500 nexthop via 10.0.1.2 dev eth0 weight 1 \
         nexthop via 10.0.3.2 dev eth1 weight 5"
    );
    message.attributes.push(RouteAttribute::Mark(3));
    let found = read(&message);
    assert_eq!((found.mtu, found.words), (Some(1_400), None));
}

/// A message of the kernel with one route.
fn message(attributes: Vec<RouteAttribute>) -> Vec<u8> {
    let mut route = RouteMessage::default();
    route.header.address_family = AddressFamily::Inet6;
    route.header.kind = RouteType::Unicast;
    route.attributes = attributes;
    let payload = NetlinkPayload::from(RouteNetlinkMessage::NewRoute(route));
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

#[test]
fn the_last_mtu_of_a_message_counts_and_an_interface_without_name_gives_no_command() {
    let bytes = message(vec![
        RouteAttribute::Oif(9),
        RouteAttribute::Metrics(vec![RouteMetric::Mtu(1_400), RouteMetric::Mtu(1_280)]),
    ]);
    let found = &routes(&bytes)[0];
    assert_eq!((found.mtu, found.is_locked), (Some(1_280), false));
    assert_eq!(found.words, None);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_skipped(
        kind in 0usize..4,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        length in any::<prop::sample::Index>(),
        is_whole: bool,
    ) {
        let mut bytes = bytes([DEFAULT, LOCKED, REMEMBERED, SIX][kind]);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !is_whole {
            bytes.truncate(length.index(bytes.len()));
        }
        for route in routes(&bytes) {
            let _ = change(&route, route.mtu);
        }
    }
}
