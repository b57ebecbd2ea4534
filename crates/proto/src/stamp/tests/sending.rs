//! The sender matches replies, and finds on which way packets were lost.

use proptest::prelude::*;

use super::*;
use crate::Direction;

/// A path between a sender and a reflector.
struct Path {
    sender: Sender,
    reflector: Reflector,
    now: u64,
}

impl Path {
    fn new() -> Self {
        Self {
            sender: Sender::new(0x5ee5, error()),
            reflector: Reflector::new(Limits::default(), error()),
            now: 0,
        }
    }

    /// Sends a packet of this number. Returns the reply unless either is lost.
    fn exchange(&mut self, id: u64, lost: Option<Direction>) -> Option<Reply> {
        self.now += 10_000;
        let octets = send(&mut self.sender, at(self.now), id, 200, false);
        if lost == Some(Direction::Forward) {
            return None;
        }
        let there = at(self.now + 3_000);
        let reply = reflect(&mut self.reflector, there, peer(1), &octets).unwrap();
        let back = at(self.now + 5_000);
        let received = |sender: &mut Sender| sender.receive(back, wall(back), &reply).unwrap();
        (lost.is_none()).then(|| received(&mut self.sender))
    }
}

#[test]
fn delays_are_those_of_each_way_and_of_the_reflector() {
    let reply = Path::new().exchange(1, None).unwrap();
    let expected = Delays {
        round_trip: Span::from_millis(5),
        reflector: Some(Span::from_micros(5)),
        forward: 3_000_000,
        backward: 1_995_000,
    };
    // Timestamps have a resolution of a quarter of a nanosecond.
    assert_eq!(reply.delays, expected);
    assert_eq!((reply.hop_limit, reply.stateful), (60, true));
}

#[test]
fn the_way_of_a_loss_is_told_by_the_next_reply() {
    let mut path = Path::new();
    let lost = |reply: Option<Reply>| reply.unwrap().lost;
    assert_eq!(lost(path.exchange(0, None)), []);
    path.exchange(1, Some(Direction::Forward));
    let (id, direction) = (1, Direction::Forward);
    assert_eq!(lost(path.exchange(2, None)), [Lost { id, direction }]);
    path.exchange(3, Some(Direction::Backward));
    path.exchange(4, Some(Direction::Backward));
    let direction = Direction::Backward;
    let both = [Lost { id: 3, direction }, Lost { id: 4, direction }];
    assert_eq!(lost(path.exchange(5, None)), both);
    // One on each way: only the totals tell.
    path.exchange(6, Some(Direction::Forward));
    path.exchange(7, Some(Direction::Backward));
    assert_eq!(lost(path.exchange(8, None)), []);
    let totals = path.sender.totals();
    assert_eq!((totals.lost_forward, totals.lost_backward), (2, 3));
    assert_eq!((totals.sent, totals.answered), (9, 4));
    // Nothing is known of packets behind the latest reply.
    path.exchange(9, Some(Direction::Forward));
    assert_eq!(path.sender.totals().lost_forward, 2);
}

#[test]
fn a_reply_that_comes_late_is_no_loss() {
    for direction in [Direction::Forward, Direction::Backward] {
        let mut path = Path::new();
        let first = send(&mut path.sender, at(0), 1, 200, false);
        let second = send(&mut path.sender, at(0), 2, 200, false);
        let mut reflect =
            |octets: &[u8]| reflect(&mut path.reflector, at(9), peer(1), octets).unwrap();
        // The packets change places there, or the replies on the way back.
        let (first, second) = if direction == Direction::Forward {
            let second = reflect(&second);
            (reflect(&first), second)
        } else {
            (reflect(&first), reflect(&second))
        };
        let mut receive = |octets: &[u8]| path.sender.receive(at(9), wall(at(9)), octets).unwrap();
        assert_eq!(receive(&second).lost, [Lost { id: 1, direction }]);
        assert_eq!(receive(&first).lost, []);
        assert_eq!(path.exchange(3, None).unwrap().lost, []);
        path.exchange(4, Some(Direction::Forward));
        path.exchange(5, None);
        let totals = path.sender.totals();
        assert_eq!((totals.lost_forward, totals.lost_backward), (1, 0));
    }
}

