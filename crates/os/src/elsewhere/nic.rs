//! Network interfaces of this machine, and their counters, on systems other than Linux.

use super::interfaces::{Listed, list};
use crate::error::{Error, Result};
pub use crate::portable::nic_parts::{Coalescing, Counters, Directed, Nic, Rings};

/// Whether the system states the offloads of interfaces. Wine does not.
#[cfg(not(target_os = "linux"))]
pub fn states_offloads() -> bool {
    #[cfg(windows)]
    return !super::sys::windows::is_wine();
    #[cfg(unix)]
    true
}

/// All interfaces that have an address other than those of loopback, sorted by name. If there
/// is none, all interfaces.
///
/// # Errors
/// The system does not list them.
pub fn all() -> Result<Vec<Nic>> {
    let listed = list()?;
    let is_real = |one: &Listed| one.addresses.iter().any(|address| !address.is_loopback());
    let any = listed.iter().any(is_real);
    let chosen = listed.into_iter().filter(|one| !any || is_real(one));
    let mut nics: Vec<Nic> = chosen.map(|listed| listed.nic).collect();
    nics.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(nics)
}

/// The interface of this name. What the system does not state is absent.
///
/// # Errors
/// There is none.
pub fn named(name: &str) -> Result<Nic> {
    let mut all = list()?.into_iter().map(|listed| listed.nic);
    let found = all.find(|nic| nic.name == name);
    found.ok_or_else(|| {
        Error::new(
            format!("looking for the interface {name}"),
            "there is none of that name",
        )
    })
}

impl Counters {
    /// Reads the counters of the interface of this name.
    ///
    /// # Errors
    /// There is none.
    #[cfg(not(target_os = "linux"))]
    pub fn sample(interface: &str) -> Result<Self> {
        Ok(named(interface)?.counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_by_its_name_alone() {
        let here = list().unwrap();
        assert!(!here.is_empty());
        for listed in here {
            let nic = named(&listed.nic.name).unwrap();
            assert_eq!((nic.mtu, nic.name), (listed.nic.mtu, listed.nic.name));
        }
        let error = named("no-such-name").unwrap_err().to_string();
        assert!(error.contains("no-such-name"), "{error}");
    }
}
