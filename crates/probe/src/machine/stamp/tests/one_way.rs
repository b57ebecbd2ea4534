//! Losses are counted in the direction in which they happen.

use proptest::prelude::*;
use wire::stamp::Reflected;

use super::*;
use link::Direction;

/// A path between a sender and a reflector.
struct Path {
    reflector: Reflector,
    loss: OneWayLoss,
    next: u32,
}

impl Path {
    fn new() -> Self {
        Self {
            reflector: Reflector::new(Limits::default(), error()),
            loss: OneWayLoss::default(),
            next: 0,
        }
    }

    fn send(&mut self) -> Vec<u8> {
        self.next += 1;
        packet(self.next - 1, 7, 200, false)
    }

    fn reflect(&mut self, bytes: &[u8]) -> Reflected {
        let reply = reflect(&mut self.reflector, at(0), peer(1), bytes).unwrap();
        Reflected::parse(&reply).unwrap()
    }

    fn receive(&mut self, reply: &Reflected) {
        let packet = &reply.packet;
        let sent = packet.request.sequence;
        self.loss.reply(sent, packet.sequence, reply.stateful);
    }

    /// Sends a packet, and loses it or the reply in this direction.
    fn exchange(&mut self, lost: Option<Direction>) {
        let bytes = self.send();
        if lost == Some(Direction::Forward) {
            return;
        }
        let reply = self.reflect(&bytes);
        if lost.is_none() {
            self.receive(&reply);
        }
    }

    fn counts(&self) -> [u32; 3] {
        let counts = self.loss.counts().unwrap();
        [counts.sent, counts.arrived, counts.answered]
    }
}

const FORWARD: Option<Direction> = Some(Direction::Forward);
const REVERSE: Option<Direction> = Some(Direction::Reverse);

#[test]
fn losses_count_in_their_direction_up_to_the_latest_reply() {
    let mut path = Path::new();
    for outcome in [None, FORWARD, None, REVERSE, REVERSE, FORWARD, None] {
        path.exchange(outcome);
    }
    assert_eq!(path.counts(), [7, 5, 3]);
    // Nothing is known of packets behind the latest reply.
    path.exchange(FORWARD);
    assert_eq!(path.counts(), [7, 5, 3]);
}

#[test]
fn a_packet_or_reply_that_is_overtaken_is_no_loss() {
    for direction in Direction::BOTH {
        let mut path = Path::new();
        let (first, second) = (path.send(), path.send());
        let replies = match direction {
            Direction::Forward => {
                let second = path.reflect(&second);
                [second, path.reflect(&first)]
            }
            Direction::Reverse => {
                let first = path.reflect(&first);
                [path.reflect(&second), first]
            }
        };
        replies.iter().for_each(|reply| path.receive(reply));
        assert_eq!(path.counts(), [2, 2, 2], "{direction:?}");
        path.exchange(FORWARD);
        path.exchange(None);
        assert_eq!(path.counts(), [4, 3, 3], "{direction:?}");
    }
}

#[test]
fn losses_while_a_reflector_begins_anew_count_in_no_direction() {
    let mut path = Path::new();
    for _ in 0..10 {
        path.exchange(None);
    }
    path.exchange(FORWARD);
    path.reflector = Reflector::new(Limits::default(), error());
    path.exchange(None);
    assert_eq!(path.counts(), [11; 3]);
    path.exchange(FORWARD);
    path.exchange(None);
    assert_eq!(path.counts(), [13, 12, 12]);
}

#[test]
fn a_reflector_without_state_tells_no_direction() {
    let mut path = Path::new();
    path.reflector = Reflector::new(
        Limits {
            sessions: 0,
            sessions_per_address: 1,
            ..Limits::default()
        },
        error(),
    );
    for outcome in [None, FORWARD, REVERSE, None] {
        path.exchange(outcome);
    }
    assert_eq!(path.loss.counts(), None);
}

#[test]
fn a_reflector_that_does_not_say_that_it_counts_shows_it_by_its_numbers() {
    let mut loss = OneWayLoss::default();
    // The reply to packet 1 is lost, and then packet 3.
    loss.reply(0, 0, false);
    loss.reply(2, 2, false);
    assert_eq!(loss.counts(), None);
    loss.reply(4, 3, false);
    let counts = loss.counts().unwrap();
    assert_eq!((counts.sent, counts.arrived, counts.answered), (5, 4, 3));
}

proptest! {
    #[test]
    fn losses_are_exact_on_a_path_that_keeps_the_order(
        outcomes in prop::collection::vec(prop_oneof![
            2 => Just(None),
            1 => Just(FORWARD),
            1 => Just(REVERSE),
        ], 1..80),
    ) {
        let mut path = Path::new();
        let mut last = 0;
        for (number, outcome) in outcomes.iter().enumerate() {
            path.exchange(*outcome);
            if outcome.is_none() {
                last = number + 1;
            }
        }
        let count = |outcome| outcomes[..last].iter().filter(|one| **one == outcome).count();
        let of = |outcome| u32::try_from(count(outcome)).unwrap();
        let sent = u32::try_from(last).unwrap();
        let arrived = sent - of(FORWARD);
        let counts = path.loss.counts().unwrap_or_default();
        prop_assert_eq!(
            [counts.sent, counts.arrived, counts.answered],
            [sent, arrived, arrived - of(REVERSE)]
        );
    }
}
