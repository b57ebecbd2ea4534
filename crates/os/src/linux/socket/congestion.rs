//! Congestion controls of the kernel's TCP.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::socket::{setsockopt, sockopt};
use units::Transport;

use super::kind::bare;
use crate::error::{Error, OperationContext, Result};

/// The kernel's list of loaded congestion controls [tcp(7)].
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The congestion controls that ordinary users may choose [LinuxDoc ip-sysctl].
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Whether a program chooses the congestion control of its connections.
pub const CHOOSES_CONGESTION_CONTROL: bool = true;

/// Whether a program limits the segments of its connections.
pub const LIMITS_SEGMENTS: bool = true;

/// Whether this kernel has a congestion control of this name, loaded or loadable.
/// Tested by choosing it for a socket that is never used.
///
/// # Errors
/// One line with the remedy: the kernel has none, or this user may not choose it.
pub fn try_congestion_control(name: &str) -> Result<()> {
    let socket = bare(
        Transport::Tcp.into(),
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        false,
    )?;
    choose(socket.as_fd(), name)
}

/// The congestion control of sockets that choose none.
///
/// # Errors
/// If the kernel does not name it.
pub fn default_congestion_control() -> Result<String> {
    let file = "/proc/sys/net/ipv4/tcp_congestion_control";
    let text = fs::read_to_string(file).during(|| format!("reading {file}"))?;
    Ok(text.trim().to_owned())
}

/// The congestion controls that are loaded.
pub fn available_congestion_controls() -> Vec<String> {
    let known = fs::read_to_string(AVAILABLE).unwrap_or_default();
    known.split_whitespace().map(str::to_owned).collect()
}

/// Chooses the congestion control of a socket.
pub(super) fn choose(socket: BorrowedFd<'_>, name: &str) -> Result<()> {
    setsockopt(&socket, sockopt::TcpCongestion, &name.into())
        .during(|| format!("choosing the congestion control `{name}`"))
        .map_err(|error| match error.source.raw_os_error() {
            Some(libc::ENOENT) => {
                let known = available_congestion_controls();
                let problem = format!(
                    "this kernel has none of that name; write one of {}; `modprobe tcp_NAME` loads others",
                    known.join(", ")
                );
                Error::new(error.operation, problem)
            }
            Some(libc::EPERM) => {
                let allowed = fs::read_to_string(ALLOWED).unwrap_or_default();
                let problem = format!(
                    "root alone may choose it; choose one of {0}, or as root: `sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{0} {name}\"`",
                    allowed.trim()
                );
                Error::new(error.operation, problem)
            }
            _ => error,
        })
}
