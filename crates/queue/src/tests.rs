use alloc::vec::Vec;

use proptest::prelude::*;
use units::{Bytes, Seed, Time};

use crate::{BadSpec, Drops, Limit, Packet, Reason, Spec, View};

/// A packet that is only its number and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered(pub(crate) u64, pub(crate) u64);

impl Packet for Numbered {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.1),
            ..View::default()
        }
    }
}

/// An operation on a queue: an arrival of this many bytes, or a departure.
#[derive(Clone, Copy, Debug)]
enum Act {
    Arrive(u64),
    Leave,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (1u64..2_000).prop_map(Act::Arrive),
        2 => Just(Act::Leave),
    ];
    prop::collection::vec(act, 0..200)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1u64..10_000).prop_map(|most| Limit::Bytes(Bytes::new(most))),
        (1u32..20).prop_map(Limit::Packets),
    ]
}

/// A queue that is a plain list, to hold the real ones against.
struct Naive {
    limit: Limit,
    front: bool,
    waiting: Vec<Numbered>,
}

impl Naive {
    fn room(&self, size: u64) -> bool {
        let bytes: u64 = self.waiting.iter().map(|packet| packet.1).sum();
        match self.limit {
            Limit::Bytes(most) => bytes + size <= most.get(),
            Limit::Packets(most) => self.waiting.len() < most as usize,
        }
    }

    fn arrive(&mut self, packet: Numbered) -> Vec<Numbered> {
        let fits_alone = match self.limit {
            Limit::Bytes(most) => packet.1 <= most.get(),
            Limit::Packets(_) => true,
        };
        if !fits_alone || !self.front && !self.room(packet.1) {
            return [packet].into();
        }
        let mut dropped = Vec::new();
        while !self.room(packet.1) {
            dropped.push(self.waiting.remove(0));
        }
        self.waiting.push(packet);
        dropped
    }
}

proptest! {
    #[test]
    fn queues_agree_with_a_plain_list_and_lose_nothing_uncounted(
        acts in acts(), limit in limits(), front in any::<bool>(),
    ) {
        let spec = if front { Spec::DropFront { limit } } else { Spec::DropTail { limit } };
        let mut queue = spec.build::<Numbered>(None, Seed::new(1)).unwrap();
        let mut naive = Naive { limit, front, waiting: Vec::new() };
        let mut drops = Drops::new();
        let (mut arrived, mut left, mut dropped) = (0u64, 0u64, 0u64);
        for (number, act) in (0u64..).zip(acts) {
            let now = Time::from_nanos(number);
            match act {
                Act::Arrive(size) => {
                    arrived += size;
                    let packet = Numbered(number, size);
                    queue.enqueue(now, packet, &mut drops);
                    let expected = naive.arrive(packet);
                    let gone: Vec<Numbered> = drops
                        .drain()
                        .map(|(packet, reason)| {
                            assert_eq!(reason, Reason::Full);
                            packet
                        })
                        .collect();
                    dropped += gone.iter().map(|packet| packet.1).sum::<u64>();
                    prop_assert_eq!(gone, expected);
                }
                Act::Leave => {
                    let next = (!naive.waiting.is_empty()).then(|| naive.waiting.remove(0));
                    let packet = queue.dequeue(now, &mut drops);
                    prop_assert_eq!(packet, next);
                    left += packet.map_or(0, |packet| packet.1);
                }
            }
            let backlog = queue.backlog();
            prop_assert_eq!(arrived, left + dropped + backlog.bytes.get());
            prop_assert_eq!(backlog.packets as usize, naive.waiting.len());
            prop_assert_eq!(queue.ready_at(), (backlog.packets > 0).then_some(Time::ZERO));
        }
    }
}

#[test]
fn a_queue_that_holds_nothing_is_rejected() {
    for limit in [Limit::Packets(0), Limit::Bytes(Bytes::ZERO)] {
        assert_eq!(
            Spec::DropTail { limit }
                .build::<Numbered>(None, Seed::new(1))
                .err(),
            Some(BadSpec::Empty)
        );
        assert_eq!(
            Spec::DropFront { limit }
                .build::<Numbered>(None, Seed::new(1))
                .err(),
            Some(BadSpec::Empty)
        );
    }
}
