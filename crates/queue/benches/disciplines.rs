//! The cost of a packet in each discipline: one arrival and one departure.
//!
//!     cargo bench -p jumbolab-queue

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use jumbolab_queue::{DISCIPLINES, Drops, Limit, Packet, RedSettings, Spec, View};
use units::{Bytes, Rate, Seed, Span, Time};

/// Packets of a sample.
const PACKETS: u64 = 10_000;
/// Bytes of each.
const SIZE: Bytes = Bytes::new(1500);
/// Packets that wait all the time: RED's average is between its thresholds.
const WAITING: u64 = 8;

fn main() {
    divan::main();
}

/// A packet that is only a flow.
#[derive(Clone, Copy)]
struct Plain(u64);

impl Packet for Plain {
    fn view(&self) -> View {
        View {
            size: SIZE,
            flow: self.0,
            ..View::default()
        }
    }
}

/// Every discipline as it is usually, and those that do other work when set so.
fn specs() -> Vec<(&'static str, Spec)> {
    let limit = Limit::Packets(1_000);
    let usual = DISCIPLINES.iter().map(|choice| {
        let configured = choice.configure(limit, SIZE, &mut |_, _, _| false);
        let spec = configured.spec.expect("the usual settings go together");
        (choice.name, spec)
    });
    let red = RedSettings {
        weight: 0.1,
        ..RedSettings::new(limit, SIZE)
    };
    let ns2 = RedSettings {
        weight: 0.1,
        ..RedSettings::ns2(1_000, SIZE)
    };
    let by_class = Spec::Priority {
        classes: 8,
        each: Box::new(Spec::DropTail { limit }),
    };
    let set = [
        ("red, weight 0.1", Spec::Red(red)),
        ("red of ns-2, weight 0.1", Spec::Red(ns2)),
        ("priority, 8 classes", by_class),
    ];
    usual.chain(set).collect()
}

#[divan::bench(args = specs().into_iter().map(|(name, _)| name).collect::<Vec<_>>())]
fn a_packet_comes_and_one_leaves(bencher: Bencher<'_, '_>, name: &str) {
    let (_, spec) = specs()
        .into_iter()
        .find(|(other, _)| *other == name)
        .expect("it is one of them");
    let rate = Rate::from_bits_per_second(1_000_000_000);
    let mut queue = spec
        .build(rate, Seed::new(1))
        .expect("they are all possible");
    let mut drops = Drops::new();
    let mut now = Time::ZERO;
    for flow in 0..WAITING {
        queue.enqueue(now, Plain(flow), &mut drops);
    }
    bencher.counter(ItemsCount::new(PACKETS)).bench_local(|| {
        for number in 0..PACKETS {
            now += Span::from_nanos(12_000);
            queue.enqueue(now, black_box(Plain(number % 16)), &mut drops);
            drops.drain();
            if queue.backlog().packets > 8 {
                black_box(queue.dequeue(now, &mut drops));
            }
            drops.drain();
        }
    });
}
