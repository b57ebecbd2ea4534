//! The meaning of a call that failed.

use std::net::IpAddr;

use crate::machine::AnswerKind;
use os::socket::Errno;
use units::IpVersion;

/// The code of a message that a filter rejected a packet [RFC1812 s5.2.7.1]
/// [RFC4443 s3.1], for packets that this host itself rejects.
const PROHIBITED_V4: u8 = 13;
const PROHIBITED_V6: u8 = 1;

/// The meaning of a call that failed; `None` if the next one may succeed.
pub(super) fn rejected_here(errno: Errno, version: IpVersion) -> Option<AnswerKind> {
    match errno {
        Errno::EPERM => Some(AnswerKind::Unreachable {
            code: match version {
                IpVersion::V4 => PROHIBITED_V4,
                IpVersion::V6 => PROHIBITED_V6,
            },
            prohibited: true,
        }),
        Errno::ENETUNREACH | Errno::EHOSTUNREACH | Errno::ENETDOWN => {
            Some(AnswerKind::Unreachable {
                code: 0,
                prohibited: false,
            })
        }
        _ => None,
    }
}

/// The Internet Protocol of an address.
pub(super) const fn version(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}
