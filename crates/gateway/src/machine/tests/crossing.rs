//! Packets that cross two gateways.

use proptest::prelude::*;
use queue::Trigger;
use units::IpVersion;

use super::super::*;
use super::support::*;

/// Drives both gateways until nothing waits; the way between them takes no time. What
/// each lets out to the inside, with its time.
fn cross(gateways: &mut [Gateway; 2], arrivals: &[(Time, Vec<u8>)]) -> [Vec<(Time, Vec<u8>)>; 2] {
    let mut inside = [Vec::new(), Vec::new()];
    let mut arrivals = arrivals.iter().peekable();
    let mut now = Time::ZERO;
    loop {
        let timeouts = gateways.iter_mut().map(|gateway| gateway.next_timeout(now));
        let timeout = timeouts.flatten().min();
        match arrivals.next_if(|(at, _)| timeout.is_none_or(|timeout| *at <= timeout)) {
            Some((at, bytes)) => {
                now = *at;
                gateways[0].receive_inside(now, bytes);
            }
            None => match timeout {
                Some(timeout) => {
                    now = now.max(timeout);
                    for gateway in gateways.iter_mut() {
                        gateway.handle_timeout(now);
                    }
                }
                None => return inside,
            },
        }
        for number in [0, 1] {
            let (out, core) = polled(&mut gateways[number], now);
            inside[number].extend(out.into_iter().map(|bytes| (now, bytes)));
            for bytes in core {
                gateways[1 - number].receive_core(now, &bytes);
                conserved(&gateways[1 - number]);
            }
            conserved(&gateways[number]);
        }
        let (out, _) = polled(&mut gateways[1], now);
        inside[1].extend(out.into_iter().map(|bytes| (now, bytes)));
    }
}

fn samples() -> impl Strategy<Value = Vec<(u64, Sample)>> {
    let length = prop_oneof![4u16..200, 4u16..1_400, 4u16..20_000, 60_000u16..65_487];
    let one = (
        0u64..2_000,
        any::<bool>(),
        0u16..4,
        any::<u8>(),
        length,
        any::<bool>(),
    );
    let one = one.prop_map(|(gap, six, port, service, length, dont_fragment)| {
        let version = if six { IpVersion::V6 } else { IpVersion::V4 };
        let sample = Sample {
            version,
            port,
            service,
            length,
            dont_fragment,
            number: 0,
        };
        (gap, sample)
    });
    prop::collection::vec(one, 1..120)
}

proptest! {
    #[test]
    fn every_packet_crosses_byte_for_byte_and_in_order(
        samples in samples(),
        bytes in 1_280u64..9_000,
        timer in 1u64..3_000,
        shaping: bool,
        plain: bool,
    ) {
        let mut gateways = pair(|settings| Settings {
            alone: if plain { SinglePacketMode::Plain } else { SinglePacketMode::Bundled },
            shaping,
            peers: vec![peer(settings.peers[0].encapsulation, bytes)],
            aggregate: Aggregation {
                trigger: Trigger::Timer(Span::from_micros(timer)),
                ..settings.aggregate
            },
            ..settings
        });
        let mut now = 0;
        let mut arrivals = Vec::new();
        let mut expected = Vec::new();
        for (number, (gap, sample)) in samples.into_iter().enumerate() {
            now += gap;
            let sample = Sample { number: u32::try_from(number).unwrap(), ..sample };
            let whole = sample.bytes();
            expected.push(one_hop_on(whole.clone()));
            arrivals.push((at(now), whole));
        }
        let [answers, out] = cross(&mut gateways, &arrivals);
        let [one, other] = &gateways;
        prop_assert_eq!(one.waiting(), Waiting::default());
        prop_assert_eq!(other.waiting(), Waiting::default());
        let sent = one.counts().total().outward;
        let got = other.counts().total().inward;
        prop_assert_eq!(sent.came, arrivals.len() as u64);
        prop_assert_eq!(sent.bundled + sent.alone, got.unpacked + got.plain);
        prop_assert_eq!(got.released, out.len() as u64);
        prop_assert_eq!((answers.len(), sent.pieces), (0, got.joined));
        if !plain {
            let out: Vec<Vec<u8>> = out.into_iter().map(|(_, bytes)| bytes).collect();
            prop_assert!(out == expected);
        }
    }
}

#[test]
fn a_bundle_has_the_headers_of_its_encapsulation_and_as_many_bytes_as_counted() {
    let [mut one, _] = pair(|settings| settings);
    for number in 0..3 {
        let sample = Sample {
            number,
            ..Sample::SMALL
        };
        one.receive_inside(at(0), &sample.bytes());
    }
    let (_, core) = polled(&mut one, at(999));
    assert!(core.is_empty());
    assert_eq!(one.next_timeout(at(999)), Some(at(1_000)));
    one.handle_timeout(at(1_000));
    let (_, core) = polled(&mut one, at(1_000));
    assert_eq!(core.len(), 1);
    // 28 of IPv4 and UDP, 6 of the bundle, 4 of each packet.
    assert_eq!(core[0].len(), 28 + 6 + 3 * (4 + 128));
    let carried = wire::bundle::Carried::parse(&core[0][..]).unwrap();
    assert!(carried.checksum_holds());
    assert_eq!((carried.header().count, carried.header().average), (3, 128));
    let outward = one.counts().total().outward;
    assert_eq!((outward.bundles, outward.bundled), (1, 3));
    assert_eq!(outward.sent_bytes, core[0].len() as u64);
}

#[test]
fn labels_are_written_even_where_a_socket_adds_all_other_headers() {
    let encapsulation = Encapsulation::Label {
        to: 1_000,
        from: 2_000,
    };
    let mut one = gateway(Settings {
        output: Output::Payloads,
        ..settings(encapsulation)
    });
    one.receive_inside(at(0), &Sample::SMALL.bytes());
    one.flush(at(0));
    let (_, core) = polled(&mut one, at(0));
    let arrival = wire::bundle::Arrival::parse_labelled(&core[0]).unwrap();
    let wire::bundle::Encapsulation::Label { label, .. } = arrival.encapsulation else {
        panic!("{arrival:?}");
    };
    assert_eq!(label, 1_000);
}
