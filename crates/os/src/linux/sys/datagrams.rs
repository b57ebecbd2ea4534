//! Many datagrams per call, each with its address and its service byte
//! [ip(7)] [ipv6(7)].

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, BorrowedFd};

use super::{messages, option};
use crate::deadline::Permit;

/// The most datagrams per call.
pub(crate) const BATCH: usize = 64;

/// The most datagrams in one piece, see [`Outgoing::each`] [LinuxUapi udp.h].
pub const MOST_SEGMENTS: usize = 64;

/// Room for the control data of a datagram: a service byte, the size of datagrams in one
/// piece and the count of drops, each behind a header. In words, because headers are aligned.
const CONTROL_WORDS: usize = 12;
const CONTROL_BYTES: usize = size_of::<[u64; CONTROL_WORDS]>();

/// A datagram to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Its destination.
    pub to: SocketAddr,
    /// Its service byte: DSCP and ECN.
    pub service: u8,
    pub bytes: &'a [u8],
    /// With a size, the bytes are several datagrams of UDP of this size behind each other; the
    /// last one may be shorter. The kernel cuts them (UDP_SEGMENT) [LinuxUapi udp.h].
    pub each: Option<u16>,
}

/// A received datagram.
pub struct Incoming<'a> {
    /// Its source.
    pub from: SocketAddr,
    /// Its service byte: DSCP and ECN.
    pub service: u8,
    /// Its bytes, behind [`Datagrams::headroom`] bytes for the caller.
    pub bytes: &'a mut [u8],
    /// With a size, the bytes are several datagrams of this size behind each other; the last
    /// one may be shorter. Only of sockets with UDP_GRO [LinuxUapi udp.h].
    pub each: Option<usize>,
}

/// Buffers for one call.
pub struct Datagrams {
    headroom: usize,
    room: usize,
    bytes: Vec<u8>,
    names: Vec<libc::sockaddr_storage>,
    control: Vec<[u64; CONTROL_WORDS]>,
}

impl Datagrams {
    /// Room for `room` bytes of each datagram, behind `headroom` bytes that are left
    /// to the caller.
    pub fn new(headroom: usize, room: usize) -> Self {
        // SAFETY: all zeroes are a valid, empty address.
        let name: libc::sockaddr_storage = unsafe { zeroed() };
        Self {
            headroom,
            room,
            bytes: vec![0; (headroom + room) * BATCH],
            names: vec![name; BATCH],
            control: vec![[0; CONTROL_WORDS]; BATCH],
        }
    }

    /// Receives the datagrams that wait, without blocking. Those that were truncated are
    /// passed with what there is. Returns whether there may be more.
    ///
    /// # Errors
    /// The kernel's; none if no datagram waits.
    pub fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        _permit: Permit,
        mut take: impl FnMut(Incoming<'_>),
    ) -> io::Result<bool> {
        let step = self.headroom + self.room;
        // SAFETY: all zeroes are a valid, empty piece.
        let mut pieces: [libc::iovec; BATCH] = unsafe { zeroed() };
        // SAFETY: all zeroes are a valid, empty message header.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        for (place, header) in headers.iter_mut().enumerate() {
            let room = &mut self.bytes[place * step + self.headroom..][..self.room];
            pieces[place].iov_base = room.as_mut_ptr().cast();
            pieces[place].iov_len = room.len();
            header.msg_hdr.msg_iov = &raw mut pieces[place];
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_name = (&raw mut self.names[place]).cast();
            header.msg_hdr.msg_namelen = length_of::<libc::sockaddr_storage>();
            header.msg_hdr.msg_control = self.control[place].as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = messages::length(CONTROL_BYTES);
        }
        // SAFETY: all headers point to buffers of their own, which outlive the call and
        // have the stated lengths.
        let received =
            unsafe { messages::receive(socket, headers.as_mut_ptr(), BATCH, libc::MSG_DONTWAIT) };
        let count = match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            received => received?,
        };
        for (place, header) in headers[..count].iter().enumerate() {
            let Some(from) = address(&self.names[place]) else {
                continue;
            };
            let length = usize::try_from(header.msg_len).unwrap_or(0).min(self.room);
            let (service, each) = control(&header.msg_hdr);
            take(Incoming {
                from,
                service,
                each,
                bytes: &mut self.bytes[place * step..][..self.headroom + length],
            });
        }
        Ok(count == BATCH)
    }
}

