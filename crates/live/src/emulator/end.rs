//! Properties of an interface before an emulator uses it.

use std::os::fd::AsFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use units::Bytes;

use crate::error::{During, Result};
use crate::netlink::Route;
use crate::sys::ethtool;

/// Features that create packets larger than the MTU, by the kernel's names. Tunnels
/// have more, which matter only to tunnels.
const BUNDLING: [&str; 7] = [
    "rx-gro",
    "rx-gro-hw",
    "rx-lro",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

/// An interface of the calling process's namespace, as an emulator would find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Whether the interface is set up.
    pub up: bool,
    /// Whether its frames are Ethernet frames.
    pub ethernet: bool,
    /// Whether it is the loopback interface.
    pub loopback: bool,
    /// Its MTU.
    pub mtu: Bytes,
    /// Active features that create super-packets, by the kernel's names.
    pub bundling: Vec<String>,
}

impl End {
    /// Reads the properties of the interface `name`.
    ///
    /// # Errors
    /// If the interface does not exist.
    pub fn look(name: &str) -> Result<Self> {
        let kind = Route::open()?.kind(name)?;
        let control = socket(
            AddressFamily::Inet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            None,
        )
        .during(|| "opening a control socket")?;
        // An interface without features creates no super-packets.
        let features = ethtool::features(control.as_fd(), name).unwrap_or_default();
        Ok(Self {
            up: kind.up,
            ethernet: kind.ethernet,
            loopback: kind.loopback,
            mtu: Bytes::new(u64::from(kind.mtu)),
            bundling: features
                .into_iter()
                .filter(|(name, feature)| feature.active && BUNDLING.contains(&name.as_str()))
                .map(|(name, _)| name)
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_told_from_others_and_what_is_not_there_is_an_error() {
        let end = End::look("lo").unwrap();
        assert!(
            end.loopback && !end.ethernet && end.mtu.get() > 0,
            "{end:?}"
        );
        assert!(End::look("no-such-thing").is_err());
    }
}
