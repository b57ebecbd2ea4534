use alloc::vec::Vec;

use proptest::prelude::*;
use units::Bytes;

use super::*;
use crate::{
    Aggregator, AggregatorSettings, Bundle, Encapsulation, InnerDrop, Selection, Tick, Trigger,
    View,
};

/// Bytes of a packet of which pieces can be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    bytes: Vec<u8>,
    part: Part,
}

impl Text {
    /// A packet of `length` bytes that are its number and their places.
    fn new(number: u64, length: usize) -> Self {
        let [a, b, ..] = number.to_le_bytes();
        let places = 0..length;
        let bytes = places.map(|place| match place % 3 {
            0 => a,
            1 => b,
            _ => place.to_le_bytes()[0],
        });
        Self {
            bytes: bytes.collect(),
            part: Part::Whole,
        }
    }
}

impl Packet for Text {
    fn view(&self) -> View {
        View {
            size: Bytes::new(self.bytes.len() as u64),
            ..View::default()
        }
    }

    fn part(&self) -> Part {
        self.part
    }

    fn cut(&mut self, size: Bytes) -> Option<Self> {
        let size = usize::try_from(size.get()).ok()?;
        let rest = self.bytes.split_off(size);
        let bytes = core::mem::replace(&mut self.bytes, rest);
        let part = self.part.cut(self.view().size);
        Some(Self { bytes, part })
    }

    fn join(&mut self, rest: Self) {
        self.part = self.part.joined(rest.view().size);
        self.bytes.extend(rest.bytes);
    }
}

fn aggregator(mtu: u64) -> Aggregator<Text> {
    Aggregator::new(AggregatorSettings {
        mtu: Bytes::new(mtu),
        whole: Bytes::new(mtu - 38),
        trigger: Trigger::Full,
        encapsulation: Encapsulation {
            header: Bytes::new(34),
            entry: Bytes::new(4),
            framing: Bytes::ZERO,
        },
        tick: Tick::Micro,
        share: 1.0,
    })
    .unwrap()
}

/// The bundles of these packets.
fn bundles(mtu: u64, packets: &[Text]) -> Vec<Bundle<Text>> {
    let (mut aggregator, mut all) = (aggregator(mtu), Vec::new());
    for packet in packets {
        aggregator.push(Time::ZERO, packet.clone(), |bundle| all.push(bundle));
    }
    all.extend(aggregator.flush(Time::ZERO));
    all
}

/// What comes out of bundles that arrive with their numbers at `now`.
fn receive(
    reassembler: &mut Reassembler<Text>,
    now: Time,
    follows: bool,
    bundle: Bundle<Text>,
) -> Vec<Reassembled<Text>> {
    let mut all = Vec::new();
    reassembler.receive(now, follows, bundle.unpack(), |out| all.push(out));
    all
}

fn whole(out: Reassembled<Text>) -> Option<Vec<u8>> {
    match out {
        Reassembled::Whole { packet, .. } => Some(packet.bytes),
        Reassembled::Lost { .. } => None,
    }
}

#[test]
fn a_packet_larger_than_a_bundle_fills_the_open_one_and_those_behind_it() {
    let packets = [Text::new(0, 100), Text::new(1, 3_000), Text::new(2, 100)];
    let bundles = bundles(1_000, &packets);
    let sizes = |bundle: &Bundle<Text>| -> Vec<u64> {
        let entries = bundle.entries().iter();
        entries.map(|entry| entry.length().get()).collect()
    };
    let sizes: Vec<Vec<u64>> = bundles.iter().map(sizes).collect();
    // 966 bytes for entries of 4 bytes and what they stand for.
    let expected = [
        [100, 858].to_vec(),
        [962].to_vec(),
        [962].to_vec(),
        [218, 100].to_vec(),
    ];
    assert_eq!(sizes, expected);
    let full = bundles.iter().map(|bundle| bundle.view().size.get());
    assert!(full.take(3).all(|size| size == 1_000));
    assert!(!bundles[1].is_bare());
}

#[test]
fn no_piece_is_taken_out_of_a_bundle_and_whole_packets_are() {
    let packets = [Text::new(0, 100), Text::new(1, 1_000), Text::new(2, 100)];
    let mut bundles = bundles(1_000, &packets);
    for (bundle, left) in bundles.iter_mut().zip([1, 1]) {
        assert_eq!(bundle.live(), 2);
        for mark in [true, false] {
            let inner_drop = InnerDrop {
                packets: 9,
                selection: Selection::Front,
                mark,
            };
            bundle.drop_inner(inner_drop, &mut |lost| assert_eq!(lost.live(), 1));
            assert_eq!(bundle.live(), left);
        }
    }
    let mut reassembler = Reassembler::default();
    let out: Vec<Vec<u8>> = bundles
        .into_iter()
        .flat_map(|bundle| receive(&mut reassembler, Time::ZERO, true, bundle))
        .filter_map(whole)
        .collect();
    assert_eq!(out, [Text::new(1, 1_000).bytes]);
}

