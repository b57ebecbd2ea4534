//! What the text of the paper states, on small queues computed by hand
//! [Mulahuwaish s3].

use super::*;

/// A jumbo frame of `count` packets of `bytes`, numbered from `first` on.
fn jumbo(first: u64, count: u64, bytes: u64) -> Bundle<Inner> {
    pack((first..first + count).map(|number| Inner {
        bytes,
        ..inner(number)
    }))
}

/// MRED to the letter whose average is what waits at the moment: four frames are
/// the upper threshold, where a frame loses 40 % at most.
fn letter(limit: Limit) -> MredSettings {
    MredSettings {
        interpretation: Interpretation::Letter(Bounds {
            low: 0.0,
            high: 0.4,
        }),
        weight: 1.0,
        curve: Curve {
            min: 0.0,
            max: 4.0,
            ..plain().curve
        },
        ..MredSettings::letter(limit, Bytes::new(500))
    }
}

const fn at(millis: u64) -> Time {
    Time::from_nanos(1_000_000 * millis)
}

/// The packets of senders that were dropped, and how many frames died whole.
fn lost(drops: &mut Drops<Bundle<Inner>>) -> (Vec<u64>, usize) {
    let inner = drops.drain_inner().flat_map(|drop| numbers(drop.0));
    (inner.collect(), drops.drain().count())
}

/// The bytes of [`four_frames`].
const FULL: u64 = (66 + 10 * 100) + (66 + 10 * 50) + (46 + 5 * 100) + 100;

/// Ten packets, ten of half the length, five, and a frame with one packet.
fn four_frames(settings: &MredSettings) -> Mred<Bundle<Inner>> {
    let mut mred = queue(settings);
    for frame in [
        jumbo(0, 10, 100),
        jumbo(10, 10, 50),
        jumbo(20, 5, 100),
        jumbo(30, 1, 100),
    ] {
        mred.frames.push(frame);
    }
    assert_eq!(mred.backlog().bytes, Bytes::new(FULL));
    mred
}

#[test]
fn a_frame_loses_by_its_number_of_packets_and_their_average_length() {
    let lost = |room: u64| {
        let mut mred = four_frames(&MredSettings {
            mark_time: None,
            drop_time: None,
            ..letter(Limit::Bytes(Bytes::new(FULL + room)))
        });
        let mut drops = Drops::new();
        mred.enqueue(at(0), jumbo(40, 1, 100), &mut drops);
        lost(&mut drops)
    };
    assert_eq!(lost(100), ([].into(), 0), "there is room");
    // 40 % of ten; of the same number with half the bytes 20 %; of half the
    // number 20 %; of a frame that is no jumbo frame nothing.
    assert_eq!(lost(0), ([0, 1, 2, 3, 10, 11, 20].into(), 0));
}

#[test]
fn marking_takes_its_time_for_each_frame_and_dropping_comes_after_it_packet_by_packet() {
    let mut mred = four_frames(&MredSettings {
        mark_time: Some(Span::from_millis(2)),
        drop_time: Some(Span::from_millis(1)),
        ..letter(Limit::Bytes(Bytes::new(FULL)))
    });
    let mut drops = Drops::new();
    mred.enqueue(at(0), jumbo(40, 1, 100), &mut drops);
    // The arrival needs the room of one packet: the first goes before its time.
    assert_eq!(lost(&mut drops), ([0].into(), 0));
    // Four frames are judged by 8 ms, and the others of seven packets fall due
    // at 10 to 15 ms.
    for (millis, gone) in [
        (9, [].as_slice()),
        (10, &[1]),
        (11, &[2]),
        (12, &[3]),
        (14, &[10, 11]),
        (15, &[20]),
        (60, &[]),
    ] {
        mred.frames.meet_due(at(millis), &mut drops);
        assert_eq!(lost(&mut drops), (gone.to_vec(), 0), "{millis} ms");
    }
}

#[test]
fn no_frame_dies_whole_while_one_has_two_packets_though_the_limit_counts_frames() {
    // Three frames of 500 bytes: 1500. Those that come have 442 with four packets.
    let mut mred = queue(&letter(Limit::Packets(3)));
    let mut drops = Drops::new();
    let (mut packets, mut frames) = (0, 0);
    for number in 0..40 {
        mred.enqueue(at(0), jumbo(10 * number, 4, 100), &mut drops);
        let (inner, whole) = lost(&mut drops);
        assert!(mred.backlog().bytes <= Bytes::new(1_500));
        let older = mred.frames.iter().take(mred.frames.len() - 1);
        assert!(whole == 0 || older.map(Packet::live).all(|live| live == 1));
        packets += inner.len();
        frames += whole;
    }
    assert!(packets > 100 && frames > 10, "{packets} {frames}");
}

#[test]
fn where_no_frame_has_two_packets_the_oldest_makes_room() {
    let mut mred = queue(&letter(Limit::Packets(3)));
    let mut drops = Drops::new();
    for number in 0..4 {
        mred.enqueue(at(0), jumbo(number, 1, 500), &mut drops);
    }
    assert_eq!(lost(&mut drops), ([].into(), 1));
    assert_eq!(drain(&mut mred), [[1], [2], [3]]);
}
