//! Test networks: network namespaces on this machine, in a row or as a graph.

mod addressing;
mod advertise;
mod graph;
mod interface;
mod path;
mod sent;
mod tcp;

use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::path::Path as FilePath;

use link::Settings;
use units::IpVersion;

use addressing::Plan;
use emulator::EmulatedLink;
pub use interface::Interface;
use interface::{Offloads, set_offloads};
use os::error::{Error, Result};
use os::fragments::Fragments;
use os::namespace::Namespace;
use os::netlink::{TokenBucket, VethEnd};
pub use path::{Addresses, Forwarder, Graph, Link, Medium, Part, Path, Tcp, Vertex};
pub use sent::SentPackets;

/// A node of the path: a network namespace and its interfaces.
pub struct Node {
    /// `sender`, `router` or `router1`, .., `receiver`.
    pub name: String,
    /// Its function.
    pub part: Part,
    /// Its network namespace.
    pub namespace: Namespace,
    /// Its interfaces, the one toward the sender first.
    pub interfaces: Vec<Interface>,
}

/// A path that has been built.
pub struct Testbed {
    /// The nodes, sender first.
    pub nodes: Vec<Node>,
    /// The namespace of the emulated links' ends, if there are any.
    emulator: Option<Namespace>,
}

impl Testbed {
    /// Builds a path of kernel links and returns when packets can cross it.
    ///
    /// # Errors
    /// As [`Testbed::build_with`], and if a link is to be emulated.
    pub fn build(path: &Path) -> Result<Self> {
        Self::build_with(path, |_, _| {
            Err(Error::new(
                "building the test network",
                "nothing emulates its links",
            ))
        })
    }

