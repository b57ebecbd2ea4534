mod axes;
mod equivalence;
mod letter;
mod properties;

use alloc::vec::Vec;

use super::*;
use crate::law::{Curve, Spread};
use crate::{Bundle, Encapsulation, Selection, Tick, View};
use units::Span;

/// A packet of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inner {
    number: u64,
    bytes: u64,
    flow: u64,
    able: bool,
    marked: bool,
}

impl Packet for Inner {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.bytes),
            flow: self.flow,
            ..View::default()
        }
    }

    fn markable(&self) -> bool {
        self.able
    }

    fn mark(&mut self) -> bool {
        self.marked |= self.able;
        self.able
    }
}

/// A packet of 100 bytes of one of three flows, which can be marked.
const fn inner(number: u64) -> Inner {
    Inner {
        number,
        bytes: 100,
        flow: number % 3,
        able: true,
        marked: false,
    }
}

const ENCAPSULATION: Encapsulation = Encapsulation {
    header: Bytes::new(26),
    entry: Bytes::new(4),
    framing: Bytes::ZERO,
};

/// A bundle, or one packet bare.
fn pack(packets: impl IntoIterator<Item = Inner>) -> Bundle<Inner> {
    let packets = packets.into_iter().map(|packet| (packet, Span::ZERO));
    Bundle::pack(packets, ENCAPSULATION, Tick::Micro, None).unwrap()
}

/// A bundle of `count` packets that are numbered from `first` on.
fn bundle(first: u64, count: u64) -> Bundle<Inner> {
    pack((first..first + count).map(inner))
}

fn numbers(bundle: Bundle<Inner>) -> Vec<u64> {
    bundle.unpack().map(|(packet, _)| packet.number).collect()
}

const RATE: Rate = match Rate::from_bits_per_second(1_000_000) {
    Some(rate) => rate,
    None => panic!("a million is not 0"),
};

/// MRED whose average is what waits at the moment, in frames, and whose
/// probability rises from 0 to 1 over 20 of them; everything independent.
fn plain() -> MredSettings {
    MredSettings {
        unit: Unit::Frames,
        weight: 1.0,
        curve: Curve {
            min: 0.0,
            max: 20.0,
            max_probability: 1.0,
            gentle: false,
        },
        spread: Spread::Independent,
        ..MredSettings::new(Limit::Packets(1_000), Bytes::new(1_000))
    }
}

fn queue(settings: &MredSettings) -> Mred<Bundle<Inner>> {
    Mred::new(settings, RATE, Seed::new(8)).unwrap()
}

/// A queue into which `frames` bundles of `each` came without any law, and in
/// which `settings` hold from then on; the packets are numbered by tens.
fn filled(settings: &MredSettings, frames: u64, each: u64) -> Mred<Bundle<Inner>> {
    let mut mred = queue(settings);
    for frame in 0..frames {
        mred.frames.push(bundle(10 * frame, each));
    }
    mred
}

/// The packets in the queue, by number.
fn drain(mred: &mut Mred<Bundle<Inner>>) -> Vec<Vec<u64>> {
    core::iter::from_fn(|| mred.frames.take(0))
        .map(numbers)
        .collect()
}

#[test]
fn packets_marked_for_a_later_drop_add_up_until_they_are_dropped() {
    let action = DropAction {
        reason: Reason::Early,
        mark: false,
    };
    let mut frames = Frames::new(Selection::Front);
    frames.push(bundle(0, 5));
    assert_eq!(frames.unmarked(0), 5);
    let milli = Span::from_millis(1);
    frames.mark(Time::ZERO, 0, 2, action, milli);
    frames.mark(Time::ZERO, 0, 1, action, milli);
    assert_eq!(frames.unmarked(0), 2);
    // One falls due after each millisecond.
    let mut drops = Drops::new();
    let live = |frames: &Frames<Bundle<Inner>>| frames.frame(0).unwrap().live();
    for millis in 1..=3_u32 {
        frames.meet_due(Time::ZERO + milli * millis.into(), &mut drops);
        assert_eq!((live(&frames), frames.unmarked(0)), (5 - millis, 2));
    }
    frames.meet_due(Time::ZERO + milli * 9, &mut drops);
    assert_eq!(live(&frames), 2);
}
