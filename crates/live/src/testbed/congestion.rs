//! The default congestion control of programs in a test bed.

use std::net::IpAddr;

use super::addressing::Plan;
use super::{Node, Path, Testbed};
use crate::error::Result;
use crate::netlink::HostRoute;

impl Testbed {
    /// Sets the default TCP congestion control of both hosts to `name`.
    ///
    /// A namespace's default is limited to those that the machine's administrator
    /// allows to all users [tcp(7)]. Others are set on the route between the hosts,
    /// where they also override a program's choice before it connects.
    ///
    /// # Errors
    /// If the kernel has no congestion control of this name.
    pub fn set_congestion_control(&self, path: &Path, name: &str) -> Result<()> {
        let (plan, last) = (Plan::of(path), self.nodes.len() - 1);
        let gateways = self.gateways(path);
        for (host, other, side) in [(0, last, 0), (last, 0, 1)] {
            let (host, other) = (&self.nodes[host], &self.nodes[other]);
            let gateway = gateways.map(|both| both[side]);
            host.begin_with(name, plan.address(&other.interfaces[0]), gateway)?;
        }
        Ok(())
    }

    /// Makes TCP of the sender probe for the path MTU from the beginning of a connection
    /// [LinuxDoc ip-sysctl].
    ///
    /// # Errors
    /// The kernel's.
    pub fn probe_by_tcp(&self) -> Result<()> {
        let parameter = [("ipv4/tcp_mtu_probing", "2")];
        self.sender().namespace.set_parameters(&parameter)
    }
}

impl Node {
    fn begin_with(&self, name: &str, destination: IpAddr, gateway: Option<IpAddr>) -> Result<()> {
        let route = HostRoute {
            interface: &self.interfaces[0].name,
            destination,
            gateway,
            congestion: name,
        };
        let default = [("ipv4/tcp_congestion_control", name)];
        match self.namespace.set_parameters(&default) {
            Ok(()) => self.namespace.route.remove_host_route(&route),
            Err(error) if error.source.raw_os_error() == Some(libc::EPERM) => {
                self.namespace.route.set_host_route(&route)
            }
            Err(error) => Err(error),
        }
    }
}
