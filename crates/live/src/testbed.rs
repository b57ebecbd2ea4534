//! A path of network namespaces on this machine.

mod addressing;
mod advertise;
mod interface;

use std::net::IpAddr;
use std::path::Path as FilePath;

use units::{Bytes, IpMtu, IpVersion, Rate};

use crate::error::{Error, Result};
use crate::namespace::Namespace;
use crate::netlink::{TokenBucket, VethEnd};
use addressing::Plan;
pub use interface::Interface;

/// What the middle of the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Middle {
    /// Nothing: one link joins sender and receiver.
    Nothing,
    /// A router that forwards IP.
    Router,
    /// A switch that bridges frames.
    Switch,
}

/// Where the hosts' addresses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Set by hand.
    Static,
    /// Given by the router's Router Advertisements [RFC4861 s4.2].
    Router,
}

/// A link that is to be made; both directions are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The largest IP packet.
    pub mtu: IpMtu,
    /// The rate, Ethernet framing included, or as fast as the machine.
    pub rate: Option<Rate>,
    /// The depth of the token bucket.
    pub burst: Bytes,
    /// What may wait in front of it.
    pub buffer: Bytes,
}

/// A path that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// What stands between sender and receiver.
    pub middle: Middle,
    /// The protocol that gets addresses and routes.
    pub ip: IpVersion,
    /// Who gives the addresses.
    pub addresses: Addresses,
    /// Segmentation and receive offloads of every interface.
    pub offloads: bool,
    /// The links, sender first: one, or two with a middle.
    pub links: Vec<Link>,
}

/// A node of the path: a network namespace and its interfaces.
pub struct Node {
    /// `sender`, `router`, `switch` or `receiver`.
    pub name: &'static str,
    /// Where it lives.
    pub namespace: Namespace,
    /// Its interfaces, the one towards the sender first.
    pub interfaces: Vec<Interface>,
}

/// A path that stands.
pub struct Testbed {
    /// The nodes, sender first.
    pub nodes: Vec<Node>,
}

impl Testbed {
    /// Makes the path and returns when packets can cross it.
    ///
    /// # Errors
    /// Where the kernel refuses a step, or does not do what it acknowledged.
    pub fn build(path: &Path) -> Result<Self> {
        if path.ip == IpVersion::V6 && !FilePath::new("/proc/sys/net/ipv6").exists() {
            return Err(Error::new(
                "building the test bed",
                "IPv6 is switched off in this kernel; measure over IPv4 with network.ip = 4",
            ));
        }
        let names: &[&'static str] = match path.middle {
            Middle::Nothing => &["sender", "receiver"],
            Middle::Router => &["sender", "router", "receiver"],
            Middle::Switch => &["sender", "switch", "receiver"],
        };
        if path.links.len() + 1 != names.len() {
            return Err(Error::new(
                "building the test bed",
                "the number of links does not fit its shape",
            ));
        }
        let mut nodes = names
            .iter()
            .map(|name| Node::create(name, path))
            .collect::<Result<Vec<_>>>()?;
        for (number, link) in path.links.iter().enumerate() {
            connect(&mut nodes, number, link, path.middle)?;
        }
        let testbed = Self { nodes };
        for node in &testbed.nodes {
            node.bring_up(path)?;
        }
        match path.addresses {
            Addresses::Static => testbed.address_by_hand(path)?,
            Addresses::Router => testbed.address_by_router(path)?,
        }
        testbed.introduce_neighbours(path)?;
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

    /// The address that traffic is sent to.
    pub fn destination(&self, path: &Path) -> IpAddr {
        Plan::of(path).address(&self.receiver().interfaces[0])
    }

    /// Packets dropped in front of all links since the path stands.
    ///
    /// # Errors
    /// Where a counter cannot be read.
    pub fn queue_drops(&self) -> Result<u64> {
        let mut drops = 0;
        for (node, interface) in self.interfaces().filter(|(_, interface)| interface.shaped) {
            drops += u64::from(node.namespace.route.queue_drops(&interface.name)?);
        }
        Ok(drops)
    }

    /// Every interface of the path with its node.
    pub fn interfaces(&self) -> impl Iterator<Item = (&Node, &Interface)> {
        self.nodes.iter().flat_map(|node| {
            node.interfaces
                .iter()
                .map(move |interface| (node, interface))
        })
    }
}

impl Node {
    /// An empty node with the kernel parameters that its part needs.
    fn create(name: &'static str, path: &Path) -> Result<Self> {
        let namespace = Namespace::create()?;
        // No address waits for duplicate detection, every address is derived
        // from the interface's own, and nothing that TCP learnt in one trial
        // is there in the next.
        namespace.set_parameters(&[
            ("ipv4/tcp_no_metrics_save", "1"),
            ("ipv4/tcp_mtu_probing", "0"),
        ])?;
        if path.ip == IpVersion::V6 {
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
        if name == "router" {
            let forwarding = match path.ip {
                IpVersion::V4 => "ipv4/ip_forward",
                IpVersion::V6 => "ipv6/conf/all/forwarding",
            };
            namespace.set_parameters(&[(forwarding, "1")])?;
        }
        Ok(Self {
            name,
            namespace,
            interfaces: Vec::new(),
        })
    }

    /// Which of `kinds` of queueing disciplines this kernel has. Each is tried
    /// in front of the node's first interface, where the last one stays.
    ///
    /// # Errors
    /// Where the interface cannot be found.
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

    /// Sets offloads, joins the switch's ports, and brings all up.
    fn bring_up(&self, path: &Path) -> Result<()> {
        let route = &self.namespace.route;
        route.set_up("lo")?;
        if self.name == "switch" {
            route.add_bridge("bridge")?;
        }
        for interface in &self.interfaces {
            self.set_offloads(interface, path.offloads)?;
            if self.name == "switch" {
                route.join_bridge(&interface.name, "bridge")?;
            }
            route.set_up(&interface.name)?;
        }
        if self.name == "switch" {
            route.set_up("bridge")?;
        }
        Ok(())
    }
}

/// Makes link `number` between its two nodes and shapes both directions.
fn connect(nodes: &mut [Node], number: usize, link: &Link, middle: Middle) -> Result<()> {
    let subnet = if middle == Middle::Switch { 0 } else { number };
    let near = Interface::new(nodes[number].interfaces.len(), number, 0, subnet, link);
    let far = Interface::new(nodes[number + 1].interfaces.len(), number, 1, subnet, link);
    let end = |interface: &Interface| VethEnd {
        name: interface.name.clone(),
        address: interface.mac,
        mtu: link.mtu,
    };
    nodes[number].namespace.route.add_veth(
        &end(&near),
        &end(&far),
        std::os::fd::AsFd::as_fd(&nodes[number + 1].namespace),
    )?;
    for (node, interface) in [(number, near), (number + 1, far)] {
        if let Some(rate) = link.rate {
            let bucket = TokenBucket {
                rate,
                burst: link.burst,
                limit: link.buffer,
            };
            nodes[node]
                .namespace
                .route
                .add_token_bucket(&interface.name, &bucket)?;
        }
        nodes[node].interfaces.push(interface);
    }
    Ok(())
}