/// Sends at most [`BATCH`] datagrams without blocking. Returns the number of those that
/// were sent; the error is that of the first.
pub fn send<'a>(
    socket: BorrowedFd<'_>,
    datagrams: impl Iterator<Item = Outgoing<'a>>,
) -> io::Result<usize> {
    // SAFETY: all zeroes are valid, empty pieces, addresses and message headers.
    let (mut pieces, mut names, mut headers): (
        [libc::iovec; BATCH],
        [libc::sockaddr_storage; BATCH],
        [libc::mmsghdr; BATCH],
    ) = unsafe { (zeroed(), zeroed(), zeroed()) };
    let mut control = [[0_u64; CONTROL_WORDS]; BATCH];
    let mut count = 0;
    for (place, datagram) in datagrams.take(BATCH).enumerate() {
        pieces[place] = libc::iovec {
            iov_base: datagram.bytes.as_ptr().cast_mut().cast(),
            iov_len: datagram.bytes.len(),
        };
        let header = &mut headers[place].msg_hdr;
        header.msg_iov = &raw mut pieces[place];
        header.msg_iovlen = 1;
        header.msg_namelen = put_address(&mut names[place], datagram.to);
        header.msg_name = (&raw mut names[place]).cast();
        let (level, kind) = match datagram.to {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TOS),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
        };
        header.msg_control = control[place].as_mut_ptr().cast();
        header.msg_controllen = messages::length(CONTROL_BYTES);
        let service = libc::c_int::from(datagram.service).to_ne_bytes();
        let each = datagram.each.map(u16::to_ne_bytes);
        let mut parts = Parts::new(header);
        parts.put(level, kind, &service);
        if let Some(each) = &each {
            parts.put(libc::SOL_UDP, libc::UDP_SEGMENT, each);
        }
        header.msg_controllen = messages::length(parts.length);
        count += 1;
    }
    // SAFETY: the first `count` headers point to buffers that outlive the call; the
    // kernel only reads them.
    unsafe { messages::send(socket, headers.as_mut_ptr(), count, libc::MSG_DONTWAIT) }
}

/// Parts of control data that are written behind each other.
struct Parts<'a> {
    header: &'a libc::msghdr,
    next: *mut libc::cmsghdr,
    /// Bytes of the parts so far.
    length: usize,
}

impl<'a> Parts<'a> {
    /// Of a header with a zeroed control buffer of [`CONTROL_BYTES`], which it states.
    fn new(header: &'a libc::msghdr) -> Self {
        Self {
            header,
            // SAFETY: the buffer outlives the header.
            next: unsafe { libc::CMSG_FIRSTHDR(header) },
            length: 0,
        }
    }

    /// Writes a part; one without room is left out.
    fn put(&mut self, level: libc::c_int, kind: libc::c_int, data: &[u8]) {
        let Some(length) = libc::c_uint::try_from(data.len()).ok() else {
            return;
        };
        // SAFETY: the macros compute numbers.
        let (space, own) = unsafe { (libc::CMSG_SPACE(length), libc::CMSG_LEN(length)) };
        let after = self.length + space as usize;
        if self.next.is_null() || after > CONTROL_BYTES {
            return;
        }
        // SAFETY: `next` is a place in the buffer, which has room for the part.
        unsafe {
            (*self.next).cmsg_level = level;
            (*self.next).cmsg_type = kind;
            (*self.next).cmsg_len = messages::length(own as usize);
            libc::CMSG_DATA(self.next).copy_from(data.as_ptr(), data.len());
            self.next = libc::CMSG_NXTHDR(self.header, self.next);
        }
        self.length = after;
    }
}

