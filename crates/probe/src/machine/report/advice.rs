//! The settings to change.

use core::net::IpAddr;

use units::Bytes;

use super::{Place, Protocol};

/// A setting to change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Advice {
    /// On which device.
    pub device: Device,
    /// The change that is advised.
    pub remedy: Remedy,
}

/// A device to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Device {
    /// This host: its interface or its route to the far end.
    Own,
    FarEnd,
    /// The router of this address.
    Router(IpAddr),
    /// The link at this place: both of its ends, and switches between.
    Link(Place),
    /// Some device of the path.
    Path,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Type this command.
    Command(String),
    /// Set the MTU to this size: of the links of the path, or of this host's route to the
    /// far end.
    Mtu(Bytes),
    /// Set the MTU of the interface, which is that of its link or tunnel.
    InterfaceMtu(Bytes),
    /// Clamp the MSS of TCP to this.
    Mss(u16),
    /// Let messages that a packet was too big pass, and send them.
    SendTooBig,
    /// Announce the true MTU.
    AnnounceMtu(Bytes),
    /// Let fragments pass.
    PassFragments,
    /// Do not clamp the MSS below this.
    UnclampMss(u16),
    /// Let packets of these sizes pass, which are smaller than others that pass.
    PassSizes { from: Bytes, to: Bytes },
    /// Reject no packets up to this MTU.
    AcceptPackets(Bytes),
    /// Let this protocol pass at any size.
    PassProtocol(Protocol),
}
