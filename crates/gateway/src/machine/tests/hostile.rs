//! Bytes of unknown senders, and damaged ones of peers.

use proptest::prelude::*;
use queue::{MredSettings, Spec};
use units::{IpVersion, Rate, Seed};

use super::super::*;
use super::sealed::{exchange, sealed_pair};
use super::support::*;

/// Chance that is cheap and the same everywhere [Knuth1998 s6.4].
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 27
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }

    /// Damages `bytes` in one to three ways.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let headers = bytes.len().min(80);
            match self.below(7) {
                0 => bytes.truncate(self.below(bytes.len() + 1)),
                1 => bytes.extend(std::iter::repeat_n(7, self.below(60))),
                2 if headers > 0 => {
                    let place = self.below(headers);
                    bytes[place] = 0;
                }
                3 | 4 if headers > 0 => {
                    let place = self.below(headers);
                    bytes[place] = self.next().to_le_bytes()[0];
                }
                _ if !bytes.is_empty() => {
                    let place = self.below(bytes.len());
                    bytes[place] ^= 1 << self.below(8);
                }
                _ => {}
            }
        }
    }
}

/// How many cases are tried: `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p
/// jumbolab-gateway machine::tests::hostile` tries more.
pub(super) fn cases(usual: u64) -> u64 {
    let asked = std::env::var("JUMBOLAB_FUZZ_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Bundles of a few packets each, as `gateway` sends them.
fn bundles(gateway: &mut Gateway, chance: &mut Chance, now: Time) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for number in 0..64u32 {
        for _ in 0..=chance.below(6) {
            let sample = Sample {
                version: if chance.below(2) == 0 {
                    IpVersion::V4
                } else {
                    IpVersion::V6
                },
                service: chance.next().to_le_bytes()[0],
                // Some are larger than a bundle.
                length: 4 + u16::try_from(match chance.below(8) {
                    0 => chance.below(30_000),
                    _ => chance.below(300),
                })
                .unwrap(),
                number,
                ..Sample::SMALL
            };
            gateway.receive_inside(now, &sample.bytes());
        }
        gateway.flush(now);
        all.extend(polled(gateway, now).1);
    }
    all
}

#[test]
fn damaged_bundles_do_no_harm_and_every_packet_of_them_is_counted() {
    let mut chance = Chance(1);
    let mut now = Time::ZERO;
    let [mut one, mut other] = pair(|settings| settings);
    let valid = bundles(&mut one, &mut chance, now);
    let (mut bytes, mut out) = (Vec::new(), 0u64);
    for case in 0..cases(30_000) {
        bytes.clear();
        bytes.extend_from_slice(&valid[chance.below(valid.len())]);
        chance.damage(&mut bytes);
        if chance.below(4) > 0 {
            // As an attacker would, with the checksum switched off.
            if let Some(checksum) = bytes.get_mut(26..28) {
                checksum.fill(0);
            }
        }
        now += Span::from_micros(50);
        other.receive_core(now, &bytes);
        if case % 64 == 0 {
            other.handle_timeout(now);
        }
        while other.poll_transmit(now).is_some() {
            out += 1;
        }
        if case % 1_024 == 0 {
            conserved(&other);
        }
    }
    other.handle_timeout(now + Span::from_secs(100));
    while other.poll_transmit(now + Span::from_secs(100)).is_some() {
        out += 1;
    }
    conserved(&other);
    let inward = other.counts().total().inward;
    assert_eq!(
        (inward.released, other.waiting()),
        (out, Waiting::default())
    );
    assert!(inward.bundles > 100 && inward.rejections.total() > 100);
}

#[test]
fn nothing_of_damaged_sealed_bundles_is_forwarded() {
    let mut chance = Chance(2);
    let mut now = at(0);
    let mut gateways = sealed_pair();
    exchange(&mut gateways, now);
    let valid = bundles(&mut gateways[0], &mut chance, now);
    let mut bytes = Vec::new();
    for case in 0..cases(3_000) {
        let original = &valid[chance.below(valid.len())];
        bytes.clear();
        bytes.extend_from_slice(original);
        chance.damage(&mut bytes);
        if let Some(checksum) = bytes.get_mut(26..28) {
            checksum.fill(0);
        }
        // Damage to the headers outside may leave what is sealed as it was.
        if bytes.get(28..) == original.get(28..)
            || bytes.get(28..original.len()) == original.get(28..)
        {
            continue;
        }
        // Ten million cases end before the keys do.
        now += Span::from_micros(5);
        gateways[1].receive_core(now, &bytes);
        if case % 64 == 0 {
            gateways[1].handle_timeout(now);
        }
        while let Some(transmit) = gateways[1].poll_transmit(now) {
            assert!(
                matches!(transmit, Transmit::Core { .. }),
                "a handshake message at most"
            );
        }
    }
    let inward = gateways[1].counts().total().inward;
    assert_eq!((inward.unpacked, inward.released), (0, 0));
    assert!(inward.rejections.of(Rejection::Forged) > 0);
    conserved(&gateways[1]);
    // The bundles themselves still pass.
    gateways[1].receive_core(now, &valid[0]);
    assert!(gateways[1].counts().total().inward.unpacked > 0);
}

#[test]
fn an_unknown_sender_is_counted_and_gets_no_answer() {
    let [_, mut other] = pair(|settings| settings);
    let unknown_sender = udp([203, 0, 113, 5].into(), THERE_V4);
    let mut unknown_sender = gateway(settings(unknown_sender));
    unknown_sender.receive_inside(at(0), &Sample::SMALL.bytes());
    unknown_sender.flush(at(0));
    let (_, core) = polled(&mut unknown_sender, at(0));
    for _ in 0..1_000 {
        other.receive_core(at(0), &core[0]);
    }
    assert!(other.poll_transmit(at(0)).is_none());
    let rejections = other.counts().other.inward.rejections;
    assert_eq!(
        (rejections.of(Rejection::UnknownSender), rejections.total()),
        (1_000, 1_000)
    );
}

/// A call of a gateway.
#[derive(Clone, Debug)]
enum Call {
    Inside(Sample),
    Bytes(Vec<u8>),
    Core(Vec<u8>),
    Deliver,
    Twice,
    Lose,
    Timeout,
    Flush,
    Mtu(u64),
    Table(bool),
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..120);
    let sample = (
        any::<bool>(),
        any::<u8>(),
        prop_oneof![4u16..200, 4u16..12_000],
        any::<bool>(),
    );
    let sample = sample.prop_map(|(six, service, length, dont_fragment)| Sample {
        version: if six { IpVersion::V6 } else { IpVersion::V4 },
        service,
        length,
        dont_fragment,
        ..Sample::SMALL
    });
    let call = prop_oneof![
        8 => sample.prop_map(Call::Inside),
        1 => bytes().prop_map(Call::Bytes),
        1 => bytes().prop_map(Call::Core),
        4 => Just(Call::Deliver),
        1 => Just(Call::Twice),
        1 => Just(Call::Lose),
        3 => Just(Call::Timeout),
        1 => Just(Call::Flush),
        1 => (68u64..10_000).prop_map(Call::Mtu),
        1 => any::<bool>().prop_map(Call::Table),
    ];
    prop::collection::vec((prop_oneof![Just(0), 0u64..3_000], call), 1..150)
}