/// Lets the kernel hand over several datagrams of UDP in one piece, see [`Incoming::each`].
///
/// # Errors
/// The kernel's: it is older than Linux 5.0, or the socket is none of UDP.
pub fn merge(socket: impl AsFd) -> io::Result<()> {
    option::set(socket.as_fd(), libc::SOL_UDP, libc::UDP_GRO, 1)
}

/// Lets the kernel cut the bytes of each further call into datagrams of `size` bytes; the
/// last one may be shorter.
///
/// # Errors
/// The kernel's: it is older than Linux 4.18, or the socket is none of UDP.
pub fn cut(socket: impl AsFd, size: usize) -> io::Result<()> {
    let size = libc::c_int::try_from(size).unwrap_or(libc::c_int::MAX);
    option::set(socket.as_fd(), libc::SOL_UDP, libc::UDP_SEGMENT, size)
}

fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(0)
}

/// Writes an address; returns its length.
fn put_address(name: &mut libc::sockaddr_storage, address: SocketAddr) -> libc::socklen_t {
    let name = &raw mut *name;
    match address {
        SocketAddr::V4(four) => {
            // SAFETY: the storage is larger than any address and aligned for all.
            let name = unsafe { &mut *name.cast::<libc::sockaddr_in>() };
            name.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or(0);
            name.sin_port = four.port().to_be();
            name.sin_addr.s_addr = four.ip().to_bits().to_be();
            length_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(six) => {
            // SAFETY: as above.
            let name = unsafe { &mut *name.cast::<libc::sockaddr_in6>() };
            name.sin6_family = libc::sa_family_t::try_from(libc::AF_INET6).unwrap_or(0);
            name.sin6_port = six.port().to_be();
            name.sin6_addr.s6_addr = six.ip().octets();
            name.sin6_scope_id = six.scope_id();
            length_of::<libc::sockaddr_in6>()
        }
    }
}

/// The address that the kernel wrote.
fn address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match libc::c_int::from(name.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says what the storage holds.
            let four = unsafe { &*(&raw const *name).cast::<libc::sockaddr_in>() };
            let address = Ipv4Addr::from_bits(u32::from_be(four.sin_addr.s_addr));
            Some(SocketAddrV4::new(address, u16::from_be(four.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let six = unsafe { &*(&raw const *name).cast::<libc::sockaddr_in6>() };
            let address = Ipv6Addr::from_octets(six.sin6_addr.s6_addr);
            let port = u16::from_be(six.sin6_port);
            Some(SocketAddrV6::new(address, port, 0, six.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// The service byte in the control data of a datagram, zero if the kernel gave none, and the
/// size of datagrams in one piece.
fn control(header: &libc::msghdr) -> (u8, Option<usize>) {
    let (mut service, mut each) = (0, None);
    // SAFETY: the kernel has just filled the control buffer of this header and set its
    // length; it outlives this function.
    let mut part = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !part.is_null() {
        // SAFETY: the macros return headers within the control buffer or null.
        let (level, kind, data) =
            unsafe { ((*part).cmsg_level, (*part).cmsg_type, libc::CMSG_DATA(part)) };
        match (level, kind) {
            // The kernel puts one byte here for IPv4.
            // SAFETY: as the comment says.
            (libc::IPPROTO_IP, libc::IP_TOS) => service = unsafe { data.read() },
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                // SAFETY: the kernel puts one int here.
                let class = unsafe { data.cast::<libc::c_int>().read_unaligned() };
                service = u8::try_from(class).unwrap_or(0);
            }
            (libc::SOL_UDP, libc::UDP_GRO) => {
                // SAFETY: the kernel puts one int here.
                let size = unsafe { data.cast::<libc::c_int>().read_unaligned() };
                each = usize::try_from(size).ok().filter(|size| *size > 0);
            }
            _ => {}
        }
        // SAFETY: as for the first.
        part = unsafe { libc::CMSG_NXTHDR(header, part) };
    }
    (service, each)
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;
    use crate::deadline::Deadline;
    use crate::socket::{IpOption, Kind, Options, address_of, open, wait};

    #[test]
    fn datagrams_arrive_with_their_source_service_byte_and_headroom() {
        for here in ["127.0.0.1:0", "[::1]:0"] {
            let here: SocketAddr = here.parse().unwrap();
            let options = Options {
                bind: Some(here),
                non_blocking: true,
                ..Options::default()
            };
            let open = || {
                let socket = open(Kind::Datagram, here.ip(), &options).unwrap();
                let ask = IpOption::SERVICE_OF_ARRIVALS;
                ask.set(socket.as_fd(), here.ip(), 1).unwrap();
                socket
            };
            let (near, far) = (open(), open());
            let to = address_of(far.as_fd()).unwrap();
            let sent: Vec<(u8, Vec<u8>)> = (0..5)
                .map(|number| (number << 2 | 1, vec![number; 10 + usize::from(number)]))
                .collect();
            let outgoing = sent.iter().map(|(service, bytes)| Outgoing {
                to,
                service: *service,
                bytes,
                each: None,
            });
            assert_eq!(send(near.as_fd(), outgoing).unwrap(), sent.len());
            let deadline = Deadline::fixed(Span::from_secs(60));
            let mut got = Vec::new();
            let mut datagrams = Datagrams::new(7, 100);
            while got.len() < sent.len() {
                let until = crate::clock::monotonic() + Span::from_secs(60);
                wait(far.as_fd(), nix::poll::PollFlags::POLLIN, until).unwrap();
                let permit = deadline.permit().unwrap();
                datagrams
                    .receive(far.as_fd(), permit, |datagram| {
                        assert_eq!(datagram.from, address_of(near.as_fd()).unwrap());
                        got.push((datagram.service, datagram.bytes[7..].to_vec()));
                    })
                    .unwrap();
            }
            assert_eq!(got, sent);
        }
    }
    #[test]
    fn datagrams_in_one_piece_arrive_one_by_one_or_in_one_piece() {
        for (here, merges) in [
            ("127.0.0.1:0", true),
            ("[::1]:0", true),
            ("127.0.0.1:0", false),
        ] {
            let here: SocketAddr = here.parse().unwrap();
            let options = Options {
                bind: Some(here),
                non_blocking: true,
                ..Options::default()
            };
            let open = || open(Kind::Datagram, here.ip(), &options).unwrap();
            let (near, far) = (open(), open());
            let ask = IpOption::SERVICE_OF_ARRIVALS;
            ask.set(far.as_fd(), here.ip(), 1).unwrap();
            if merges {
                merge(far.as_fd()).unwrap();
            }
            let bytes: Vec<u8> = (0..=255).cycle().take(2_500).collect();
            let outgoing = Outgoing {
                to: address_of(far.as_fd()).unwrap(),
                service: 6,
                bytes: &bytes,
                each: Some(1_000),
            };
            assert_eq!(send(near.as_fd(), std::iter::once(outgoing)).unwrap(), 1);
            let deadline = Deadline::fixed(Span::from_secs(60));
            let mut got = Vec::new();
            let mut datagrams = Datagrams::new(0, 65_535);
            while got.iter().map(Vec::len).sum::<usize>() < bytes.len() {
                let until = crate::clock::monotonic() + Span::from_secs(60);
                wait(far.as_fd(), nix::poll::PollFlags::POLLIN, until).unwrap();
                let take = |datagram: Incoming<'_>| {
                    assert_eq!(datagram.service, 6);
                    let size = datagram.each.unwrap_or(datagram.bytes.len());
                    got.extend(datagram.bytes.chunks(size).map(<[u8]>::to_vec));
                };
                let permit = deadline.permit().unwrap();
                datagrams.receive(far.as_fd(), permit, take).unwrap();
            }
            let expected: Vec<&[u8]> = bytes.chunks(1_000).collect();
            assert_eq!(got, expected);
        }
    }
}
