//! FQ-CoDel and strict priority, which choose between packets.

use jumbolab_queue::{Discipline, Drops, FqCodelSettings, Limit, Reason, Spec};
use units::{Bytes, Seed, Span, Time};

use crate::server::{PacketOutcome, Server, Tiny, rate};

fn fq(limit: Limit) -> Spec {
    Spec::FqCodel(FqCodelSettings::new(limit, Bytes::new(1500)))
}

fn of_flow(number: u64, size: u64, flow: u64) -> Tiny {
    let mut packet = Tiny::new(number, size);
    packet.view.flow = flow;
    packet
}

fn build(spec: &Spec, seed: u64) -> Box<dyn Discipline<Tiny>> {
    spec.build(Some(rate(12_000_000)), Seed::new(seed)).unwrap()
}

#[test]
fn flows_share_bytes_and_not_packets() {
    let mut queue = build(&fq(Limit::Packets(100_000)), 1);
    let mut drops = Drops::new();
    for number in 0..3_000 {
        queue.enqueue(Time::ZERO, of_flow(number, 1500, 1), &mut drops);
        for part in 0..5 {
            queue.enqueue(Time::ZERO, of_flow(part, 300, 2), &mut drops);
        }
    }
    let mut bytes = [0; 3];
    for _ in 0..3_000 {
        let packet = queue.dequeue(Time::ZERO, &mut drops).unwrap();
        bytes[packet.view.flow as usize] += packet.size();
        assert!(bytes[1].abs_diff(bytes[2]) <= 3_000, "{bytes:?}");
    }
    assert_eq!(drops.drain().count(), 0);
}

#[test]
fn a_flow_that_begins_goes_before_those_that_go_on_but_only_once() {
    let mut queue = build(&fq(Limit::Packets(1_000)), 1);
    let mut drops = Drops::new();
    for number in 0..10 {
        queue.enqueue(Time::ZERO, of_flow(number, 1500, 1), &mut drops);
    }
    // One packet each, so that the first flow is an old one.
    for number in 0..2 {
        assert_eq!(
            queue.dequeue(Time::ZERO, &mut drops).unwrap().number,
            number
        );
    }
    for number in 100..104 {
        queue.enqueue(Time::ZERO, of_flow(number, 1500, 2), &mut drops);
    }
    // The old flow has spent its quantum; it gets the next one with its turn,
    // and waits for another [RFC8290 s4.2].
    let turns: Vec<u64> = std::iter::from_fn(|| {
        queue
            .dequeue(Time::ZERO, &mut drops)
            .map(|packet| packet.number)
    })
    .take(6)
    .collect();
    assert_eq!(turns, [100, 101, 2, 102, 3, 103]);
}

#[test]
fn a_flow_that_comes_again_at_once_waits_for_its_turn() {
    let mut queue = build(&fq(Limit::Packets(1_000)), 1);
    let mut drops = Drops::new();
    for number in 0..20 {
        queue.enqueue(Time::ZERO, of_flow(number, 400, 1), &mut drops);
    }
    let mut next = || {
        let packet = queue.dequeue(Time::ZERO, &mut drops).unwrap();
        // The other flow sends one packet, and another one as soon as it was
        // found empty.
        let packets = match packet.number {
            3 => Some(100),
            4 => Some(101),
            _ => None,
        };
        if let Some(number) = packets {
            queue.enqueue(Time::ZERO, of_flow(number, 100, 2), &mut drops);
        }
        packet.number
    };
    let turns: Vec<u64> = (0..10).map(|_| next()).collect();
    assert_eq!(turns, [0, 1, 2, 3, 100, 4, 5, 6, 7, 101]);
}

#[test]
fn the_longest_flow_pays_for_want_of_room() {
    let spec = fq(Limit::Bytes(Bytes::new(30_000)));
    let mut server = Server::new(&spec, rate(12_000_000), 1);
    let mut now = Time::ZERO;
    for number in 0..3_000 {
        // Flow 1 sends three times what the link carries, flow 2 a tenth.
        for _ in 0..3 {
            server.arrive(now, of_flow(number, 1500, 1));
        }
        if number % 10 == 0 {
            server.arrive(now, of_flow(number, 1500, 2));
        }
        now += Span::from_millis(1);
    }
    let lost = |flow: u64| {
        let of = move |outcome: &&PacketOutcome| matches!(outcome, PacketOutcome::Dropped(_, packet, Reason::Full) if packet.view.flow == flow);
        server.outcomes.iter().filter(of).count()
    };
    assert!(lost(1) > 5_000, "{}", lost(1));
    assert_eq!(lost(2), 0);
}

#[test]
fn flows_are_spread_by_the_seed() {
    // With as many flows as queues, about 1/e of the queues stay empty; a
    // turn of all takes one packet from each that does not.
    let spec = Spec::FqCodel(FqCodelSettings {
        queues: 256,
        ..FqCodelSettings::new(Limit::Packets(1_000), Bytes::new(1500))
    });
    let order = |seed: u64| {
        let mut queue = build(&spec, seed);
        let mut drops = Drops::new();
        for flow in 0..256 {
            queue.enqueue(Time::ZERO, of_flow(flow, 1500, flow), &mut drops);
        }
        std::iter::from_fn(|| {
            queue
                .dequeue(Time::ZERO, &mut drops)
                .map(|packet| packet.number)
        })
        .collect::<Vec<u64>>()
    };
    let (one, other) = (order(1), order(2));
    assert_ne!(one, other);
    assert_eq!(one, order(1));
    // Those that share a queue with an earlier one go after all firsts.
    let turned = one.windows(2).take_while(|pair| pair[0] < pair[1]).count() + 1;
    assert!((140..185).contains(&turned), "{turned}");
}

#[test]
fn the_best_class_that_has_a_packet_goes_first() {
    let limit = Limit::Packets(2);
    let spec = Spec::Priority {
        classes: 3,
        each: Box::new(Spec::DropTail { limit }),
    };
    let mut queue = build(&spec, 1);
    let mut drops = Drops::new();
    for (number, class) in [(0, 0), (1, 2), (2, 1), (3, 7), (4, 2), (5, 0), (6, 0)] {
        let mut packet = Tiny::new(number, 100);
        packet.view.class = class;
        queue.enqueue(Time::ZERO, packet, &mut drops);
    }
    // Class 7 waits with the highest there is, which has room for two.
    let dropped: Vec<u64> = drops.drain().map(|drop| drop.0.number).collect();
    assert_eq!(dropped, [4, 6]);
    assert_eq!(queue.backlog().packets, 5);
    let order = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops));
    assert!(order.map(|packet| packet.number).eq([1, 3, 2, 0, 5]));
}
