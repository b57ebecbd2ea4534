//! Interfaces as the system lists them.

use std::net::IpAddr;

use crate::error::Result;
use crate::portable::nic_parts::{Counters, Directed, Nic};

/// An interface with all its addresses.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) nic: Nic,
    pub(crate) addresses: Vec<IpAddr>,
}

/// All interfaces.
#[cfg(windows)]
pub(crate) fn list() -> Result<Vec<Listed>> {
    use crate::error::OperationContext as _;
    let links = super::super::sys::windows::links().during(|| "listing the interfaces")?;
    let listed = links.into_iter().map(|link| Listed {
        nic: Nic {
            name: link.name,
            up: link.up,
            mtu: link.mtu,
            driver: Some(link.description),
            counters: Counters {
                received: counted(link.received),
                sent: counted(link.sent),
            },
            speed: units::Rate::from_bits_per_second(link.speed),
            offloads: super::adapters::offloads(&link.identity),
            ..Nic::default()
        },
        addresses: link.addresses,
    });
    Ok(listed.collect())
}

/// All interfaces. The system states no drops here. One that has an address is taken for up.
#[cfg(unix)]
pub(crate) fn list() -> Result<Vec<Listed>> {
    let networks = sysinfo::Networks::new_with_refreshed_list();
    let listed = networks.iter().map(|(name, network)| {
        let networks = network.ip_networks().iter();
        let addresses: Vec<IpAddr> = networks.map(|network| network.addr).collect();
        Ok(Listed {
            nic: Nic {
                name: name.clone(),
                up: !addresses.is_empty(),
                mtu: u32::try_from(network.mtu()).unwrap_or(u32::MAX),
                counters: Counters {
                    received: counted([
                        network.total_received(),
                        network.total_packets_received(),
                        0,
                        network.total_errors_on_received(),
                    ]),
                    sent: counted([
                        network.total_transmitted(),
                        network.total_packets_transmitted(),
                        0,
                        network.total_errors_on_transmitted(),
                    ]),
                },
                offloads: offloads(name)?,
                ..Nic::default()
            },
            addresses,
        })
    });
    let mut listed = listed.collect::<Result<Vec<Listed>>>()?;
    listed.sort_by(|one, other| one.nic.name.cmp(&other.nic.name));
    Ok(listed)
}

/// The offloads of an interface that are on.
#[cfg(all(unix, not(target_os = "linux")))]
fn offloads(interface: &str) -> Result<Vec<String>> {
    use crate::error::OperationContext as _;
    let doing = || format!("asking for the offloads of {interface}");
    super::super::sys::unix::offloads(interface).during(doing)
}

/// Tests on Linux have nothing to ask.
#[cfg(target_os = "linux")]
fn offloads(_: &str) -> Result<Vec<String>> {
    Ok(Vec::new())
}

const fn counted([bytes, packets, dropped, errors]: [u64; 4]) -> Directed {
    Directed {
        bytes,
        packets,
        dropped,
        errors,
        pauses: None,
    }
}
