//! Options of sockets that no crate wraps, each a number.
#![expect(unsafe_code, reason = "no crate wraps these options")]

use std::ffi::c_int;
use std::io;
use std::mem::size_of;

/// The names of an option for IPv4 and IPv6, with the number of its protocol.
pub(super) type Names = [(c_int, c_int); 2];

/// Whether packets leave whole [ip(4)] [ip6(4)] [WinsockIpOptions].
#[cfg(windows)]
pub(super) const WHOLE: Names = {
    use windows_sys::Win32::Networking::WinSock::{
        IP_DONTFRAGMENT, IPPROTO_IP, IPPROTO_IPV6, IPV6_DONTFRAG,
    };
    [(IPPROTO_IP, IP_DONTFRAGMENT), (IPPROTO_IPV6, IPV6_DONTFRAG)]
};
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
pub(super) const WHOLE: Names = [
    (libc::IPPROTO_IP, libc::IP_DONTFRAG),
    (libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG),
];
/// Linux, on which tests run this, has modes for IPv4.
#[cfg(target_os = "linux")]
pub(super) const WHOLE: Names = [
    (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
    (libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG),
];

/// The values of this option.
pub(super) const WHOLE_DO: c_int = if cfg!(target_os = "linux") { 2 } else { 1 };
pub(super) const WHOLE_DONT: c_int = 0;

/// Bytes of an option.
const LENGTH: usize = size_of::<c_int>();

/// Sets an option.
#[cfg(unix)]
pub(super) fn set(
    socket: &socket2::Socket,
    level: c_int,
    option: c_int,
    value: c_int,
) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    let length = libc::socklen_t::try_from(LENGTH).map_err(io::Error::other)?;
    // SAFETY: the pointer and the length are those of `value`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(&value).cast(),
            length,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets an option.
#[cfg(windows)]
pub(super) fn set(
    socket: &socket2::Socket,
    level: c_int,
    option: c_int,
    value: c_int,
) -> io::Result<()> {
    use std::os::windows::io::AsRawSocket as _;

    use windows_sys::Win32::Networking::WinSock::{SOCKET, setsockopt};

    let socket = SOCKET::try_from(socket.as_raw_socket()).map_err(io::Error::other)?;
    let length = c_int::try_from(LENGTH).map_err(io::Error::other)?;
    // SAFETY: the pointer and the length are those of `value`.
    let result = unsafe {
        setsockopt(
            socket,
            level,
            option,
            std::ptr::from_ref(&value).cast(),
            length,
        )
    };
    match result {
        0 => Ok(()),
        // Errors of sockets are errors of the thread, too.
        _ => Err(io::Error::last_os_error()),
    }
}
