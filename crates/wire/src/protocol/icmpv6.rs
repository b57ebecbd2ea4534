//! ICMP for IPv6 [RFC4443], and the part of Neighbour Discovery that is used
//! [RFC4861]: router advertisements of a test network.

mod router_advertisement;

use super::icmp;
pub use router_advertisement::{Prefix, RouterAdvertisement};

/// Types of messages [RFC4443 s3] [RFC4443 s4] [RFC4861 s4].
pub(crate) mod kind {
    pub(crate) const DESTINATION_UNREACHABLE: u8 = 1;
    pub(crate) const PACKET_TOO_BIG: u8 = 2;
    pub(crate) const TIME_EXCEEDED: u8 = 3;
    pub(super) const ECHO_REQUEST: u8 = 128;
    pub(super) const ECHO_REPLY: u8 = 129;
    pub(super) const ROUTER_ADVERTISEMENT: u8 = 134;
    pub(super) const REDIRECT: u8 = 137;
}

/// The type of a Parameter Problem; the last four bytes of its header are the
/// offset of the byte at fault [RFC4443 s3.4].
pub const PARAMETER_PROBLEM: u8 = 4;

/// The type bit that is set in all messages but errors [RFC4443 s2.1].
const INFORMATIONAL: u8 = 0x80;

/// The types of echo request and echo reply.
pub(super) const ECHO: [u8; 2] = [kind::ECHO_REQUEST, kind::ECHO_REPLY];

/// Whether messages of this type are errors.
pub const fn is_error(kind: u8) -> bool {
    kind & INFORMATIONAL == 0
}

/// Whether a message of this type may be answered with an error. Errors and redirects
/// may not; the type of redirects is informational [RFC4443 s2.4].
pub(crate) const fn may_be_answered(kind: u8) -> bool {
    !is_error(kind) && kind != kind::REDIRECT
}

/// The header of a Packet Too Big about a packet that is larger than `mtu`, the MTU
/// of the next link; the packet is quoted behind it [RFC4443 s3.2].
pub(crate) const fn packet_too_big(mtu: u32) -> icmp::Fields {
    icmp::Fields {
        kind: kind::PACKET_TOO_BIG,
        code: 0,
        rest: mtu.to_be_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mtu_of_the_next_link_has_32_bits() {
        let mut bytes = [0xee; 8];
        packet_too_big(0x0001_0203).emit(&mut bytes).unwrap();
        assert_eq!(bytes, [2, 0, 0, 0, 0, 1, 2, 3]);
    }

    #[test]
    fn neither_errors_nor_redirects_are_answered() {
        let answered = (0..=255).filter(|kind| may_be_answered(*kind));
        assert!(answered.eq((128..=255).filter(|kind| *kind != 137)));
    }
}
