//! Fragmentation of datagrams into packets that fit a link.

use units::IpVersion;

/// Bytes of the fragment header of IPv6 [RFC8200 s4.5].
const FRAGMENT_HEADER: u32 = 8;
/// Bytes of a Hop-by-Hop Options header with the Jumbo Payload option [RFC2675 s2].
const JUMBO_OPTION: u32 = 8;
/// The largest length that an IP header states without that option [RFC791 s3.1]
/// [RFC8200 s3].
const LARGEST_LENGTH: u32 = 65_535;
/// Bytes of a UDP header [RFC768].
pub(crate) const UDP_HEADER: u32 = 8;

/// Bytes of IP headers in front of an unfragmented datagram; more than
/// [`IpVersion::header`] for a jumbogram.
pub(crate) fn header(ip: IpVersion, whole: u32) -> u32 {
    let jumbo = ip == IpVersion::V6 && whole > LARGEST_LENGTH;
    ip_header(ip) + if jumbo { JUMBO_OPTION } else { 0 }
}

/// Bytes of IP headers in front of a fragment.
pub(crate) fn fragment_header(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => ip_header(ip),
        IpVersion::V6 => ip_header(ip) + FRAGMENT_HEADER,
    }
}

/// The largest UDP payload: the limit of the length field of IP or, on IPv6 if `mtu`
/// allows jumbograms, that of a jumbogram.
pub(crate) fn largest_payload(ip: IpVersion, mtu: u32) -> u32 {
    match ip {
        IpVersion::V4 => LARGEST_LENGTH - ip_header(ip) - UDP_HEADER,
        IpVersion::V6 => {
            let jumbo = mtu.saturating_sub(ip_header(ip) + JUMBO_OPTION);
            jumbo.max(LARGEST_LENGTH) - UDP_HEADER
        }
    }
}

/// Whether a datagram of `whole` bytes may be fragmented: jumbograms may not
/// [RFC2675 s2].
pub(crate) fn may_be_cut(whole: u32) -> bool {
    whole <= LARGEST_LENGTH
}

/// Fragments `data` bytes that begin at `offset` of their datagram. Returns offset and
/// length of each piece. Each piece fits `mtu` behind a fragment's header; there are as
/// few as possible, and all but the last have a multiple of eight bytes [RFC791 s3.2]
/// [RFC8200 s4.5].
pub(crate) fn pieces(
    ip: IpVersion,
    mtu: u32,
    offset: u32,
    data: u32,
) -> impl Iterator<Item = (u32, u32)> {
    let room = mtu - fragment_header(ip);
    let each = room / 8 * 8;
    let end = offset + data;
    let mut next = offset;
    std::iter::from_fn(move || {
        let rest = end - next;
        let length = if rest > room { each } else { rest };
        let piece = (next, length);
        next += length;
        (length > 0).then_some(piece)
    })
}

/// Bytes of an IP header without options [RFC791 s3.1] [RFC8200 s3].
pub(crate) fn ip_header(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => 20,
        IpVersion::V6 => 40,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Bytes, Framing, IpMtu};

    use super::*;

    fn versions() -> impl Strategy<Value = IpVersion> {
        prop_oneof![Just(IpVersion::V4), Just(IpVersion::V6)]
    }

    proptest! {
        #[test]
        fn a_datagram_is_cut_as_the_closed_form_says(
            ip in versions(), message in 0u32..65_507, mtu in 1_280u32..65_535, small in 68u32..1_280,
        ) {
            let mtu = if ip == IpVersion::V4 && message % 2 == 0 { small } else { mtu };
            let whole = message + UDP_HEADER;
            let sizes: Vec<u32> = if whole + header(ip, whole) <= mtu {
                vec![whole + header(ip, whole)]
            } else {
                pieces(ip, mtu, 0, whole).map(|piece| piece.1 + fragment_header(ip)).collect()
            };
            prop_assert!(sizes.iter().all(|size| *size <= mtu));
            let limit = IpMtu::new(mtu.into(), ip).unwrap();
            let size = Bytes::new(message.into());
            prop_assert_eq!(sizes.len() as u64, model::fragments(size, limit, ip));
            let framing = Framing::Ethernet;
            let wire: Bytes = sizes.iter().map(|size| framing.wire_size(Bytes::new((*size).into()))).sum();
            prop_assert_eq!(wire, model::message_wire_size(size, limit, ip, framing));
        }

        #[test]
        fn pieces_are_cut_again_without_a_gap(
            data in 1u32..65_000, first in 68u32..9_000, second in 68u32..9_000,
        ) {
            let mut next = 0;
            for (offset, length) in pieces(IpVersion::V4, first, 0, data) {
                for (offset, length) in pieces(IpVersion::V4, second, offset, length) {
                    prop_assert_eq!((offset, offset % 8), (next, 0));
                    next += length;
                }
            }
            prop_assert_eq!(next, data);
        }
    }

    #[test]
    fn the_largest_payload_is_that_of_the_closed_form_and_larger_in_a_jumbogram() {
        for ip in [IpVersion::V4, IpVersion::V6] {
            let largest = largest_payload(ip, 1500);
            assert_eq!(Bytes::new(largest.into()), model::largest_message(ip));
        }
        let largest = largest_payload(IpVersion::V6, 100_000);
        let whole = largest + UDP_HEADER;
        assert_eq!(whole + header(IpVersion::V6, whole), 100_000);
    }
}
