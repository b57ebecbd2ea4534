//! Settings of this host that stop a gateway whose configuration is right.

use std::net::IpAddr;
use std::path::Path;

use link::edge::Prefix;
use os::error::Result;
use os::netlink::{Listed, Route};
use units::IpVersion;

use super::{Configuration, InsidePath};
use crate::machine::{Encapsulation, Peer};

/// The metric of the gateway's own routes.
const METRIC: u32 = 1;
/// The smallest MTU of an interface toward a peer, in bytes.
const LEAST_MTU: u32 = IpVersion::V6.smallest_mtu();

/// The problems of this network namespace that stop a gateway with this configuration: each
/// in one line, with the command that solves it.
///
/// # Errors
/// If the kernel does not list its interfaces.
pub fn problems(configuration: &Configuration) -> Result<Vec<String>> {
    let host = Host::look()?;
    let mut problems = Vec::new();
    let names = configuration.names.iter();
    for (name, peer) in names.zip(&configuration.settings.peers) {
        let found = host.problem_of(name, peer, configuration.core.as_deref());
        problems.extend(found);
    }
    let rows = &configuration.table.rows;
    if let InsidePath::Tun { name, mtu } = &configuration.inside {
        problems.extend(forwarding(rows));
        problems.extend(host.small_interfaces(mtu.get(), configuration));
        if configuration.installs_routes {
            problems.extend(host.other_routes(configuration)?);
        } else {
            problems.extend(host.missing_routes(configuration));
            if filters_strictly("default") {
                problems.push(format!(
                    "inside.routes = leave: the kernel drops packets of the peers' hosts unless a route to them leads to {name}; type: sysctl -w net.ipv4.conf.default.rp_filter=2, or remove the line inside.routes"
                ));
            }
        }
    }
    if let InsidePath::Packet { interfaces, .. } = &configuration.inside {
        for name in interfaces {
            let offloads = os::nic::named(name).map_or_else(|_| Vec::new(), |nic| nic.offloads);
            problems.extend(large_receive(name, &offloads));
        }
    }
    if !Path::new("/dev/net/tun").exists() {
        problems.push("there is no /dev/net/tun; type: modprobe tun".to_owned());
    }
    Ok(problems)
}

/// Why packet sockets cannot take packets from interfaces: the kernel forwards from them, and
/// packets would cross twice. For IPv6 only the switch for all interfaces counts.
pub fn forwards_twice(inside: &InsidePath) -> Option<String> {
    let InsidePath::Packet { interfaces, .. } = inside else {
        return None;
    };
    let four = interfaces
        .iter()
        .map(|name| format!("net/ipv4/conf/{name}/forwarding"));
    let mut all = four.chain(["net/ipv6/conf/all/forwarding".to_owned()]);
    let on = all.find(|name| setting(name).is_some_and(|value| value > 0))?;
    Some(format!(
        "inside interfaces: the kernel forwards from them, too, so that packets would cross twice; type: sysctl -w {on}=0, or use a TUN interface (leave the interfaces out)"
    ))
}

/// The interfaces and routes of this host.
pub struct Host {
    route: Route,
    interfaces: Vec<Listed>,
}

impl Host {
    /// Those of the calling process's network namespace.
    ///
    /// # Errors
    /// If the kernel does not list its interfaces.
    pub fn look() -> Result<Self> {
        let route = Route::open()?;
        Ok(Self {
            interfaces: route.interfaces()?,
            route,
        })
    }

    /// Why no gateway in this host can have the peer: the key that contradicts the host, and
    /// the reason with a remedy.
    pub fn contradiction(&self, peer: &Peer, core: Option<&str>) -> Option<(&'static str, String)> {
        let [here, there] = ends(peer)?;
        if self.is_own(there) {
            let why = "it is an address of this host; write the one of the other gateway";
            return Some(("address", why.to_owned()));
        }
        if !self.is_own(here) && setting("net/ipv4/ip_nonlocal_bind") != Some(1) {
            return Some(("local", self.no_address(here)));
        }
        let core = self.interfaces.iter().find(|one| Some(&*one.name) == core);
        let toward = core.or_else(|| self.toward(there))?;
        (toward.mtu < LEAST_MTU).then(|| {
            let (interface, mtu) = (&toward.name, toward.mtu);
            let why = format!(
                "{interface}, toward it, has an MTU of {mtu}, and bundles need {LEAST_MTU}; type: ip link set dev {interface} mtu {LEAST_MTU}, or more"
            );
            ("address", why)
        })
    }

    /// The MTU of the interface toward an address, if there is a route.
    pub fn mtu_toward(&self, there: IpAddr) -> Option<u32> {
        Some(self.toward(there)?.mtu)
    }

