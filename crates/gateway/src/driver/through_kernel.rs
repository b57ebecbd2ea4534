//! Packets to hosts through the kernel's output, which looks for the host: the first one to
//! a host, and ICMP errors of the gateway.
//!
//! Errors cannot go through the TUN interface, as packets from the core do: the kernel
//! drops what comes from an interface with one of its own addresses as source
//! [RFC1812 s5.3.8], and a router's errors have just such a source [RFC1812 s4.3.2.4].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use units::Bytes;
use wire::icmp_error::set_source;
use wire::ip_packet::addresses;

use os::error::{OperationContext, Result};
use os::netlink::Route;
use os::socket::{self, IpOption, Kind, Options};
use os::sys::datagrams::{self, Outgoing};

pub(super) struct ThroughKernel {
    route: Route,
    /// Raw sockets of IPv4 and IPv6, for packets whose headers are complete.
    sockets: [OwnedFd; 2],
}

impl ThroughKernel {
    /// Opens the sockets.
    ///
    /// # Errors
    /// If the kernel rejects: it needs CAP_NET_RAW.
    pub(super) fn open() -> Result<Self> {
        let options = Options {
            // Room for what waits while the kernel looks for a host.
            send_buffer: Some(Bytes::new(1 << 20)),
            non_blocking: true,
            ..Options::default()
        };
        let open = |version: IpAddr| -> Result<OwnedFd> {
            let socket = socket::open(Kind::Raw(libc::IPPROTO_RAW), version, &options)?;
            IpOption::HEADERS
                .set(socket.as_fd(), version, 1)
                .during(|| "opening a socket for packets to the inside")?;
            Ok(socket)
        };
        Ok(Self {
            route: Route::open()?,
            sockets: [
                open(Ipv4Addr::UNSPECIFIED.into())?,
                open(Ipv6Addr::UNSPECIFIED.into())?,
            ],
        })
    }

    /// Sends a packet. Returns whether the kernel took it.
    pub(super) fn send(&self, packet: &[u8]) -> bool {
        let Ok(addresses) = addresses(packet) else {
            return false;
        };
        let [_, destination] = addresses.ends();
        let socket = &self.sockets[usize::from(destination.is_ipv6())];
        let outgoing = Outgoing {
            to: SocketAddr::new(destination, 0),
            service: wire::frame::service_of(packet).unwrap_or(0),
            bytes: packet,
            each: None,
        };
        datagrams::send(socket.as_fd(), std::iter::once(outgoing)).is_ok()
    }

    /// Sends an ICMP error. One without a source gets the address that the kernel has
    /// toward the host [RFC1812 s4.3.2.4]. Returns whether the kernel took it.
    pub(super) fn send_error(&self, error: &[u8]) -> bool {
        let ends = addresses(error).map(|addresses| addresses.ends());
        let Ok([source, host]) = ends else {
            return false;
        };
        if !source.is_unspecified() {
            return self.send(error);
        }
        let Some(source) = self.source(host) else {
            return false;
        };
        let mut error = error.to_vec();
        set_source(&mut error, source).is_ok() && self.send(&error)
    }

    /// The address that the kernel prefers toward `host`.
    pub(super) fn source(&self, host: IpAddr) -> Option<IpAddr> {
        self.route.choose(host, None, None).ok()?.source
    }
}
