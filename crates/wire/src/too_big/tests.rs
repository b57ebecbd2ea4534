use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::frame::{Summary, Transport};
use crate::protocol::checksum::Checksum;

const HERE: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
const THERE: [u8; 6] = [0x02, 0, 0, 0, 0, 2];

/// A frame from HERE to THERE with a packet of `length` bytes behind a header that
/// `with` may change; the IPv4 checksum is computed afterwards.
fn frame(ip: IpVersion, length: usize, with: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = vec![0xa5; 14 + length];
    frame[..6].copy_from_slice(&THERE);
    frame[6..12].copy_from_slice(&HERE);
    let packet = &mut frame[14..];
    match ip {
        IpVersion::V4 => {
            let total = u16::try_from(length).unwrap().to_be_bytes();
            packet[..20].copy_from_slice(&[
                0x45, 0, total[0], total[1], 0, 7, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
            ]);
        }
        IpVersion::V6 => {
            let payload = u16::try_from(length - 40).unwrap().to_be_bytes();
            packet[..8].copy_from_slice(&[0x60, 0, 0, 0, payload[0], payload[1], 17, 64]);
            packet[8..24].copy_from_slice(&address(1));
            packet[24..40].copy_from_slice(&address(2));
        }
    }
    with(packet);
    if ip == IpVersion::V4 {
        packet[10..12].fill(0);
        let sum = Checksum::default().add(&packet[..20]).finish();
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    let kind: u16 = match ip {
        IpVersion::V4 => 0x0800,
        IpVersion::V6 => 0x86dd,
    };
    frame[12..14].copy_from_slice(&kind.to_be_bytes());
    frame
}

/// fd00:: and a last byte.
fn address(last: u8) -> [u8; 16] {
    let mut address = [0; 16];
    (address[0], address[15]) = (0xfd, last);
    address
}

fn answer(frame: &[u8], mtu: u32) -> Option<Vec<u8>> {
    let answer = TooBig::to(frame, mtu)?;
    let mut bytes = vec![0xff; answer.buffer_len()];
    answer.emit(&mut bytes).unwrap();
    Some(bytes)
}

/// The checks of a host on an answer: exchanged addresses, both checksums, the MTU.
/// Returns the MTU and the quoted packet.
fn read(bytes: &[u8]) -> (u32, &[u8]) {
    let summary = Summary::of(bytes, bytes.len());
    assert_eq!((&bytes[..6], &bytes[6..12]), (&HERE[..], &THERE[..]));
    let packet = &bytes[14..];
    match summary.ip.unwrap() {
        IpVersion::V4 => {
            assert_eq!(summary.transport, Some(Transport::Other(1)));
            assert_eq!(
                usize::from(u16::from_be_bytes([packet[2], packet[3]])),
                packet.len()
            );
            assert_eq!(Checksum::default().add(&packet[..20]).finish(), 0);
            assert_eq!(packet[12..20], [10, 0, 0, 2, 10, 0, 0, 1]);
            let message = &packet[20..];
            assert_eq!(Checksum::default().add(message).finish(), 0);
            assert_eq!(message[..2], [3, 4]);
            assert!(packet.len() <= 576);
            let mtu = u16::from_be_bytes([message[6], message[7]]);
            (u32::from(mtu), &message[8..])
        }
        IpVersion::V6 => {
            assert_eq!(summary.transport, Some(Transport::Other(58)));
            assert_eq!(packet[8..24], address(2));
            assert_eq!(packet[24..40], address(1));
            let message = &packet[40..];
            let length = u16::from_be_bytes([packet[4], packet[5]]);
            assert_eq!(usize::from(length), message.len());
            let sum = Checksum::default()
                .add(&packet[8..40])
                .add(&u32::from(length).to_be_bytes())
                .add(&58u32.to_be_bytes())
                .add(message);
            assert_eq!(sum.finish(), 0);
            assert_eq!(message[..2], [2, 0]);
            assert!(packet.len() <= 1280);
            let mtu = message[4..8].try_into().unwrap();
            (u32::from_be_bytes(mtu), &message[8..])
        }
    }
}

#[test]
fn an_answer_says_the_mtu_and_quotes_as_much_as_it_may() {
    for (ip, quoted) in [(IpVersion::V4, 548), (IpVersion::V6, 1232)] {
        let offending = frame(ip, 1500, |_| ());
        let bytes = answer(&offending, 1400).unwrap();
        let (mtu, quote) = read(&bytes);
        assert_eq!(mtu, 1400);
        assert_eq!(quote, &offending[14..14 + quoted]);
    }
}

#[test]
fn a_tag_is_kept_and_padding_is_not_quoted() {
    let plain = frame(IpVersion::V4, 300, |_| ());
    let mut tagged = plain[..12].to_vec();
    tagged.extend([0x81, 0x00, 0x00, 0x07]);
    tagged.extend(&plain[12..]);
    tagged.extend([0xee; 30]);
    let bytes = answer(&tagged, 200).unwrap();
    assert_eq!(bytes[12..18], [0x81, 0x00, 0x00, 0x07, 0x08, 0x00]);
    let untagged = [&bytes[..12], &bytes[16..]].concat();
    assert_eq!(read(&untagged), (200, &plain[14..]));
}

#[test]
fn an_answer_without_room_is_rejected() {
    let offending = frame(IpVersion::V6, 1500, |_| ());
    let answer = TooBig::to(&offending, 1280).unwrap();
    let mut short = vec![0; answer.buffer_len() - 1];
    assert!(matches!(
        answer.emit(&mut short),
        Err(Error::Truncated { .. })
    ));
}

#[test]
fn nothing_is_said_where_nothing_may_be_said() {
    let v4 = |with: fn(&mut [u8])| frame(IpVersion::V4, 1500, with);
    let v6 = |with: fn(&mut [u8])| frame(IpVersion::V6, 1500, with);
    let group = |at: usize| {
        let mut frame = v4(|_| ());
        frame[at] |= 1;
        frame
    };
    let mut damaged = v4(|_| ());
    damaged[14 + 8] ^= 1;
    for (what, frame) in [
        ("may be fragmented", v4(|packet| packet[6] = 0)),
        ("a later fragment", v4(|packet| packet[7] = 1)),
        (
            "destination unreachable",
            v4(|packet| (packet[9], packet[20]) = (1, 3)),
        ),
        ("to a group", v4(|packet| packet[16] = 224)),
        ("to all", v4(|packet| packet[16..20].fill(255))),
        ("from nobody", v4(|packet| packet[12..16].fill(0))),
        ("from itself", v4(|packet| packet[12] = 127)),
        ("a damaged header", damaged),
        ("longer than it is", v4(|packet| packet[2] = 0xff)),
        ("another version", v4(|packet| packet[0] = 0x55)),
        ("to a group of Ethernet", group(0)),
        ("from a group of Ethernet", group(6)),
        (
            "time exceeded",
            v6(|packet| (packet[6], packet[40]) = (58, 3)),
        ),
        (
            "a redirect",
            v6(|packet| (packet[6], packet[40]) = (58, 137)),
        ),
        (
            "an error behind options",
            v6(|packet| {
                packet[6] = 60;
                packet[40..49].copy_from_slice(&[58, 0, 1, 4, 0, 0, 0, 0, 1]);
            }),
        ),
        (
            "a later fragment",
            v6(|packet| {
                packet[6] = 44;
                packet[40..48].copy_from_slice(&[17, 0, 0, 8, 0, 0, 0, 1]);
            }),
        ),
        (
            "options without an end",
            v6(|packet| (packet[6], packet[41]) = (0, 255)),
        ),
        ("to a group", v6(|packet| packet[24] = 0xff)),
        ("from nobody", v6(|packet| packet[8..24].fill(0))),
        ("of unknown length", v6(|packet| packet[4..6].fill(0))),
    ] {
        assert_eq!(TooBig::to(&frame, 1400), None, "{what}");
    }
    assert_eq!(TooBig::to(&v6(|_| ()), 1500), None, "not too big");
    assert_eq!(TooBig::to(&v6(|_| ()), 1279), None, "not believed");
    assert_eq!(
        TooBig::to(&[&THERE[..], &HERE, &[0x08, 0x06]].concat(), 68),
        None
    );
}

#[test]
fn echoes_and_first_fragments_are_answered() {
    for frame in [
        frame(IpVersion::V4, 1500, |packet| {
            (packet[9], packet[20]) = (1, 8)
        }),
        frame(IpVersion::V6, 1500, |packet| {
            (packet[6], packet[40]) = (58, 128)
        }),
        frame(IpVersion::V6, 1500, |packet| {
            packet[6] = 44;
            packet[40..48].copy_from_slice(&[17, 0, 0, 1, 0, 0, 0, 1]);
        }),
    ] {
        assert_eq!(read(&answer(&frame, 1400).unwrap()).0, 1400);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_answered_or_not_and_no_answer_is_answered(
        mut bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        mtu in any::<u32>(),
        kind in prop::sample::select(vec![0x0800u16, 0x86dd, 0x8100, 0x88a8, 0x0806]),
        first in any::<u8>(),
    ) {
        // A valid type, because most random frames would be rejected there.
        if bytes.len() > 20 {
            bytes[12..14].copy_from_slice(&kind.to_be_bytes());
            bytes[14] = first;
        }
        for mtu in [mtu, mtu % 2_000] {
            if let Some(answer) = answer(&bytes, mtu) {
                prop_assert!(answer.len() <= 18 + 1280);
                for again in [68, 1280] {
                    prop_assert_eq!(TooBig::to(&answer, again), None);
                }
            }
        }
    }

    #[test]
    fn every_answer_can_be_read(
        six in any::<bool>(),
        length in 60u16..9_000,
        mtu in 0u32..9_000,
        filler in any::<u8>(),
    ) {
        let ip = if six { IpVersion::V6 } else { IpVersion::V4 };
        let offending = frame(ip, usize::from(length), |packet| packet[48..].fill(filler));
        let least = if six { 1280 } else { 0 };
        let due = (least..u32::from(length)).contains(&mtu);
        let bytes = answer(&offending, mtu);
        prop_assert_eq!(bytes.is_some(), due);
        if let Some(bytes) = bytes {
            let (advertised, quoted) = read(&bytes);
            prop_assert_eq!(advertised, mtu);
            prop_assert!(offending[14..].starts_with(quoted));
        }
    }
}
