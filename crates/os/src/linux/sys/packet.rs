//! Packet sockets: their options, and sending of many frames per call, each behind a
//! virtio header with the offloads still to be done [packet(7)].

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::{messages, option, socket};

/// Bytes of the virtio network header in front of each frame [Virtio s5.1.6].
pub const HEADER: usize = 10;

/// Frames that one call sends.
pub const BATCH: usize = 64;

/// Sends frames, each behind its virtio header, without blocking. Returns their number.
pub(crate) fn send<'a>(
    socket: BorrowedFd<'_>,
    frames: impl Iterator<Item = [&'a [u8]; 2]>,
) -> io::Result<usize> {
    // Filled as far as there are frames: most calls send few.
    let mut pieces = [const { MaybeUninit::<[libc::iovec; 2]>::uninit() }; BATCH];
    let mut headers = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; BATCH];
    let mut count = 0;
    for ((pieces, header), frame) in pieces.iter_mut().zip(&mut headers).zip(frames) {
        let pieces = pieces.write(frame.map(|piece| libc::iovec {
            iov_base: piece.as_ptr().cast_mut().cast(),
            iov_len: piece.len(),
        }));
        // SAFETY: all zeroes are a valid, empty message header.
        let header = header.write(unsafe { zeroed() });
        header.msg_hdr.msg_iovlen = if pieces[1].iov_len > 0 { 2 } else { 1 };
        header.msg_hdr.msg_iov = pieces.as_mut_ptr();
        count += 1;
    }
    // SAFETY: the first `count` headers point to frames that outlive the call; the
    // kernel only reads them.
    unsafe {
        messages::send(
            socket,
            headers.as_mut_ptr().cast(),
            count,
            libc::MSG_DONTWAIT,
        )
    }
}

/// Opens a socket that does not block: for whole frames, or for packets without the header of
/// their link (SOCK_DGRAM). It receives nothing until it is bound.
pub fn open(kind: libc::c_int) -> nix::Result<OwnedFd> {
    socket::open(libc::AF_PACKET, kind | libc::SOCK_NONBLOCK, 0)
}

/// Binds a socket to the frames of one protocol at an interface; of none (0), it receives
/// nothing.
pub fn bind(socket: BorrowedFd<'_>, interface: u32, protocol: libc::c_int) -> io::Result<()> {
    let length =
        libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).map_err(io::Error::other)?;
    // SAFETY: all zeroes are a valid address.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = u16::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
    address.sll_protocol = u16::try_from(protocol).map_err(io::Error::other)?.to_be();
    address.sll_ifindex = libc::c_int::try_from(interface).map_err(io::Error::other)?;
    // SAFETY: the kernel reads the address, which has this length.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Enables an option of packet sockets.
pub(crate) fn switch_on(socket: BorrowedFd<'_>, option: libc::c_int) -> io::Result<()> {
    set(socket, option, &1)
}

/// Makes the interface deliver frames addressed to others (promiscuous mode).
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

/// Frames dropped for lack of room in the socket since the last call.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: the statistics are numbers.
    let statistics: libc::tpacket_stats =
        unsafe { option::data(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS) }?;
    Ok(u64::from(statistics.tp_drops))
}

/// Sets an option of packet sockets.
pub(super) fn set<T>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> io::Result<()> {
    option::set_data(socket, libc::SOL_PACKET, option, value)
}
