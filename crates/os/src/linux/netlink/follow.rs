//! Notifications of routes, as they are added and removed, and of an interface.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use super::Route;
use super::plain::plain;
use crate::error::{OperationContext, Result};

/// Bytes of notifications that may wait: those of some ten thousand routes.
const RECEIVE_BUFFER: usize = 8 << 20;

/// The routes to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteFilter {
    /// The number of the kernel's routing table; 254 is the main one.
    pub table: u32,
    /// The number of the protocol that entered them, such as 12 for BIRD; `None`: any.
    pub protocol: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRoute {
    /// The first address of its prefix.
    pub network: IpAddr,
    /// Length of the prefix in bits.
    pub length: u8,
    /// Its preference among routes to one prefix: the lowest wins.
    pub metric: u32,
    /// The next routers, at least one.
    pub next_hops: Vec<IpAddr>,
    /// The realm of IPv4 routes, which a routing daemon may set; zero: none.
    pub realm: u32,
}

/// The key of a route in the kernel's table.
type Key = (IpAddr, u8, u32);

/// What notifications tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whether a route changed that is followed.
    pub followed: bool,
    /// Whether the interface that is watched, or routes to it, may have changed.
    pub watched: bool,
}

/// The routes of a table, kept up to date by notifications, and an interface to watch.
pub struct Followed {
    filter: Option<RouteFilter>,
    /// Index of the interface.
    watched: Option<u32>,
    socket: Socket,
    dump: Route,
    routes: BTreeMap<Key, KernelRoute>,
}

impl Followed {
    /// Reads the routes of `filter` in the calling thread's namespace and subscribes to
    /// changes of them and of the interface with the index `watched`.
    pub fn open(filter: Option<RouteFilter>, watched: Option<u32>) -> Result<Self> {
        let open = || -> io::Result<Socket> {
            let socket = super::open(NETLINK_ROUTE)?;
            socket.set_non_blocking(true)?;
            socket.set_rx_buf_sz(i32::try_from(RECEIVE_BUFFER).unwrap_or(i32::MAX))?;
            // The kernel removes IPv4 routes of an interface that goes down without a
            // notification, so that a change of an interface is a reason to read again.
            for group in [
                libc::RTNLGRP_LINK,
                libc::RTNLGRP_IPV4_IFADDR,
                libc::RTNLGRP_IPV6_IFADDR,
                libc::RTNLGRP_IPV4_ROUTE,
                libc::RTNLGRP_IPV6_ROUTE,
            ] {
                socket.add_membership(group)?;
            }
            Ok(socket)
        };
        let mut followed = Self {
            filter,
            watched,
            socket: open().during(|| "subscribing to changes of routes")?,
            dump: Route::open()?,
            routes: BTreeMap::new(),
        };
        followed.read_all()?;
        Ok(followed)
    }

    /// The routes, in the order of their prefixes and then of their metrics.
    pub fn routes(&self) -> impl Iterator<Item = &KernelRoute> {
        self.routes.values()
    }

