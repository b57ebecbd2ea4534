use link::edge::Prefix;
use proptest::prelude::*;
use queue::{Limit, MredSettings, Spec};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span, Time};
use wire::bundle::RECORDING;
use wire::protocol::ip::Addresses;

use super::line::write_event;
use super::*;
use crate::machine::{
    Decision, Encapsulation, Gateway, Identity, Padding, Peer, Sealing, Settings, Table, Uplink,
};
use crate::replay::{Decided, recorded, replay_with, reproduce, variants};

/// The settings of a gateway with a sealed peer and a queue that drops out of bundles.
fn settings() -> Settings {
    let addresses = Addresses::V4([[192, 0, 2, 1].into(), [192, 0, 2, 2].into()]);
    let [here, there] = [3, 4].map(|byte| Identity::new([byte; 32].into()));
    let mut settings = Settings::new(vec![Peer {
        encapsulation: Encapsulation::Udp {
            addresses,
            port: wire::bundle::PORT,
        },
        mtu: IpMtu::new(4_000, IpVersion::V4).unwrap(),
        dscp: None,
        sealing: Some(Sealing {
            padding: Padding::multiples_of(Bytes::new(512)),
            ..Sealing::new(here, *there.public())
        }),
    }]);
    settings.entropy = [3; 32];
    settings.uplink = Some(Uplink {
        rate: Rate::from_bits_per_second(8_000_000).unwrap(),
        queue: Spec::Mred(MredSettings {
            weight: 0.3,
            ..MredSettings::new(Limit::Packets(5), Bytes::new(1_000))
        }),
        framing: Framing::Ethernet,
        seed: Seed::new(7),
    });
    settings
}

/// An IPv4 packet [RFC791 s3.1] of 20 bytes and `payload` more.
fn packet(number: u16, payload: u16) -> Vec<u8> {
    let length = 20 + payload;
    let mut bytes = vec![0; length.into()];
    bytes[0] = 0x45;
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
    bytes[4..6].copy_from_slice(&number.to_be_bytes());
    bytes[8..10].copy_from_slice(&[64, 17]);
    bytes[12..20].copy_from_slice(&[10, 1, 0, 2, 10, 2, 0, 2]);
    let sum: u32 = bytes[..20]
        .chunks(2)
        .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]))
        .sum();
    // The sum in ones' complement [RFC1071 s1].
    let sum = u16::try_from(sum % 0xffff).unwrap();
    bytes[10..12].copy_from_slice(&(!sum).to_be_bytes());
    bytes
}

/// The recording of a gateway to which packets come with these gaps in microseconds.
fn recording(packets: &[(u64, u16)]) -> String {
    let origin = Time::from_nanos(5_000_000_000);
    let mut gateway = Gateway::new(settings()).unwrap();
    gateway.record();
    gateway.set_table(Table::new(&[Prefix {
        network: [10, 2, 0, 0].into(),
        length: 16,
        next_as: 0,
        egress: 0,
    }]));
    let mut now = origin;
    for (number, (gap, payload)) in (0..).zip(packets) {
        now += Span::from_micros(*gap);
        gateway.handle_timeout(now);
        gateway.receive_inside(now, &packet(number, *payload));
        while gateway.poll_transmit(now).is_some() {}
    }
    for _ in 0..200 {
        now += Span::from_millis(1);
        gateway.handle_timeout(now);
        while gateway.poll_transmit(now).is_some() {}
    }
    let first = FirstLine {
        format: FORMAT,
        origin_ps: origin.as_picos(),
    };
    let (first, described) = (
        serde_json::to_string(&first).unwrap(),
        serde_json::to_string(&Described::of(&settings())).unwrap(),
    );
    let mut text = format!("{RECORDING}{first}\n{SETTINGS}{described}\n");
    for event in gateway.take_events() {
        write_event(&event, origin, &mut text);
    }
    text + END + "\n"
}

/// A burst of packets that fills the queue.
fn burst() -> String {
    let packets: Vec<(u64, u16)> = (0..600u16)
        .map(|n| (40 + u64::from(n % 7), 60 + n % 500))
        .collect();
    recording(&packets)
}

fn parsed(text: &str) -> Recording {
    Recording::parse(text.as_bytes()).unwrap()
}

/// The settings of all its parts.
fn described(whole: &Recording) -> Vec<Described> {
    let settings = whole.sections.iter().map(|one| one.settings.clone());
    settings.collect()
}

/// Decisions in numbers.
#[derive(Debug, Default)]
struct Counted {
    bundles: usize,
    sent: usize,
    dropped: usize,
    taken_out: usize,
    /// In the unit of bundles.
    longest_wait: u64,
}

