//! Gateways that know each other's keys.

use proptest::prelude::*;
use queue::{Limit, Spec};
use units::{Framing, Rate, Seed};
use wire::bundle::{INITIATION_LEN, RESPONSE_LEN};

use super::super::*;
use super::support::*;

/// The settings of the gateway with this key toward the one with the key `peer`.
pub(super) fn sealed(settings: Settings, [own, peer]: [u8; 2], entropy: u8) -> Settings {
    let peer = Peer {
        sealing: Some(sealing(own, peer)),
        ..settings.peers[0].clone()
    };
    Settings {
        peers: vec![peer],
        entropy: [entropy; 32],
        unix_nanos: u64::from(entropy) * 1_000_000_000,
        ..settings
    }
}

/// Two gateways with keys.
pub(super) fn sealed_pair() -> [Gateway; 2] {
    sealed_pair_with(|settings| settings)
}

/// The same with other settings, apart from their entropy.
pub(super) fn sealed_pair_with(change: impl Fn(Settings) -> Settings) -> [Gateway; 2] {
    [(HERE_V4, THERE_V4, [1, 2]), (THERE_V4, HERE_V4, [2, 1])].map(|(here, there, keys)| {
        let settings = change(settings(udp(here, there)));
        gateway(sealed(settings, keys, keys[0]))
    })
}

/// Lets all that is due now pass between the gateways. What each lets out.
pub(super) fn exchange(gateways: &mut [Gateway; 2], now: Time) -> [Vec<Vec<u8>>; 2] {
    let mut inside = [Vec::new(), Vec::new()];
    loop {
        let mut any = false;
        for from in [0, 1] {
            gateways[from].handle_timeout(now);
            let (out, core) = polled(&mut gateways[from], now);
            inside[from].extend(out);
            for bytes in core {
                any = true;
                gateways[1 - from].receive_core(now, &bytes);
            }
            conserved(&gateways[from]);
        }
        if !any {
            return inside;
        }
    }
}

#[test]
fn packets_cross_sealed_after_the_handshake_and_are_counted_before_it() {
    let mut gateways = sealed_pair();
    let packet = Sample::SMALL.bytes();
    gateways[0].receive_inside(at(0), &packet);
    // The bundle is due before the other gateway has answered.
    gateways[0].flush(at(0));
    let (_, core) = polled(&mut gateways[0], at(0));
    let [initiation] = &core[..] else { panic!() };
    // 28 of IPv4 and UDP.
    assert_eq!(initiation.len(), 28 + INITIATION_LEN);
    let outward = gateways[0].counts().total().outward;
    assert_eq!((outward.handshakes, outward.drops.of(Cause::NoKey)), (1, 1));
    gateways[1].receive_core(at(0), initiation);
    let answers: Vec<usize> = polled(&mut gateways[1], at(0))
        .1
        .iter()
        .map(Vec::len)
        .collect();
    assert_eq!(answers, [28 + RESPONSE_LEN]);
    // It is lost.
    exchange(&mut gateways, at(1_000_000));
    assert_eq!([0, 1].map(|end| gateways[end].has_key(0)), [Some(true); 2]);
    for round in 0..3u64 {
        for number in 0..5 {
            let sample = Sample {
                number,
                ..Sample::SMALL
            };
            gateways[0].receive_inside(at(1_000_000 + 1_000 * round + 2), &sample.bytes());
        }
        let [_, out] = exchange(&mut gateways, at(1_000_000 + 1_000 * round + 1_002));
        assert_eq!(out.len(), 5);
        assert_eq!(out[0], one_hop_on(packet.clone()));
    }
    let inward = gateways[1].counts().total().inward;
    assert_eq!(
        (inward.bundles, inward.unpacked, inward.rejections.total()),
        (3, 15, 0)
    );
}

