//! What an interface is like before an emulator takes it.

use std::os::fd::AsFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use units::Bytes;

use crate::error::{During, Result};
use crate::netlink::Route;
use crate::sys::ethtool;

/// Features that make packets larger than the MTU out of those that programs
/// or the wire send, by the kernel's names; tunnels have more, which nobody
/// meets without them.
const BUNDLING: [&str; 7] = [
    "rx-gro",
    "rx-gro-hw",
    "rx-lro",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

/// An interface of the calling process's namespace, as an emulator would meet it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Whether it was set up.
    pub up: bool,
    /// Whether its frames are Ethernet frames.
    pub ethernet: bool,
    /// Whether it is the loopback interface.
    pub loopback: bool,
    /// Its MTU.
    pub mtu: Bytes,
    /// Features that are on and make super-packets, by the kernel's names.
    pub bundling: Vec<String>,
}

impl End {
    /// Looks at the interface called `name`.
    ///
    /// # Errors
    /// Where there is none of this name.
    pub fn look(name: &str) -> Result<Self> {
        let kind = Route::open()?.kind(name)?;
        let control = socket(
            AddressFamily::Inet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            None,
        )
        .during(|| "opening a control socket")?;
        // An interface without features bundles nothing.
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
