use proptest::prelude::*;

use super::*;

const TOKEN: [u8; TOKEN_LEN] = *b"0123456789abcdef";

fn address(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

fn at(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

#[test]
fn a_token_is_not_shown() {
    assert_eq!(format!("{:?}", Token::new(TOKEN)), "Token");
}

#[test]
fn connections_that_say_nothing_are_rejected_in_time() {
    let mut admission = Admission::new(Token::new(TOKEN), 1);
    assert_eq!(admission.arrive(1, address(1), at(5)), None);
    assert_eq!(admission.arrive(2, address(1), at(7)), None);
    assert_eq!(admission.next_expiry(), Some(at(15)));
    assert!(admission.expire(at(14)).is_empty());
    assert_eq!(admission.expire(at(15)), [1]);
    assert_eq!(admission.show(1, &TOKEN), Decision::Reject);
    assert_eq!(admission.show(2, &TOKEN), Decision::Admit);
    assert_eq!(
        (admission.rejected_peers(), admission.next_expiry()),
        (1, None)
    );
}

#[test]
fn a_sender_waits_however_many_others_come_from_elsewhere() {
    let mut admission = Admission::new(Token::new(TOKEN), 1);
    assert_eq!(admission.arrive(0, address(1), at(0)), None);
    let rejected: Vec<Number> = (1..1_000)
        .filter_map(|number| admission.arrive(number, address(2), at(0)))
        .collect();
    assert_eq!(rejected[..3], [1, 2, 3], "the oldest of the other address");
    assert_eq!(admission.show(0, &TOKEN), Decision::Admit);
    // Nobody else may enter, not even with the token.
    assert_eq!(admission.expire(at(0)).len(), MOST_WAITING - 1);
    assert_eq!(admission.arrive(1_000, address(1), at(0)), Some(1_000));
    assert_eq!(admission.rejected_peers(), 1_000);
}

/// An event at a port.
#[derive(Clone, Debug)]
enum Event {
    Arrive(u8),
    Show(u64, Vec<u8>),
    Leave(u64),
    Expire(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let bytes = prop_oneof![
        (0..=TOKEN_LEN).prop_map(|count| TOKEN[..count].to_vec()),
        (0..=TOKEN_LEN).prop_map(|count| TOKEN[count..].to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    let event = prop_oneof![
        4 => (0_u8..3).prop_map(Event::Arrive),
        4 => (0_u64..40, bytes).prop_map(|(number, bytes)| Event::Show(number, bytes)),
        1 => (0_u64..40).prop_map(Event::Leave),
        1 => (0_u64..30).prop_map(Event::Expire),
    ];
    prop::collection::vec(event, 0..300)
}

mod fuzz {
    use super::*;

    proptest! {
        #[test]
        fn who_enters_showed_exactly_the_token_and_others_are_counted(
            events in events(), most in 0_usize..4,
        ) {
            let mut admission = Admission::new(Token::new(TOKEN), most);
            let mut shown: Vec<Vec<u8>> = Vec::new();
            let (mut admitted, mut now) = (0, Time::ZERO);
            for event in events {
                match event {
                    Event::Arrive(from) => {
                        let number = u64::try_from(shown.len()).unwrap();
                        shown.push(Vec::new());
                        admission.arrive(number, address(from), now);
                    }
                    Event::Show(number, bytes) => {
                        let place = usize::try_from(number).unwrap();
                        let waits = admission.missing(number) > 0;
                        let decision = admission.show(number, &bytes);
                        if let Some(shown) = shown.get_mut(place).filter(|_| waits) {
                            shown.extend(&bytes);
                            let expected = match shown.len() {
                                ..TOKEN_LEN => Decision::Wait,
                                TOKEN_LEN if *shown == TOKEN && admitted < most => Decision::Admit,
                                _ => Decision::Reject,
                            };
                            prop_assert_eq!(decision, expected);
                            admitted += usize::from(decision == Decision::Admit);
                        } else {
                            prop_assert_eq!(decision, Decision::Reject);
                        }
                    }
                    Event::Leave(number) => admission.reject(number),
                    Event::Expire(after) => {
                        now += Span::from_secs(after);
                        admission.expire(now);
                    }
                }
                prop_assert!(admission.waiting.len() <= MOST_WAITING);
                let all = admission.waiting.len() + admitted;
                prop_assert_eq!(all as u64 + admission.rejected_peers(), shown.len() as u64);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_other_bytes_are_not_the_token(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        prop_assert_eq!(Token::new(TOKEN).is(&bytes), bytes == TOKEN);
    }

    #[test]
    fn the_sender_enters_whoever_is_there_and_however_its_bytes_are_cut(
        rejected_peers in prop::collection::vec((0_u8..4, 0_usize..TOKEN_LEN), 0..200), cut in 0..=TOKEN_LEN,
    ) {
        let mut admission = Admission::new(Token::new(TOKEN), 1);
        for (number, (from, count)) in (0..).zip(rejected_peers) {
            admission.arrive(number, address(from), Time::ZERO);
            admission.show(number, &vec![7; count]);
        }
        prop_assert_ne!(admission.arrive(1_000, address(9), Time::ZERO), Some(1_000));
        let first = admission.show(1_000, &TOKEN[..cut]);
        let decision = if cut < TOKEN_LEN { admission.show(1_000, &TOKEN[cut..]) } else { first };
        prop_assert_eq!(decision, Decision::Admit);
    }
}
