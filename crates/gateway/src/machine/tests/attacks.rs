//! The memory and the answers that an attacker can cost a gateway.
//! `JUMBOLAB_FUZZ_CASES=100000 cargo test --release -p jumbolab-gateway attacks -- --nocapture`
//! prints the table of docs/reference/gateway-security.md.

use std::time::{Duration, Instant};

use wire::bundle::{HEADER_LEN, SEALED_HEADER_LEN, TAG_LEN};

use super::super::*;
use super::cut::{ENDS, forged, sample};
use super::hostile::{Chance, cases};
use super::sealed::{exchange, sealed_pair};
use super::support::*;

/// Messages of each attack, unless `JUMBOLAB_FUZZ_CASES` has another number.
const MESSAGES: u64 = 5_000;
/// Bytes of the headers of IPv4 and UDP.
const OUTSIDE: usize = 28;

/// The outcome of an attack.
#[derive(Debug)]
struct Outcome {
    attack: &'static str,
    /// Messages for each reason of rejection, and packets and pieces that were dropped.
    rejections: Rejections,
    dropped: u64,
    /// The most bytes of the attack that waited in the gateway.
    kept: usize,
    /// Messages and bytes that it sent back.
    answers: u64,
    answered: usize,
    /// How long the gateway worked on them.
    worked: Duration,
}

/// Sends messages to a gateway, 20 us after each other. `held` says which bytes wait.
#[expect(
    clippy::disallowed_methods,
    reason = "the time that it takes, not that of the gateway"
)]
fn attack(
    attack: &'static str,
    gateway: &mut Gateway,
    begin: Time,
    mut message: impl FnMut(u64) -> Vec<u8>,
    held: impl Fn(&Gateway) -> usize,
) -> Outcome {
    let mut outcome = Outcome {
        attack,
        rejections: Rejections::default(),
        dropped: 0,
        kept: 0,
        answers: 0,
        answered: 0,
        worked: Duration::ZERO,
    };
    let released = gateway.counts().total().inward.released;
    let mut now = begin;
    let messages = cases(MESSAGES);
    for number in 0..messages {
        let bytes = message(number);
        now += Span::from_micros(20);
        let began = Instant::now();
        gateway.receive_payload(now, ENDS, 0, &bytes);
        while let Some(transmit) = gateway.poll_transmit(now) {
            if let Transmit::Core { bytes, .. } = transmit {
                outcome.answers += 1;
                outcome.answered += bytes.len() - OUTSIDE;
            }
        }
        outcome.worked += began.elapsed();
        outcome.kept = outcome.kept.max(held(gateway));
        if number % 1_000 == 0 {
            conserved(gateway);
        }
    }
    conserved(gateway);
    let inward = gateway.counts().total().inward;
    assert_eq!(inward.released, released, "{attack}");
    outcome.rejections = inward.rejections;
    outcome.dropped = inward.drops.total();
    outcome
}

/// A gateway that has agreed on keys with its peer, and a sealed bundle for it.
fn sealed_with_bundle() -> (Gateway, Vec<u8>) {
    let mut gateways = sealed_pair();
    exchange(&mut gateways, at(0));
    gateways[0].receive_inside(at(1), &sample(0, 1_200).bytes());
    gateways[0].flush(at(1));
    let (_, core) = polled(&mut gateways[0], at(1));
    let [_, other] = gateways;
    (other, core[0][OUTSIDE..].to_vec())
}

/// Bytes of pieces, all of the same size, that wait for others.
fn pieces(gateway: &Gateway) -> usize {
    1_000 * usize::try_from(gateway.waiting().inward).unwrap()
}

/// Bytes of bundles, all of the same size, that wait for others.
fn bundles(gateway: &Gateway) -> usize {
    (1_000 + HEADER_LEN + 4) * usize::try_from(gateway.waiting().bundles).unwrap()
}

