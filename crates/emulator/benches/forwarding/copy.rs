//! The reference loop: batches of frames from one packet socket to another.

use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use os::clock::monotonic;

use crate::CARRYING;
use crate::network::{Result, Station};

/// Frames per system call.
const BATCH: usize = 64;

/// Copies frames from a0 to b0. Returns their number.
pub(crate) fn run() -> Result<u64> {
    let (from, to) = (Station::open("a0")?, Station::open("b0")?);
    println!("ready");
    let mut buffers = vec![[0u8; 9216]; BATCH];
    let end = monotonic() + CARRYING;
    let mut frames = 0;
    while monotonic() < end {
        let mut pieces: Vec<libc::iovec> = buffers
            .iter_mut()
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: buffer.len(),
            })
            .collect();
        let lengths = receive(from.socket.as_raw_fd(), &mut pieces)?;
        if lengths.is_empty() {
            let mut polled = [PollFd::new(from.socket.as_fd(), PollFlags::POLLIN)];
            poll(&mut polled, 20u8)?;
            continue;
        }
        pieces.truncate(lengths.len());
        for (piece, length) in pieces.iter_mut().zip(lengths) {
            piece.iov_len = length;
        }
        frames += send(to.socket.as_raw_fd(), &mut pieces)?;
    }
    Ok(frames)
}

/// A message header for each buffer.
fn messages(pieces: &mut [libc::iovec]) -> Vec<libc::mmsghdr> {
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: the structure holds numbers, and pointers that may be null.
    let empty: libc::mmsghdr = unsafe { std::mem::zeroed() };
    let with = |piece| {
        let mut message = empty;
        message.msg_hdr.msg_iov = piece;
        message.msg_hdr.msg_iovlen = 1;
        message
    };
    pieces
        .iter_mut()
        .map(|piece| with(&raw mut *piece))
        .collect()
}

/// The lengths of the frames that were waiting.
fn receive(socket: RawFd, pieces: &mut [libc::iovec]) -> Result<Vec<usize>> {
    let mut messages = messages(pieces);
    let count = u32::try_from(messages.len())?;
    let (flags, forever) = (libc::MSG_DONTWAIT, std::ptr::null_mut());
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: each message has one piece, which points to a whole buffer.
    let result = unsafe { libc::recvmmsg(socket, messages.as_mut_ptr(), count, flags, forever) };
    match usize::try_from(result) {
        Ok(count) => {
            messages.truncate(count);
            Ok(messages.iter().map(|one| one.msg_len as usize).collect())
        }
        Err(_) if Errno::last() == Errno::EAGAIN => Ok(Vec::new()),
        Err(_) => Err(io::Error::last_os_error().into()),
    }
}

/// The number of frames that the kernel accepted.
fn send(socket: RawFd, pieces: &mut [libc::iovec]) -> Result<u64> {
    let mut messages = messages(pieces);
    let count = u32::try_from(messages.len())?;
    #[expect(unsafe_code, reason = "the C interface")]
    // SAFETY: each message has one piece, which points to a filled buffer.
    let result = unsafe { libc::sendmmsg(socket, messages.as_mut_ptr(), count, 0) };
    Ok(u64::try_from(result).unwrap_or(0))
}