#[test]
fn nothing_of_a_sealed_bundle_can_be_read_changed_or_sent_twice() {
    let mut gateways = sealed_pair();
    exchange(&mut gateways, at(0));
    for _ in 0..3 {
        gateways[0].receive_inside(at(10), &Sample::SMALL.bytes());
    }
    gateways[0].handle_timeout(at(1_010));
    let (_, core) = polled(&mut gateways[0], at(1_010));
    let [bundle] = &core[..] else { panic!() };
    // 28 of IPv4 and UDP, 16 in front, 6 and 3 times 4 + 128 of the bundle, 16 behind.
    assert_eq!(bundle.len(), 28 + 16 + 6 + 3 * (4 + 128) + 16);
    let inner = one_hop_on(Sample::SMALL.bytes());
    assert!(bundle.windows(20).all(|window| window != &inner[..20]));
    let rejections = |gateway: &Gateway| gateway.counts().total().inward.rejections;
    for place in 28..bundle.len() {
        let mut changed = bundle.clone();
        changed[place] ^= 1;
        // Without a checksum of UDP.
        changed[26..28].copy_from_slice(&[0, 0]);
        gateways[1].receive_core(at(1_011), &changed);
        assert!(polled(&mut gateways[1], at(1_011)).0.is_empty(), "{place}");
    }
    assert_eq!(rejections(&gateways[1]).total(), bundle.len() as u64 - 28);
    // The numbers of some changed ones seemed old.
    let replayed = rejections(&gateways[1]).of(Rejection::Replayed);
    gateways[1].receive_core(at(1_012), bundle);
    assert_eq!(rejections(&gateways[1]).of(Rejection::Replayed), replayed);
    gateways[1].receive_core(at(1_012), bundle);
    assert_eq!(
        rejections(&gateways[1]).of(Rejection::Replayed),
        replayed + 1
    );
    assert_eq!(gateways[1].counts().total().inward.unpacked, 3);
    // A plain bundle from the same addresses.
    let [mut plain, _] = pair(|settings| settings);
    plain.receive_inside(at(0), &Sample::SMALL.bytes());
    plain.flush(at(0));
    let (_, core) = polled(&mut plain, at(0));
    gateways[1].receive_core(at(1_013), &core[0]);
    // Two of the changed ones did not begin with zeros.
    assert_eq!(rejections(&gateways[1]).of(Rejection::Unsealed), 3);
    assert_eq!(gateways[1].counts().total().inward.unpacked, 3);
    conserved(&gateways[1]);
}

#[test]
fn a_gateway_that_starts_again_is_heard_within_seconds() {
    let mut gateways = sealed_pair();
    exchange(&mut gateways, at(0));
    gateways[0] = gateway(sealed(settings(udp(HERE_V4, THERE_V4)), [1, 2], 9));
    let mut out = 0;
    for step in 0..30u64 {
        let now = at(1_000_000 + 100_000 * step);
        gateways[0].receive_inside(now, &Sample::SMALL.bytes());
        gateways[0].flush(now);
        out += exchange(&mut gateways, now)[1].len();
    }
    // Only what was due before the handshake is lost.
    assert!(out >= 29, "{out}");
}

#[test]
fn sessions_go_on_with_new_settings_unless_a_key_is_another_one() {
    let settings = |own| sealed(settings(udp(HERE_V4, THERE_V4)), [own, 2], 9);
    let replaced = |gateways: &mut [Gateway; 2], settings| {
        let mut new = gateway(settings);
        new.succeed(&mut gateways[0]);
        gateways[0] = new;
    };
    let mut gateways = sealed_pair();
    exchange(&mut gateways, at(0));
    replaced(&mut gateways, settings(1));
    assert_eq!(gateways[0].has_key(0), Some(true));
    gateways[0].receive_inside(at(1), &Sample::SMALL.bytes());
    gateways[0].flush(at(1));
    assert_eq!(exchange(&mut gateways, at(1))[1].len(), 1);
    replaced(&mut gateways, settings(3));
    assert_eq!(gateways[0].has_key(0), Some(false));
    exchange(&mut gateways, at(2));
    assert_eq!(gateways[0].has_key(0), Some(false));
    let rejections = gateways[1].counts().total().inward.rejections;
    assert!(rejections.of(Rejection::Forged) > 0);
    replaced(&mut gateways, settings(1));
    exchange(&mut gateways, at(1_000_000));
    assert_eq!(gateways[0].has_key(0), Some(true));
}

