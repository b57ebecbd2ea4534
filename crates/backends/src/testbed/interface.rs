//! Interfaces of a node: names and offloads.

use std::os::fd::AsFd;

use super::{Link, Medium, Node};
use os::error::{Error, OperationContext, Result};
use os::namespace::Namespace;
use os::sys::ethtool;

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name in its node: `eth0` toward the sender, then `eth1`.
    pub name: String,
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Its MTU in bytes.
    pub mtu: u32,
    /// Whether a token bucket is in front of it.
    pub shaped: bool,
    /// Number of its subnet.
    pub(super) subnet: usize,
    /// 0 at the sender's end of the link, 1 at the receiver's.
    pub(super) side: u8,
}

impl Interface {
    pub(super) fn new(
        position: usize,
        link: usize,
        side: u8,
        subnet: usize,
        made_of: &Link,
    ) -> Self {
        let number = u8::try_from(link).unwrap_or(u8::MAX);
        Self {
            name: format!("eth{position}"),
            // Locally administered [IEEE802 s8.4], distinguished by link and side.
            mac: [0x02, 0, 0, 0, number, side + 1],
            mtu: made_of.mtu.get(),
            shaped: matches!(made_of.medium, Medium::Kernel { rate: Some(_), .. }),
            subnet,
            side,
        }
    }
}

/// The packets larger than the MTU that an interface makes or accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offloads {
    /// None, in either direction.
    None,
    /// The kernel segments at the last moment and aggregates at the first, so the wire
    /// carries frames of the MTU only, as with a card's offloads.
    AboveTheWire,
    /// TCP's segmentation alone, so that packets of a few segments cross a veth pair.
    OfTcp,
    /// All: super-packets cross a veth pair unsegmented.
    All,
}

impl Offloads {
    fn wants(self, feature: &str) -> bool {
        match self {
            Self::None => false,
            Self::AboveTheWire => matches!(feature, "tx-generic-segmentation" | "rx-gro"),
            Self::OfTcp => matches!(feature, "tx-tcp-segmentation" | "tx-tcp6-segmentation"),
            Self::All => true,
        }
    }
}

/// Sets every segmentation and receive-aggregation feature of `name`.
///
/// All of them: if only the well-known ones are disabled, the kernel still builds
/// super-packets through the others. Checksum offloads are unchanged.
pub(super) fn set_offloads(namespace: &Namespace, name: &str, offloads: Offloads) -> Result<()> {
    let control = namespace.control.as_fd();
    let operation = || format!("switching offloads of {name}");
    let features = ethtool::features(control, name).during(operation)?;
    let wanted = features
        .iter()
        .filter(|(feature, _)| ethtool::is_offload(feature))
        .map(|(feature, state)| (state, offloads.wants(feature)));
    ethtool::set_features(control, name, wanted, features.len()).during(operation)?;
    let left: Vec<String> = offloads_on(namespace, name)?
        .into_iter()
        .filter(|feature| !offloads.wants(feature))
        .collect();
    if !left.is_empty() {
        return Err(Error::new(
            operation(),
            format!("these stay on: {}", left.join(", ")),
        ));
    }
    Ok(())
}

/// The active segmentation and receive-aggregation features.
fn offloads_on(namespace: &Namespace, name: &str) -> Result<Vec<String>> {
    let features = ethtool::features(namespace.control.as_fd(), name)
        .during(|| format!("reading the offloads of {name}"))?;
    Ok(features
        .into_iter()
        .filter(|(name, feature)| ethtool::is_offload(name) && feature.active)
        .map(|(name, _)| name)
        .collect())
}

impl Node {
    pub(super) fn set_offloads(&self, interface: &Interface, offloads: Offloads) -> Result<()> {
        set_offloads(&self.namespace, &interface.name, offloads)
    }

    /// The active segmentation and receive-aggregation features.
    ///
    /// # Errors
    /// If the interface cannot be queried.
    pub fn offloads(&self, interface: &Interface) -> Result<Vec<String>> {
        offloads_on(&self.namespace, &interface.name)
    }

    /// The MTU of an interface, as reported by the kernel.
    ///
    /// # Errors
    /// If the interface cannot be queried.
    pub fn mtu(&self, interface: &Interface) -> Result<u32> {
        self.namespace.route.mtu(&interface.name)
    }
}
