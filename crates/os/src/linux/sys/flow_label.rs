//! Flow labels of IPv6, which the kernel lends to sockets [RFC6437].

use std::io;
use std::net::Ipv6Addr;
use std::os::fd::BorrowedFd;

use super::option;

/// Names of options and values [LinuxUapi in6.h].
const IPV6_FLOWLABEL_MGR: libc::c_int = 32;
const IPV6_FLOWINFO_SEND: libc::c_int = 33;
const GET: u8 = 0;
const SHARED_BY_ALL: u8 = 255;
const CREATE: u16 = 1;

/// `struct in6_flowlabel_req` [LinuxUapi in6.h].
#[repr(C)]
struct Request {
    destination: [u8; 16],
    /// In network byte order.
    label: u32,
    action: u8,
    share: u8,
    flags: u16,
    expires: u16,
    linger: u16,
    padding: u32,
}

/// Borrows a label for packets to `to`, which any socket may share. Packets carry it once
/// the socket is connected to an address with the label.
pub(crate) fn lease(socket: BorrowedFd<'_>, to: Ipv6Addr, label: u32) -> io::Result<()> {
    let request = Request {
        destination: to.octets(),
        label: label.to_be(),
        action: GET,
        share: SHARED_BY_ALL,
        flags: CREATE,
        expires: 0,
        linger: 0,
        padding: 0,
    };
    let level = libc::IPPROTO_IPV6;
    option::set_data(socket, level, IPV6_FLOWLABEL_MGR, &request)?;
    option::set(socket, level, IPV6_FLOWINFO_SEND, 1)
}
