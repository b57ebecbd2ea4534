//! The service byte of an IP packet in its frame: DSCP and ECN [RFC2474 s3]
//! [RFC3168 s5].

use crate::protocol::ethernet::ether_type;
use crate::protocol::{ip, ipv4, ipv6, vlan};

/// The ECN bits [RFC3168 s5].
const CONGESTION: u8 = 0b11;

/// The service byte, with the DSCP in its upper six bits and ECN in its lower two;
/// `None` if the frame carries no IP.
pub fn service(frame: &[u8]) -> Option<u8> {
    service_of(frame.get(ip_at(frame)?..)?)
}

/// The same as [`service`], for an IP packet without a frame.
pub fn service_of(packet: &[u8]) -> Option<u8> {
    match ip::version(packet).ok()? {
        4 => ipv4::Header::of(packet).service().ok(),
        6 => ipv6::Header::of(packet).traffic_class().ok(),
        _ => None,
    }
}

/// Sets the congestion mark of the packet if its transport is ECN-capable. Returns
/// whether it is.
pub fn mark(frame: &mut [u8]) -> bool {
    let ip = ip_at(frame);
    ip.is_some_and(|ip| mark_packet(&mut frame[ip..]))
}

/// The same as [`mark`], for an IP packet without a frame.
pub fn mark_packet(packet: &mut [u8]) -> bool {
    let Some(service) = service_of(packet).filter(|service| service & CONGESTION != 0) else {
        return false;
    };
    set_service(packet, service | CONGESTION)
}

/// Writes the service byte of an IP packet without a frame, and updates the header
/// checksum of IPv4. Returns whether the packet has one, and reaches to its checksum.
pub fn set_service(packet: &mut [u8], service: u8) -> bool {
    let written = match ip::version(packet) {
        Ok(6) => ipv6::Header::of(packet).set_traffic_class(service),
        Ok(4) => ipv4::Header::of(packet).set_service(service),
        _ => return false,
    };
    written.is_ok()
}

/// The offset of the IP header.
fn ip_at(frame: &[u8]) -> Option<usize> {
    let (kind, at) = vlan::inside(frame, 1).ok()?;
    let version = match kind {
        ether_type::IPV4 => 4,
        ether_type::IPV6 => 6,
        _ => return None,
    };
    let found = ip::version(frame.get(at..)?).ok()?;
    (found == version).then_some(at)
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Addresses, an optional VLAN tag, the type, and twenty bytes of IPv4.
    fn ipv4(tagged: bool, header: [u8; 20]) -> (Vec<u8>, usize) {
        let mut frame = vec![0; 12];
        if tagged {
            frame.extend([0x81, 0, 0, 5]);
        }
        frame.extend([0x08, 0]);
        let ip = frame.len();
        frame.extend(header);
        frame[ip] = 0x45;
        let sum = !sum(&frame[ip..]);
        frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
        (frame, ip)
    }

    /// One's complement addition [RFC791 s3.1].
    const fn add(one: u16, other: u16) -> u16 {
        let (sum, carry) = one.overflowing_add(other);
        sum + carry as u16
    }

    /// The sum over all words but the checksum.
    fn sum(header: &[u8]) -> u16 {
        let words = header.chunks(2).enumerate().filter(|(word, _)| *word != 5);
        words.fold(0, |sum, (_, word)| {
            add(sum, u16::from_be_bytes([word[0], word[1]]))
        })
    }

    proptest! {
        #[test]
        fn a_marked_ipv4_packet_keeps_its_class_and_a_right_checksum(
            tagged in any::<bool>(), header in any::<[u8; 20]>(),
        ) {
            let (mut frame, ip) = ipv4(tagged, header);
            let before = frame.clone();
            prop_assert_eq!(service(&frame), Some(header[1]));
            prop_assert_eq!(mark(&mut frame), header[1] & 3 != 0);
            if header[1] & 3 == 0 {
                prop_assert_eq!(before, frame);
                return Ok(());
            }
            prop_assert_eq!(service(&frame), Some(header[1] | 3));
            let written = u16::from_be_bytes([frame[ip + 10], frame[ip + 11]]);
            // Zero has two forms in one's complement.
            let all = add(sum(&frame[ip..]), written);
            prop_assert!(all == 0xffff || all == 0);
        }

        #[test]
        fn a_marked_ipv6_packet_changes_in_two_bits(class in any::<u8>(), label in any::<u8>()) {
            let mut frame = vec![0; 12];
            frame.extend([0x86, 0xdd, 0x60 | class >> 4, class << 4 | label & 15]);
            frame.extend([7; 38]);
            let before = frame.clone();
            prop_assert_eq!(service(&frame), Some(class));
            prop_assert_eq!(mark(&mut frame), class & 3 != 0);
            let marked = if class & 3 == 0 { class } else { class | 3 };
            prop_assert_eq!(service(&frame), Some(marked));
            frame[15] = before[15];
            prop_assert_eq!(frame, before);
        }

        #[test]
        fn no_bytes_make_it_panic(mut frame in prop::collection::vec(any::<u8>(), 0..40)) {
            let before = frame.len();
            let able = service(&frame).is_some_and(|service| service & 3 != 0);
            prop_assert!(able || !mark(&mut frame));
            mark(&mut frame);
            prop_assert_eq!(before, frame.len());
        }
    }
}
