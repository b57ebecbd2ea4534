//! Interfaces: veth pairs and bridges, their state, addresses and MTUs.

use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BridgeStpState, InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo,
    LinkLayerType, LinkMessage, Stats64,
};
use units::IpMtu;

use super::{Mode, Route, missing};
use crate::error::Result;

/// One end of a veth pair to create.
pub struct VethEnd {
    /// The interface's name in its namespace.
    pub name: String,
    /// Its Ethernet address.
    pub address: [u8; 6],
    pub mtu: IpMtu,
}

/// Properties of an interface.
pub struct Kind {
    /// Whether it was set up.
    pub up: bool,
    /// Whether it carries Ethernet frames.
    pub ethernet: bool,
    /// Whether it is the loopback interface.
    pub loopback: bool,
    /// Its MTU in bytes.
    pub mtu: u32,
}

impl VethEnd {
    fn attributes(&self) -> Vec<LinkAttribute> {
        vec![
            LinkAttribute::IfName(self.name.clone()),
            LinkAttribute::Mtu(self.mtu.get()),
            LinkAttribute::Address(self.address.to_vec()),
        ]
    }
}

impl Route {
    /// Creates a veth pair: `near` here, `far` in the namespace `there`.
    pub fn add_veth(&self, near: &VethEnd, far: &VethEnd, there: BorrowedFd<'_>) -> Result<()> {
        let mut peer = LinkMessage::default();
        peer.attributes = far.attributes();
        peer.attributes
            .push(LinkAttribute::NetNsFd(there.as_raw_fd()));
        let mut message = LinkMessage::default();
        message.attributes = near.attributes();
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.apply(RouteNetlinkMessage::NewLink(message), Mode::Create, || {
            format!(
                "making the veth pair {} - {} with MTU {}",
                near.name,
                far.name,
                near.mtu.get()
            )
        })
        .map_err(|error| error.lacking("veth", "load it; without it there is no test network"))
    }

