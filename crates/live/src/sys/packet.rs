//! Packet sockets: many frames a call, with the virtio header that says what
//! the kernel left to be done to a frame [packet(7)].

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::time::TimeSpec;

/// Octets of the virtio network header in front of each frame [Virtio s5.1.6].
pub(crate) const HEADER: usize = 10;

/// Frames a call.
pub(crate) const BATCH: usize = 64;

/// Room for one control message with a stamp.
const CONTROL: usize = 64;

/// Buffers for as many frames as one call receives.
pub(crate) struct Received {
    /// Each holds a header and the largest frame.
    buffers: Vec<Vec<u8>>,
    control: Vec<[u8; CONTROL]>,
    lengths: Vec<usize>,
    stamps: Vec<Option<TimeSpec>>,
}

impl Received {
    /// Room for frames of up to `largest` octets.
    pub(crate) fn new(largest: usize) -> Self {
        Self {
            buffers: vec![vec![0; HEADER + largest]; BATCH],
            control: vec![[0; CONTROL]; BATCH],
            lengths: vec![0; BATCH],
            stamps: vec![None; BATCH],
        }
    }

    /// Receives what is there, without waiting: how many frames.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let mut pieces = self.buffers.iter_mut().map(|buffer| libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        });
        let mut pieces: [libc::iovec; BATCH] =
            std::array::from_fn(|_| pieces.next().expect("there is a buffer for each"));
        let mut messages: [libc::mmsghdr; BATCH] = std::array::from_fn(|position| {
            // SAFETY: all zeroes are a valid, empty message header.
            let mut message: libc::mmsghdr = unsafe { zeroed() };
            message.msg_hdr.msg_iov = &raw mut pieces[position];
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = self.control[position].as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL;
            message
        });
        // SAFETY: every header points to a buffer and a control area of our
        // own, with their true lengths, which outlive the call.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                messages.as_mut_ptr(),
                libc::c_uint::try_from(BATCH).unwrap_or(1),
                libc::MSG_DONTWAIT | libc::MSG_TRUNC,
                std::ptr::null_mut(),
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for (position, message) in messages[..count].iter().enumerate() {
            self.lengths[position] = usize::try_from(message.msg_len).unwrap_or(0);
            self.stamps[position] = stamp(&message.msg_hdr);
        }
        Ok(count)
    }

    /// The virtio header, the frame as far as there was room, its length, and
    /// when the kernel got it.
    pub(crate) fn frame(&self, position: usize) -> (&[u8], &[u8], usize, Option<TimeSpec>) {
        let buffer = &self.buffers[position];
        let length = self.lengths[position];
        let (header, frame) = buffer[..length.clamp(HEADER, buffer.len())].split_at(HEADER);
        let whole = length.saturating_sub(HEADER);
        (header, frame, whole, self.stamps[position])
    }
}

/// The stamp among the control messages.
fn stamp(header: &libc::msghdr) -> Option<TimeSpec> {
    // SAFETY: the header is one that the kernel filled in; CMSG_FIRSTHDR and
    // CMSG_NXTHDR stay within its control area, and a stamp's data is read
    // only where the message is long enough for it.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(header);
        while let Some(message) = part.as_ref() {
            let room = libc::CMSG_LEN(u32::try_from(size_of::<libc::timespec>()).unwrap_or(0));
            if message.cmsg_level == libc::SOL_SOCKET
                && message.cmsg_type == libc::SCM_TIMESTAMPNS
                && message.cmsg_len >= usize::try_from(room).unwrap_or(usize::MAX)
            {
                let data = libc::CMSG_DATA(message).cast::<libc::timespec>();
                return Some(TimeSpec::from(data.read_unaligned()));
            }
            part = libc::CMSG_NXTHDR(header, message);
        }
    }
    None
}

/// Sends frames, each with its virtio header in front, without waiting: how
/// many went.
pub(crate) fn send<'a>(
    socket: BorrowedFd<'_>,
    frames: impl Iterator<Item = &'a [u8]>,
) -> io::Result<usize> {
    // SAFETY: all zeroes are a valid, empty piece.
    let mut pieces: [libc::iovec; BATCH] = unsafe { zeroed() };
    let mut count = 0;
    for (piece, frame) in pieces.iter_mut().zip(frames) {
        *piece = libc::iovec {
            iov_base: frame.as_ptr().cast_mut().cast(),
            iov_len: frame.len(),
        };
        count += 1;
    }
    let mut messages: [libc::mmsghdr; BATCH] = std::array::from_fn(|position| {
        // SAFETY: all zeroes are a valid, empty message header.
        let mut message: libc::mmsghdr = unsafe { zeroed() };
        message.msg_hdr.msg_iov = &raw mut pieces[position];
        message.msg_hdr.msg_iovlen = 1;
        message
    });
    // SAFETY: the first `count` headers point to frames that outlive the
    // call; the kernel only reads them.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            count,
            libc::MSG_DONTWAIT,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Sets an option of packet sockets to one.
pub(crate) fn switch_on(socket: BorrowedFd<'_>, option: libc::c_int) -> io::Result<()> {
    set(socket, option, &1)
}

/// Has the interface hand over frames that are for others.
pub(crate) fn hear_all(socket: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: libc::c_int::try_from(interface).map_err(io::Error::other)?,
        mr_type: libc::PACKET_MR_PROMISC
            .try_into()
            .map_err(io::Error::other)?,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// How many frames found no room in the socket since it was last asked.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut statistics = MaybeUninit::<libc::tpacket_stats>::zeroed();
    let mut length =
        libc::socklen_t::try_from(size_of::<libc::tpacket_stats>()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes at most `length` octets, the size of the
    // zeroed buffer, of which every bit pattern is valid.
    let statistics = unsafe {
        let result = libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            statistics.as_mut_ptr().cast(),
            &raw mut length,
        );
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        statistics.assume_init()
    };
    Ok(u64::from(statistics.tp_drops))
}

fn set<T>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: the pointer and the length are those of `value`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
