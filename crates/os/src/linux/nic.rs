//! Network interfaces of this machine, their settings and counters.

mod counters;

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use units::Rate;

use crate::error::Result;
use crate::netlink::{Listed, Route};
pub use crate::portable::nic_parts::{Coalescing, Counters, Directed, Nic, Rings};
use crate::socket;
use crate::sys::ethtool;

/// The interface of this name, of any kind.
///
/// # Errors
/// If there is none.
pub fn named(name: &str) -> Result<Nic> {
    let control = socket::control()?;
    Nic::read(name.to_owned(), &Route::open()?, control.as_fd())
}

/// Whether the system states the offloads of interfaces.
pub const fn states_offloads() -> bool {
    true
}

/// All interfaces with a device, sorted by name: neither loopback nor veth, bridges or
/// tunnels. If there is none, as in a container, all interfaces but loopback.
///
/// # Errors
/// If a socket is rejected, or the kernel does not list its interfaces.
pub fn all() -> Result<Vec<Nic>> {
    let control = socket::control()?;
    let route = Route::open()?;
    let mut interfaces = route.interfaces()?;
    interfaces.retain(|one| !one.loopback);
    // The folder may be that of another network namespace.
    let has_device = |one: &&Listed| folder(&one.name).join("device").exists();
    let mut names: Vec<String> = interfaces
        .iter()
        .filter(has_device)
        .map(|one| one.name.clone())
        .collect();
    if names.is_empty() {
        names = interfaces.into_iter().map(|one| one.name).collect();
    }
    names.sort();
    names
        .into_iter()
        .map(|name| Nic::read(name, &route, control.as_fd()))
        .collect()
}

impl Nic {
    fn read(name: String, route: &Route, control: BorrowedFd<'_>) -> Result<Self> {
        let folder = folder(&name);
        let word = |file: &str| {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            Some(text.trim().to_owned())
        };
        let info = ethtool::driver_info(control, &name).unwrap_or_default();
        let features = ethtool::features(control, &name).unwrap_or_default();
        let stamping = ethtool::stamping(control, &name).ok();
        Ok(Self {
            up: word("operstate").as_deref() == Some("up"),
            mtu: route.mtu(&name)?,
            largest_mtu: route.largest_mtu(&name)?,
            driver: info.driver,
            firmware: info.firmware,
            full_duplex: word("duplex").and_then(|text| match text.as_str() {
                "full" => Some(true),
                "half" => Some(false),
                _ => None,
            }),
            interrupt_processors: interrupt_processors(&folder.join("device")),
            receive_stamps: stamping.is_some_and(|stamping| stamping.receive),
            ptp_clock: stamping.and_then(|stamping| stamping.clock),
            counters: Counters::sample(&name)?,
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

fn folder(name: &str) -> PathBuf {
    ["/sys/class/net", name].iter().collect()
}

/// The lists of processors that serve the interrupts of a device, each once.
fn interrupt_processors(device: &Path) -> Vec<String> {
    // A virtio device has those of the PCI device around it.
    let device = fs::canonicalize(device).unwrap_or_default();
    let places = [Some(device.as_path()), device.parent()];
    let interrupts = places
        .into_iter()
        .flatten()
        .find_map(|place| fs::read_dir(place.join("msi_irqs")).ok());
    let mut lists: Vec<String> = interrupts
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().into_string().ok()?;
            let file = format!("/proc/irq/{number}/smp_affinity_list");
            Some(fs::read_to_string(file).ok()?.trim().to_owned())
        })
        .collect();
    lists.sort_unstable();
    lists.dedup();
    lists
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
