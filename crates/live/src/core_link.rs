//! The way from a gateway of this machine into emulated links that leave it: an interface
//! whose packets an emulator takes, and sends on through the interface toward the other
//! gateway.
//!
//! The machine's own interfaces, addresses and routes are left as they are. The interface is one
//! end of a veth pair, whose other end is in a namespace of this process: when the process
//! ends, for any reason, the kernel removes the pair and the routes through it. Several links in a
//! row have a pair between each and the next one, in that namespace.

use std::fs;
use std::net::IpAddr;
use std::os::fd::AsFd as _;

use units::{Bytes, IpMtu, IpVersion, Span};

use crate::clock;
use crate::error::{During, Error, Result};
use crate::namespace::Namespace;
use crate::netlink::{Route, VethEnd};
use crate::socket;
use crate::sys::ethtool;

/// The name of the interface's other end.
const FAR: &str = "core";

/// The kernel sends no packets of its own there.
const WITHOUT_IPV6: [(&str, &str); 2] = [
    ("ipv6/conf/all/disable_ipv6", "1"),
    ("ipv6/conf/default/disable_ipv6", "1"),
];

/// It sends none on an interface that has IPv6 either: without an address of its own it
/// solicits nobody, and a group of hosts alone is not reported [RFC3810 s6].
const SILENT_IPV6: [(&str, &str); 4] = [
    ("disable_ipv6", "0"),
    ("addr_gen_mode", "1"),
    ("accept_ra", "0"),
    ("forwarding", "0"),
];

/// How long the next hop may take to tell its Ethernet address, and the interval of looks.
const PATIENCE: Span = Span::from_secs(3);
const LOOK: Span = Span::from_millis(10);

/// Where packets go that enter the link.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Toward {
    /// The name of the interface into the link.
    pub interface: String,
    /// The address of the other gateway, or of a host.
    pub gateway: IpAddr,
    /// The hosts behind it.
    pub hosts: Vec<IpAddr>,
    /// Whether packets of others enter the link, too: this machine has to forward.
    pub forwards: bool,
    /// Octets of the largest packet.
    pub mtu: Bytes,
    /// The number of links in a row; at least one.
    pub links: usize,
}

/// An interface into emulated links, which exists as long as this value.
pub struct CoreLink {
    route: Route,
    /// The interface's name.
    near: String,
    /// The number of links in a row.
    links: usize,
    /// The namespace of the other end; the emulator belongs there.
    pub namespace: Namespace,
    /// The interface of this machine toward the other gateway.
    outside: String,
}

impl CoreLink {
    /// Makes the interface. Packets that leave through it reach the next hop toward the
    /// other gateway, which is found by the machine's routes.
    ///
    /// # Errors
    /// If the kernel refuses, this machine does not forward, or there is no next hop.
    pub fn open(toward: &Toward) -> Result<Self> {
        let ip = version(toward.gateway);
        if toward.forwards {
            forwards(ip)?;
        }
        let route = Route::open()?;
        let chosen = route.choose(toward.gateway, None, None)?;
        let index = chosen.interface;
        let mut interfaces = route.interfaces()?.into_iter();
        let found = interfaces.find(|one| one.index == index && !one.loopback);
        let to = toward.gateway;
        let operation = || format!("finding the way to the gateway {to}");
        let outside = found.ok_or_else(|| {
            Error::new(
                operation(),
                "it is an address of this machine; name two machines",
            )
        })?;
        let next_hop = chosen.gateway.unwrap_or(to);
        let next_hop = next_hop_address(&route, index, next_hop)?;
        let own = route.ethernet_address(&outside.name)?;
        let mtu = IpMtu::new(toward.mtu.get(), ip);
        let mtu = mtu.map_err(|bad| Error::new("making an emulated link", bad.to_string()))?;
        let namespace = Namespace::create_apart(&WITHOUT_IPV6)?;
        let end = |name: String| VethEnd {
            name,
            // Frames leave with the address of the interface that they leave through.
            address: own,
            mtu,
        };
        let [near, far] = [&*toward.interface, FAR].map(|name| end(name.to_owned()));
        route.add_veth(&near, &far, namespace.as_fd())?;
        let link = Self {
            route,
            near: near.name.clone(),
            links: toward.links,
            namespace,
            outside: outside.name,
        };
        link.set_up(&near.name, &far.name, ip)?;
        for number in 1..toward.links {
            let [out, into] = between(number).map(&end);
            link.join(&out, &into)?;
        }
        for host in std::iter::once(to).chain(toward.hosts.iter().copied()) {
            link.route.add_neighbour(&near.name, host, next_hop)?;
        }
        Ok(link)
    }

    /// Sets both ends up, without packets of the kernel's own or larger than the MTU.
    fn set_up(&self, near: &str, far: &str, ip: IpVersion) -> Result<()> {
        let parameters: &[(&str, &str)] = match ip {
            IpVersion::V4 => &[("disable_ipv6", "1")],
            IpVersion::V6 => &SILENT_IPV6,
        };
        for (name, value) in parameters {
            let file = format!("/proc/sys/net/ipv6/conf/{near}/{name}");
            if fs::exists(&file).unwrap_or(false) {
                fs::write(&file, value).during(|| format!("writing {value} to {file}"))?;
            }
        }
        let control = socket::control()?;
        let operation = || format!("switching offloads of {near}");
        let features = ethtool::features(control.as_fd(), near).during(operation)?;
        let offloads = { features.iter() }
            .filter(|(name, _)| ethtool::is_offload(name))
            .map(|(_, feature)| (feature, false));
        ethtool::set_features(control.as_fd(), near, offloads, features.len()).during(operation)?;
        self.namespace.route.set_up(far)?;
        self.route.set_up(near)
    }

