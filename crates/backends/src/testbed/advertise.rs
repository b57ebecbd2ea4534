//! The router's part of stateless address autoconfiguration [RFC4862].

use std::net::{Ipv6Addr, SocketAddrV6};
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, SockaddrIn6, sendto, setsockopt, sockopt};
use units::Span;
use wire::protocol::icmpv6::{Prefix, RouterAdvertisement};

use super::Interface;
use os::clock;
use os::error::{Error, OperationContext, Result};
use os::namespace::Namespace;
use os::socket::{Kind, Options, open};
use os::worker::roll;

/// All nodes on the link [RFC4291 s2.7.1].
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The longest lifetime a default router may claim, in seconds [RFC4861 s6.2.1].
const LONGEST_LIFETIME: u16 = 9000;

/// The longest time for a host to configure itself.
const TIMEOUT: Span = Span::from_secs(5);

/// Advertises the subnet of `interface` until `taken` returns true.
pub(super) fn until_taken(
    router: &Namespace,
    interface: &Interface,
    prefix: Ipv6Addr,
    mut taken: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let message = advertisement(interface, prefix);
    let mut bytes = vec![0; message.buffer_len()];
    message
        .emit(&mut bytes)
        .expect("the buffer has the length that the message names");
    let index = router.route.index(&interface.name)?;
    let destination = SockaddrIn6::from(SocketAddrV6::new(ALL_NODES, 0, 0, index));
    let socket = router.within(|| {
        // The kernel computes the checksum of raw ICMPv6 sockets [RFC3542 s3.1].
        let kind = Kind::Raw(libc::IPPROTO_ICMPV6);
        let socket = open(kind, ALL_NODES.into(), &Options::default())?;
        // Receivers ignore advertisements that crossed a router [RFC4861 s6.1.2].
        setsockopt(&socket, sockopt::Ipv6MulticastHops, &255)
            .during(|| "setting the hop limit to 255")?;
        Ok(socket)
    })?;
    let operation = || format!("advertising {prefix}/64 on {}", interface.name);
    let begun = clock::monotonic();
    while clock::monotonic().since(begun) < Some(TIMEOUT) {
        // An emulator may carry it.
        roll::check()?;
        sendto(socket.as_raw_fd(), &bytes, &destination, MsgFlags::empty()).during(operation)?;
        for _ in 0..20 {
            if taken()? {
                return Ok(());
            }
            clock::sleep(Span::from_millis(1));
        }
    }
    Err(Error::new(
        operation(),
        format!("not taken within {TIMEOUT}"),
    ))
}

/// The router's advertisement: its prefix for autonomous configuration, the MTU of the
/// link, its Ethernet address, and itself as default router.
fn advertisement(interface: &Interface, prefix: Ipv6Addr) -> RouterAdvertisement {
    RouterAdvertisement {
        hop_limit: 64,
        router_lifetime_seconds: LONGEST_LIFETIME,
        link_mtu: Some(interface.mtu),
        prefix: Some(Prefix {
            address: prefix,
            length: 64,
            on_link: true,
            autonomous: true,
            valid_seconds: u32::MAX,
            preferred_seconds: u32::MAX,
        }),
        link_address: Some(interface.mac),
    }
}
