//! Options of sockets.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use meter::departures::PathMtu;
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeVal;
use units::{Bytes, Span};

use super::ip_option::IpOption;
use super::kind::Kind;
use super::{address, buffers, congestion, stamps};
use crate::error::{OperationContext, Result};
use crate::sys::option;

/// The options of a socket. By default each is as the machine has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The local address; `None`: the kernel's choice.
    pub bind: Option<SocketAddr>,
    /// The interface to which it is bound.
    pub device: Option<String>,
    /// Differentiated services code point, below 64; 0: the machine's default [RFC2474].
    pub dscp: u8,
    /// Time to live, or hop limit.
    pub ttl: Option<u8>,
    /// The treatment of the path MTU.
    pub path_mtu: PathMtu,
    /// Whether IPv6 rejects a packet above the MTU instead of fragmenting it.
    pub unfragmented: bool,
    /// Whether errors of the path are kept with their sources.
    pub path_errors: bool,
    /// Whether the unspecified address of IPv6 leaves IPv4 to others.
    pub v6_only: bool,
    /// SO_SNDBUF.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF.
    pub receive_buffer: Option<Bytes>,
    /// Congestion control (TCP).
    pub congestion: Option<String>,
    /// Maximum segment size in bytes, TCP's options included (TCP).
    pub segment: Option<u16>,
    /// Whether Nagle's algorithm is off (TCP).
    pub no_delay: bool,
    /// Whether the kernel timestamps arrivals.
    pub stamps: bool,
    /// Whether no call waits.
    pub non_blocking: bool,
    /// The longest time of a call that waits.
    pub timeout: Option<Span>,
    /// Whether the address may be in use by an earlier connection.
    pub reuse_address: bool,
    /// Whether closing it drops unsent data and resets the connection.
    pub reset_on_close: bool,
}

impl Options {
    /// Sets the options of a socket of this kind, for packets to or from `address`; those of
    /// TCP, of streams only.
    ///
    /// # Errors
    /// The kernel rejects one.
    pub fn apply(&self, socket: &OwnedFd, kind: Kind, address: IpAddr) -> Result<()> {
        let fd = socket.as_fd();
        self.apply_to_ip(fd, address)?;
        if let Some(size) = self.send_buffer {
            buffers::set_send_buffer(fd, size)?;
        }
        if let Some(size) = self.receive_buffer {
            buffers::set_receive_buffer(fd, size)?;
        }
        if kind == Kind::Stream {
            self.apply_to_stream(fd)?;
        }
        if self.stamps {
            stamps::stamp_arrivals(fd)?;
        }
        if let Some(span) = self.timeout {
            set_timeout(fd, span)?;
        }
        if self.reset_on_close {
            reset_on_close(fd)?;
        }
        self.apply_to_address(socket)
    }

    fn apply_to_ip(&self, socket: BorrowedFd<'_>, address: IpAddr) -> Result<()> {
        if self.dscp > 0 {
            set_code_point(socket, address, self.dscp)?;
        }
        if let Some(ttl) = self.ttl {
            IpOption::HOP_LIMIT
                .set(socket, address, ttl.into())
                .during(|| format!("setting a time to live of {ttl}"))?;
        }
        if let Some(mode) = discovery(self.path_mtu) {
            IpOption::MTU_DISCOVERY
                .set(socket, address, mode)
                .during(|| "choosing what is done about the path's MTU")?;
        }
        if self.path_errors {
            IpOption::ERRORS
                .set(socket, address, 1)
                .during(|| "asking for errors of the path")?;
        }
        if address.is_ipv6() {
            let set = |name| option::set(socket, libc::IPPROTO_IPV6, name, 1);
            if self.unfragmented {
                set(libc::IPV6_DONTFRAG).during(|| "forbidding fragments")?;
            }
            if self.v6_only {
                set(libc::IPV6_V6ONLY).during(|| "limiting a socket to IPv6")?;
            }
        }
        Ok(())
    }

    fn apply_to_stream(&self, socket: BorrowedFd<'_>) -> Result<()> {
        if let Some(name) = &self.congestion {
            congestion::choose(socket, name)?;
        }
        if let Some(size) = self.segment {
            // The other end learns the limit from the SYN [tcp(7)].
            option::set(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, size.into())
                .during(|| format!("setting a segment size of {size}"))?;
        }
        if self.no_delay {
            setsockopt(&socket, sockopt::TcpNoDelay, &true)
                .during(|| "switching Nagle's algorithm off")?;
        }
        Ok(())
    }

    fn apply_to_address(&self, socket: &OwnedFd) -> Result<()> {
        if self.reuse_address {
            setsockopt(socket, sockopt::ReuseAddr, &true).during(|| "sharing an address")?;
        }
        if let Some(device) = &self.device {
            setsockopt(socket, sockopt::BindToDevice, &device.into())
                .during(|| format!("binding to the interface {device}"))?;
        }
        match self.bind {
            Some(here) => address::bind_to(socket, here),
            None => Ok(()),
        }
    }
}

/// Sets the code point of packets that a socket sends to `to`: the upper six bits of
/// their service byte [RFC2474 s3].
pub fn set_code_point(socket: BorrowedFd<'_>, to: IpAddr, dscp: u8) -> Result<()> {
    IpOption::SERVICE
        .set(socket, to, libc::c_int::from(dscp) << 2)
        .during(|| format!("setting the code point {dscp}"))
}

/// Sets the longest time of a call that waits.
pub fn set_timeout(socket: BorrowedFd<'_>, span: Span) -> Result<()> {
    // Zero would mean no limit.
    let micros = i64::try_from(span.as_nanos() / 1_000)
        .unwrap_or(i64::MAX)
        .max(1);
    let limit = TimeVal::new(micros / 1_000_000, micros % 1_000_000);
    setsockopt(&socket, sockopt::ReceiveTimeout, &limit)
        .and_then(|()| setsockopt(&socket, sockopt::SendTimeout, &limit))
        .during(|| "limiting how long a socket waits")
}

/// Makes closing a socket drop unsent data and reset the connection.
pub fn reset_on_close(socket: BorrowedFd<'_>) -> Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(&socket, sockopt::Linger, &linger).during(|| "setting up the end of a connection")
}

/// The value of `IP_MTU_DISCOVER`, which is that of IPv6, too; `None` keeps the machine's
/// default.
const fn discovery(path_mtu: PathMtu) -> Option<libc::c_int> {
    match path_mtu {
        PathMtu::Machine => None,
        PathMtu::Dont => Some(libc::IP_PMTUDISC_DONT),
        PathMtu::Want => Some(libc::IP_PMTUDISC_WANT),
        PathMtu::Do => Some(libc::IP_PMTUDISC_DO),
        PathMtu::Probe => Some(libc::IP_PMTUDISC_PROBE),
    }
}

#[cfg(test)]
mod tests;
