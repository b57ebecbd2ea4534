//! Receives many datagrams per call, or a piece of a stream, with the kernel's
//! control data: the receive timestamp, and the size of merged datagrams
//! [LinuxUapi socket.h, udp.h].

use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::sys::socket::MsgFlags;

use super::messages;
use crate::deadline::Permit;
use crate::kernel_clock::unix_nanos;
use crate::portable::socket_parts::InboxEntry;

/// The most datagrams per call, and the most bytes of them.
const BATCH: usize = 64;
const BYTES: usize = 1 << 19;

/// Room for the control data of a datagram: three timestamps and a number, each behind
/// a header, with some reserve. In words, because headers are aligned.
const CONTROL_WORDS: usize = 20;

/// Buffers for datagrams of one call.
pub struct Inbox {
    room: usize,
    bytes: Vec<u8>,
    control: Vec<[u64; CONTROL_WORDS]>,
    taken: Vec<InboxEntry>,
}

impl Inbox {
    /// Room for `room` bytes of each datagram.
    pub fn of_datagrams(room: usize) -> Self {
        Self::new(room, BATCH.min(BYTES / room))
    }

    fn new(room: usize, batch: usize) -> Self {
        Self {
            room,
            bytes: vec![0; room * batch],
            control: vec![[0; CONTROL_WORDS]; batch],
            taken: Vec::with_capacity(batch),
        }
    }

    /// Receives the waiting datagrams. Waits for the first as long as the socket does,
    /// unless `busy`.
    pub fn take(
        &mut self,
        socket: impl AsFd,
        busy: bool,
        _permit: Permit,
    ) -> nix::Result<&[InboxEntry]> {
        self.taken.clear();
        let batch = self.control.len();
        let mut pieces = [const { MaybeUninit::<libc::iovec>::uninit() }; BATCH];
        let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; BATCH];
        let rooms = self.bytes.chunks_exact_mut(self.room);
        for (place, (room, control)) in rooms.zip(&mut self.control).enumerate() {
            headers[place].write(libc::mmsghdr {
                msg_hdr: header(pieces[place].write(piece(room)), control),
                msg_len: 0,
            });
        }
        let wait = if busy {
            libc::MSG_DONTWAIT
        } else {
            libc::MSG_WAITFORONE
        };
        // SAFETY: the first `batch` headers are set; they point to buffers of their own,
        // which outlive the call and have the stated lengths.
        let count = unsafe {
            let flags = wait | libc::MSG_TRUNC;
            messages::receive(socket.as_fd(), headers.as_mut_ptr().cast(), batch, flags)
        };
        let count = count.map_err(|_| Errno::last())?;
        for header in &headers[..count] {
            // SAFETY: the kernel fills at most `batch` headers, which are set.
            let header = unsafe { header.assume_init_ref() };
            self.taken.push(InboxEntry {
                length: usize::try_from(header.msg_len).unwrap_or(0),
                ..said(&header.msg_hdr)
            });
        }
        Ok(&self.taken)
    }

    /// The entries of the last call.
    pub fn taken(&self) -> &[InboxEntry] {
        &self.taken
    }

    /// Whether the last call filled all buffers.
    pub fn is_full(&self) -> bool {
        self.taken.len() == self.control.len()
    }

    /// The bytes of entry `place` of the last call.
    pub fn bytes(&self, place: usize) -> &[u8] {
        let length = self.taken[place].length.min(self.room);
        &self.bytes[place * self.room..][..length]
    }
}

/// Reads once into `room`: a datagram, or a piece of a stream, whose timestamp is that of its
/// last bytes. A stream without bytes has ended.
pub fn receive_stamped(
    socket: impl AsFd,
    room: &mut [u8],
    flags: MsgFlags,
    _permit: Permit,
) -> nix::Result<InboxEntry> {
    read(&socket, room, flags).map(|(entry, _)| entry)
}

/// Reads a message of SCTP, or a piece of one, with the timestamp of its last bytes. Returns
/// whether the message ends with it. An association without messages has ended.
pub fn receive_piece(
    socket: impl AsFd,
    room: &mut [u8],
    flags: MsgFlags,
    _permit: Permit,
) -> nix::Result<(InboxEntry, bool)> {
    let (entry, flags) = read(&socket, room, flags)?;
    Ok((entry, flags & libc::MSG_EOR != 0))
}

/// Reads once. Returns also the kernel's flags.
fn read(
    socket: &impl AsFd,
    room: &mut [u8],
    flags: MsgFlags,
) -> nix::Result<(InboxEntry, libc::c_int)> {
    let (mut piece, mut control) = (piece(room), [0; CONTROL_WORDS]);
    let mut header = header(&mut piece, &mut control);
    // SAFETY: the header points to buffers that outlive the call and have the stated
    // lengths.
    let length =
        unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut header, flags.bits()) };
    let length = usize::try_from(length).map_err(|_| Errno::last())?;
    let entry = InboxEntry {
        length,
        ..said(&header)
    };
    Ok((entry, header.msg_flags))
}

fn piece(room: &mut [u8]) -> libc::iovec {
    libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    }
}

/// A header for one piece and its control data, without a source.
fn header(piece: &mut libc::iovec, control: &mut [u64; CONTROL_WORDS]) -> libc::msghdr {
    // SAFETY: all zeroes are a valid, empty message header.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = piece;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = messages::length(size_of_val(control));
    header
}

/// The control data of a datagram.
fn said(header: &libc::msghdr) -> InboxEntry {
    let mut taken = InboxEntry::default();
    // SAFETY: the kernel has just filled the control buffer of this header and
    // set its length; it outlives this function.
    let mut part = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !part.is_null() {
        // SAFETY: the macros return headers within the control buffer or null.
        let (level, kind, data) =
            unsafe { ((*part).cmsg_level, (*part).cmsg_type, libc::CMSG_DATA(part)) };
        match (level, kind) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                // SAFETY: the kernel puts three times here, the first by software.
                let stamp = unsafe { data.cast::<libc::timespec>().read_unaligned() };
                taken.stamp = unix_nanos(stamp.into());
            }
            (libc::SOL_UDP, libc::UDP_GRO) => {
                // SAFETY: the kernel puts one int here.
                let size = unsafe { data.cast::<libc::c_int>().read_unaligned() };
                taken.merged = usize::try_from(size).ok().filter(|size| *size > 0);
            }
            _ => {}
        }
        // SAFETY: as for the first.
        part = unsafe { libc::CMSG_NXTHDR(header, part) };
    }
    taken
}
