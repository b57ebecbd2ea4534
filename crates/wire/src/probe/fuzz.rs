//! Damaged packets: nothing that a path delivers makes a reader panic.

use std::sync::LazyLock;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use units::IpVersion;

use super::tests::{emitted, error, probes};
use super::{Content, Fragments, Quote, Received, clamp_segment_size, reassemble};
use crate::icmp_error::{Cause, IcmpError};
use crate::ip_packet::{IpPacket, set_hop_limit};

/// Probes, fragments of them and errors about them.
fn seeds() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for more in [8, 60, 700] {
        for mut probe in probes(more) {
            all.push(emitted(&probe));
            for cause in [
                Cause::TooBig { mtu: 1_400 },
                Cause::HopLimitExceeded,
                Cause::Unreachable { code: 3 },
            ] {
                all.push(error(&emitted(&probe), cause));
            }
            probe.dont_fragment = false;
            for fragment in Fragments::of(&emitted(&probe), 128, 7).unwrap().take(2) {
                let mut part = vec![0; fragment.buffer_len()];
                fragment.emit(&mut part).unwrap();
                all.push(part);
            }
        }
    }
    all
}

/// Gives the bytes to all that read them.
fn read(bytes: &mut [u8]) {
    let _ = Received::parse(bytes).map(|received| received.id());
    let _ = Quote::parse(bytes);
    for (version, header) in [(IpVersion::V4, 20), (IpVersion::V6, 40)] {
        let message = bytes.get(header..).unwrap_or_default();
        if let Ok(Content::Error { quote, .. }) = Content::of_icmp(message, version) {
            assert!(quote.packet.payload.len() <= message.len());
        }
    }
    if let Ok(packet) = IpPacket::parse_whole(bytes) {
        assert!(packet.payload.len() < bytes.len());
        let from = packet.addresses.ends()[1];
        if let Some(error) = IcmpError::about(bytes, Cause::HopLimitExceeded, from) {
            let mut room = [0; 1_280];
            error.emit(&mut room).unwrap();
        }
    }
    if let Ok(fragments) = Fragments::of(bytes, 300, 1) {
        assert!(fragments.count() <= bytes.len() / 8 + 1);
    }
    let _ = reassemble(bytes, &[0; 8], &mut [0; 100]);
    let _ = clamp_segment_size(bytes, 500);
    let _ = set_hop_limit(bytes, 1);
}

proptest! {
    #[test]
    fn no_damage_to_packets_makes_a_reader_panic(
        which: u16, damages in vec(any::<[u8; 4]>(), 0..5), cut in option::of(any::<u16>()), sum: bool,
    ) {
        static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(seeds);
        let mut bytes = SEEDS[usize::from(which) % SEEDS.len()].clone();
        for [reach, high, low, value] in damages {
            // Damage in the headers is of more interest than in the data.
            let reach = [60, 100, bytes.len()][usize::from(reach % 3)].min(bytes.len());
            let place = usize::from(u16::from_be_bytes([high, low])) % reach;
            bytes[place] = [0, 1, 0x7f, 0x80, 0xff, value][usize::from(value % 6)];
        }
        if let Some(cut) = cut {
            bytes.truncate(usize::from(cut) % bytes.len());
        }
        // A valid sum in front of the header of IPv4 lets the damage pass further.
        if bytes.len() >= 20 && bytes[0] == 0x45 && sum {
            bytes[10..12].fill(0);
            let sum = crate::protocol::checksum::Checksum::default().add(&bytes[..20]);
            bytes[10..12].copy_from_slice(&sum.finish().to_be_bytes());
        }
        read(&mut bytes);
    }
}
