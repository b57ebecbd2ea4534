//! Paths for jumbograms: over loopback, or between network namespaces, directly or
//! through a router.
//!
//! No interface that leads out of a namespace accepts an MTU above 65 535. Between
//! namespaces packets therefore leave through an `ifb`, which has no limit; a program
//! there redirects them to the input of loopback, and another one from there into the
//! far end of a veth pair [LinuxUapi bpf.h].

use std::net::Ipv6Addr;
use std::os::fd::{AsFd, OwnedFd};

use units::{IpMtu, IpVersion, Span};

use super::end::{FROM, Listener, Raw};
use super::message::{LEAST, Message};
use os::clock;
use os::error::{Error, OperationContext, Result};
use os::namespace::Namespace;
use os::netlink::VethEnd;
use os::sandbox::{allow_networks, privileged};
use os::sys::bpf::{Hook, PacketOutcome, attach};

/// The longest time until packets pass a new path, and the longest delay of each.
const TIMEOUT: Span = Span::from_secs(10);
const LOOK: Span = Span::from_millis(20);

/// The index of `lo` in every namespace.
const LOOPBACK: u32 = 1;

/// The path between sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Loopback of one network namespace.
    Loopback,
    /// A direct connection between two network namespaces.
    Namespaces,
    /// A router between two namespaces.
    Router,
}

/// A path for jumbograms; it is removed when this value is dropped.
pub struct JumboPath {
    /// The kind of path.
    pub between: Between,
    /// Addresses of sender and receiver.
    pub addresses: [Ipv6Addr; 2],
    /// The largest packet that it carries, in bytes.
    pub mtu: u32,
    /// One to three namespaces, the sender's first.
    namespaces: Vec<Namespace>,
    _programs: Vec<OwnedFd>,
}

impl JumboPath {
    /// Builds a path for packets of up to `mtu` bytes, and returns when packets pass
    /// it. The process must be single-threaded.
    ///
    /// # Errors
    /// One line with the remedy if privilege is missing; if the kernel rejects a step;
    /// if no packet passes the path.
    pub fn build(between: Between, mtu: u32) -> Result<Self> {
        if between != Between::Loopback && !really_root() {
            return Err(Error::new(
                "carrying jumbograms between namespaces",
                "packet programs need a real root; type sudo before the command, or leave --topology out: loopback needs no privilege",
            ));
        }
        allow_networks()?;
        let count = match between {
            Between::Loopback => 1,
            Between::Namespaces => 2,
            Between::Router => 3,
        };
        let namespaces = (0..count)
            .map(|_| node())
            .collect::<Result<Vec<Namespace>>>()?;
        let mut programs = Vec::new();
        let last = count - 1;
        for hop in 0..last {
            connect(hop, &namespaces[hop], &namespaces[hop + 1])?;
        }
        let addresses = match last {
            0 => [Ipv6Addr::LOCALHOST; 2],
            _ => [address(0, 1), address(last - 1, 2)],
        };
        for (hop, namespace) in namespaces[..last].iter().enumerate() {
            programs.extend(lift(namespace, hop, addresses[1], mtu)?);
        }
        match last {
            0 => namespaces[0].route.set_mtu("lo", mtu)?,
            // Routes for ICMP errors from the router or the receiver.
            1 => {}
            _ => namespaces[last].route.add_route(
                Some((address(0, 0).into(), 64)),
                "eth0",
                address(last - 1, 1).into(),
            )?,
        }
        let jumbo_path = Self {
            between,
            addresses,
            mtu,
            namespaces,
            _programs: programs,
        };
        jumbo_path.settle()?;
        Ok(jumbo_path)
    }

    /// Sends small packets until one arrives: on a busy machine the kernel takes time
    /// until an address is usable.
    fn settle(&self) -> Result<()> {
        let to = self.addresses[1];
        let mut listener = self.at_receiver(|| Listener::open(to.into(), 0))?;
        let raw = self.at_sender(|| Raw::open(to))?;
        let mut message = Message::new(self.addresses, [FROM, listener.port()?], LEAST);
        let deadline = clock::monotonic() + TIMEOUT;
        let mut number = 0;
        while clock::monotonic() < deadline {
            // A packet that cannot be sent yet does not arrive either.
            let _ = raw.send(message.stamped(number)?);
            if listener.next(LOOK, true)?.is_some() {
                return Ok(());
            }
            number += 1;
        }
        Err(Error::new(
            "building a path for jumbograms",
            format!(
                "no packet crosses it within {TIMEOUT}; look for packet filters on this machine"
            ),
        ))
    }