#[test]
#[expect(clippy::print_stdout, reason = "the table")]
fn what_an_attack_makes_a_gateway_keep_is_bounded() {
    let whole = sample(0, 65_000).bytes();
    let [_, mut open] = pair(|settings| settings);
    let without_end = attack(
        "pieces of packets that do not end",
        &mut open,
        at(0),
        |number| {
            let first = number % 500 == 0;
            let sequence = u16::try_from(number % 4_096).unwrap();
            forged(sequence, [!first, true], &whole[..1_000])
        },
        pieces,
    );
    let [_, mut open] = pair(|settings| settings);
    let with_gaps = attack(
        "bundles of which every second one is missing",
        &mut open,
        at(0),
        |number| {
            let sequence = u16::try_from(2 * number % 4_096).unwrap();
            forged(sequence, [true, false], &whole[..1_000])
        },
        bundles,
    );
    let nothing = |_: &Gateway| 0;
    let (mut sealed, bundle) = sealed_with_bundle();
    // Its packet is let out once.
    sealed.receive_payload(at(2), ENDS, 0, &bundle);
    assert_eq!(polled(&mut sealed, at(20_000)).0.len(), 1);
    let replayed = attack(
        "a recorded bundle, again",
        &mut sealed,
        at(30_000),
        |_| bundle.clone(),
        nothing,
    );
    let (mut sealed, bundle) = sealed_with_bundle();
    let mut chance = Chance(3);
    let changed = attack(
        "bundles of a session with changed bytes",
        &mut sealed,
        at(30_000),
        |_| {
            let mut bytes = bundle.clone();
            let place = SEALED_HEADER_LEN + chance.below(bytes.len() - SEALED_HEADER_LEN - TAG_LEN);
            bytes[place] ^= 1;
            bytes
        },
        nothing,
    );
    let initiation = |own: u8, peer: u8| {
        let mut settings = settings(udp(HERE_V4, THERE_V4));
        settings.peers[0].sealing = Some(sealing(own, peer));
        settings.entropy = [7; 32];
        let mut one = gateway(settings);
        polled(&mut one, at(0)).1[0][OUTSIDE..].to_vec()
    };
    let flood = |attack_name, message: Vec<u8>| {
        let (mut gateway, _) = sealed_with_bundle();
        attack(
            attack_name,
            &mut gateway,
            at(30_000),
            |_| message.clone(),
            nothing,
        )
    };
    let unknown = flood("initiations without the public key", initiation(3, 4));
    let known = flood("initiations with the public key", initiation(3, 2));
    let outcomes = [without_end, with_gaps, replayed, changed, unknown, known];
    println!(
        "| attack, {} messages | rejected or dropped | kept, bytes | answers, bytes each | ns each |",
        cases(MESSAGES)
    );
    println!("|---|---|---|---|---|");
    for one in &outcomes {
        let reasons = Rejection::ALL.iter();
        let reasons = reasons.filter(|reason| one.rejections.of(**reason) > 0);
        let reasons =
            reasons.map(|reason| format!("{} `{}`", one.rejections.of(*reason), reason.name()));
        let mut reasons: Vec<String> = reasons.collect();
        if one.dropped > 0 {
            reasons.push(format!("{} `incomplete`", one.dropped));
        }
        println!(
            "| {} | {} | {} | {}, {} | {} |",
            one.attack,
            reasons.join(", "),
            one.kept,
            one.answers,
            one.answered as u64 / one.answers.max(1),
            one.worked.as_nanos() / u128::from(cases(MESSAGES))
        );
    }
    let all = cases(MESSAGES);
    let [without_end, with_gaps, replayed, changed, unknown, known] = outcomes;
    assert!(
        (60_000..=65_575).contains(&without_end.kept),
        "{without_end:?}"
    );
    assert!(without_end.dropped >= all - 65, "{without_end:?}");
    assert!(
        with_gaps.kept <= 33 * (1_000 + HEADER_LEN + 4),
        "{with_gaps:?}"
    );
    assert_eq!(replayed.rejections.of(Rejection::Replayed), all);
    assert_eq!(changed.rejections.of(Rejection::Forged), all);
    assert_eq!(unknown.rejections.of(Rejection::Forged), all);
    for silent in [&replayed, &changed, &unknown] {
        assert_eq!(silent.answers, 0, "{silent:?}");
    }
    // A burst of ten, and 100 a second; others get cookies, which are shorter.
    let processed = 10 + all * 20 / 10_000;
    assert!(
        known.rejections.of(Rejection::Forged) <= processed,
        "{known:?}"
    );
    assert!(
        known.rejections.of(Rejection::Limited) >= all - processed,
        "{known:?}"
    );
    assert!((known.answered as u64) < known.answers * 148, "{known:?}");
}