    /// Reads the waiting notifications.
    ///
    /// # Errors
    /// If the kernel does not list its routes.
    pub fn update(&mut self) -> Result<Changes> {
        let (mut changes, mut again) = (Changes::default(), false);
        loop {
            let bytes = match self.socket.recv_from_full() {
                Ok((bytes, _)) => bytes,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => break,
                    Some(libc::EINTR) => continue,
                    // Notifications were lost.
                    _ => {
                        (again, changes.watched) = (true, true);
                        continue;
                    }
                },
            };
            for message in messages(&bytes) {
                match message {
                    RouteNetlinkMessage::NewRoute(message) => {
                        changes.followed |= self.add(&message);
                    }
                    RouteNetlinkMessage::DelRoute(message) => {
                        changes.followed |= self.remove(&message);
                        changes.watched |= self.watches(&message);
                    }
                    _ => (again, changes.watched) = (true, true),
                }
            }
        }
        changes.watched &= self.watched.is_some();
        if again {
            let before = std::mem::take(&mut self.routes);
            self.read_all()?;
            changes.followed |= before != self.routes;
        }
        Ok(changes)
    }

    /// Whether a route leads to the interface that is watched.
    fn watches(&self, message: &RouteMessage) -> bool {
        let attributes = message.attributes.iter();
        attributes
            .filter_map(interface)
            .any(|index| Some(index) == self.watched)
    }

    fn read_all(&mut self) -> Result<()> {
        if self.filter.is_none() {
            return Ok(());
        }
        let mut found = Vec::new();
        self.dump.all_routes(|message| found.push(message))?;
        for message in found {
            self.add(&message);
        }
        Ok(())
    }

    fn add(&mut self, message: &RouteMessage) -> bool {
        let Some(route) = self.read(message) else {
            return false;
        };
        let key = (route.network, route.length, route.metric);
        if route.next_hops.is_empty() {
            // What replaces a route may lead nowhere, as one to a black hole does.
            return self.routes.remove(&key).is_some();
        }
        self.routes.insert(key, route.clone()).as_ref() != Some(&route)
    }

    fn remove(&mut self, message: &RouteMessage) -> bool {
        let Some(route) = self.read(message) else {
            return false;
        };
        let key = (route.network, route.length, route.metric);
        let Some(held) = self.routes.get_mut(&key) else {
            return false;
        };
        // A route of IPv6 with several next hops loses one of them at a time.
        held.next_hops
            .retain(|next| !route.next_hops.contains(next));
        if held.next_hops.is_empty() || route.next_hops.is_empty() {
            self.routes.remove(&key);
        }
        true
    }

    /// The route in a message, if it is one of those to follow.
    fn read(&self, message: &RouteMessage) -> Option<KernelRoute> {
        let (header, filter) = (&message.header, self.filter?);
        let (network, length) = network(message)?;
        let (mut table, mut metric, mut realm) = (u32::from(header.table), 0, 0);
        let mut next_hops = Vec::new();
        for attribute in &message.attributes {
            match attribute {
                RouteAttribute::Gateway(address) => next_hops.extend(plain(address)),
                RouteAttribute::MultiPath(hops) => {
                    let hops = hops.iter().flat_map(|hop| &hop.attributes);
                    next_hops.extend(hops.filter_map(|attribute| match attribute {
                        RouteAttribute::Gateway(address) => plain(address),
                        _ => None,
                    }));
                }
                RouteAttribute::Table(number) => table = *number,
                RouteAttribute::Priority(number) => metric = *number,
                RouteAttribute::Realm(to) => {
                    realm = u32::from(to.source) << 16 | u32::from(to.destination);
                }
                _ => {}
            }
        }
        let by = u8::from(header.protocol);
        let wanted = table == filter.table && filter.protocol.is_none_or(|protocol| protocol == by);
        // Routes that are no unicast lead nowhere.
        if header.kind != RouteType::Unicast {
            next_hops.clear();
        }
        wanted.then_some(KernelRoute {
            network,
            length,
            metric,
            next_hops,
            realm,
        })
    }
}

impl Route {
    /// The networks of the main table's routes to the interface of this index.
    pub fn networks_to(&self, index: u32) -> Result<BTreeSet<(IpAddr, u8)>> {
        let mut found = BTreeSet::new();
        self.all_routes(|message| {
            let leads = message.attributes.iter().filter_map(interface);
            if message.header.table == RouteHeader::RT_TABLE_MAIN
                && leads.eq(std::iter::once(index))
            {
                found.extend(network(&message));
            }
        })?;
        Ok(found)
    }

    /// Passes all routes to `entry`. The kernel also lists the path MTUs that it remembers
    /// for single addresses, which are no routes.
    fn all_routes(&self, mut entry: impl FnMut(RouteMessage)) -> Result<()> {
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut request = RouteMessage::default();
            request.header.address_family = family;
            let request = RouteNetlinkMessage::GetRoute(request);
            self.dump(request, "listing routes", |listed| {
                if let RouteNetlinkMessage::NewRoute(message) = listed
                    && !message.header.flags.contains(RouteFlags::Cloned)
                {
                    entry(message);
                }
            })?;
        }
        Ok(())
    }
}

impl AsFd for Followed {
    #[expect(
        unsafe_code,
        reason = "the socket of the crate for netlink has no borrowed descriptor"
    )]
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the socket keeps the descriptor open as long as `self` lives.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// The messages in `bytes`, as far as they can be read.
pub(super) fn messages(bytes: &[u8]) -> Vec<RouteNetlinkMessage> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest) {
        let length = usize::try_from(message.header.length).unwrap_or(rest.len());
        // Netlink pads every message to four bytes [RFC3549 s2.2].
        rest = rest
            .get(length.next_multiple_of(4).max(4)..)
            .unwrap_or_default();
        if let NetlinkPayload::InnerMessage(message) = message.payload {
            found.push(message);
        }
    }
    found
}

/// The network of a route: its first address and the length of its prefix.
fn network(message: &RouteMessage) -> Option<(IpAddr, u8)> {
    let mut network = match message.header.address_family {
        AddressFamily::Inet => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        AddressFamily::Inet6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        _ => return None,
    };
    for attribute in &message.attributes {
        if let RouteAttribute::Destination(address) = attribute {
            network = plain(address)?;
        }
    }
    Some((network, message.header.destination_prefix_length))
}

/// Index of the interface to which a route leads.
const fn interface(attribute: &RouteAttribute) -> Option<u32> {
    match attribute {
        RouteAttribute::Oif(index) => Some(*index),
        _ => None,
    }
}
