//! An interface of a node: what it is called, and what it may offload.

use std::os::fd::AsFd;

use super::{Link, Medium, Node};
use crate::error::{During, Error, Result};
use crate::namespace::Namespace;
use crate::sys::ethtool;

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name in its node: `eth0` towards the sender, then `eth1`.
    pub name: String,
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Its MTU in octets.
    pub mtu: u32,
    /// Whether a token bucket stands in front of it.
    pub shaped: bool,
    /// The number of its subnet.
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
            // Locally administered [IEEE802 s8.4], told apart by link and side.
            mac: [0x02, 0, 0, 0, number, side + 1],
            mtu: made_of.mtu.get(),
            shaped: matches!(made_of.medium, Medium::Kernel { rate: Some(_), .. }),
            subnet,
            side,
        }
    }
}

/// Which packets larger than the MTU an interface makes or takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offloads {
    /// None, in either direction.
    None,
    /// The kernel segments at the last moment and aggregates at the first, so
    /// that the wire sees frames of the MTU only: as a card's offloads look
    /// from outside.
    AboveTheWire,
    /// All: super-packets cross a veth pair whole.
    All,
}

impl Offloads {
    fn wants(self, feature: &str) -> bool {
        match self {
            Self::None => false,
            Self::AboveTheWire => matches!(feature, "tx-generic-segmentation" | "rx-gro"),
            Self::All => true,
        }
    }
}

/// Switches every segmentation and receive-aggregation feature of `name`.
///
/// All of them: with only the well-known ones off the kernel still builds
/// super-packets through the others. Checksums are left to the kernel.
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

/// The segmentation and receive-aggregation features that are on.
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

    /// The segmentation and receive-aggregation features that are on.
    ///
    /// # Errors
    /// Where the interface cannot be asked.
    pub fn offloads(&self, interface: &Interface) -> Result<Vec<String>> {
        offloads_on(&self.namespace, &interface.name)
    }

    /// The MTU that the kernel says an interface has.
    ///
    /// # Errors
    /// Where the interface cannot be asked.
    pub fn mtu(&self, interface: &Interface) -> Result<u32> {
        self.namespace.route.mtu(&interface.name)
    }
}
