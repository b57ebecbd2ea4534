//! RIO.

use jumbolab_queue::law::{Curve, Spread};
use jumbolab_queue::{Discipline as _, Drops, Limit, Reason, Rio, RioSettings, Spec};
use units::{Bytes, Seed, Span, Time};

use crate::red::{CURVE, WALL};
use crate::server::{PacketOutcome, Server, Tiny, rate};
use crate::statistics::Chance;

#[test]
fn rio_marks_below_max_and_drops_from_max_on() {
    let curve = Curve {
        max_probability: 1.0,
        ..CURVE
    };
    let settings = RioSettings {
        inside: curve,
        weight: 1.0,
        spread: Spread::Independent,
        ecn: true,
        ..RioSettings::new(Limit::Packets(100), Bytes::new(1000))
    };
    let mut queue = Rio::new(&settings, rate(1_000_000), Seed::new(5)).unwrap();
    let mut drops = Drops::new();
    for number in 0..300 {
        let packet = Tiny {
            capable: true,
            ..Tiny::new(number, 1000)
        };
        queue.enqueue(Time::ZERO, packet, &mut drops);
    }
    // The average is what waits; from 15 on every arrival is drawn.
    assert_eq!(queue.backlog().packets, 15);
    assert!(drops.drain().all(|drop| drop.1 == Reason::Early));
    let waiting = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops));
    assert!(waiting.filter(|packet| packet.marked).count() > 2);
}

#[test]
fn packets_inside_forget_nothing_while_those_outside_keep_the_link_busy() {
    let settings = RioSettings {
        weight: 0.1,
        inside: WALL,
        ..RioSettings::new(Limit::Packets(100), Bytes::new(1000))
    };
    let mut outside = Tiny::new(1, 1000);
    outside.view.precedence = 1;
    // Rested for a second, and busy for a second: only rest makes it forget.
    for (first, lost) in [(outside, 20), (Tiny::new(1, 1000), 19)] {
        let mut queue = Rio::new(&settings, rate(1_000_000), Seed::new(5)).unwrap();
        let mut drops = Drops::new();
        for number in 0..20 {
            queue.enqueue(Time::ZERO, Tiny::new(number, 1000), &mut drops);
        }
        queue.dequeue(Time::ZERO, &mut drops);
        queue.rest(Time::ZERO);
        if first.view.precedence == 1 {
            queue.enqueue(Time::ZERO, first, &mut drops);
        }
        let later = Time::ZERO + Span::from_secs(1);
        queue.enqueue(later, Tiny::new(30, 1000), &mut drops);
        assert_eq!(drops.drain().count(), lost);
    }
}

#[test]
fn who_is_outside_of_its_profile_is_dropped_first() {
    let settings = RioSettings::new(Limit::Packets(200), Bytes::new(1500));
    let mut server = Server::new(&Spec::Rio(settings), rate(1_500_000), 7);
    let mut chance = Chance::new(7);
    let mut seconds = 0.0;
    for number in 0..20_000 {
        seconds += chance.exponential(0.008 / 1.3);
        let mut packet = Tiny::new(number, 1500);
        packet.view.precedence = (number % 2) as u8;
        server.arrive(Time::from_picos((seconds * 1e12) as u64), packet);
    }
    let dropped = server.dropped();
    let outside = dropped.iter().filter(|number| *number % 2 == 1).count();
    assert!(outside > 3_000, "{outside}");
    assert!(dropped.len() - outside < 20, "{}", dropped.len() - outside);
    let early =
        |outcome: &PacketOutcome| matches!(outcome, PacketOutcome::Dropped(_, _, Reason::Early));
    assert!(server.outcomes.iter().any(early));
}
