//! TUN interfaces: packets that the kernel routes to a program [LinuxUapi if_tun.h].

use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

/// Offloads of super-packets of TCP: the kernel may leave their checksums and their
/// cutting to the program.
const TCP: libc::c_uint =
    libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
/// Those of UDP; kernels before 6.2 have none.
const UDP: libc::c_uint = libc::TUN_F_USO4 | libc::TUN_F_USO6;

/// Creates the interface `name`, which exists as long as the file. Each read and write
/// is one packet behind a virtio header.
pub(crate) fn create(name: &str) -> io::Result<File> {
    let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = File::from(open("/dev/net/tun", flags, Mode::empty())?);
    // SAFETY: all zeroes are a valid request.
    let mut request: libc::ifreq = unsafe { zeroed() };
    let room = request.ifr_name.len() - 1;
    if name.is_empty() || name.len() > room {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    for (place, letter) in request.ifr_name.iter_mut().zip(name.bytes()) {
        // Its letters have no sign on some processors.
        *place = libc::c_char::from_ne_bytes([letter]);
    }
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
    // SAFETY: the kernel reads and writes one request, which outlives the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    offload(&file, TCP | UDP).or_else(|_| offload(&file, TCP))?;
    Ok(file)
}

/// Declares the offloads that the program can do.
fn offload(file: &File, offloads: libc::c_uint) -> io::Result<()> {
    let offloads = libc::c_ulong::from(offloads);
    // SAFETY: the argument is a number.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, offloads) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
