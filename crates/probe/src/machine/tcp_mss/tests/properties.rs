//! Properties of all tests of servers.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bytes, Span, Time};

use super::holes;
use super::server::{Server, settings};
use crate::machine::Verdict;
use crate::machine::tcp_mss::{
    Action, MOST_CONNECTIONS, MOST_TIME, Observation, Sending, State, TcpSettings, TcpTest,
};

/// What a kernel never says, and what hostile servers make it say. It states a share of what
/// was acknowledged.
fn any_observation(rng: &mut ChaCha8Rng, share: f64) -> Observation {
    let states = [
        State::Connecting,
        State::Open,
        State::Open,
        State::Open,
        State::Ended,
        State::Reset,
        State::Failed,
    ];
    let mut number = |most: u64| match rng.random_range(0..4) {
        0 => 0,
        1 => u64::MAX,
        _ => rng.random_range(0..most),
    };
    let numbers: [u64; 10] = core::array::from_fn(|_| number(70_000));
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Observation {
        state: states[rng.random_range(0..states.len())],
        headers: Bytes::new(numbers[0]),
        unstated_options: Bytes::new(numbers[0] % 13),
        sends: rng.random_bool(0.8).then_some(Bytes::new(numbers[1])),
        known_mtu: Bytes::new(numbers[2]),
        accepts: Bytes::new(numbers[3]),
        sending: rng.random_bool(share).then_some(Sending {
            window: Bytes::new(numbers[4]),
            acknowledged: numbers[5],
            behind: rng.random_bool(0.5).then_some(small(numbers[8])),
            retransmitted: small(numbers[6]),
        }),
        received: numbers[7],
        out_of_order: rng.random_bool(0.5).then_some(small(numbers[8])),
        largest_received: rng.random_bool(0.5).then_some(Bytes::new(numbers[9])),
        round_trip: rng
            .random_bool(0.5)
            .then(|| Span::from_micros(rng.random_range(0..3_000_000))),
        segments: numbers[8],
        sent: Bytes::new(numbers[9]),
    }
}

proptest! {
    #[test]
    fn whatever_a_server_does_the_test_ends_and_closes_its_few_connections(
        seed: u64, repeats: bool, asked in proptest::option::of(0_u64..70_000), share in 0.0..1.0,
        stated in 0_u8..=2, chooses_mss: bool, states_arrivals: bool,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let stated = f64::from(stated) / 2.0;
        let settings = TcpSettings {
            repeats, chooses_mss, states_arrivals, asked: asked.map(Bytes::new), ..settings()
        };
        let mut test = TcpTest::new(settings);
        let (mut now, mut open) = (Time::from_nanos(1), Vec::new());
        let end = now + MOST_TIME + Span::from_secs(1);
        while !test.is_done() {
            prop_assert!(now < end);
            let mut actions = 0;
            while let Some(action) = test.poll_action(now) {
                actions += 1;
                prop_assert!(actions < 100);
                match action {
                    Action::Open { id, .. } => open.push(id),
                    Action::Close { id } => open.retain(|one| *one != id),
                    Action::SendLadder { packets, .. } => {
                        prop_assert!(packets.len() <= 10);
                    }
                    Action::SendWhole { packet, .. } => prop_assert!(packet.get() <= 1500),
                    Action::SendRequests { count, .. } => prop_assert!(count <= 8),
                }
                prop_assert!(open.len() <= 4);
            }
            now += Span::from_millis(rng.random_range(1..50));
            // Of connections that are open, that were closed, and that never were.
            for id in 0..MOST_CONNECTIONS + 1 {
                if rng.random_bool(share) {
                    test.observed(now, id, any_observation(&mut rng, stated));
                }
            }
        }
        prop_assert!(open.is_empty());
        prop_assert!(test.connections() <= MOST_CONNECTIONS);
        test.report();
    }

    #[test]
    fn a_hole_is_never_larger_nor_smaller_than_what_passes_without_loss(
        forward in 600_u64..=1600, reverse in 600_u64..=1600, answer in 1_600_u64..100_000, rtt in 0_u64..200, thinks in 0_u64..300, is_sequential: bool,
    ) {
        let server = Server {
            forward, reverse, answer, is_sequential,
            rtt: Span::from_millis(rtt),
            thinks: Span::from_millis(thinks),
            ..Server::default()
        };
        let (report, _) = server.tested(settings(), 1);
        let [forward_hole, reverse_hole] = holes(&report);
        prop_assert_eq!(forward_hole, (forward < 1500).then_some(forward + 1));
        prop_assert_eq!(reverse_hole.is_some(), reverse < 1500, "{:?}", report);
        prop_assert!(report.reverse.mtu <= Some(Bytes::new(reverse)));
        prop_assert!(reverse_hole.is_none_or(|hole| hole > reverse));
        // One direction alone leaves enough connections for its exact size.
        let is_exact = reverse_hole == report.reverse.mtu.map(|mtu| mtu.get() + 1);
        prop_assert!(is_exact || is_sequential || reverse >= 1500 || forward < 1500, "{:?}", report);
        prop_assert_eq!(report.verdict == Verdict::Clean, forward.min(reverse) >= 1500);
    }
}

#[test]
fn ordinary_loss_is_no_hole() {
    let wrong = (0..300).filter(|&seed| {
        let server = Server {
            loss: 0.05,
            ..Server::default()
        };
        let (report, _) = server.tested(settings(), seed);
        report.verdict == Verdict::Problem
    });
    let wrong: Vec<u64> = wrong.collect();
    assert!(wrong.len() <= 1, "{wrong:?}");
}

#[test]
fn holes_are_found_under_ordinary_loss() {
    let right = (0..100).filter(|&seed| {
        let server = Server {
            forward: 1400,
            reverse: 1444,
            loss: 0.02,
            ..Server::default()
        };
        let (report, _) = server.tested(settings(), seed);
        let [forward, reverse] = holes(&report);
        forward == Some(1401)
            && reverse > Some(1444)
            && report.reverse.mtu <= Some(Bytes::new(1444))
    });
    assert!(right.count() >= 97);
}