proptest! {
    #[test]
    fn nothing_is_lost_or_made_up_whatever_is_called(
        calls in calls(), queued: bool, sealed: bool, shaping: bool,
    ) {
        let mut gateways = if sealed {
            sealed_pair()
        } else {
            pair(|settings| Settings {
                shaping,
                uplink: queued.then(|| Uplink {
                    rate: Rate::from_bits_per_second(5_000_000).unwrap(),
                    queue: Spec::Mred(MredSettings {
                        weight: 0.2,
                        ..MredSettings::new(queue::Limit::Packets(6), Bytes::new(1_000))
                    }),
                    framing: Framing::Ethernet,
                    seed: Seed::new(7),
                }),
                ..settings
            })
        };
        let mut now = Time::ZERO;
        let mut way: Vec<Vec<u8>> = Vec::new();
        for (gap, call) in calls {
            now += Span::from_micros(gap);
            let [one, other] = &mut gateways;
            match call {
                Call::Inside(sample) => one.receive_inside(now, &sample.bytes()),
                Call::Bytes(bytes) => one.receive_inside(now, &bytes),
                Call::Core(bytes) => other.receive_core(now, &bytes),
                Call::Deliver => way.drain(..).for_each(|bytes| other.receive_core(now, &bytes)),
                Call::Twice => way.iter().for_each(|bytes| other.receive_core(now, bytes)),
                Call::Lose => way.clear(),
                Call::Timeout => {
                    one.handle_timeout(now);
                    other.handle_timeout(now);
                }
                Call::Flush => one.flush(now),
                Call::Mtu(bytes) => one.set_path_mtu(now, 0, mtu(bytes)),
                Call::Table(any) => one.set_table(Table::new(&routes()[..if any { 2 } else { 0 }])),
            }
            conserved(one);
            way.extend(polled(one, now).1);
            conserved(one);
            for bytes in polled(other, now).1 {
                one.receive_core(now, &bytes);
            }
            conserved(other);
        }
    }
}
