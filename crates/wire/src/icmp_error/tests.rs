use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::vec;
use std::vec::Vec;

use super::*;

const SIX: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
];

/// A datagram of zeros without a checksum, which no reader here needs.
fn offending(version: IpVersion) -> Vec<u8> {
    let mut bytes = vec![0; 1_500];
    match version {
        IpVersion::V4 => {
            let fields = ipv4::Fields {
                service: 0,
                total_length: 1_500,
                identification: 7,
                dont_fragment: true,
                more_fragments: false,
                offset: 0,
                protocol: number::UDP,
                addresses: [1, 2].map(|end| Ipv4Addr::new(198, 18, 0, end)),
            };
            fields.emit(&mut bytes).unwrap();
        }
        IpVersion::V6 => {
            let fields = ipv6::Fields {
                traffic_class: 0,
                payload_length: 1_460,
                next_header: number::UDP,
                addresses: SIX,
            };
            fields.emit(&mut bytes).unwrap();
        }
    }
    bytes
}

fn router(version: IpVersion) -> IpAddr {
    match version {
        IpVersion::V4 => Ipv4Addr::new(198, 18, 9, 9).into(),
        IpVersion::V6 => Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 9).into(),
    }
}

fn error(version: IpVersion, cause: Cause) -> Vec<u8> {
    error_from(router(version), cause)
}

fn error_from(from: IpAddr, cause: Cause) -> Vec<u8> {
    let version = match from {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    };
    let bytes = offending(version);
    let error = IcmpError::about(&bytes, cause, from).unwrap();
    let mut bytes = vec![0; error.buffer_len()];
    error.emit(&mut bytes).unwrap();
    bytes
}

#[test]
fn the_announced_mtu_of_an_error_is_replaced_as_if_it_had_been_written() {
    for version in [IpVersion::V4, IpVersion::V6] {
        let mut bytes = error(version, Cause::TooBig { mtu: 1_400 });
        assert_eq!(cause(&bytes), Some(Cause::TooBig { mtu: 1_400 }));
        assert_eq!(set_announced_mtu(&mut bytes, 9_000), Ok(true));
        assert_eq!(bytes, error(version, Cause::TooBig { mtu: 9_000 }));
    }
}

#[test]
fn the_source_of_an_error_is_replaced_as_if_it_had_been_written() {
    let nobody: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    for cause in [Cause::TooBig { mtu: 1_433 }, Cause::Unreachable { code: 0 }] {
        for (version, from) in [IpVersion::V4, IpVersion::V6].into_iter().zip(nobody) {
            let mut bytes = error_from(from, cause);
            assert_eq!(set_source(&mut bytes, router(version)), Ok(()));
            assert_eq!(bytes, error(version, cause));
            let other = match version {
                IpVersion::V4 => IpVersion::V6,
                IpVersion::V6 => IpVersion::V4,
            };
            assert!(set_source(&mut bytes, router(other)).is_err());
            assert!(set_source(&mut bytes[..50], from).is_err());
            bytes[0] = 0;
            assert!(set_source(&mut bytes, from).is_err());
        }
    }
}

#[test]
fn only_errors_about_size_announce_an_mtu() {
    for version in [IpVersion::V4, IpVersion::V6] {
        for mut bytes in [error(version, Cause::HopLimitExceeded), offending(version)] {
            let before = bytes.clone();
            assert_eq!(set_announced_mtu(&mut bytes, 9_000), Ok(false));
            assert_eq!(bytes, before);
        }
    }
}

#[test]
fn an_error_has_an_address_of_the_same_version() {
    let bytes = offending(IpVersion::V4);
    let error = IcmpError::about(&bytes, Cause::HopLimitExceeded, SIX[0].into());
    assert_eq!(error, None);
}
