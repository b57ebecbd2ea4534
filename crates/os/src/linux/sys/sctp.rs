//! Messages of SCTP: their streams and their ends [RFC6458 s5.3] [RFC6458 s8.1.3].

use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;

use super::{messages, option};

/// Names of options, control data and flags [LinuxUapi sctp.h].
const SCTP_INITMSG: libc::c_int = 2;
const SCTP_NODELAY: libc::c_int = 3;
const SCTP_SNDINFO: libc::c_int = 2;
const SCTP_UNORDERED: u16 = 1;

/// `struct sctp_initmsg` [LinuxUapi sctp.h].
#[repr(C)]
struct Init {
    outgoing: u16,
    incoming: u16,
    attempts: u16,
    timeout: u16,
}

/// `struct sctp_sndinfo` [LinuxUapi sctp.h].
#[derive(Clone, Copy)]
#[repr(C)]
struct SendInfo {
    stream: u16,
    flags: u16,
    protocol: u32,
    context: u32,
    association: i32,
}

/// Room for the control data of a message: [`SendInfo`] behind a header. In words, because
/// headers are aligned.
const CONTROL_WORDS: usize = 6;

/// Asks for this many streams in each direction of an association that is about to begin.
pub(crate) fn set_streams(socket: BorrowedFd<'_>, streams: u16) -> std::io::Result<()> {
    let init = Init {
        outgoing: streams,
        incoming: streams,
        // The kernel's own limits.
        attempts: 0,
        timeout: 0,
    };
    option::set_data(socket, libc::IPPROTO_SCTP, SCTP_INITMSG, &init)
}

/// Switches off that small messages wait for others.
pub(crate) fn set_no_delay(socket: BorrowedFd<'_>) -> std::io::Result<()> {
    option::set(socket, libc::IPPROTO_SCTP, SCTP_NODELAY, 1)
}

/// Sends a whole message on a stream, ordered among the messages of the stream or not.
///
/// # Errors
/// The kernel's.
pub fn send_on_stream(
    socket: impl AsFd,
    bytes: &[u8],
    stream: u16,
    unordered: bool,
) -> nix::Result<()> {
    let info = SendInfo {
        stream,
        flags: if unordered { SCTP_UNORDERED } else { 0 },
        protocol: 0,
        context: 0,
        association: 0,
    };
    let mut piece = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = [0_u64; CONTROL_WORDS];
    // SAFETY: all zeroes are a valid, empty message header.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    let length = libc::c_uint::try_from(size_of::<SendInfo>()).map_err(|_| Errno::EINVAL)?;
    // SAFETY: the macros compute lengths; the control buffer has room for a header and the
    // data, and outlives the call.
    unsafe {
        header.msg_controllen = messages::length(libc::CMSG_SPACE(length) as usize);
        let part = libc::CMSG_FIRSTHDR(&raw const header);
        (*part).cmsg_level = libc::IPPROTO_SCTP;
        (*part).cmsg_type = SCTP_SNDINFO;
        (*part).cmsg_len = messages::length(libc::CMSG_LEN(length) as usize);
        libc::CMSG_DATA(part)
            .cast::<SendInfo>()
            .write_unaligned(info);
    }
    // SAFETY: the header points to buffers that outlive the call and have the stated lengths;
    // the kernel reads them only.
    let sent = unsafe {
        libc::sendmsg(
            socket.as_fd().as_raw_fd(),
            &raw const header,
            libc::MSG_NOSIGNAL,
        )
    };
    Errno::result(sent).map(drop)
}
