//! Fragments and oversized packets.

use jumbolab_sim::{Location, Loss, Role, Seen, Tracer};
use link::{PacketOutcome, Settings};
use proptest::prelude::*;
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Span, Time};

use crate::network::{bare, constant, line, pair, run};

fn ethernet(mtu: u64) -> Settings {
    Settings {
        ethernet: true,
        largest_packet: Some(Bytes::new(mtu)),
        delay: Span::from_micros(50),
        ..bare(1_000_000_000, 3_000)
    }
}

/// Losses and their places.
#[derive(Default)]
struct Losses(Vec<(Location, Loss)>);

impl Tracer for Losses {
    fn lost(&mut self, _at: Time, location: Location, _packet: Seen, why: Loss) {
        self.0.push((location, why));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_source_cuts_as_the_closed_form_says(message in 0u32..65_507, mtu in 1_280u64..9_000, six: bool) {
        let ip = if six { IpVersion::V6 } else { IpVersion::V4 };
        let mut scenario = pair(&ethernet(mtu), constant(1.0, message, 3));
        scenario.flows[0].ip = ip;
        let ran = run(scenario);
        let (size, mtu) = (Bytes::new(message.into()), IpMtu::new(mtu, ip).unwrap());
        prop_assert_eq!(ran.flows[0].packets, 3 * model::fragments(size, mtu, ip));
        prop_assert_eq!(ran.flows[0].received, 3);
        let wire = model::message_wire_size(size, mtu, ip, Framing::Ethernet);
        let rate = Rate::from_bits_per_second(1_000_000_000).unwrap();
        let expected = rate.serialise(wire) + Span::from_micros(50);
        prop_assert!((ran.flows[0].delays.unwrap().max - expected.as_secs_f64()).abs() < 1e-12);
    }

    #[test]
    fn a_router_cuts_what_ipv4_allows_and_a_fragment_again(
        message in 0u32..65_507, first in 68u64..9_000, second in 68u64..9_000,
    ) {
        let directions = [ethernet(first), ethernet(second)];
        let ran = run(line(Role::Router, [&directions[0], &directions[1]], constant(1.0, message, 2)));
        prop_assert_eq!((ran.flows[0].received, ran.flows[0].lost), (2, 0));
        prop_assert_eq!(ran.flows[0].received_bytes, Bytes::new(2 * u64::from(message)));
        let [before, after] = [0, 1].map(|link: usize| ran.links[link].directions[0].counters.arrived);
        prop_assert!(after >= before);
        prop_assert_eq!(ran.nodes[1].cut > 0, after > before);
        if second >= first {
            prop_assert_eq!(after, before);
        }
    }
}

#[test]
fn a_source_learns_the_path_mtu_from_packet_too_big() {
    for (ip, dont_fragment, narrow) in [(IpVersion::V6, false, 1_400), (IpVersion::V4, true, 1_000)]
    {
        let mut datagrams = constant(0.01, 1_400, 10);
        datagrams.dont_fragment = dont_fragment;
        let mut scenario = line(
            Role::Router,
            [&ethernet(1_500), &ethernet(narrow)],
            datagrams,
        );
        scenario.flows[0].ip = ip;
        let ran = run(scenario);
        let flow = &ran.flows[0];
        assert_eq!(flow.path_mtu, u32::try_from(narrow).ok());
        assert_eq!(ran.nodes[1].answered, 1);
        assert_eq!(
            ran.links[1].directions[0]
                .counters
                .of(PacketOutcome::TooBig),
            1
        );
        // The first packet is lost; the others are fragmented, or not sent at all.
        let expected = if dont_fragment { (1, 9, 0) } else { (10, 0, 9) };
        assert_eq!((flow.sent, flow.rejected, flow.received), expected, "{ip}");
        // The ICMP error quotes as much of the packet as allowed.
        let answer = if ip == IpVersion::V6 { 1_280 } else { 576 };
        let back = ran.links[0].directions[1].counters.bytes;
        assert_eq!(back, answer + 18);
    }
}

#[test]
fn a_switch_drops_what_is_too_big_in_silence() {
    let mut losses = Losses::default();
    let scenario = line(
        Role::Switch,
        [&ethernet(9_000), &ethernet(1_500)],
        constant(0.01, 8_000, 5),
    );
    let ran = scenario.check().unwrap().run_traced(&mut losses);
    assert_eq!((ran.flows[0].received, ran.flows[0].path_mtu), (0, None));
    assert_eq!((ran.nodes[1].answered, ran.nodes[1].forwarded), (0, 0));
    assert_eq!(losses.0, [(Location::Direction(1, 0), Loss::TooBig); 5]);
}

#[test]
fn a_message_that_must_not_be_cut_is_not_sent() {
    let mut datagrams = constant(0.01, 1_473, 5);
    datagrams.dont_fragment = true;
    let ran = run(pair(&ethernet(1_500), datagrams));
    assert_eq!((ran.flows[0].sent, ran.flows[0].rejected), (0, 5));
    assert_eq!(ran.links[0].directions[0].counters.arrived, 0);
}

#[test]
fn one_lost_fragment_loses_its_message() {
    // Room for four of the ten fragments of each burst, and one on the wire.
    let direction = Settings {
        largest_packet: Some(Bytes::new(1_500)),
        ..bare(1_000_000, 4)
    };
    let ran = run(pair(&direction, constant(1.0, 14_000, 5)));
    let flow = &ran.flows[0];
    assert_eq!(
        (flow.packets, flow.received, flow.lost, flow.unassembled),
        (50, 0, 5, 5)
    );
    let counters = ran.links[0].directions[0].counters;
    assert_eq!(
        (
            counters.of(PacketOutcome::Dropped),
            counters.of(PacketOutcome::Delivered)
        ),
        (25, 25)
    );
}

#[test]
fn a_jumbogram_travels_whole_where_the_link_carries_it() {
    let mut scenario = pair(&ethernet(1 << 20), constant(1.0, 500_000, 1));
    scenario.flows[0].ip = IpVersion::V6;
    let ran = run(scenario);
    assert_eq!((ran.flows[0].packets, ran.flows[0].received), (1, 1));
    // 40 bytes of IP, 8 of the Jumbo Payload option, 8 of UDP, 18 of Ethernet.
    assert_eq!(ran.links[0].directions[0].counters.bytes, 500_000 + 56 + 18);
}