    /// Joins a link to the next one by a pair.
    fn join(&self, out: &VethEnd, into: &VethEnd) -> Result<()> {
        let route = &self.namespace.route;
        route.add_veth(out, into, self.namespace.as_fd())?;
        route.set_up(&out.name)?;
        route.set_up(&into.name)
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.near
    }

    /// The ends of each emulated link, the nearest first: in [`CoreLink::namespace`], but for
    /// the second end of the last one, which is on this machine.
    pub fn ends(&self) -> Vec<[String; 2]> {
        let mut ends = Vec::new();
        let mut first = FAR.to_owned();
        for number in 1..self.links {
            let [out, into] = between(number);
            ends.push([first, out]);
            first = into;
        }
        ends.push([first, self.outside.clone()]);
        ends
    }

    /// Prepares the link for bundles to `gateway`, which are sent through it by their socket.
    /// In IPv6 that is a choice among routes alone, so there has to be one [LinuxUapi in6.h].
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn route_bundles(&self, gateway: IpAddr) -> Result<()> {
        match gateway {
            IpAddr::V4(_) => Ok(()),
            IpAddr::V6(_) => self
                .route
                .set_network_route(self.name(), (gateway, 128), true),
        }
    }

    /// Routes packets to `hosts` into the link, as they are.
    ///
    /// # Errors
    /// If the kernel refuses, or drops what comes back from them by another interface.
    pub fn route(&self, hosts: &[IpAddr]) -> Result<()> {
        if hosts.iter().any(IpAddr::is_ipv4) {
            accepts_answers(&self.outside)?;
        }
        for host in hosts {
            let network = (*host, if host.is_ipv4() { 32 } else { 128 });
            self.route.set_network_route(self.name(), network, true)?;
        }
        Ok(())
    }
}

impl Drop for CoreLink {
    fn drop(&mut self) {
        // The kernel removes it later otherwise, when it has time for the namespace.
        let _ = self.route.remove_link(&self.near);
    }
}

/// The names of the pair between the link `number`, counted from 1, and the next one.
fn between(number: usize) -> [String; 2] {
    ["out", "in"].map(|side| format!("{side}{number}"))
}

/// Checks that packets to `hosts` take the interface `name`.
///
/// # Errors
/// If another route is preferred.
pub fn check_routes(hosts: &[IpAddr], name: &str) -> Result<()> {
    let route = Route::open()?;
    let index = route.index(name)?;
    for host in hosts {
        if route.choose(*host, None, None)?.interface != index {
            return Err(Error::new(
                format!("routing {host} to {name}"),
                format!(
                    "this machine prefers another route to this address; `ip route del {host}`, a route to its network is enough"
                ),
            ));
        }
    }
    Ok(())
}

const fn version(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}

/// Checks that this machine forwards packets.
fn forwards(ip: IpVersion) -> Result<()> {
    let parameter = match ip {
        IpVersion::V4 => "net.ipv4.ip_forward",
        IpVersion::V6 => "net.ipv6.conf.all.forwarding",
    };
    match number(&format!("/proc/sys/{}", parameter.replace('.', "/")))? {
        0 => Err(Error::new(
            "forwarding packets",
            format!("this machine does not; `sysctl -w {parameter}=1` there"),
        )),
        _ => Ok(()),
    }
}

/// Checks that the kernel takes packets from an address at `interface` although it sends to
/// that address through another one: strict source validation drops them [LinuxDoc ip-sysctl].
fn accepts_answers(interface: &str) -> Result<()> {
    const STRICT: u64 = 1;
    let of = |name: &str| number(&format!("/proc/sys/net/ipv4/conf/{name}/rp_filter"));
    // The larger one holds.
    match of("all")?.max(of(interface)?) {
        STRICT => Err(Error::new(
            format!("receiving at {interface}"),
            format!(
                "strict source validation drops answers there; `sysctl -w net.ipv4.conf.{interface}.rp_filter=2`"
            ),
        )),
        _ => Ok(()),
    }
}

fn number(file: &str) -> Result<u64> {
    let text = fs::read_to_string(file).during(|| format!("reading {file}"))?;
    let text = text.trim();
    text.parse().map_err(|_| {
        Error::new(
            format!("reading {file}"),
            format!("`{text}` is not a number"),
        )
    })
}

/// The Ethernet address of the next hop on the interface `index`.
fn next_hop_address(route: &Route, index: u32, next_hop: IpAddr) -> Result<[u8; 6]> {
    let deadline = clock::monotonic() + PATIENCE;
    loop {
        if let Some(address) = route.neighbour(index, next_hop)? {
            return Ok(address);
        }
        if clock::monotonic() >= deadline {
            return Err(Error::new(
                format!("finding the next hop {next_hop}"),
                "it does not tell its Ethernet address; is it up?",
            ));
        }
        route.look_for(index, next_hop)?;
        clock::sleep(LOOK);
    }
}