    /// Builds the path and returns when packets can cross it. If links are to be
    /// emulated, `emulate` starts the emulator of the links between the interfaces in a
    /// separate namespace, and returns when it carries frames.
    ///
    /// # Errors
    /// If the kernel rejects a step, or does not do a step that it acknowledged; the
    /// errors of `emulate`.
    pub fn build_with<E: From<Error>>(
        path: &Path,
        emulate: impl FnOnce(&Namespace, Vec<EmulatedLink>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Self, E> {
        if path.ip == IpVersion::V6 && !FilePath::new("/proc/sys/net/ipv6").exists() {
            return Err(Error::new(
                "building the test network",
                "IPv6 is switched off in this kernel; measure over IPv4 with network.ip = 4",
            )
            .into());
        }
        let mut nodes = path
            .node_names()
            .into_iter()
            .map(|(name, part)| Node::create(name, part, path.ip))
            .collect::<Result<Vec<_>>>()?;
        let mut emulated = Emulated::default();
        for (number, link) in path.links.iter().enumerate() {
            connect(&mut nodes, number, link, path, &mut emulated)?;
        }
        let testbed = Self {
            nodes,
            emulator: emulated.namespace,
        };
        for node in &testbed.nodes {
            node.bring_up(path)?;
        }
        if let Some(namespace) = &testbed.emulator {
            emulate(namespace, emulated.links)?;
        }
        match (&path.graph, path.addresses) {
            (Some(graph), _) => testbed.address_graph(path, graph)?,
            (None, Addresses::Static) => testbed.address_by_hand(path)?,
            (None, Addresses::Router) => testbed.address_by_router(path)?,
        }
        testbed.introduce_neighbours(path)?;
        testbed.set_tcp(path)?;
        Ok(testbed)
    }

    /// The sending host.
    pub fn sender(&self) -> &Node {
        &self.nodes[0]
    }

    /// The receiving host.
    pub fn receiver(&self) -> &Node {
        &self.nodes[self.nodes.len() - 1]
    }

    /// The address to which traffic is sent.
    pub fn destination(&self, path: &Path) -> IpAddr {
        Plan::of(path).address(&self.receiver().interfaces[0])
    }

    /// The address of an interface of `node`; a switch's ports have none.
    pub fn address(&self, path: &Path, node: &Node, interface: &Interface) -> Option<IpAddr> {
        (node.part != Part::Forwarder(Forwarder::Switch)).then(|| Plan::of(path).address(interface))
    }

    /// Packets dropped in front of all links since the path was built.
    ///
    /// # Errors
    /// If a counter cannot be read.
    pub fn queue_drops(&self) -> Result<u64> {
        let mut drops = 0;
        for (node, interface) in self.interfaces().filter(|(_, interface)| interface.shaped) {
            drops += u64::from(node.namespace.route.queue_drops(&interface.name)?);
        }
        Ok(drops)
    }

    /// Every interface of the path, with its node.
    pub fn interfaces(&self) -> impl Iterator<Item = (&Node, &Interface)> {
        self.nodes.iter().flat_map(|node| {
            node.interfaces
                .iter()
                .map(move |interface| (node, interface))
        })
    }
}

impl Node {
    /// The counters of one version of IP.
    ///
    /// # Errors
    /// If the kernel's counters cannot be read.
    pub fn fragments(&self, ip: IpVersion) -> Result<Fragments> {
        self.namespace.within(|| Fragments::here(ip))
    }

    /// An empty node with the kernel parameters that its part needs.
    fn create(name: String, part: Part, ip: IpVersion) -> Result<Self> {
        let namespace = Namespace::create()?;
        // No address waits for duplicate detection, every address is derived from the
        // interface's own, and TCP keeps no metrics from one trial to the next.
        namespace.set_parameters(&[
            ("ipv4/tcp_no_metrics_save", "1"),
            ("ipv4/tcp_mtu_probing", "0"),
        ])?;
        if ip == IpVersion::V6 {
            for scope in ["all", "default"] {
                namespace.set_parameters(&[
                    (&format!("ipv6/conf/{scope}/disable_ipv6"), "0"),
                    (&format!("ipv6/conf/{scope}/accept_dad"), "0"),
                    (&format!("ipv6/conf/{scope}/dad_transmits"), "0"),
                    (&format!("ipv6/conf/{scope}/addr_gen_mode"), "0"),
                    (&format!("ipv6/conf/{scope}/use_tempaddr"), "0"),
                    (&format!("ipv6/conf/{scope}/router_solicitations"), "0"),
                ])?;
            }
        }
        if part == Part::Forwarder(Forwarder::Router) {
            let forwarding = match ip {
                IpVersion::V4 => "ipv4/ip_forward",
                IpVersion::V6 => "ipv6/conf/all/forwarding",
            };
            namespace.set_parameters(&[(forwarding, "1")])?;
        }
        Ok(Self {
            name,
            part,
            namespace,
            interfaces: Vec::new(),
        })
    }

    /// The `kinds` of queueing disciplines that this kernel has. Each is tried in front
    /// of the node's first interface, where the last one stays.
    ///
    /// # Errors
    /// If the interface cannot be found.
    pub fn queues_known<'a>(&self, kinds: &[&'a str]) -> Result<Vec<&'a str>> {
        let mut known = Vec::new();
        for kind in kinds {
            let interface = &self.interfaces[0].name;
            if self.namespace.route.knows_queue(interface, kind)? {
                known.push(*kind);
            }
        }
        Ok(known)
    }

    /// Sets offloads, adds the switch's ports, and brings all interfaces up.
    fn bring_up(&self, path: &Path) -> Result<()> {
        let route = &self.namespace.route;
        route.set_up("lo")?;
        let bridges = self.part == Part::Forwarder(Forwarder::Switch);
        if bridges {
            route.add_bridge("bridge")?;
        }
        for interface in &self.interfaces {
            self.set_offloads(interface, path.offloads())?;
            if let Some(most) = path.segments_per_packet {
                route.set_segments(&interface.name, most)?;
            }
            if bridges {
                route.join_bridge(&interface.name, "bridge")?;
            }
            route.set_up(&interface.name)?;
        }
        if bridges {
            route.set_up("bridge")?;
        }
        Ok(())
    }
}

/// The ends of emulated links, in a separate namespace.
#[derive(Default)]
struct Emulated {
    namespace: Option<Namespace>,
    links: Vec<EmulatedLink>,
}

