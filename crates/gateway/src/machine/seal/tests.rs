use proptest::prelude::*;

use super::*;

const SECOND: Span = Span::from_secs(1);

fn seal(entropy: u8) -> Seal {
    let secret = Secret::new(b"shared".to_vec());
    Seal::new(Sealing::new(secret), [entropy; 32], 0)
}

/// Lets greetings pass until none is due; `lost` says which are lost.
fn greet(ends: &mut [Seal; 2], now: Time, lost: &mut impl FnMut() -> bool) {
    loop {
        let mut any = false;
        for from in [0, 1] {
            while let Some(greeting) = ends[from].poll_greeting(now) {
                any = true;
                if !lost() {
                    let _ = ends[1 - from].greeted(now, &greeting);
                }
            }
        }
        if !any {
            return;
        }
    }
}

/// Whether a bundle from `from` is opened at the other end.
fn crosses(ends: &mut [Seal; 2], from: usize, now: Time) -> bool {
    let mut bytes = b"bundle".to_vec();
    let Some((header, key)) = ends[from].next(now) else {
        return false;
    };
    let tag = key.seal(header, &mut bytes).unwrap();
    bytes.extend(tag);
    let opened = ends[1 - from].open(now, header, &mut bytes);
    assert!(
        ends[1 - from]
            .open(now, header, &mut bytes.clone())
            .is_err()
    );
    opened == Ok(6) && bytes[..6] == *b"bundle"
}

#[test]
fn two_gateways_agree_on_keys_by_three_greetings() {
    let mut ends = [seal(1), seal(2)];
    assert!(!ends[0].is_ready());
    greet(&mut ends, Time::ZERO, &mut || false);
    assert!(ends[0].is_ready() && ends[1].is_ready());
    for from in [0, 1, 0, 1] {
        assert!(crosses(&mut ends, from, Time::ZERO));
    }
    assert!(
        ends.iter_mut()
            .all(|end| end.poll_greeting(Time::ZERO + SECOND).is_none())
    );
}

#[test]
fn gateways_with_different_secrets_do_not() {
    let other = Sealing::new(Secret::new(b"other".to_vec()));
    let mut ends = [seal(1), Seal::new(other, [2; 32], 0)];
    greet(&mut ends, Time::ZERO, &mut || false);
    assert!(!ends[0].is_ready() && !ends[1].is_ready());
}

#[test]
fn a_gateway_that_starts_again_is_heard_at_once_and_its_old_bytes_are_rejected() {
    let mut ends = [seal(1), seal(2)];
    let now = Time::ZERO + SECOND;
    greet(&mut ends, now, &mut || false);
    let mut old = b"bundle".to_vec();
    let (header, key) = ends[1].next(now).unwrap();
    let tag = key.seal(header, &mut old[..]).unwrap();
    old.extend(tag);
    let recorded = ends[1].keys.greeting(ends[1].mine, ends[0].mine, true);
    ends[1] = seal(3);
    let later = now + SECOND;
    greet(&mut ends, later, &mut || false);
    assert!(crosses(&mut ends, 0, later) && crosses(&mut ends, 1, later));
    // The recorded greeting repeats this gateway's nonce, but made keys before.
    assert_eq!(ends[0].greeted(later, &recorded), Err(Rejected::Replayed));
    // The grace of the old key is over after ten seconds.
    let end = later + GRACE;
    assert_eq!(
        ends[0].open(end, header, &mut old),
        Err(Rejected::UnknownKey)
    );
    assert!(crosses(&mut ends, 0, end) && crosses(&mut ends, 1, end));
}

#[test]
fn an_own_greeting_sent_back_makes_no_keys() {
    let mut end = seal(1);
    let greeting = end.poll_greeting(Time::ZERO).unwrap();
    assert_eq!(end.greeted(Time::ZERO, &greeting), Err(Rejected::Replayed));
    assert!(!end.is_ready());
}

#[test]
fn keys_change_by_time_and_by_count_and_no_bundle_is_lost_by_it() {
    let mut ends = [seal(1), seal(2)];
    for end in &mut ends {
        end.sealing.rekey_bundles = 100;
    }
    let mut now = Time::ZERO;
    let mut names = std::collections::BTreeSet::new();
    greet(&mut ends, now, &mut || false);
    for step in 0..1_000u32 {
        now += Span::from_millis(300);
        let from = usize::from(step % 3 == 0);
        assert!(crosses(&mut ends, from, now), "{step}");
        names.insert(ends[from].send.as_ref().unwrap().key.name);
        // The greetings are late.
        if step % 4 == 0 {
            greet(&mut ends, now, &mut || false);
        }
    }
    // 666 bundles one way and 334 the other in 300 s: by count after 100 or 200.
    assert!(names.len() > 8, "{}", names.len());
    assert!(ends.iter().all(|end| end.receive.len() <= MOST_KEYS));
}

#[test]
fn a_key_with_many_forged_bundles_is_replaced_and_then_opens_no_more() {
    let mut ends = [seal(1), seal(2)];
    let now = Time::ZERO;
    greet(&mut ends, now, &mut || false);
    let header = ends[1].next(now).unwrap().0;
    let forged = |end: &mut Seal| end.open(now, header, &mut [0; TAG_LEN]);
    ends[0].receive[0].forged = MOST_FORGED / 2 - 1;
    assert_eq!(forged(&mut ends[0]), Err(Rejected::Forged));
    greet(&mut ends, now, &mut || false);
    let newer = ends[1].next(now).unwrap().0;
    assert_ne!(newer.key, header.key);
    let old = ends[0].receive.iter_mut();
    let old = old.into_iter().find(|one| one.key.name == header.key);
    old.unwrap().forged = MOST_FORGED - 1;
    assert_eq!(forged(&mut ends[0]), Err(Rejected::Forged));
    assert_eq!(forged(&mut ends[0]), Err(Rejected::UnknownKey));
    assert!(crosses(&mut ends, 0, now) && crosses(&mut ends, 1, now));
}

proptest! {
    #[test]
    fn after_any_losses_and_restarts_bundles_cross_again_within_seconds(
        steps in prop::collection::vec((0u8..8, any::<[bool; 4]>(), 0u64..40_000), 1..40),
    ) {
        let mut ends = [seal(1), seal(2)];
        let (mut now, mut entropy) = (Time::ZERO, 2);
        let mut sealed = std::collections::BTreeSet::new();
        for (what, losses, pause) in steps {
            now += Span::from_millis(pause);
            match what {
                0 | 1 => {
                    entropy += 1;
                    ends[usize::from(what)] = seal(entropy);
                }
                2 => ends[0].propose(now),
                3 => ends[1].propose(now),
                _ => {}
            }
            let mut losses = losses.into_iter().cycle();
            let mut rounds = 0;
            greet(&mut ends, now, &mut || {
                rounds += 1;
                rounds < 8 && losses.next().unwrap()
            });
            for end in &mut ends {
                if let Some((header, _)) = end.next(now) {
                    prop_assert!(sealed.insert((header.key, header.number)), "a nonce is used twice");
                }
            }
        }
        // Whatever happened, a few seconds of undisturbed greetings mend it.
        for _ in 0..15 {
            now += SECOND;
            greet(&mut ends, now, &mut || false);
            let _ = crosses(&mut ends, 0, now);
            let _ = crosses(&mut ends, 1, now);
        }
        prop_assert!(crosses(&mut ends, 0, now) && crosses(&mut ends, 1, now));
    }
}