    /// Why this host does not have an address of its own.
    fn no_address(&self, here: IpAddr) -> String {
        let is_small = |one: &&Listed| one.up && here.is_ipv6() && one.mtu < LEAST_MTU;
        match self.interfaces.iter().find(is_small) {
            Some(Listed { name, mtu, .. }) => format!(
                "no interface of this host has the address, and {name} can have none of IPv6 with an MTU of {mtu}; type: ip link set dev {name} mtu {LEAST_MTU}, and then ip address add {here}/64 dev {name}"
            ),
            None => format!(
                "no interface of this host has the address; type: ip address add {here}/{} dev INTERFACE, or write the address of this gateway",
                if here.is_ipv4() { 24 } else { 64 }
            ),
        }
    }

    /// The first thing that keeps bundles from a peer or from this gateway.
    fn problem_of(&self, name: &str, peer: &Peer, core: Option<&str>) -> Option<String> {
        let [_, there] = ends(peer)?;
        let Some(by_route) = self.toward(there) else {
            return Some(format!(
                "peers.{name}.address = {there}: this host has no route to it; type: ip route add {there} via ROUTER"
            ));
        };
        let toward = match core {
            None => by_route,
            Some(core) => {
                let Some(listed) = self.interfaces.iter().find(|one| one.name == core) else {
                    return Some(format!(
                        "core.interface = {core}: this host has no such interface; `ip link` lists them"
                    ));
                };
                if by_route.index != listed.index && there.is_ipv4() && filters_strictly(core) {
                    return Some(format!(
                        "core.interface = {core}: the kernel's route to {there} is through {}, so it drops bundles that come through {core}; type: sysctl -w net.ipv4.conf.{core}.rp_filter=2",
                        by_route.name
                    ));
                }
                listed
            }
        };
        if !toward.up {
            let interface = &toward.name;
            return Some(format!(
                "{interface}, toward {name}, is down; type: ip link set dev {interface} up"
            ));
        }
        if toward.mtu < peer.mtu.get() {
            let (interface, mtu) = (&toward.name, toward.mtu);
            return Some(format!(
                "peers.{name}.mtu = {}: {interface} has an MTU of {mtu}, so bundles have {mtu} bytes at most; if the path supports more, type: ip link set dev {interface} mtu {}, otherwise write mtu = {mtu}",
                peer.mtu.get(),
                peer.mtu.get()
            ));
        }
        None
    }

    /// Routes of others to hosts behind the peers, which the kernel prefers to those of the
    /// gateway: it neither hands over packets to these hosts, nor believes those from them.
    fn other_routes(&self, configuration: &Configuration) -> Result<Vec<String>> {
        let tun = configuration.inside.tun();
        let mut problems = Vec::new();
        for route in self.route.table_routes(&self.interfaces)? {
            let is_preferred = |row: &&Prefix| {
                let more = route.length > row.length;
                let same = route.length == row.length && route.metric <= METRIC;
                row.covers(route.network) && (more || same)
            };
            let mut rows = configuration.table.rows.iter();
            let mut through = self.interfaces.iter();
            let through = through.find(|one| route.interfaces.contains(&one.index));
            let (Some(row), Some(through)) = (rows.find(is_preferred), through) else {
                continue;
            };
            // It may be of a table that the kernel does not use for these packets.
            let used = self.route.matching(route.network, None, &self.interfaces);
            let is_used =
                used.is_ok_and(|used| used.is_some_and(|used| used.interfaces == route.interfaces));
            if through.name == tun || !is_used {
                continue;
            }
            let (network, length, through) = (route.network, route.length, &through.name);
            let name = configuration.names.get(row.egress).map_or("?", |name| name);
            let remedy = match &route.words {
                Some(words) if words.is_of_address() => {
                    format!("this host is in it; write prefixes without {network}/{length}")
                }
                Some(words) => format!("type: {}, or write other prefixes", words.removal()),
                None => format!(
                    "type: ip route del {network}/{length} dev {through}, or write other prefixes"
                ),
            };
            problems.push(format!(
                "peers.{name}.prefixes = {}/{}: the kernel routes {network}/{length} to {through}, not to {tun}, and drops packets from there as martian; {remedy}",
                row.network, row.length
            ));
        }
        Ok(problems)
    }

    /// Networks behind peers that nobody has routed to the TUN interface, once it is there.
    fn missing_routes(&self, configuration: &Configuration) -> Vec<String> {
        let tun = configuration.inside.tun();
        let Some(own) = self.interfaces.iter().find(|one| one.name == tun) else {
            return Vec::new();
        };
        let rows = configuration.table.rows.iter();
        let missing = rows.filter(|row| {
            let chosen = self.route.choose(row.network, None, None);
            chosen.map_or(true, |chosen| chosen.interface != own.index)
        });
        let problem = |row: &Prefix| {
            format!(
                "inside.routes = leave: {0}/{1} is not routed to {tun}; type: ip route add {0}/{1} dev {tun}",
                row.network, row.length
            )
        };
        missing.map(problem).collect()
    }