#[test]
fn a_reflector_that_begins_anew_is_no_loss() {
    let mut path = Path::new();
    for id in 0..10 {
        path.exchange(id, None);
    }
    path.exchange(10, Some(Direction::Forward));
    path.reflector = Reflector::new(Limits::default(), error());
    assert_eq!(path.exchange(11, None).unwrap().lost, []);
    path.exchange(12, Some(Direction::Forward));
    let (id, direction) = (12, Direction::Forward);
    assert_eq!(
        path.exchange(13, None).unwrap().lost,
        [Lost { id, direction }]
    );
    let totals = path.sender.totals();
    assert_eq!((totals.lost_forward, totals.lost_backward), (1, 0));
}

#[test]
fn a_reflector_without_state_tells_no_way() {
    let mut path = Path::new();
    path.reflector = Reflector::new(
        Limits {
            sessions: 0,
            sessions_per_address: 1,
            ..Limits::default()
        },
        error(),
    );
    let fates = [
        None,
        Some(Direction::Forward),
        Some(Direction::Backward),
        None,
    ];
    for (id, fate) in (0..10).zip(fates.into_iter().cycle()) {
        path.exchange(id, fate);
    }
    let totals = path.sender.totals();
    assert_eq!((totals.sent, totals.answered), (10, 5));
    assert_eq!((totals.lost_forward, totals.lost_backward), (0, 0));
}

#[test]
fn replies_of_reflectors_that_know_neither_sessions_nor_tlvs_are_accepted() {
    let mut path = Path::new();
    let octets = send(&mut path.sender, at(0), 1, 200, false);
    let mut reply = reflect(&mut path.reflector, at(1), peer(1), &octets).unwrap();
    reply[14..16].fill(0);
    let mut receive = |octets: &[u8]| {
        let reply = path.sender.receive(at(2), wall(at(2)), octets);
        reply.map(|reply| reply.id)
    };
    assert_eq!(receive(&reply[..45]), Err(Unmatched::Unknown));
    assert_eq!(receive(&reply[..44]), Ok(1));
    assert_eq!(receive(&reply), Err(Unmatched::Duplicate));
}

#[test]
fn a_packet_that_was_not_sent_leaves_no_gap() {
    let mut path = Path::new();
    path.exchange(1, None);
    send(&mut path.sender, at(0), 2, 200, false);
    path.sender.unsent();
    assert_eq!(path.exchange(3, None).unwrap().lost, []);
    assert_eq!(path.sender.totals().sent, 2);
}

proptest! {
    /// Between two replies, losses on one way only are told exactly; the totals are exact
    /// in any case.
    #[test]
    fn losses_are_told_by_way(
        fates in prop::collection::vec(prop_oneof![
            2 => Just(None),
            1 => Just(Some(Direction::Forward)),
            1 => Just(Some(Direction::Backward)),
        ], 1..80),
    ) {
        let mut path = Path::new();
        let mut waiting: Vec<Lost> = Vec::new();
        let (mut there, mut back) = (0, 0);
        for (id, fate) in (0..).zip(fates) {
            let reply = path.exchange(id, fate);
            if let Some(direction) = fate {
                waiting.push(Lost { id, direction });
                continue;
            }
            let lost = std::mem::take(&mut waiting);
            there += lost.iter().filter(|lost| lost.direction == Direction::Forward).count() as u64;
            back += lost.iter().filter(|lost| lost.direction == Direction::Backward).count() as u64;
            let one_way = lost.iter().all(|other| other.direction == lost[0].direction);
            prop_assert_eq!(reply.unwrap().lost, if one_way { lost } else { Vec::new() });
            let totals = path.sender.totals();
            prop_assert_eq!((totals.lost_forward, totals.lost_backward), (there, back));
        }
    }
}