fn counted(decided: &Decided<'_>) -> Counted {
    let mut counted = Counted::default();
    for decision in decided.iter().flat_map(|(_, decisions)| decisions) {
        match decision {
            Decision::Sent { packets, .. } => {
                counted.bundles += 1;
                counted.sent += packets.len();
                let waits = packets.iter().map(|(_, waited, _)| u64::from(*waited));
                counted.longest_wait = waits.fold(counted.longest_wait, u64::max);
            }
            Decision::Dropped {
                taken_out, packets, ..
            } => {
                counted.dropped += packets.len();
                counted.taken_out += if *taken_out { packets.len() } else { 0 };
            }
        }
    }
    counted
}

#[test]
fn a_recording_is_replayed_decision_by_decision() {
    let whole = parsed(&burst());
    assert!(whole.is_whole);
    let agreement = reproduce(&whole).unwrap();
    assert!(agreement.compared > 50, "{agreement:?}");
    assert_eq!(agreement.agreed, agreement.compared);
    let was = counted(&recorded(&whole));
    assert_eq!(was.sent + was.dropped, 600);
    assert!(was.taken_out > 0, "{was:?}");
}

#[test]
fn other_settings_give_other_outcomes() {
    let whole = parsed(&burst());
    let described = described(&whole);
    let asked = ["aggregation.max_wait=200us,4ms", "uplink.rate=1gbit"].map(str::to_owned);
    let variants = variants(&described, &asked).unwrap();
    let [short, long] = &variants[..] else {
        panic!("{variants:?}")
    };
    assert_eq!(short.name, "aggregation.max_wait=200us uplink.rate=1gbit");
    let of = |variant| counted(&replay_with(&whole, variant).unwrap());
    let [short, long] = [short, long].map(of);
    assert_eq!([short.dropped, long.dropped], [0, 0]);
    assert!(short.bundles > long.bundles, "{short:?} {long:?}");
    assert!(short.longest_wait < long.longest_wait, "{short:?} {long:?}");
}

#[test]
fn settings_that_cannot_be_are_rejected_in_one_line() {
    let whole = parsed(&burst());
    let described = described(&whole);
    for (set, words) in [
        (
            "network.rate=1gbit",
            "--set network.rate=1gbit: of a gateway's recording",
        ),
        (
            "aggregation.max_wait=0s",
            "--set aggregation.max_wait=0s: write a time above 0",
        ),
        (
            "uplink.queue=reed",
            "--set uplink.queue=reed: no such queue",
        ),
        (
            "peers.mtu=1270",
            "--set peers.mtu=1270: write an MTU from 1280 to 65535",
        ),
        ("aggregation", "--set aggregation: of a gateway's recording"),
    ] {
        let error = variants(&described, &[set.to_owned()])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(words), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

proptest! {
    #[test]
    fn a_recording_that_was_cut_anywhere_is_replayed_until_there(place in 0usize..1_000) {
        let text = burst();
        let cut = &text.as_bytes()[..text.len() * place / 1_000];
        match Recording::parse(cut) {
            Err(error) => prop_assert!(place < 100, "{error:#}"),
            Ok(recording) => {
                let agreement = reproduce(&recording).unwrap();
                prop_assert_eq!(agreement.agreed, agreement.compared);
                prop_assert!(!recording.is_whole);
            }
        }
    }
}

mod fuzz {
    use proptest::sample::Index;

    use super::*;

    proptest! {
        #[test]
        fn hostile_recordings_are_rejected_in_one_line_or_replayed(
            changes in prop::collection::vec((0usize..6_000, prop::sample::select(b"0123456789,:-. \nasd\xff{}".to_vec())), 1..6),
            swaps in prop::collection::vec((2usize..200, 2usize..200), 0..3),
            numbers in prop::collection::vec(
                (any::<Index>(), any::<Index>(), prop::sample::select(vec![
                    "0", "1", "-1", "4095", "65536", "4294967296", "18446744073709551615", "1e309", "",
                ])),
                0..3,
            ),
        ) {
            let text = recording(&vec![(90, 200); 60]);
            let mut lines: Vec<&str> = text.lines().collect();
            for (one, other) in swaps {
                let most = lines.len() - 1;
                lines.swap(one.min(most), other.min(most));
            }
            let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
            for (line, field, number) in numbers {
                let line = line.get_mut(&mut lines);
                let mut fields: Vec<&str> = line.split(',').collect();
                *field.get_mut(&mut fields) = number;
                *line = fields.join(",");
            }
            let mut bytes = (lines.join("\n") + "\n").into_bytes();
            for (place, byte) in changes {
                let place = place.min(bytes.len() - 1);
                bytes[place] = byte;
            }
            match Recording::parse(&bytes[..]) {
                Err(error) => {
                    let text = format!("{error:#}");
                    prop_assert!(!text.contains('\n'), "{text}");
                }
                Ok(recording) => {
                    let _ = reproduce(&recording);
                    if let Ok(variants) = variants(&described(&recording)[..1], &["aggregation.max_wait=2ms".to_owned()]) {
                        let _ = replay_with(&recording, &variants[0]);
                    }
                }
            }
        }
    }
}