    /// That no interface toward hosts has the MTU that they are to have.
    fn small_interfaces(&self, mtu: u32, configuration: &Configuration) -> Option<String> {
        let peers = configuration.settings.peers.iter();
        let toward = peers.filter_map(|peer| Some(self.toward(ends(peer)?[1])?.index));
        let core: Vec<u32> = toward.collect();
        let is_inside = |one: &&Listed| {
            let is_core =
                core.contains(&one.index) || Some(&one.name) == configuration.core.as_ref();
            !one.loopback && one.name != configuration.inside.tun() && !is_core
        };
        let inside = self.interfaces.iter().filter(is_inside);
        let largest = inside.max_by_key(|one| one.mtu)?;
        (largest.mtu < mtu).then(|| {
            let (interface, largest) = (&largest.name, largest.mtu);
            format!(
                "inside.mtu = {mtu}: no interface toward the hosts has this MTU, the largest is {largest} of {interface}; type: ip link set dev {interface} mtu {mtu}, or write mtu = {largest}"
            )
        })
    }

    /// The interface through which the kernel sends to an address.
    fn toward(&self, address: IpAddr) -> Option<&Listed> {
        let chosen = self.route.choose(address, None, None).ok()?;
        let mut interfaces = self.interfaces.iter();
        interfaces.find(|one| one.index == chosen.interface)
    }

    /// Whether an interface of this host has the address: its packets come back.
    fn is_own(&self, address: IpAddr) -> bool {
        self.toward(address).is_some_and(|toward| toward.loopback)
    }
}

/// The addresses of this gateway and of a peer, if bundles have them.
fn ends(peer: &Peer) -> Option<[IpAddr; 2]> {
    match peer.encapsulation {
        Encapsulation::Ip { addresses } | Encapsulation::Udp { addresses, .. } => {
            Some(addresses.ends())
        }
        Encapsulation::Label { .. } => None,
    }
}

/// That an interface toward hosts joins packets by LRO, of these offloads. It keeps too little of
/// their headers for them to be forwarded, so kernels that forward switch it off themselves.
fn large_receive(interface: &str, offloads: &[String]) -> Option<String> {
    let joins = offloads.iter().any(|offload| offload == "rx-lro");
    joins.then(|| {
        format!(
            "inside.interfaces = {interface}: it joins packets of hosts (large receive offload) so that they cannot be forwarded as they came; type: ethtool -K {interface} lro off"
        )
    })
}

/// The switches of forwarding that are off and that a TUN interface needs.
fn forwarding(rows: &[Prefix]) -> Vec<String> {
    let versions = [
        ("IPv4", "net/ipv4/ip_forward", false),
        ("IPv6", "net/ipv6/conf/all/forwarding", true),
    ];
    let needed = versions.into_iter().filter(|(.., six)| {
        let mut of_version = rows.iter().map(|row| row.network.is_ipv6() == *six);
        of_version.any(|is| is)
    });
    let off = needed.filter(|(_, switch, _)| setting(switch) == Some(0));
    let problem = |(version, switch, _): (&str, &str, bool)| {
        let name = switch.replace('/', ".");
        format!("the kernel does not forward {version} from the hosts; type: sysctl -w {name}=1")
    };
    off.map(problem).collect()
}

/// Whether the kernel drops packets of IPv4 from the interface that come from elsewhere than
/// answers would go: if the larger one of both values is 1 [LinuxDoc ip-sysctl].
fn filters_strictly(interface: &str) -> bool {
    let values = ["all", interface];
    let values = values.map(|scope| setting(&format!("net/ipv4/conf/{scope}/rp_filter")));
    values.into_iter().max().flatten() == Some(1)
}

/// A parameter of the kernel that is a number.
fn setting(name: &str) -> Option<u32> {
    let text = std::fs::read_to_string(Path::new("/proc/sys").join(name));
    text.ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::large_receive;

    #[test]
    fn only_lro_changes_packets_of_hosts() {
        let offloads = ["rx-gro", "rx-gro-hw", "tx-tcp-segmentation"].map(str::to_owned);
        assert_eq!(large_receive("eth1", &offloads), None);
        let problem = large_receive("eth1", &["rx-gro".to_owned(), "rx-lro".to_owned()]);
        assert!(problem.unwrap().ends_with("type: ethtool -K eth1 lro off"));
    }
}
