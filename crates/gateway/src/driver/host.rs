//! Settings of this host that stop a gateway whose configuration is right.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use link::edge::Prefix;
use os::error::Result;
use os::netlink::{Listed, Route};
use os::socket::{self, Options, bind_to};

use super::{Configuration, InsidePath};
use crate::machine::{Encapsulation, Peer};

/// The problems of this network namespace that stop a gateway with this configuration: each
/// in one line, with the command that solves it.
///
/// # Errors
/// If the kernel does not list its interfaces.
pub fn problems(configuration: &Configuration) -> Result<Vec<String>> {
    let route = Route::open()?;
    let host = Host {
        interfaces: route.interfaces()?,
        route,
    };
    let mut problems = Vec::new();
    let names = configuration.names.iter();
    for (name, peer) in names.zip(&configuration.settings.peers) {
        let found = host.problem_of(name, peer, configuration.core.as_deref());
        problems.extend(found);
    }
    let rows = &configuration.table.rows;
    if let InsidePath::Tun { name, .. } = &configuration.inside {
        problems.extend(forwarding(rows));
        if !configuration.installs_routes && filters_strictly("default") {
            problems.push(format!(
                "inside.routes = leave: the kernel drops packets of the peers' hosts unless a route to them leads to {name}; type: sysctl -w net.ipv4.conf.default.rp_filter=2, or leave inside.routes out"
            ));
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
struct Host {
    route: Route,
    interfaces: Vec<Listed>,
}

impl Host {
    /// The first thing that keeps bundles from a peer or from this gateway.
    fn problem_of(&self, name: &str, peer: &Peer, core: Option<&str>) -> Option<String> {
        let (Encapsulation::Ip { addresses } | Encapsulation::Udp { addresses, .. }) =
            peer.encapsulation
        else {
            return None;
        };
        let [here, there] = addresses.ends();
        if !is_own(here) {
            return Some(format!(
                "peers.{name}.local = {here}: no interface of this host has the address; type: ip address add {here}/{} dev INTERFACE, or write the address of this gateway",
                if here.is_ipv4() { 24 } else { 64 }
            ));
        }
        if is_own(there) {
            return Some(format!(
                "peers.{name}.address = {there}: it is an address of this host; write the one of the other gateway"
            ));
        }
        let Some(by_route) = self.toward(there, None) else {
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

    /// The interface through which the kernel sends to an address.
    fn toward(&self, address: IpAddr, interface: Option<u32>) -> Option<&Listed> {
        let chosen = self.route.choose(address, interface, None).ok()?;
        let mut interfaces = self.interfaces.iter();
        interfaces.find(|one| one.index == chosen.interface)
    }
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

/// Whether an interface of this host has the address.
fn is_own(address: IpAddr) -> bool {
    let bound = socket::open(socket::Kind::Datagram, address, &Options::default())
        .and_then(|socket| bind_to(&socket, SocketAddr::new(address, 0)));
    bound.is_ok()
}
