//! The meaning of an error of the path for the investigation.

use std::net::IpAddr;

use crate::machine::AnswerKind;
use nix::errno::Errno;
use units::{Bytes, IpVersion};
use wire::icmp_error::Cause;
use wire::protocol::icmp;

use super::receive::PathError;

/// The code of a message that a filter rejected a packet [RFC1812 s5.2.7.1]
/// [RFC4443 s3.1], for packets that this host itself rejects.
const PROHIBITED_V4: u8 = 13;
const PROHIBITED_V6: u8 = 1;

/// The packets that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct About {
    /// The probe's size.
    pub(super) probe: Bytes,
    /// The size of the message, if it is an ICMP error.
    pub(super) message: Bytes,
    /// Where the probe was sent to.
    pub(super) to: IpAddr,
    /// The address of this host.
    pub(super) here: IpAddr,
}

/// The meaning of an error, and who reported it; `None` if it says nothing about the
/// path.
pub(super) fn meaning(error: PathError, about: About) -> Option<(IpAddr, AnswerKind)> {
    let About { to, here, .. } = about;
    let version = version(to);
    match error {
        PathError::Icmp {
            from,
            kind,
            code,
            mtu,
        } => {
            let rest = mtu.to_be_bytes();
            let cause = Cause::of(icmp::Fields { kind, code, rest }, version)?;
            Some((from, meaning_of(cause, version, about, from == to)?))
        }
        PathError::Mtu(mtu) => {
            let mtu = Bytes::new(mtu.into());
            Some((here, AnswerKind::LocallyTooBig { mtu }))
        }
        PathError::Here(errno) => Some((here, rejected_here(errno, version)?)),
    }
}

/// The meaning of an ICMP error, which comes from the addressee if `is_addressee`.
fn meaning_of(
    cause: Cause,
    version: IpVersion,
    about: About,
    is_addressee: bool,
) -> Option<AnswerKind> {
    Some(match cause {
        Cause::TooBig { mtu } => AnswerKind::TooBig {
            announced: Bytes::new(mtu.into()),
            quoted: about.probe,
        },
        Cause::HopLimitExceeded => AnswerKind::HopLimitExceeded { quoted: None },
        Cause::ReassemblyTimeExceeded => return None,
        Cause::Unreachable { .. } if is_addressee && cause.is_port_unreachable(version) => {
            AnswerKind::Reply {
                size: about.message,
                fragment_size: None,
                mss: None,
                is_unreachable: true,
                reflected: None,
            }
        }
        Cause::Unreachable { code } => AnswerKind::Unreachable {
            code,
            prohibited: cause.is_prohibited(version),
        },
    })
}

/// The meaning of a call that failed; `None` if the next one may succeed.
pub(super) const fn rejected_here(errno: Errno, version: IpVersion) -> Option<AnswerKind> {
    match errno {
        Errno::EPERM | Errno::EACCES => Some(AnswerKind::Unreachable {
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
