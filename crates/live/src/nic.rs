//! Physical network interfaces of this machine and their settings.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use units::Rate;

use crate::error::{During, Result};
use crate::netlink::Route;
use crate::sys::ethtool;
pub use crate::sys::ethtool::{Coalescing, Rings};

/// A network interface; properties unknown to its driver are absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// Its name, e.g. `eth0`.
    pub name: String,
    /// Whether it can carry packets now.
    pub up: bool,
    /// Its MTU in octets.
    pub mtu: u32,
    /// The largest MTU in octets that its driver accepts.
    pub largest_mtu: Option<u32>,
    /// Name of its driver.
    pub driver: Option<String>,
    /// Data rate of its link; virtual interfaces have none.
    pub speed: Option<Rate>,
    /// Sizes of its rings.
    pub rings: Option<Rings>,
    /// Its interrupt coalescing.
    pub coalescing: Option<Coalescing>,
    /// Segmentation and receive offloads that are on, by the kernel's names.
    pub offloads: Vec<String>,
}

/// The interface of this name, of any kind.
///
/// # Errors
/// If there is none.
pub fn named(name: &str) -> Result<Nic> {
    let control = control()?;
    Nic::read(name.to_owned(), &Route::open()?, control.as_fd())
}

/// All interfaces with a device, sorted by name: neither loopback nor veth, bridges or
/// tunnels.
///
/// # Errors
/// If a socket is refused, or the kernel does not list its interfaces.
pub fn all() -> Result<Vec<Nic>> {
    let control = control()?;
    let route = Route::open()?;
    let entries = fs::read_dir("/sys/class/net").during(|| "reading /sys/class/net")?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("device").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| Nic::read(name, &route, control.as_fd()))
        .collect()
}

/// A socket for ioctls.
fn control() -> Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    socket(AddressFamily::Inet, SockType::Datagram, flags, None)
        .during(|| "opening a control socket")
}

impl Nic {
    fn read(name: String, route: &Route, control: BorrowedFd<'_>) -> Result<Self> {
        let folder = Path::new("/sys/class/net").join(&name);
        let word = |file: &str| {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            Some(text.trim().to_owned())
        };
        let driver = fs::read_link(folder.join("device/driver")).ok();
        let features = ethtool::features(control, &name).unwrap_or_default();
        Ok(Self {
            up: word("operstate").as_deref() == Some("up"),
            mtu: route.mtu(&name)?,
            largest_mtu: route.largest_mtu(&name)?,
            driver: driver.and_then(|path| Some(path.file_name()?.to_str()?.to_owned())),
            speed: word("speed").and_then(|text| speed(&text)),
            rings: ethtool::rings(control, &name).ok(),
            coalescing: ethtool::coalescing(control, &name).ok(),
            offloads: features
                .into_iter()
                .filter(|(name, feature)| ethtool::is_offload(name) && feature.active)
                .map(|(name, _)| name)
                .collect(),
            name,
        })
    }
}

/// The file `speed` holds Mbit/s, or -1 if unknown [LinuxDoc sysfs-class-net].
fn speed(text: &str) -> Option<Rate> {
    let megabits: u64 = text.parse().ok()?;
    Rate::from_bits_per_second(megabits.checked_mul(1_000_000)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_read_in_megabits_and_none_is_made_up() {
        assert_eq!(speed("25000").unwrap().to_string(), "25gbit");
        for unknown in ["-1", "0", "", "fast"] {
            assert_eq!(speed(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn every_interface_listed_has_an_mtu_within_its_limit() {
        for nic in all().unwrap() {
            assert!(nic.mtu > 0 && nic.name != "lo", "{nic:?}");
            assert!(
                nic.largest_mtu.is_none_or(|largest| largest >= nic.mtu),
                "{nic:?}"
            );
        }
    }
}