    /// Runs `work` in the sender's namespace.
    ///
    /// # Errors
    /// The errors of `work`, and those of entering the namespace.
    pub(super) fn at_sender<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.namespaces[0].within(work)
    }

    /// Runs `work` in the receiver's namespace.
    ///
    /// # Errors
    /// As [`JumboPath::at_sender`].
    pub(super) fn at_receiver<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.namespaces[self.namespaces.len() - 1].within(work)
    }

    /// The router, if there is one.
    pub(super) fn router(&self) -> Option<&Namespace> {
        match self.between {
            Between::Router => self.namespaces.get(1),
            Between::Loopback | Between::Namespaces => None,
        }
    }

    /// The namespace of the receiver, and the interface at which packets arrive.
    pub(super) fn arrival(&self) -> (&Namespace, &'static str) {
        let interface = match self.between {
            Between::Loopback => "lo",
            Between::Namespaces | Between::Router => "eth0",
        };
        (&self.namespaces[self.namespaces.len() - 1], interface)
    }

    /// Allows TCP super-packets of up to `most` bytes on loopback.
    ///
    /// # Errors
    /// If the kernel rejects.
    pub(super) fn set_super_packets(&self, most: u32) -> Result<()> {
        self.namespaces[0].route.set_super_packets("lo", most)
    }
}

/// Whether the process has the privileges of the real root, which no user namespace
/// grants.
fn really_root() -> bool {
    let all = "0          0 4294967295";
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    privileged() && map.trim() == all
}

/// A namespace with IPv6 that forwards packets, without delays for configuration.
fn node() -> Result<Namespace> {
    let namespace = Namespace::create()?;
    for scope in ["all", "default"] {
        namespace.set_parameters(&[
            (&format!("ipv6/conf/{scope}/disable_ipv6"), "0"),
            (&format!("ipv6/conf/{scope}/accept_dad"), "0"),
            (&format!("ipv6/conf/{scope}/router_solicitations"), "0"),
        ])?;
    }
    namespace.set_parameters(&[("ipv6/conf/all/forwarding", "1")])?;
    namespace.route.set_up("lo")?;
    Ok(namespace)
}

/// The address at one end of a hop: 1 nearer to the sender, 2 to the receiver. Unique
/// local addresses [RFC4193 s3.1], invisible outside.
fn address(hop: usize, end: u16) -> Ipv6Addr {
    let hop = u16::try_from(hop).unwrap_or(u16::MAX);
    Ipv6Addr::new(0xfd00, 0x2675, 0, hop, 0, 0, 0, end)
}

/// The interface at the nearer end of a hop: the first of a sender, the second of a
/// router. The farther end is the first of its node.
fn near(hop: usize) -> String {
    format!("eth{}", hop.min(1))
}

/// Connects two namespaces by a veth pair with addresses.
fn connect(hop: usize, here: &Namespace, there: &Namespace) -> Result<()> {
    let mtu = IpMtu::new(1_500, IpVersion::V6)
        .map_err(|bad| Error::new("connecting namespaces", bad.to_string()))?;
    let number = u8::try_from(hop).unwrap_or(u8::MAX);
    let end = |name: &str, side: u8| VethEnd {
        name: name.to_owned(),
        address: [0x02, 0, 0, 0x26, number, side],
        mtu,
    };
    let near = near(hop);
    here.route
        .add_veth(&end(&near, 1), &end("eth0", 2), there.as_fd())?;
    for (namespace, name, side) in [(here, near.as_str(), 1), (there, "eth0", 2)] {
        namespace.route.set_up(name)?;
        let address = address(hop, side).into();
        namespace.route.add_address(name, address, 64)?;
    }
    Ok(())
}

/// Routes packets to `receiver` out of an interface without a limit, and attaches
/// programs that redirect them into the far end of the hop's veth pair.
fn lift(namespace: &Namespace, hop: usize, receiver: Ipv6Addr, mtu: u32) -> Result<[OwnedFd; 2]> {
    let route = &namespace.route;
    route.add_ifb("jumbo0", mtu)?;
    route.set_up("jumbo0")?;
    route.add_route_to_host("jumbo0", receiver.into())?;
    let (out, peer) = (route.index("jumbo0")?, route.index(&near(hop))?);
    namespace.within(|| {
        let program = |interface, hook, outcome, name: &str| {
            attach(interface, hook, outcome)
                .during(|| format!("moving packets at {name}"))
                .map_err(|error| error.lacking("BPF_SYSCALL or NET_XGRESS", "send over loopback"))
        };
        Ok([
            program(out, Hook::Egress, PacketOutcome::Into(LOOPBACK), "jumbo0")?,
            program(
                LOOPBACK,
                Hook::Ingress,
                PacketOutcome::IntoPeerOf(peer),
                "lo",
            )?,
        ])
    })
}
