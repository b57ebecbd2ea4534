//! The interfaces of this host as the kernel shows them.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use super::former_values::Interfaces;
use super::setting::{ACTIVE, REQUESTED, Setting};
use crate::error::{Error, OperationContext, Result};
use crate::netlink::{Listed, Route};
use crate::socket;
use crate::sys::ethtool;

/// The interfaces of the caller's network namespace.
pub(super) struct Kernel {
    route: Route,
    /// A socket for ioctls.
    control: OwnedFd,
}

impl Kernel {
    pub(crate) fn open() -> Result<Self> {
        Ok(Self {
            route: Route::open()?,
            control: socket::control()?,
        })
    }

    fn set_mtu(&self, interface: &Listed, mtu: u32) -> Result<()> {
        let rejected = match self.route.set_mtu(&interface.name, mtu) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match self.route.largest_mtu(&interface.name) {
            Ok(Some(largest)) if mtu > largest => Err(Error::new(
                rejected.operation,
                format!("its driver allows {largest} at most; choose a smaller MTU"),
            )),
            _ => Err(rejected),
        }
    }

    fn set_offload(&self, interface: &Listed, name: &str, value: u32) -> io::Result<()> {
        let features = ethtool::features(self.control.as_fd(), &interface.name)?;
        let wanted = features
            .get(name)
            .into_iter()
            .map(|feature| (feature, value & REQUESTED != 0));
        ethtool::set_features(
            self.control.as_fd(),
            &interface.name,
            wanted,
            features.len(),
        )
    }
}

impl Interfaces for Kernel {
    fn list(&self) -> Result<Vec<Listed>> {
        self.route.interfaces()
    }

    fn value(&self, interface: &Listed, setting: &Setting) -> Result<Option<u32>> {
        let control = self.control.as_fd();
        let name = &interface.name;
        let value = match setting {
            Setting::Mtu => return self.route.mtu(name).map(Some),
            Setting::Ipv6Mtu => fs::read_to_string(ipv6_mtu(name))
                .and_then(|text| text.trim().parse().map_err(io::Error::other)),
            Setting::RouteMtu(route) => {
                let routes = self.route.route_mtus()?;
                return Ok(routes
                    .into_iter()
                    .find(|one| one.route == *route)
                    .map(|one| one.mtu));
            }
            Setting::Offload(offload) => {
                let features = ethtool::features(control, name);
                let bits = |feature: &ethtool::Feature| {
                    u32::from(feature.requested) * REQUESTED + u32::from(feature.active) * ACTIVE
                };
                match features {
                    Ok(features) => return Ok(features.get(offload).map(bits)),
                    Err(error) => Err(error),
                }
            }
            Setting::Ring(ethtool::Ring::Receive) => {
                ethtool::rings(control, name).map(|rings| rings.receive)
            }
            Setting::Ring(ethtool::Ring::Send) => {
                ethtool::rings(control, name).map(|rings| rings.send)
            }
            Setting::Coalescing(field) => ethtool::coalescing_field(control, name, *field),
        };
        match value {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error).during(|| format!("reading {} of {name}", setting.name())),
        }
    }

    fn set(&self, interface: &Listed, setting: &Setting, value: u32) -> Result<()> {
        let control = self.control.as_fd();
        let name = &interface.name;
        let operation = || {
            let value = setting.show(value);
            format!("setting {} of {name} to {value}", setting.name())
        };
        let done = match setting {
            Setting::Mtu => self.set_mtu(interface, value),
            Setting::RouteMtu(route) => self.route.set_route_mtu(route, value),
            Setting::Ipv6Mtu => fs::write(ipv6_mtu(name), value.to_string()).during(operation),
            Setting::Offload(offload) => self
                .set_offload(interface, offload, value)
                .during(operation),
            Setting::Ring(ring) => ethtool::set_ring(control, name, *ring, value).during(operation),
            Setting::Coalescing(field) => {
                ethtool::set_coalescing_field(control, name, *field, value).during(operation)
            }
        };
        done.map_err(needs_root)
    }

    fn followers(&self, interface: &Listed) -> Result<Vec<Setting>> {
        let mut routes = self.route.route_mtus()?;
        routes.retain(|route| route.interface == interface.index);
        // The next router advertisement puts back what it set. It does so only if the
        // MTU of IPv6 is not back already [RFC4861 s6.3.4].
        let advertised = routes.iter().any(|route| route.advertised);
        let own = (!advertised && self.has_ipv6(interface)).then_some(Setting::Ipv6Mtu);
        Ok(routes
            .into_iter()
            .filter(|route| !route.advertised)
            .map(|route| Setting::RouteMtu(route.route))
            .chain(own)
            .collect())
    }

    fn has_ipv6(&self, interface: &Listed) -> bool {
        ipv6_mtu(&interface.name).exists()
    }
}

/// Asks the kernel to end other processes first when memory runs out
/// [proc_pid_oom_score_adj(5)]. Without the privilege the usual order stays.
pub(super) fn survive_lack_of_memory() {
    let _ = fs::write("/proc/self/oom_score_adj", "-1000");
}

/// The file with the MTU that IPv6 uses on an interface [LinuxDoc ip-sysctl].
fn ipv6_mtu(interface: &str) -> PathBuf {
    ["/proc/sys/net/ipv6/conf", interface, "mtu"]
        .iter()
        .collect()
}

/// Whether a driver does not have what was asked for.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unsupported | ErrorKind::NotFound | ErrorKind::InvalidInput
    )
}

/// Adds the remedy where the kernel rejects for lack of privilege.
fn needs_root(error: Error) -> Error {
    match error.source.kind() {
        ErrorKind::PermissionDenied => Error::new(
            error.operation,
            "this needs root on the host: let the experiment become it with become = \"sudo\"",
        ),
        _ => error,
    }
}
