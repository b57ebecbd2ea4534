//! A far end that wants to harm the sender.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn replies_count_once_and_only_with_what_the_sender_wrote() {
    let mut sender = Sender::new(7, error());
    let mut reflector = Reflector::new(Limits::default(), error());
    let octets = send(&mut sender, at(0), 0x1234_5678, 200, false);
    let reply = reflect(&mut reflector, at(1), peer(1), &octets).unwrap();
    let mut receive = |octets: &[u8]| {
        let reply = sender.receive(at(2), wall(at(2)), octets);
        reply.map(|reply| reply.id)
    };
    // Session, the sender's sequence number, its timestamp, the error, the identifier.
    for place in [14, 15, 24, 27, 28, 35, 36, 37, 48, 55] {
        let mut other = reply.clone();
        other[place] ^= 1;
        assert_eq!(receive(&other), Err(Unmatched::Unknown), "octet {place}");
    }
    assert_eq!(receive(&reply[..43]), Err(Unmatched::Malformed));
    assert_eq!(
        receive(&octets),
        Err(Unmatched::Malformed),
        "its own packet"
    );
    assert_eq!(receive(&reply), Ok(0x1234_5678));
    assert_eq!(receive(&reply), Err(Unmatched::Duplicate));
    assert_eq!(receive(&[0xff; 1_000]), Err(Unmatched::Unknown));
    let totals = sender.totals();
    assert_eq!((totals.answered, totals.duplicates), (1, 1));
}

#[test]
fn a_sender_without_replies_remembers_a_bounded_number_of_packets() {
    let mut sender = Sender::new(7, error());
    let first = send(&mut sender, at(0), 1, 200, false);
    for id in 0..10_000 {
        send(&mut sender, at(0), id, 60, false);
        assert!(sender.remembered() <= 4_096);
    }
    let mut reflector = Reflector::new(Limits::default(), error());
    let reply = reflect(&mut reflector, at(1), peer(1), &first).unwrap();
    let late = sender.receive(at(2), wall(at(2)), &reply);
    assert_eq!(late, Err(Unmatched::Unknown));
}

/// What a hostile far end does with a packet.
#[derive(Clone, Debug)]
enum Trick {
    /// It answers several times.
    Times(u8),
    /// It answers later, after this many other packets.
    Later(u8),
    /// It answers with another number, and another instant.
    Number(u32, u64),
    /// It answers with these octets.
    Octets(Vec<u8>),
    /// It appends octets.
    Longer(Vec<u8>),
}

fn trick() -> impl Strategy<Value = Trick> {
    prop_oneof![
        (0_u8..4).prop_map(Trick::Times),
        (0_u8..8).prop_map(Trick::Later),
        (prop_oneof![0_u32..20, any::<u32>()], any::<u64>())
            .prop_map(|(number, instant)| Trick::Number(number, instant)),
        vec(any::<u8>(), 0..200).prop_map(Trick::Octets),
        vec(any::<u8>(), 0..200).prop_map(Trick::Longer),
    ]
}

proptest! {
    /// Each packet has one reply at most, and the totals stay within what was sent.
    #[test]
    fn no_far_end_makes_the_sender_count_more_than_it_sent(tricks in vec(trick(), 1..60)) {
        let mut sender = Sender::new(7, error());
        let mut reflector = Reflector::new(Limits::default(), error());
        let mut late: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut answered = Vec::new();
        for (number, trick) in tricks.iter().enumerate() {
            let now = at(number as u64);
            let octets = send(&mut sender, now, number as u64, 200, false);
            let mut reply = reflect(&mut reflector, now, peer(1), &octets).unwrap();
            let mut replies = Vec::new();
            match trick {
                Trick::Times(times) => replies = vec![reply; usize::from(*times)],
                Trick::Later(packets) => late.push((number + usize::from(*packets), reply)),
                Trick::Number(number, instant) => {
                    reply[..4].copy_from_slice(&number.to_be_bytes());
                    reply[16..24].copy_from_slice(&instant.to_be_bytes());
                    replies.push(reply);
                }
                Trick::Octets(octets) => replies.push(octets.clone()),
                Trick::Longer(more) => {
                    reply.extend(more);
                    replies.push(reply);
                }
            }
            replies.extend(late.extract_if(.., |(due, _)| *due == number).map(|(_, reply)| reply));
            for reply in replies {
                if let Ok(reply) = sender.receive(now, wall(now), &reply) {
                    prop_assert!(reply.id <= number as u64);
                    prop_assert!(reply.lost.len() <= number);
                    answered.push(reply.id);
                }
            }
            let totals = sender.totals();
            prop_assert_eq!(totals.sent, number as u64 + 1);
            prop_assert!(totals.lost_forward + totals.lost_backward + totals.answered <= totals.sent);
        }
        let count = answered.len();
        answered.sort_unstable();
        answered.dedup();
        prop_assert_eq!(answered.len(), count, "a packet was answered twice");
    }
}
