//! Reading from a probe's socket: replies, and errors that routers, the far end and this
//! host report [ip(7)] [ipv6(7)].

use std::io::IoSliceMut;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use units::{Bytes, Time};

use super::socket::fragment_size;
use os::deadline::Permit;
use os::error::{OperationContext, Result};
use os::kernel_clock::{Mapping, unix_nanos};
use os::socket::{plain, reported};

/// Bytes of the largest reply, with an IPv4 header where sockets deliver it.
const ROOM: usize = 65_536 + 64;

/// Bytes for timestamps and an error with the address of who reported it.
const CONTROL: usize = 512;

/// Origins of errors [LinuxUapi errqueue.h].
const LOCAL: u8 = 1;
const ICMP: u8 = 2;
const ICMPV6: u8 = 3;

/// Buffers for one message at a time.
pub(super) struct Room {
    bytes: Vec<u8>,
    control: Vec<u8>,
}

/// A message that was read from a socket.
#[derive(Debug)]
pub(super) struct Message<'a> {
    /// When it arrived.
    pub(super) at: Time,
    /// A reply's bytes; those that an error quotes, from the transport's header or
    /// payload on.
    pub(super) bytes: &'a [u8],
    /// The source of a reply.
    pub(super) from: Option<IpAddr>,
    /// The largest fragment, if a reply arrived in fragments.
    pub(super) fragment_size: Option<Bytes>,
    /// The error, if it is one.
    pub(super) error: Option<PathError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathError {
    /// An ICMP error message.
    Icmp {
        /// Its source.
        from: IpAddr,
        /// Its type and code.
        kind: u8,
        code: u8,
        /// The MTU that it announces, if it is about one.
        mtu: u32,
    },
    /// This host rejected the packet because of this MTU.
    Mtu(u32),
    /// Another error of this host.
    Here(Errno),
}

/// The queue of a socket to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    Replies,
    Errors,
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; ROOM],
            control: vec![0; CONTROL],
        }
    }

    /// Reads the next message, if one waits.
    ///
    /// # Errors
    /// The kernel's, other than the pending errors of the path, which the error queue
    /// holds in full.
    pub(super) fn read(
        &mut self,
        socket: &OwnedFd,
        queue: Queue,
        mapping: &Mapping,
        _permit: Permit,
    ) -> Result<Option<Message<'_>>> {
        let flags = match queue {
            Queue::Replies => MsgFlags::MSG_DONTWAIT,
            Queue::Errors => MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_ERRQUEUE,
        };
        let mut pieces = [IoSliceMut::new(&mut self.bytes)];
        let control = Some(&mut self.control[..]);
        let (length, from, said) =
            match recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, control, flags) {
                Ok(message) => {
                    let parts = message.cmsgs().during(|| "reading an answer")?;
                    let from = message.address.as_ref().and_then(plain);
                    (
                        message.bytes,
                        from.map(|from| from.ip()),
                        ControlData::by(parts),
                    )
                }
                Err(error) if is_pending(error) => return Ok(None),
                Err(error) => return Err(error).during(|| "reading an answer"),
            };
        let now = os::clock::monotonic();
        let at = said
            .stamp
            .and_then(|stamp| mapping.instant_by_now(stamp, now));
        Ok(Some(Message {
            at: at.unwrap_or(now),
            bytes: &self.bytes[..length.min(ROOM)],
            from,
            fragment_size: said.fragment_size,
            error: said.error,
        }))
    }
}

/// The contents of a message's control data.
#[derive(Default)]
struct ControlData {
    stamp: Option<u64>,
    fragment_size: Option<Bytes>,
    error: Option<PathError>,
}

impl ControlData {
    fn by(parts: impl Iterator<Item = ControlMessageOwned>) -> Self {
        let mut said = Self::default();
        for part in parts {
            match part {
                ControlMessageOwned::ScmTimestampsns(stamps) => {
                    said.stamp = unix_nanos(stamps.system);
                }
                part => {
                    said.fragment_size = said.fragment_size.or_else(|| fragment_size(&part));
                    said.error = said.error.or_else(|| path_error(&part));
                }
            }
        }
        said
    }
}

/// Whether a failed call means no more than that nothing waits, or that an error of the
/// path is in the error queue. A peer chooses the latter, so all errors count but those of
/// a wrong call.
pub(super) const fn is_pending(error: Errno) -> bool {
    !matches!(
        error,
        Errno::EBADF | Errno::EFAULT | Errno::EINVAL | Errno::ENOTSOCK | Errno::EDESTADDRREQ
    )
}

/// The error of the path in control data.
fn path_error(part: &ControlMessageOwned) -> Option<PathError> {
    let (error, from) = reported(part)?;
    let errno = Errno::from_raw(error.ee_errno.cast_signed());
    match error.ee_origin {
        ICMP | ICMPV6 => Some(PathError::Icmp {
            from: from?,
            kind: error.ee_type,
            code: error.ee_code,
            mtu: if errno == Errno::EMSGSIZE {
                error.ee_info
            } else {
                0
            },
        }),
        LOCAL if errno == Errno::EMSGSIZE => Some(PathError::Mtu(error.ee_info)),
        LOCAL => Some(PathError::Here(errno)),
        _ => None,
    }
}
