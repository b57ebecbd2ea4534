//! Forged bundles, and handshake messages beyond what is processed.

use wire::bundle::{INITIATION_LEN, RESPONSE_LEN};

use super::*;

#[test]
fn a_key_with_many_forged_bundles_is_replaced_and_then_opens_no_more() {
    let mut ends = pair();
    let now = Time::ZERO + SECOND;
    exchange(&mut ends, now, &mut || false);
    let later = now + SECOND;
    let header = ends[1].seal.next(later, 0).unwrap().0;
    let forged = |end: &mut End| end.seal.open(later, header, &mut [0; TAG_LEN]);
    let known = |end: &mut End| {
        let mut known = end.seal.receive.iter_mut();
        known
            .position(|one| one.key.session == header.session)
            .unwrap()
    };
    let place = known(&mut ends[0]);
    ends[0].seal.receive[place].forged = MOST_FORGED / 2 - 1;
    assert_eq!(forged(&mut ends[0]), Err(Rejected::Forged));
    exchange(&mut ends, later, &mut || false);
    let newer = ends[1].seal.next(later, 0).unwrap().0;
    assert_ne!(newer.session, header.session);
    let place = known(&mut ends[0]);
    ends[0].seal.receive[place].forged = MOST_FORGED - 1;
    assert_eq!(forged(&mut ends[0]), Err(Rejected::Forged));
    assert_eq!(forged(&mut ends[0]), Err(Rejected::UnknownKey));
    assert!(both_cross(&mut ends, later));
}

#[test]
fn a_flood_of_initiations_is_bounded_and_keeps_nobody_out() {
    let mut ends = pair();
    let mut now = Time::ZERO;
    // From somebody who knows the public key, and writes the address of the peer.
    let there = Receiver::new(identity(1).public());
    let forged = |number: u32| {
        let noise = number.to_be_bytes().repeat(27);
        there.message(number, None, &noise, Some(&[7; 16])).0
    };
    let forged: Vec<_> = (0..16).map(forged).collect();
    let (mut answered, mut rejected) = (0, [0; 2]);
    for (number, forged) in forged.iter().cycle().take(100_000).enumerate() {
        now += Span::from_micros(20);
        match ends[0].take(now, forged) {
            Err(Rejected::Forged) => rejected[0] += 1,
            Err(Rejected::Limited) => rejected[1] += 1,
            other => panic!("{other:?}"),
        }
        assert!(ends[0].seal.cookies.len() <= MOST_COOKIES);
        assert!(ends[0].seal.receive.len() <= MOST_SESSIONS);
        if number % 1_000 == 0 {
            // The peer takes what comes, and takes part.
            exchange(&mut ends, now, &mut || false);
        } else if number % 8 == 0 {
            let answers = ends[0].poll(now);
            answered += answers.iter().map(Vec::len).sum::<usize>();
        }
    }
    // 2 s: a burst, and 100 a second.
    assert!(rejected[0] <= 210, "{rejected:?}");
    assert_eq!(rejected[0] + rejected[1], 100_000);
    assert!(answered < 100_000 * INITIATION_LEN / 2, "{answered}");
    assert!(both_cross(&mut ends, now), "the peer has a cookie");
}

#[test]
fn a_message_under_load_needs_the_cookie_that_answered_it() {
    let mut ends = pair();
    let now = Time::ZERO;
    let there = Receiver::new(identity(2).public());
    let busy = |end: &mut End, now| {
        let (other, _) = there.message(1, None, &[0; 108], None);
        while end.take(now, &other) == Err(Rejected::Forged) {}
        end.seal.cookies.clear();
    };
    busy(&mut ends[1], now);
    let first = ends[0].poll(now).remove(0);
    assert_eq!(ends[1].take(now, &first), Err(Rejected::Limited));
    let [reply] = &ends[1].poll(now)[..1] else {
        panic!()
    };
    assert!(reply.len() < RESPONSE_LEN && reply.len() < INITIATION_LEN);
    for place in 4..reply.len() {
        let mut forged = reply.clone();
        forged[place] ^= 1;
        let reason = match place {
            4..8 => Rejected::UnknownKey,
            _ => Rejected::Forged,
        };
        assert_eq!(ends[0].take(now, &forged), Err(reason), "{place}");
    }
    assert_eq!(ends[0].take(now, reply), Ok(None));
    assert_eq!(ends[0].take(now, reply), Err(Rejected::UnknownKey));
    let later = now + SECOND;
    busy(&mut ends[1], later);
    let again = ends[0].poll(later).remove(0);
    // The cookie of somebody else is none.
    let mut stolen = again.clone();
    *stolen.last_mut().unwrap() ^= 1;
    assert_eq!(ends[1].take(later, &stolen), Err(Rejected::Limited));
    assert_eq!(ends[1].take(later, &again), Ok(None));
    // After two minutes another cookie is needed.
    let much_later = later + COOKIE_AGE;
    busy(&mut ends[1], much_later);
    assert_eq!(ends[1].take(much_later, &again), Err(Rejected::Limited));
}
