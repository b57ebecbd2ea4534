//! Options that each version of IP has under a name of its own [ip(7)] [ipv6(7)].

use std::io;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use crate::sys::option;

/// An option in IPv4 and in IPv6.
#[derive(Clone, Copy, Debug)]
pub struct IpOption {
    v4: libc::c_int,
    v6: libc::c_int,
}

impl IpOption {
    /// The service byte of packets that are sent, which holds the code point [RFC2474 s3].
    pub(crate) const SERVICE: Self = Self::named(libc::IP_TOS, libc::IPV6_TCLASS);
    /// Their time to live, or hop limit.
    pub const HOP_LIMIT: Self = Self::named(libc::IP_TTL, libc::IPV6_UNICAST_HOPS);
    /// The treatment of the path's MTU.
    pub(crate) const MTU_DISCOVERY: Self =
        Self::named(libc::IP_MTU_DISCOVER, libc::IPV6_MTU_DISCOVER);
    /// The path MTU of a connected socket, as the kernel knows it.
    pub const MTU: Self = Self::named(libc::IP_MTU, libc::IPV6_MTU);
    /// Whether errors of the path are kept with their sources.
    pub(crate) const ERRORS: Self = Self::named(libc::IP_RECVERR, libc::IPV6_RECVERR);
    /// Whether the program writes the headers of packets.
    pub const HEADERS: Self = Self::named(libc::IP_HDRINCL, libc::IPV6_HDRINCL);
    /// Whether arrivals come with their service byte.
    pub const SERVICE_OF_ARRIVALS: Self = Self::named(libc::IP_RECVTOS, libc::IPV6_RECVTCLASS);
    /// Whether arrivals come with their time to live, or hop limit.
    pub const HOP_LIMIT_OF_ARRIVALS: Self = Self::named(libc::IP_RECVTTL, libc::IPV6_RECVHOPLIMIT);
    /// Whether arrivals come with their destination and interface.
    pub const DESTINATION_OF_ARRIVALS: Self = Self::named(libc::IP_PKTINFO, libc::IPV6_RECVPKTINFO);
    /// Whether arrivals come with the size of their largest fragment.
    pub const FRAGMENT_SIZE_OF_ARRIVALS: Self =
        Self::named(libc::IP_RECVFRAGSIZE, libc::IPV6_RECVFRAGSIZE);

    const fn named(v4: libc::c_int, v6: libc::c_int) -> Self {
        Self { v4, v6 }
    }

    const fn number(self, address: IpAddr) -> (libc::c_int, libc::c_int) {
        match address {
            IpAddr::V4(_) => (libc::IPPROTO_IP, self.v4),
            IpAddr::V6(_) => (libc::IPPROTO_IPV6, self.v6),
        }
    }

    /// Sets the option of a socket of the version of `address`.
    pub fn set(
        self,
        socket: BorrowedFd<'_>,
        address: IpAddr,
        value: libc::c_int,
    ) -> io::Result<()> {
        let (level, name) = self.number(address);
        option::set(socket, level, name, value)
    }

    /// Reads the option.
    pub fn value(self, socket: BorrowedFd<'_>, address: IpAddr) -> io::Result<libc::c_int> {
        let (level, name) = self.number(address);
        option::number(socket, level, name)
    }
}
