//! ICMP of IPv4 [RFC792].

use super::icmp;

/// Types of messages [RFC792].
pub(crate) mod kind {
    pub(super) const ECHO_REPLY: u8 = 0;
    pub(crate) const DESTINATION_UNREACHABLE: u8 = 3;
    pub(super) const ECHO: u8 = 8;
    pub(crate) const TIME_EXCEEDED: u8 = 11;
    pub(super) const TIMESTAMP: u8 = 13;
    pub(super) const TIMESTAMP_REPLY: u8 = 14;
}

/// Code: the packet is too large and must not be fragmented [RFC792].
pub(crate) const FRAGMENTATION_NEEDED: u8 = 4;

/// The types of echo request and echo reply.
pub(super) const ECHO: [u8; 2] = [kind::ECHO, kind::ECHO_REPLY];

/// Whether a message of this type may be answered with an error. Only queries and
/// replies may; all other types are errors or unknown [RFC1122 s3.2.2].
pub(crate) const fn may_be_answered(kind: u8) -> bool {
    matches!(
        kind,
        kind::ECHO_REPLY | kind::ECHO | kind::TIMESTAMP | kind::TIMESTAMP_REPLY
    )
}

/// The header of a Destination Unreachable about a packet that is larger than
/// `mtu`, the MTU of the next hop; the packet is quoted behind it [RFC1191 s4].
pub(crate) const fn fragmentation_needed(mtu: u16) -> icmp::Fields {
    let [upper, lower] = mtu.to_be_bytes();
    icmp::Fields {
        kind: kind::DESTINATION_UNREACHABLE,
        code: FRAGMENTATION_NEEDED,
        rest: [0, 0, upper, lower],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mtu_of_the_next_hop_is_in_the_lower_half() {
        let mut bytes = [0xee; 8];
        fragmentation_needed(1_400).emit(&mut bytes).unwrap();
        assert_eq!(bytes, [3, 4, 0, 0, 0, 0, 0x05, 0x78]);
    }

    #[test]
    fn errors_are_not_answered() {
        let answered = (0..=255).filter(|kind| may_be_answered(*kind));
        assert!(answered.eq([0, 8, 13, 14]));
    }
}
