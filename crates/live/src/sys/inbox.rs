//! Receives many datagrams per call, or one piece of a stream, with the kernel's
//! control data: the receive timestamp, and the size of merged datagrams
//! [LinuxUapi socket.h, udp.h].

use std::mem::{size_of, zeroed};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::{io, ptr};

use crate::deadline::Permit;

/// The most datagrams per call, and the most octets of them.
const BATCH: usize = 64;
const OCTETS: usize = 1 << 19;

/// Room for the control data of a datagram: three timestamps and a number, each behind
/// a header, with some reserve. In words, because headers are aligned.
const CONTROL_WORDS: usize = 20;

/// Buffers for one call.
pub(crate) struct Inbox {
    room: usize,
    octets: Vec<u8>,
    control: Vec<[u64; CONTROL_WORDS]>,
    /// Room for the source of each datagram; empty where sources are not asked for.
    sources: Vec<libc::sockaddr_in6>,
    taken: Vec<InboxEntry>,
}

/// A datagram, or a piece of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InboxEntry {
    /// Its octets, which may exceed the buffer.
    pub(crate) length: usize,
    /// The kernel's timestamp, in nanoseconds since 1970.
    pub(crate) stamp: Option<u64>,
    /// The size of the datagrams merged into this one; the last may be shorter.
    pub(crate) merged: Option<usize>,
}

impl Inbox {
    /// Room for `room` octets of each datagram.
    pub(crate) fn of_datagrams(room: usize) -> Self {
        Self::new(room, BATCH.min(OCTETS / room))
    }

    /// The same, with the sources of datagrams ([`Inbox::source`]).
    pub(crate) fn of_datagrams_with_sources(room: usize) -> Self {
        let mut inbox = Self::of_datagrams(room);
        // SAFETY: all zeroes are a valid address without a family.
        inbox.sources = vec![unsafe { zeroed() }; inbox.control.len()];
        inbox
    }

    /// Room for one piece of a stream.
    pub(crate) fn of_stream(room: usize) -> Self {
        Self::new(room, 1)
    }

    fn new(room: usize, batch: usize) -> Self {
        Self {
            room,
            octets: vec![0; room * batch],
            control: vec![[0; CONTROL_WORDS]; batch],
            sources: Vec::new(),
            taken: Vec::with_capacity(batch),
        }
    }

    /// Receives the waiting datagrams. Waits for the first as long as the socket does,
    /// unless `busy`.
    pub(crate) fn take(
        &mut self,
        socket: BorrowedFd<'_>,
        busy: bool,
        _permit: Permit,
    ) -> io::Result<&[InboxEntry]> {
        self.taken.clear();
        let batch = self.control.len();
        // SAFETY: all zeroes are a valid, empty piece.
        let mut pieces: [libc::iovec; BATCH] = unsafe { zeroed() };
        // SAFETY: all zeroes are a valid, empty message header.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        let rooms = self.octets.chunks_exact_mut(self.room);
        for (((header, piece), room), control) in headers
            .iter_mut()
            .zip(&mut pieces)
            .zip(rooms)
            .zip(&mut self.control)
        {
            piece.iov_base = room.as_mut_ptr().cast();
            piece.iov_len = room.len();
            header.msg_hdr.msg_iov = piece;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<[u64; CONTROL_WORDS]>();
        }
        for (header, source) in headers.iter_mut().zip(&mut self.sources) {
            header.msg_hdr.msg_name = ptr::from_mut(source).cast();
            let length = size_of::<libc::sockaddr_in6>();
            header.msg_hdr.msg_namelen = libc::socklen_t::try_from(length).unwrap_or(0);
        }
        let wait = if busy {
            libc::MSG_DONTWAIT
        } else {
            libc::MSG_WAITFORONE
        };
        // A stream has no further length, and MSG_TRUNC would discard its data.
        let whole = if batch > 1 { libc::MSG_TRUNC } else { 0 };
        // SAFETY: the first `batch` headers point to buffers of their own, which
        // outlive the call and have the stated lengths.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                u32::try_from(batch).unwrap_or(1),
                wait | whole,
                ptr::null_mut(),
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for header in &headers[..count] {
            self.taken.push(InboxEntry {
                length: usize::try_from(header.msg_len).unwrap_or(0),
                ..said(&header.msg_hdr)
            });
        }
        Ok(&self.taken)
    }

    /// The entries of the last call.
    pub(crate) fn taken(&self) -> &[InboxEntry] {
        &self.taken
    }

    /// Whether the last call filled all buffers.
    pub(crate) fn is_full(&self) -> bool {
        self.taken.len() == self.control.len()
    }

    /// The address from which entry `place` of the last call came, if sources are asked for.
    pub(crate) fn source(&self, place: usize) -> Option<IpAddr> {
        let source = self.sources.get(place)?;
        match i32::from(source.sin6_family) {
            libc::AF_INET6 => Some(IpAddr::from(source.sin6_addr.s6_addr)),
            libc::AF_INET => {
                // SAFETY: the kernel has put an address of IPv4 there, which is shorter.
                let source = unsafe { ptr::from_ref(source).cast::<libc::sockaddr_in>().read() };
                Some(IpAddr::from(source.sin_addr.s_addr.to_ne_bytes()))
            }
            _ => None,
        }
    }

    /// The octets of entry `place` of the last call.
    pub(crate) fn octets(&self, place: usize) -> &[u8] {
        let length = self.taken[place].length.min(self.room);
        &self.octets[place * self.room..][..length]
    }
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
                // SAFETY: the kernel puts three instants here, the first by software.
                let stamp = unsafe { data.cast::<libc::timespec>().read_unaligned() };
                taken.stamp = nanos(stamp);
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

/// A timestamp in nanoseconds; `None` if the kernel gave none.
fn nanos(stamp: libc::timespec) -> Option<u64> {
    let nanos = i128::from(stamp.tv_sec) * 1_000_000_000 + i128::from(stamp.tv_nsec);
    u64::try_from(nanos).ok().filter(|nanos| *nanos > 0)
}
