//! Fuzzing of both ends: packets of any content in any order, and replies with any numbers.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::stamp::BASE_LEN;

use super::*;

/// A packet of any content, most of them test packets.
fn any_packet() -> impl Strategy<Value = (u16, u64, Vec<u8>)> {
    let bytes = prop_oneof![
        4 => (44_usize..300, any::<u16>(), any::<bool>(), vec((44_usize..300, any::<u8>()), 0..4))
            .prop_map(|(length, session, short, damage)| {
                let mut bytes = super::packet(0, session, length.max(72), short);
                bytes.truncate(length);
                for (place, value) in damage {
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = value;
                    }
                }
                bytes
            }),
        1 => vec(any::<u8>(), 0..200),
    ];
    (0_u16..4, 0_u64..2_000, bytes)
}

proptest! {
    /// No sequence of packets is amplified: neither in bytes nor in packets.
    #[test]
    fn no_sequence_of_packets_is_amplified(packets in vec(any_packet(), 0..60)) {
        let mut reflector = Reflector::new(Limits::default(), error());
        let (mut now, mut got) = (0, 0);
        for (number, gap, bytes) in &packets {
            now += gap;
            got += 1;
            match reflect(&mut reflector, at(now), peer(*number), bytes) {
                Ok(reply) => prop_assert!((BASE_LEN..=bytes.len()).contains(&reply.len())),
                Err(Rejection::Limited | Rejection::Unresolved) => {
                    prop_assert!(false, "so few packets");
                }
                Err(Rejection::Malformed | Rejection::Unwanted) => {}
            }
        }
        let counts = reflector.counts();
        prop_assert_eq!(counts.reflected + counts.malformed + counts.unwanted, got);
    }

    /// Numbers that a hostile reflector makes up neither panic nor count packets that were
    /// not sent.
    #[test]
    fn made_up_numbers_count_no_more_than_was_sent(
        replies in prop::collection::vec((0_u32..60, prop_oneof![0_u32..60, any::<u32>()], any::<bool>()), 0..60),
    ) {
        let mut loss = OneWayLoss::default();
        let mut seen = std::collections::BTreeSet::new();
        for (sent, sequence, stateful) in replies {
            if seen.insert(sent) {
                loss.reply(sent, sequence, stateful);
            }
        }
        let counts = loss.counts().unwrap_or_default();
        prop_assert!(counts.sent <= 60);
        prop_assert!(counts.arrived <= counts.sent && counts.answered <= counts.arrived);
    }
}
