//! Whatever comes from the core: bundles, handshakes and messages about paths, altered.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use wire::bundle::HEADER_LEN;

use super::super::martian::is_martian;
use super::super::*;
use super::sealed::sealed_pair_with;
use super::support::*;

/// Bytes of the headers of IPv4 and UDP.
const OUTSIDE: usize = 28;

/// Gateways that know each other's keys, or not, and probe their path.
fn gateways(sealed: bool) -> [Gateway; 2] {
    let change = |settings: Settings| Settings {
        probe: Some(Span::from_secs(10)),
        entropy: [7; 32],
        peers: vec![Peer {
            mtu: mtu(2_000),
            ..settings.peers[0].clone()
        }],
        ..settings
    };
    match sealed {
        true => sealed_pair_with(change),
        false => pair(change),
    }
}

/// A packet with the number of its receiver.
type Sent = (usize, Vec<u8>);

/// Lets gateways exchange what is due. The packets.
fn exchanged(gateways: &mut [Gateway; 2], now: Time) -> Vec<Sent> {
    let mut all = Vec::new();
    loop {
        let before = all.len();
        for from in [0, 1] {
            gateways[from].handle_timeout(now);
            for bytes in polled(&mut gateways[from], now).1 {
                gateways[1 - from].receive_core(now, &bytes);
                all.push((1 - from, bytes));
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Two seconds of valid traffic, not sealed and sealed. Gateways with the same entropy
/// agree on the same keys again.
static VALID: LazyLock<[Vec<Sent>; 2]> = LazyLock::new(|| {
    [false, true].map(|sealed| {
        let mut gateways = gateways(sealed);
        let mut all = exchanged(&mut gateways, at(0));
        for number in 1..40u16 {
            for sample in 0..number % 5 {
                // Some are larger than a bundle.
                let large = 3_000 * u16::from(number.is_multiple_of(7));
                let sample = Sample {
                    number: u32::from(sample),
                    length: 4 + 90 * sample + large,
                    ..Sample::SMALL
                };
                gateways[0].receive_inside(at(50_000 * u64::from(number)), &sample.bytes());
            }
            let now = at(50_000 * u64::from(number));
            gateways[0].flush(now);
            all.extend(exchanged(&mut gateways, now));
        }
        all
    })
});

/// A change to a packet.
#[derive(Clone, Debug)]
enum Change {
    Byte(Index, u8),
    Number(Index, u16),
    Cut(Index),
    Longer(u8),
    /// The payload of another packet from here on.
    Other(Index, Index),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let limits = prop::sample::select(vec![0, 1, 4_095, 4_096, 0x2fff, 0x8000, 0xffff]);
    let change = prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Change::Byte(place, byte)),
        3 => (any::<Index>(), limits).prop_map(|(place, number)| Change::Number(place, number)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => any::<u8>().prop_map(Change::Longer),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(other, place)| Change::Other(other, place)),
    ];
    prop::collection::vec(change, 0..4)
}

/// Alters the payload of a packet; half of the places are in its first bytes.
fn altered(bytes: &[u8], changes: &[Change], all: &[Sent]) -> Vec<u8> {
    let mut payload = bytes[OUTSIDE..].to_vec();
    for change in changes {
        let place = |place: &Index, length: usize| {
            let place = place.index(2 * length.max(1));
            match place < length {
                true => place,
                false => place % length.clamp(1, HEADER_LEN + 12),
            }
        };
        match change {
            Change::Byte(at, byte) => {
                let at = place(at, payload.len());
                payload.get_mut(at).into_iter().for_each(|own| *own = *byte);
            }
            Change::Number(at, number) => {
                let at = place(at, payload.len()) & !1;
                if let Some(own) = payload.get_mut(at..at + 2) {
                    own.copy_from_slice(&number.to_be_bytes());
                }
            }
            Change::Cut(at) => payload.truncate(place(at, payload.len())),
            Change::Longer(more) => payload.extend((0..*more).map(|byte| byte ^ 0x45)),
            Change::Other(other, at) => {
                let other = &all[other.index(all.len())].1[OUTSIDE..];
                let at = place(at, payload.len().min(other.len()));
                payload.truncate(at);
                payload.extend(&other[at..]);
            }
        }
    }
    payload.truncate(1_900);
    // The sender of a forged packet writes right lengths, and no checksum of UDP [RFC768].
    let mut bytes = bytes[..OUTSIDE].to_vec();
    bytes.extend(payload);
    let length = u16::try_from(bytes.len()).unwrap();
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    bytes[24..26].copy_from_slice(&(length - 20).to_be_bytes());
    bytes[26..28].fill(0);
    bytes[10..12].fill(0);
    let words = bytes[..20].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    let sum = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
    bytes[10..12].copy_from_slice(&(!sum).to_be_bytes());
    bytes
}

proptest! {
    #[test]
    fn what_comes_from_the_core_is_counted_and_bounded_and_forged_packets_are_not_let_out(
        sealed: bool,
        arrivals in prop::collection::vec((any::<Index>(), changes(), 0u64..200_000), 1..40),
    ) {
        let all = &VALID[usize::from(sealed)];
        let mut gateways = gateways(sealed);
        exchanged(&mut gateways, at(0));
        let mut now = at(1);
        for (which, changes, gap) in arrivals {
            let (to, bytes) = &all[which.index(all.len())];
            now += Span::from_micros(gap);
            gateways[*to].receive_core(now, &altered(bytes, &changes, all));
            for gateway in &mut gateways {
                gateway.handle_timeout(now);
                conserved(gateway);
                let (inside, core) = polled(gateway, now);
                conserved(gateway);
                // A response, a confirmation or an initiation, a cookie, an answer, a probe and a
                // note at most.
                prop_assert!(core.len() <= 6, "{}", core.len());
                prop_assert!(gateway.waiting().inward <= 1 << 16);
                prop_assert!(gateway.waiting().bundles <= 32);
                let most = gateway.path_mtu(0).unwrap();
                prop_assert!((1_280..=2_000).contains(&most.get()), "{most:?}");
                for bytes in inside {
                    let packet = IpPacket::parse_whole(&bytes).unwrap();
                    prop_assert!(!is_martian(packet.addresses) && packet.hop_limit > 0);
                    // Keys admit what their holders sent.
                    let ends = packet.addresses.ends();
                    prop_assert!(!sealed || ends == IpPacket::parse_whole(&Sample::SMALL.bytes()).unwrap().addresses.ends());
                }
            }
        }
    }
}
