//! Setting the options of sockets.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use meter::departures::PathMtu;
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeVal;
use units::Span;

use super::ip_option::IpOption;
use super::{address, buffers, congestion, stamps};
use crate::error::{OperationContext, Result};
use crate::portable::socket_parts::{Kind, Options};
use crate::sys::{flow_label, option, sctp};

/// Sets the options of a socket of this kind, for packets to or from `address`; those of
/// TCP, of streams only.
///
/// # Errors
/// The kernel rejects one.
pub fn apply(options: &Options, socket: &OwnedFd, kind: Kind, address: IpAddr) -> Result<()> {
    let fd = socket.as_fd();
    options.apply_to_ip(fd, address)?;
    if let Some(size) = options.send_buffer {
        buffers::set_send_buffer(fd, size)?;
    }
    if let Some(size) = options.receive_buffer {
        buffers::set_receive_buffer(fd, size)?;
    }
    match kind {
        Kind::Stream => options.apply_to_stream(fd)?,
        Kind::UdpLite { coverage } => cover(fd, coverage)?,
        Kind::Sctp { streams } => options.apply_to_association(fd, streams)?,
        Kind::Datagram | Kind::Echo | Kind::Raw(_) => {}
    }
    if options.stamps {
        stamps::stamp_arrivals(fd)?;
    }
    if let Some(span) = options.timeout {
        set_timeout(fd, span)?;
    }
    if options.reset_on_close {
        reset_on_close(fd)?;
    }
    options.apply_to_address(socket)
}

impl Options {
    fn apply_to_ip(&self, socket: BorrowedFd<'_>, address: IpAddr) -> Result<()> {
        let service = self.dscp << 2 | self.ecn;
        if service > 0 {
            IpOption::SERVICE
                .set(socket, address, service.into())
                .during(|| format!("setting the code point {} and ECN {}", self.dscp, self.ecn))?;
        }
        if let (Some(label), IpAddr::V6(to)) = (self.flow_label, address) {
            flow_label::lease(socket, to, label)
                .during(|| format!("setting the flow label {label:#x}"))?;
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

    fn apply_to_association(&self, socket: BorrowedFd<'_>, streams: u16) -> Result<()> {
        sctp::set_streams(socket, streams).during(|| format!("asking for {streams} streams"))?;
        if self.no_delay {
            sctp::set_no_delay(socket).during(|| "switching Nagle's algorithm off")?;
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

/// Sets the bytes that checksums of UDP-Lite cover, and the fewest that they have to cover of
/// packets that arrive [RFC3828 s3.1].
fn cover(socket: BorrowedFd<'_>, coverage: u16) -> Result<()> {
    /// [LinuxUapi udp.h]
    const UDPLITE_SEND_CSCOV: libc::c_int = 10;
    const UDPLITE_RECV_CSCOV: libc::c_int = 11;
    for name in [UDPLITE_SEND_CSCOV, UDPLITE_RECV_CSCOV] {
        option::set(socket, libc::IPPROTO_UDPLITE, name, coverage.into())
            .during(|| format!("setting a checksum coverage of {coverage}"))?;
    }
    Ok(())
}

/// Whether this system has a treatment of the path MTU for sockets of this kind.
pub fn has_path_mtu(_: PathMtu, _: impl Into<Kind>) -> bool {
    true
}

/// Sets the code point of packets that a socket sends to `to`: the upper six bits of
/// their service byte [RFC2474 s3].
pub fn set_code_point(socket: impl AsFd, to: IpAddr, dscp: u8) -> Result<()> {
    IpOption::SERVICE
        .set(socket.as_fd(), to, libc::c_int::from(dscp) << 2)
        .during(|| format!("setting the code point {dscp}"))
}

/// Sets the longest time of a call that waits.
pub fn set_timeout(socket: impl AsFd, span: Span) -> Result<()> {
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
pub fn reset_on_close(socket: impl AsFd) -> Result<()> {
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
