//! ICMP echo requests of systems other than Linux: Windows sends them for any program, macOS
//! and FreeBSD have sockets for them.

#[cfg_attr(unix, path = "echoes/sockets.rs")]
#[cfg_attr(windows, path = "echoes/icmp.rs")]
mod system;

use std::net::IpAddr;

pub use system::Echoes;

/// An echo request in one packet, which no router may divide.
#[derive(Clone, Copy, Debug)]
pub struct EchoRequest {
    /// The number that its answer repeats.
    pub number: u64,
    pub to: IpAddr,
    /// Bytes behind the header of ICMP.
    pub length: usize,
    /// `None`: the system's default.
    pub hop_limit: Option<u8>,
}

/// The answer to an echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoAnswer {
    /// That of the request.
    pub number: u64,
    /// Who sent it.
    pub from: IpAddr,
    pub kind: EchoKind,
}

/// The content of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoKind {
    /// An echo reply with so many bytes behind the header of ICMP.
    Reply { length: usize },
    /// The hop limit ended there.
    HopLimitExceeded,
    /// A router, or this system, says that the packet is too big.
    TooBig,
    /// No route, no host, or a filter.
    Unreachable,
}