#[test]
fn settings_of_keys_that_protect_nothing_are_rejected() {
    let base = settings(udp(HERE_V4, THERE_V4));
    let error = |settings| Gateway::new(settings).err().unwrap();
    assert_eq!(error(sealed(base.clone(), [1, 2], 0)), BadSettings::Entropy);
    let plain = Settings {
        alone: SinglePacketMode::Plain,
        ..sealed(base, [1, 2], 1)
    };
    assert_eq!(error(plain), BadSettings::PlainSealed { peer: 0 });
}

/// Sealed gateways with a path MTU of 1500 bytes whose bundles are padded.
fn padded_pair(padding: Padding, uplink: Option<Uplink>) -> [Gateway; 2] {
    let mut gateways =
        [(HERE_V4, THERE_V4, [1, 2]), (THERE_V4, HERE_V4, [2, 1])].map(|(here, there, keys)| {
            let mut settings = sealed(settings(udp(here, there)), keys, keys[0]);
            settings.peers[0].mtu = mtu(1_500);
            settings.peers[0].sealing.as_mut().unwrap().padding = padding;
            settings.uplink = uplink.clone();
            gateway(settings)
        });
    exchange(&mut gateways, at(0));
    gateways
}

proptest! {
    /// Sizes of bundles tell the number of steps and nothing else, and no packet changes.
    #[test]
    fn padded_bundles_have_few_sizes(
        step in prop_oneof![Just(None), (1u64..3_000).prop_map(Some)],
        lengths in prop::collection::vec(0u16..5_000, 1..20),
    ) {
        let padding = step.map_or(Padding::FULL, |step| {
            Padding::multiples_of(Bytes::new(step))
        });
        let mut gateways = padded_pair(padding, None);
        let mut sent = Vec::new();
        for (number, length) in (0..).zip(lengths) {
            let packet = Sample { length, number, ..Sample::SMALL }.bytes();
            gateways[0].receive_inside(at(1), &packet);
            sent.push(one_hop_on(packet));
        }
        gateways[0].flush(at(1));
        let (_, core) = polled(&mut gateways[0], at(1));
        let mut out = Vec::new();
        for bundle in core {
            let size = bundle.len() as u64;
            prop_assert!(size == 1_500 || step.is_some_and(|step| size.is_multiple_of(step)), "{}", size);
            gateways[1].receive_core(at(1), &bundle);
            out.extend(polled(&mut gateways[1], at(1)).0);
        }
        prop_assert_eq!(out, sent);
        gateways.iter().for_each(conserved);
    }
}

#[test]
fn an_uplink_takes_the_time_of_a_padded_bundle() {
    let uplink = Uplink {
        // A byte in a microsecond.
        rate: Rate::from_bits_per_second(8_000_000).unwrap(),
        queue: Spec::DropTail {
            limit: Limit::Packets(10),
        },
        framing: Framing::None,
        seed: Seed::new(1),
    };
    let mut gateways = padded_pair(Padding::FULL, Some(uplink));
    for _ in 0..2 {
        gateways[0].receive_inside(at(10_000), &Sample::SMALL.bytes());
        gateways[0].flush(at(10_000));
    }
    let sent = |now| {
        let (_, core) = polled(&mut gateways[0], at(now));
        core.iter().map(Vec::len).collect::<Vec<_>>()
    };
    let sent = [10_000, 11_499, 11_500, 12_999, 13_000].map(sent);
    assert_eq!(sent.concat(), [1_500, 1_500]);
    assert!(sent[2].len() == 1 && sent[4].len() == 1, "{sent:?}");
}
