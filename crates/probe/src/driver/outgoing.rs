//! The interface through which packets to an address leave.

#[cfg_attr(not(target_os = "linux"), path = "elsewhere/route.rs")]
mod route;

use std::net::IpAddr;

use units::Bytes;

/// The interface through which packets to an address leave this host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Outgoing {
    /// Its name.
    pub interface: String,
    pub index: u32,
    pub mtu: Bytes,
    /// Whether it has IPv6.
    pub ipv6: bool,
    /// Whether it is loopback: the address is this host's own.
    pub loopback: bool,
    /// The source address of the packets.
    pub address: IpAddr,
    /// The first router; `None` if the address is on the link.
    pub gateway: Option<IpAddr>,
}
