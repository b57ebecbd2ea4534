//! netlink, synchronously: one request, one answer [RFC3549]. Most of it is rtnetlink.

mod address;
mod exchange;
mod follow;
mod link;
mod lookup;
mod neighbour;
mod nftables;
mod plain;
mod qdisc;
mod route;
mod route_metrics;
mod route_mtu;
mod route_table;
mod route_words;
mod tunnel;

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::error::{Error, OperationContext, Result};
use exchange::{exchange, open};
pub use follow::Followed;
pub use follow::{KernelRoute, RouteFilter};
pub use link::VethEnd;
pub use lookup::{Below, Listed};
pub use nftables::{ClampedTraffic, MssClamp, mss_clamps};
pub use qdisc::TokenBucket;
pub use route::{HostRoute, OfTcp};
pub use route_table::TableRoute;
pub use route_words::RouteWords;
pub use tunnel::Encapsulation;

/// An rtnetlink socket for the namespace in which it was opened.
pub struct Route {
    socket: Socket,
}

/// The kernel's action depending on whether the object exists.
#[derive(Clone, Copy)]
enum Mode {
    /// Change an existing object.
    Change,
    /// Create an object that does not exist.
    Create,
    /// Create the object, or replace it if it exists.
    Replace,
}

impl Route {
    /// Opens a socket in the calling thread's namespace.
    pub fn open() -> Result<Self> {
        let socket = open(NETLINK_ROUTE).during(|| "opening an rtnetlink socket")?;
        Ok(Self { socket })
    }

    /// Sends `message` and waits for the kernel's acknowledgement.
    fn apply(
        &self,
        message: RouteNetlinkMessage,
        mode: Mode,
        operation: impl Fn() -> String,
    ) -> Result<()> {
        let flags = match mode {
            Mode::Change => 0,
            Mode::Create => NLM_F_CREATE | NLM_F_EXCL,
            Mode::Replace => NLM_F_CREATE | NLM_F_REPLACE,
        };
        self.request_response(message, NLM_F_ACK | flags, |_| ())
            .during(operation)
    }

    /// Requests a list and passes each entry to `entry`.
    fn dump(
        &self,
        message: RouteNetlinkMessage,
        operation: &str,
        entry: impl FnMut(RouteNetlinkMessage),
    ) -> Result<()> {
        self.request_response(message, NLM_F_DUMP, entry)
            .during(|| operation)
    }

    fn request_response(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
        entry: impl FnMut(RouteNetlinkMessage),
    ) -> io::Result<()> {
        exchange(&self.socket, message, flags, entry)
    }
}

/// The address family of an address.
const fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// The error for an answer without the expected data.
fn missing(operation: impl Into<String>) -> Error {
    Error::new(operation, "the kernel's answer does not hold it")
}
