use super::*;
use proptest::prelude::*;
use std::vec;

const ADVERTISEMENT: RouterAdvertisement = RouterAdvertisement {
    hop_limit: 64,
    router_lifetime_seconds: 1800,
    link_mtu: Some(9000),
    prefix: Some(Prefix {
        address: Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 0),
        length: 64,
        on_link: true,
        autonomous: true,
        valid_seconds: 2_592_000,
        preferred_seconds: 604_800,
    }),
    link_address: Some([0x02, 0, 0, 0, 0, 0x01]),
};

/// Worked by hand from the figures of RFC 4861.
#[rustfmt::skip]
const BYTES: [u8; 64] = [
    134, 0, 0, 0, // type, code, checksum
    64, 0, 0x07, 0x08, // hop limit, no flags, lifetime 1800
    0, 0, 0, 0, 0, 0, 0, 0, // reachable, retransmission: unspecified
    1, 1, 0x02, 0, 0, 0, 0, 0x01, // source link-layer address
    5, 1, 0, 0, 0, 0, 0x23, 0x28, // MTU 9000
    3, 4, 64, 0xc0, // prefix information, /64, L and A
    0x00, 0x27, 0x8d, 0x00, // valid 2592000
    0x00, 0x09, 0x3a, 0x80, // preferred 604800
    0, 0, 0, 0, // reserved
    0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
];

#[test]
fn the_figures_of_the_rfc_are_what_travels() {
    let mut bytes = [0xff; 65];
    assert_eq!(ADVERTISEMENT.buffer_len(), 64);
    ADVERTISEMENT.emit(&mut bytes).unwrap();
    assert_eq!(bytes[..64], BYTES);
    assert_eq!(bytes[64], 0xff, "the rest is untouched");
    assert_eq!(RouterAdvertisement::parse(&BYTES), Ok(ADVERTISEMENT));
}

#[test]
fn one_wrong_byte_is_rejected_by_name() {
    for (at, value, field) in [
        (0, 133, Field::Type),
        (1, 1, Field::Code),
        (17, 0, Field::OptionLength),
        (25, 2, Field::OptionLength),
        (33, 3, Field::OptionLength),
        (34, 129, Field::PrefixLength),
    ] {
        let mut bytes = BYTES;
        bytes[at] = value;
        let rejected = RouterAdvertisement::parse(&bytes);
        assert_eq!(rejected, Err(Error::Malformed(field)), "byte {at}");
    }
    for cut in [0, 15, 17, 23, 63] {
        let rejected = RouterAdvertisement::parse(&BYTES[..cut]);
        assert!(matches!(rejected, Err(Error::Truncated { .. })), "{cut}");
    }
}

#[test]
fn unknown_options_are_skipped_and_the_first_of_a_kind_counts() {
    let mut bytes = BYTES[..16].to_vec();
    bytes.extend([25, 3]); // a recursive DNS server [RFC8106 s5.1]
    bytes.extend([0xee; 22]);
    bytes.extend([5, 1, 0, 0, 0, 0, 0x0f, 0xa0]); // MTU 4000
    bytes.extend([5, 1, 0, 0, 0, 0, 0x05, 0xdc]); // MTU 1500
    bytes.extend([1, 2]); // a link-layer address that is not Ethernet's
    bytes.extend([0xee; 14]);
    let expected = RouterAdvertisement {
        link_mtu: Some(4000),
        prefix: None,
        link_address: None,
        ..ADVERTISEMENT
    };
    assert_eq!(RouterAdvertisement::parse(&bytes), Ok(expected));
}

#[test]
fn what_follows_the_prefix_is_sent_as_zero_and_not_read() {
    let mut full = ADVERTISEMENT;
    if let Some(prefix) = &mut full.prefix {
        prefix.address = "2001:db8:0:1:ffff::1".parse().unwrap();
    }
    let mut bytes = [0; 64];
    full.emit(&mut bytes).unwrap();
    assert_eq!(bytes, BYTES);
    bytes[63] = 0xff;
    assert_eq!(RouterAdvertisement::parse(&bytes), Ok(ADVERTISEMENT));
    for (length, expected) in [(0, 0), (1, 1 << 127), (128, u128::MAX)] {
        assert_eq!(mask(length), Ok(expected));
    }
}

fn any_prefix() -> impl Strategy<Value = Prefix> {
    (any::<(u128, bool, bool, u32, u32)>(), 0..=128u8).prop_map(|(any, length)| Prefix {
        address: Ipv6Addr::from_bits(any.0 & mask(length).unwrap()),
        length,
        on_link: any.1,
        autonomous: any.2,
        valid_seconds: any.3,
        preferred_seconds: any.4,
    })
}

proptest! {
    #[test]
    fn what_was_emitted_parses_back(
        any: (u8, u16, Option<u32>, Option<[u8; 6]>),
        prefix in prop::option::of(any_prefix()),
    ) {
        let (hop_limit, router_lifetime_seconds, link_mtu, link_address) = any;
        let message = RouterAdvertisement {
            hop_limit, router_lifetime_seconds, link_mtu, prefix, link_address,
        };
        let mut bytes = vec![0xff; message.buffer_len()];
        message.emit(&mut bytes).unwrap();
        prop_assert_eq!(RouterAdvertisement::parse(&bytes), Ok(message));
        bytes.pop();
        prop_assert!(message.emit(&mut bytes).is_err());
    }

    #[test]
    fn hostile_bytes_never_panic(
        start in 0..=BYTES.len(), noise in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut bytes = BYTES[..start].to_vec();
        bytes.extend(noise);
        let _ = RouterAdvertisement::parse(&bytes);
    }
}
