//! The local host: what limits the packets that leave it, whatever the path supports.
//! Nothing is sent to find that out.

mod finding;
mod mss_clamp;
#[cfg(test)]
mod tests;

use core::net::IpAddr;

use units::{Bytes, IpVersion, Span};

use super::Verdict;

pub(super) use finding::Measured;
pub use finding::{LocalFinding, LocalProblem};
pub use mss_clamp::{LocalMssClamp, Syns};

/// The configuration of a host, or as much of it as concerns one far end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalHost {
    /// The interfaces, without loopback.
    pub interfaces: Vec<LocalInterface>,
    pub routes: Vec<LocalRoute>,
    pub settings: LocalSettings,
    /// The rules of nftables that lower the MSS of TCP; `None`: this user may not see rules.
    pub mss_clamps: Option<Vec<LocalMssClamp>>,
}

/// An interface of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalInterface {
    pub name: String,
    /// The kernel's name of its type, such as `vxlan`; `None` for hardware.
    pub link_type: Option<String>,
    pub mtu: Bytes,
    /// Its MTU for IPv6; `None` if it has no IPv6.
    pub ipv6_mtu: Option<Bytes>,
    pub is_up: bool,
    /// The interface that carries its packets.
    pub below: Option<LowerInterface>,
    /// The bridge or bond of which it is a port.
    pub controller: Option<String>,
    /// The other end of a veth pair in the same namespace.
    pub peer: Option<String>,
}

/// The interface below another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerInterface {
    pub name: String,
    pub mtu: Bytes,
    /// The largest packet of the upper interface that leaves in one piece.
    pub fits: Bytes,
}

/// A route of a host, or a path MTU that its kernel caches for one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalRoute {
    /// The first address of its prefix.
    pub network: IpAddr,
    /// Length of the prefix in bits.
    pub length: u8,
    pub router: Option<IpAddr>,
    /// The interfaces through which it leads.
    pub interfaces: Vec<String>,
    /// Its MTU, if it sets one.
    pub mtu: Option<Bytes>,
    /// Whether the kernel learns no smaller path MTU than the route has.
    pub is_locked: bool,
    /// Whether it is of a router advertisement.
    pub is_advertised: bool,
    /// Of a cached path MTU: the time until the kernel forgets it.
    pub expires: Option<Span>,
    /// The command that removes its MTU, if one can be written.
    pub without_mtu: Option<String>,
}

/// The kernel's settings of path MTU discovery; one that it does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalSettings {
    /// When TCP searches the path MTU itself [RFC4821]: 0 never, 1 after it noticed a black
    /// hole, 2 always.
    pub tcp_mtu_probing: Option<u32>,
    /// The MSS in bytes with which that search begins.
    pub tcp_base_mss: Option<u32>,
    /// 0 if IPv4 discovers path MTUs [ip(7)].
    pub ip_no_pmtu_disc: Option<u32>,
}

impl LocalRoute {
    /// The destination with the router, as `ip route` begins a line.
    pub fn title(&self) -> String {
        let destination = match (self.length, self.network) {
            (0, _) => "default".to_owned(),
            (32, IpAddr::V4(host)) => host.to_string(),
            (128, IpAddr::V6(host)) => host.to_string(),
            (length, network) => format!("{network}/{length}"),
        };
        let router = self
            .router
            .map_or_else(String::new, |router| format!(" via {router}"));
        let interface = match self.interfaces.as_slice() {
            [one] => format!(" dev {one}"),
            _ => String::new(),
        };
        destination + &router + &interface
    }
}

impl LocalHost {
    /// Everything that limits packets, the faults first.
    pub fn findings(&self) -> Vec<LocalFinding> {
        let mut findings = Vec::new();
        for interface in self.interfaces.iter().filter(|one| one.is_up) {
            findings.extend(below(interface));
            findings.extend(self.port(interface));
            findings.extend(self.peer(interface));
            findings.extend(ipv6_mtu(interface));
        }
        findings.extend(self.routes.iter().filter_map(|route| self.route(route)));
        let clamps = self.mss_clamps.iter().flatten();
        findings.extend(clamps.filter_map(|clamp| self.mss_clamp(clamp)));
        findings.extend(self.settings.findings());
        findings.sort_by_key(|finding| !finding.problem.is_fault());
        findings
    }

    /// The findings that hold without a path: that TCP never searches the path MTU itself,
    /// as by default, matters only where packets are dropped silently.
    pub fn general_findings(&self) -> Vec<LocalFinding> {
        let mut findings = self.findings();
        findings.retain(|one| !matches!(one.problem, LocalProblem::TcpMtuProbing { value: 0, .. }));
        findings
    }

    /// Whether settings contradict each other.
    pub fn verdict(&self) -> Verdict {
        match self.findings().iter().any(|one| one.problem.is_fault()) {
            true => Verdict::Problem,
            false => Verdict::Clean,
        }
    }

    fn interface(&self, name: &str) -> Option<&LocalInterface> {
        self.interfaces.iter().find(|one| one.name == name)
    }

    /// A port that takes smaller packets than its bridge or bond.
    fn port(&self, port: &LocalInterface) -> Option<LocalFinding> {
        let upper = self.interface(port.controller.as_deref()?)?;
        (port.mtu < upper.mtu).then(|| LocalFinding {
            command: set_mtu(&port.name, upper.mtu),
            problem: LocalProblem::SmallPort {
                interface: upper.name.clone(),
                mtu: upper.mtu,
                port: port.name.clone(),
                port_mtu: port.mtu,
            },
        })
    }