#[test]
fn pieces_that_come_too_late_and_pieces_without_a_beginning_are_lost() {
    let bundles = bundles(1_000, &[Text::new(1, 2_500)]);
    for (gap, lost) in [(PIECE_WAIT - Span::from_micros(1), 0), (PIECE_WAIT, 3)] {
        let (mut reassembler, mut now) = (Reassembler::default(), Time::ZERO);
        let mut out = Vec::new();
        for bundle in bundles.clone() {
            out.extend(receive(&mut reassembler, now, true, bundle));
            now += gap;
        }
        let pieces = out.iter().map(|out| match out {
            Reassembled::Whole { .. } => 0,
            Reassembled::Lost { pieces, .. } => *pieces,
        });
        assert_eq!(pieces.sum::<u32>(), lost);
        assert_eq!(reassembler.waiting(), 0);
        let whole: Vec<Vec<u8>> = out.into_iter().filter_map(whole).collect();
        assert_eq!(whole.is_empty(), lost > 0);
    }
}

#[test]
fn a_piece_that_is_longer_than_what_is_missing_contradicts_the_first() {
    let mut reassembler = Reassembler::default();
    let first = Text {
        part: Part::First {
            missing: Bytes::new(10),
        },
        ..Text::new(0, 40)
    };
    let rest = |length, last| Text {
        part: Part::Rest { last },
        ..Text::new(0, length)
    };
    let mut out = Vec::new();
    let mut take = |packet| {
        reassembler.receive(Time::ZERO, true, [(packet, Span::ZERO)], |one| {
            out.push(one)
        });
        reassembler.waiting()
    };
    let pieces = [first.clone(), rest(4, false), rest(7, true)];
    assert_eq!(pieces.map(&mut take), [1, 2, 0]);
    let pieces = [first.clone(), rest(9, true)];
    assert_eq!(pieces.map(&mut take), [1, 0]);
    // A packet begins before the rest of the one before it.
    assert_eq!([first, Text::new(1, 20)].map(&mut take), [1, 0]);
    let pieces = out.iter().map(|one| match one {
        Reassembled::Whole { pieces, .. } => (true, *pieces),
        Reassembled::Lost { pieces, .. } => (false, *pieces),
    });
    let expected = [2, 1, 1, 1, 1].map(|pieces| (false, pieces));
    let expected = expected.into_iter().chain([(true, 1)]);
    assert!(pieces.eq(expected), "{out:?}");
}

proptest! {
    #[test]
    fn what_comes_out_is_each_packet_none_of_whose_bundles_was_lost(
        lengths in prop::collection::vec(prop_oneof![1usize..200, 1usize..9_000], 1..60),
        mtu in 120u64..3_000,
        lost in prop::collection::vec(any::<bool>(), 16),
        every in 1usize..12,
    ) {
        let packets: Vec<Text> =
            (0..).zip(&lengths).map(|(number, length)| Text::new(number, *length)).collect();
        let bundles = bundles(mtu, &packets);
        let is_lost = |place: usize| place.is_multiple_of(every) && lost[place % 16];
        // The bundles that each packet is in.
        let (mut complete, mut number) = (alloc::vec![true; packets.len()], 0);
        for (place, bundle) in bundles.iter().enumerate() {
            prop_assert!(bundle.is_bare() || bundle.view().size.get() <= mtu);
            for packet in bundle.entries().iter().filter_map(crate::Entry::packet) {
                number += usize::from(!matches!(packet.part(), Part::Rest { .. }));
                complete[number - 1] &= !is_lost(place);
            }
        }
        prop_assert_eq!(number, packets.len());
        let (mut reassembler, mut out) = (Reassembler::default(), Vec::new());
        let (mut pieces, mut accounted, mut follows) = (0, 0, true);
        for (place, bundle) in bundles.into_iter().enumerate() {
            if is_lost(place) {
                follows = false;
                continue;
            }
            pieces += bundle.live();
            for one in receive(&mut reassembler, Time::ZERO, follows, bundle) {
                let (Reassembled::Whole { pieces, .. } | Reassembled::Lost { pieces, .. }) = &one;
                accounted += pieces;
                out.extend(whole(one));
            }
            follows = true;
        }
        prop_assert_eq!(pieces, accounted + reassembler.waiting());
        let expected: Vec<Vec<u8>> = packets
            .into_iter()
            .zip(complete)
            .filter_map(|(packet, complete)| complete.then_some(packet.bytes))
            .collect();
        prop_assert_eq!(out, expected);
    }
}