    /// Creates a bridge that forwards at once, without spanning tree or delay.
    pub fn add_bridge(&self, name: &str) -> Result<()> {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Bridge),
                LinkInfo::Data(InfoData::Bridge(vec![
                    InfoBridge::StpState(BridgeStpState::Disabled),
                    InfoBridge::ForwardDelay(0),
                ])),
            ]),
        ];
        self.apply(RouteNetlinkMessage::NewLink(message), Mode::Create, || {
            format!("making the bridge {name}")
        })
        .map_err(|error| error.lacking("bridge", "load it, or choose another shape"))
    }

    /// Adds `port` to the bridge.
    pub fn join_bridge(&self, port: &str, bridge: &str) -> Result<()> {
        let mut message = self.named(port)?;
        message.attributes = vec![LinkAttribute::Controller(self.index(bridge)?)];
        self.apply(RouteNetlinkMessage::SetLink(message), Mode::Change, || {
            format!("joining {port} to {bridge}")
        })
    }

    /// Creates an `ifb` interface, whose output can be redirected and whose MTU has no
    /// limit.
    pub fn add_ifb(&self, name: &str, mtu: u32) -> Result<()> {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Mtu(mtu),
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Ifb)]),
        ];
        self.apply(RouteNetlinkMessage::NewLink(message), Mode::Create, || {
            format!("making the interface {name} with MTU {mtu}")
        })
        .map_err(|error| error.lacking("ifb", "load it, or send over loopback"))
    }

    /// Sets the MTU of an interface.
    pub fn set_mtu(&self, name: &str, mtu: u32) -> Result<()> {
        let operation = || format!("giving {name} MTU {mtu}");
        self.set(name, vec![LinkAttribute::Mtu(mtu)], operation)
    }

    /// Sets the number of packets that may wait at an interface.
    pub(crate) fn set_queue_length(&self, name: &str, packets: u32) -> Result<()> {
        self.set(name, vec![LinkAttribute::TxQueueLen(packets)], || {
            format!("giving {name} a queue of {packets} packets")
        })
    }

    /// Sets the largest TCP super-packets over IPv6, in bytes, that leave and enter an
    /// interface.
    pub fn set_super_packets(&self, name: &str, most: u32) -> Result<()> {
        let sizes = vec![
            LinkAttribute::GsoMaxSize(most),
            LinkAttribute::GroMaxSize(most),
        ];
        self.set(name, sizes, || {
            format!("allowing super-packets of {most} bytes on {name}")
        })
    }

    /// Sets how many TCP segments a super-packet has that leaves an interface, at most.
    pub fn set_segments(&self, name: &str, most: u32) -> Result<()> {
        self.set(name, vec![LinkAttribute::GsoMaxSegs(most)], || {
            format!("allowing {most} segments in a packet of {name}")
        })
    }

    fn set(
        &self,
        name: &str,
        attributes: Vec<LinkAttribute>,
        operation: impl Fn() -> String,
    ) -> Result<()> {
        let mut message = self.named(name)?;
        message.attributes = attributes;
        let message = RouteNetlinkMessage::SetLink(message);
        self.apply(message, Mode::Change, operation)
    }

    /// Sets an interface up.
    pub fn set_up(&self, name: &str) -> Result<()> {
        let mut message = self.named(name)?;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.apply(RouteNetlinkMessage::SetLink(message), Mode::Change, || {
            format!("setting {name} up")
        })
    }

    /// The MTU of an interface.
    pub fn mtu(&self, name: &str) -> Result<u32> {
        self.link(name)?
            .attributes
            .iter()
            .find_map(|attribute| match attribute {
                LinkAttribute::Mtu(mtu) => Some(*mtu),
                _ => None,
            })
            .ok_or_else(|| missing(format!("reading the MTU of {name}")))
    }

    /// The properties of an interface.
    pub fn kind(&self, name: &str) -> Result<Kind> {
        let header = self.link(name)?.header;
        Ok(Kind {
            up: header.flags.contains(LinkFlags::Up),
            ethernet: header.link_layer_type == LinkLayerType::Ether,
            loopback: header.flags.contains(LinkFlags::Loopback),
            mtu: self.mtu(name)?,
        })
    }

    /// The largest MTU of an interface, if its driver states it.
    pub(crate) fn largest_mtu(&self, name: &str) -> Result<Option<u32>> {
        let link = self.link(name)?;
        Ok(link
            .attributes
            .iter()
            .find_map(|attribute| match attribute {
                // 0 means no limit.
                LinkAttribute::MaxMtu(mtu) if *mtu > 0 => Some(*mtu),
                _ => None,
            }))
    }

    /// The kernel's counters of an interface.
    pub(crate) fn counters(&self, name: &str) -> Result<Stats64> {
        self.link(name)?
            .attributes
            .iter()
            .find_map(|attribute| match attribute {
                LinkAttribute::Stats64(counted) => Some(*counted),
                _ => None,
            })
            .ok_or_else(|| missing(format!("reading the counters of {name}")))
    }

    /// The Ethernet address of an interface.
    pub fn ethernet_address(&self, name: &str) -> Result<[u8; 6]> {
        let link = self.link(name)?;
        let address = link
            .attributes
            .iter()
            .find_map(|attribute| match attribute {
                LinkAttribute::Address(bytes) => bytes.as_slice().try_into().ok(),
                _ => None,
            });
        address.ok_or_else(|| missing(format!("reading the Ethernet address of {name}")))
    }

    /// The index of an interface.
    pub fn index(&self, name: &str) -> Result<u32> {
        Ok(self.link(name)?.header.index)
    }

    /// An empty message that refers to an existing interface.
    fn named(&self, name: &str) -> Result<LinkMessage> {
        let mut message = LinkMessage::default();
        message.header.index = self.index(name)?;
        Ok(message)
    }

    /// The description of an interface.
    pub fn link(&self, name: &str) -> Result<LinkMessage> {
        let mut found = None;
        let is_named = |link: &LinkMessage| {
            link.attributes
                .iter()
                .any(|a| matches!(a, LinkAttribute::IfName(own) if own == name))
        };
        self.dump(
            RouteNetlinkMessage::GetLink(LinkMessage::default()),
            "listing interfaces",
            |entry| {
                if let RouteNetlinkMessage::NewLink(link) = entry
                    && is_named(&link)
                {
                    found = Some(link);
                }
            },
        )?;
        found.ok_or_else(|| missing(format!("looking for the interface {name}")))
    }
}