    /// The other end of a veth pair that takes smaller packets.
    fn peer(&self, end: &LocalInterface) -> Option<LocalFinding> {
        let peer = self.interface(end.peer.as_deref()?)?;
        (peer.mtu < end.mtu).then(|| LocalFinding {
            command: set_mtu(&peer.name, end.mtu),
            problem: LocalProblem::SmallPeer {
                interface: end.name.clone(),
                mtu: end.mtu,
                peer: peer.name.clone(),
                peer_mtu: peer.mtu,
            },
        })
    }

    /// A route with another MTU than its interface, or a cached path MTU.
    fn route(&self, route: &LocalRoute) -> Option<LocalFinding> {
        let mtu = route.mtu?;
        let interfaces = route
            .interfaces
            .iter()
            .filter_map(|name| self.interface(name));
        let narrowest = interfaces.min_by_key(|one| one.mtu)?;
        let interface = narrowest.name.clone();
        let version = version(route.network);
        if route.expires.is_some() {
            return (mtu < narrowest.mtu).then(|| LocalFinding {
                command: match version {
                    IpVersion::V4 => "ip route flush cache".to_owned(),
                    IpVersion::V6 => "ip -6 route flush cache".to_owned(),
                },
                problem: LocalProblem::CachedPathMtu {
                    address: route.network,
                    interface,
                    mtu,
                    expires: route.expires,
                },
            });
        }
        // A router advertisement sets the MTU of its routes and that of the interface.
        let is_of_interface = narrowest.ipv6_mtu == Some(mtu) && version == IpVersion::V6;
        if mtu == narrowest.mtu || is_of_interface {
            return None;
        }
        let by_hand = || {
            let flag = if version == IpVersion::V6 { "-6 " } else { "" };
            format!("ip {flag}route change, without `mtu`")
        };
        let command = match route.is_advertised {
            true => not_advertised(narrowest),
            false => route.without_mtu.clone().unwrap_or_else(by_hand),
        };
        let (route_mtu, route, locked) = (mtu, route.title(), route.is_locked);
        let problem = match route_mtu < narrowest.mtu {
            true => LocalProblem::RouteMtu {
                route,
                interface,
                mtu,
                locked,
            },
            false => LocalProblem::RouteMtuTooLarge {
                route,
                interface,
                mtu,
                interface_mtu: narrowest.mtu,
            },
        };
        Some(LocalFinding { problem, command })
    }
}

impl LocalSettings {
    fn findings(&self) -> Vec<LocalFinding> {
        let mut findings = Vec::new();
        if let Some(value @ (0 | 2)) = self.tcp_mtu_probing {
            findings.push(LocalFinding {
                problem: LocalProblem::TcpMtuProbing {
                    value,
                    base_mss: self.tcp_base_mss,
                },
                command: "sysctl -w net.ipv4.tcp_mtu_probing=1".to_owned(),
            });
        }
        if let Some(value @ 1..=2) = self.ip_no_pmtu_disc {
            findings.push(LocalFinding {
                problem: LocalProblem::NoPathMtuDiscovery { value },
                command: "sysctl -w net.ipv4.ip_no_pmtu_disc=0".to_owned(),
            });
        }
        findings
    }
}

/// An interface whose packets do not fit the one below.
fn below(upper: &LocalInterface) -> Option<LocalFinding> {
    let below = upper
        .below
        .as_ref()
        .filter(|below| below.fits < upper.mtu)?;
    let keeps_ipv6 = upper.ipv6_mtu.is_none() || below.fits >= smallest_of_ipv6();
    let raised = below.mtu + (upper.mtu - below.fits);
    Some(LocalFinding {
        command: match keeps_ipv6 {
            true => set_mtu(&upper.name, below.fits),
            false => set_mtu(&below.name, raised),
        },
        problem: LocalProblem::SmallBelow {
            interface: upper.name.clone(),
            mtu: upper.mtu,
            below: below.name.clone(),
            below_mtu: below.mtu,
            fits: below.fits,
        },
    })
}

/// An MTU of IPv6 below that of the interface.
fn ipv6_mtu(interface: &LocalInterface) -> Option<LocalFinding> {
    let mtu = interface.ipv6_mtu.filter(|mtu| *mtu < interface.mtu)?;
    Some(LocalFinding {
        command: not_advertised(interface),
        problem: LocalProblem::Ipv6Mtu {
            interface: interface.name.clone(),
            mtu,
            interface_mtu: interface.mtu,
        },
    })
}

/// The command after which IPv6 uses the MTU of the interface, and no router
/// advertisement changes that.
fn not_advertised(interface: &LocalInterface) -> String {
    // A name with a dot needs the other separator of sysctl(8).
    let of = format!("net/ipv6/conf/{}", interface.name);
    format!(
        "sysctl -w {of}/accept_ra_mtu=0 {of}/mtu={}",
        interface.mtu.get()
    )
}

fn set_mtu(interface: &str, mtu: Bytes) -> String {
    format!("ip link set {interface} mtu {}", mtu.get())
}

/// The smallest MTU of an interface with IPv6 [RFC8200 s5].
pub(super) fn smallest_of_ipv6() -> Bytes {
    Bytes::new(IpVersion::V6.smallest_mtu().into())
}

const fn version(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}