impl Emulated {
    /// The namespace, created on first use.
    fn namespace(&mut self) -> Result<&Namespace> {
        if self.namespace.is_none() {
            let namespace = Namespace::create()?;
            // Disables the kernel's own IPv6 packets there.
            if FilePath::new("/proc/sys/net/ipv6").exists() {
                for scope in ["all", "default"] {
                    let parameter = format!("ipv6/conf/{scope}/disable_ipv6");
                    namespace.set_parameters(&[(&parameter, "1")])?;
                }
            }
            self.namespace = Some(namespace);
        }
        Ok(self.namespace.as_ref().expect("it was just made"))
    }
}

/// Whether the buckets of link `number` have to segment super-packets, because no
/// other link of the path limits the rate as much. A router's bucket gets segments, and
/// limits what a sender's bucket lets pass; the sender's own would take a timer for each
/// segment, and the CPU time of a host would be that of its bucket.
fn limits(path: &Path, number: usize) -> bool {
    let rate = path.links[number].medium.rate();
    let others = path.links.iter().enumerate();
    let mut others = others.filter(|(other, _)| *other != number);
    !path.offloads
        && !others.any(|(_, link)| link.medium.rate().is_some_and(|other| Some(other) <= rate))
}

/// Builds link `number` between its two nodes: a veth pair with token buckets, or two
/// pairs with an emulator between them.
fn connect(
    nodes: &mut [Node],
    number: usize,
    link: &Link,
    path: &Path,
    emulated: &mut Emulated,
) -> Result<()> {
    let subnet = if path.middle == Forwarder::Switch {
        0
    } else {
        number
    };
    let [first, second] = path.ends(number);
    let near = Interface::new(nodes[first].interfaces.len(), number, 0, subnet, link);
    let far = Interface::new(nodes[second].interfaces.len(), number, 1, subnet, link);
    let end = |interface: &Interface| VethEnd {
        name: interface.name.clone(),
        address: interface.mac,
        mtu: link.mtu,
    };
    match &link.medium {
        Medium::Kernel {
            rate,
            burst,
            buffer,
        } => {
            let there = nodes[second].namespace.as_fd();
            let here = &nodes[first].namespace.route;
            here.add_veth(&end(&near), &end(&far), there)?;
            for (node, interface) in [(first, &near), (second, &far)] {
                let Some(rate) = *rate else { continue };
                let bucket = TokenBucket {
                    rate,
                    burst: *burst,
                    limit: *buffer,
                    segment_to: limits(path, number).then_some(link.mtu),
                };
                let route = &nodes[node].namespace.route;
                route.add_token_bucket(&interface.name, &bucket)?;
            }
        }
        Medium::Emulated { directions, rules } => {
            let namespace = emulated.namespace()?;
            let mut ends = Vec::new();
            for (node, interface, side) in [(first, &near, "a"), (second, &far, "b")] {
                let leg = VethEnd {
                    name: format!("wire{number}{side}"),
                    // Derived from the address of the interface it serves, with another
                    // first byte.
                    address: [0x06, 0, 0, 0, interface.mac[4], interface.mac[5]],
                    mtu: link.mtu,
                };
                let route = &nodes[node].namespace.route;
                route.add_veth(&end(interface), &leg, namespace.as_fd())?;
                set_offloads(namespace, &leg.name, Offloads::None)?;
                namespace.route.set_up(&leg.name)?;
                ends.push(leg.name);
            }
            let ends = <[String; 2]>::try_from(ends).expect("a link has two ends");
            // A host receives a frame only when it has arrived completely.
            let direction = |settings: &Settings, far_end: &Node| Settings {
                cut_through: settings.cut_through && far_end.part != Part::Host,
                ..settings.clone()
            };
            let [there, back] = &**directions;
            emulated.links.push(EmulatedLink {
                ends,
                directions: [
                    direction(there, &nodes[second]),
                    direction(back, &nodes[first]),
                ],
                rules: rules.clone(),
            });
        }
    }
    nodes[first].interfaces.push(near);
    nodes[second].interfaces.push(far);
    Ok(())
}
