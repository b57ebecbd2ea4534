//! Options of a flow's socket, and the sizes that its protocol allows.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeVal;
use proto::traffic::PathMtu;
use units::{Bytes, Span, Transport};
use wire::message::HEADER_LEN;

use crate::error::{During, Error, Result};
use crate::sys::option;
use crate::transfer::{choose_congestion_control, choose_segment};

/// The options of a flow's socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The source address; `None`: the kernel's choice.
    pub bind: Option<IpAddr>,
    /// The interface to which it is bound.
    pub device: Option<String>,
    /// Differentiated services codepoint, below 64 [RFC2474].
    pub dscp: u8,
    /// Time to live, or hop limit; `None`: the kernel's default.
    pub ttl: Option<u8>,
    /// The treatment of the path MTU.
    pub path_mtu: PathMtu,
    /// Whether Nagle's algorithm is active (TCP).
    pub nagle: bool,
    /// Maximum segment size in octets (TCP).
    pub mss: Option<u16>,
    /// Congestion control (TCP); `None`: the kernel's default.
    pub congestion: Option<String>,
    /// SO_SNDBUF; `None`: the kernel's default.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF of the receiver; `None`: its choice.
    pub receive_buffer: Option<Bytes>,
    /// Messages per call, which the kernel or the network card segments (UDP
    /// segmentation offload); 1: none.
    pub segmentation: u16,
    /// Whether the receiver's kernel may merge datagrams (UDP GRO).
    pub merge: bool,
    /// Whether to poll the clock shortly before an instant instead of sleeping.
    pub spin: bool,
    /// Whether both ends poll for arrivals instead of sleeping.
    pub busy: bool,
    /// Whether each gap counts from the end of the previous one, so that lateness
    /// accumulates, as in D-ITG without polling [D-ITG].
    pub drifts: bool,
    /// The kernel timestamps the departure of every n-th message of a stream, at its
    /// first octets.
    pub stamp_departures: Option<NonZero<u64>>,
}

/// The largest message of a stream. TCP has no limit; this one limits the memory of the
/// sender.
const LARGEST_OF_STREAM: u64 = 16 << 20;

/// The sizes that messages of a flow may have.
///
/// UDP's length has 16 bits and counts its own header of 8 octets; over IPv4 the
/// packet's length has 16 bits, too, and counts its header of 20 [RFC768] [RFC791]. An
/// echo also has a header of 8 octets [RFC792].
pub fn sizes(transport: Option<Transport>, to: IpAddr) -> (Bytes, Bytes) {
    let most = match (transport, to) {
        (Some(Transport::Tcp), _) => LARGEST_OF_STREAM,
        (_, IpAddr::V4(_)) => 65_535 - 20 - 8,
        (_, IpAddr::V6(_)) => 65_535 - 8,
    };
    (Bytes::new(HEADER_LEN as u64), Bytes::new(most))
}

/// A socket for `transport` to or from `address`, without options.
pub(crate) fn open(transport: Transport, address: IpAddr) -> Result<OwnedFd> {
    let kind = match transport {
        Transport::Udp => SockType::Datagram,
        Transport::Tcp => SockType::Stream,
    };
    socket(family(address), kind, SockFlag::SOCK_CLOEXEC, None).during(|| "opening a socket")
}

/// The family of an address.
pub(crate) fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Binds a socket to an address, including the zone of a link-local one.
pub(crate) fn bind_to(socket: &OwnedFd, address: SocketAddr) -> Result<()> {
    bind(socket.as_raw_fd(), &SockaddrStorage::from(address))
        .during(|| format!("binding to {address}"))
        .map_err(|error| {
            let kind = error.source.kind();
            let remedy = match kind {
                ErrorKind::AddrInUse => {
                    "the port is in use by another program (`ss -anp` shows which); end it, or choose another port where the command has --port"
                }
                ErrorKind::AddrNotAvailable => {
                    "this host has no such address; `ip address` shows those that it has"
                }
                _ => return error,
            };
            // The error keeps its kind: callers tolerate some ports and addresses.
            let source = io::Error::new(kind, remedy);
            Error { source, ..error }
        })
}

impl Options {
    /// Sets the options on a socket that will send to `to`.
    pub(crate) fn apply(
        &self,
        socket: &OwnedFd,
        transport: Option<Transport>,
        to: IpAddr,
    ) -> Result<()> {
        self.mark(socket.as_fd(), to)?;
        if let Some(ttl) = self.ttl {
            let (level, name) = match to {
                IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TTL),
                IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
            };
            option::set(socket.as_fd(), level, name, ttl.into())
                .during(|| format!("setting a time to live of {ttl}"))?;
        }
        if let Some(mode) = discovery(self.path_mtu) {
            let (level, name) = match to {
                IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
                IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
            };
            option::set(socket.as_fd(), level, name, mode)
                .during(|| "choosing what is done about the path's MTU")?;
        }
        if let Some(size) = self.send_buffer {
            send_buffer(socket.as_fd(), size)?;
        }
        if transport == Some(Transport::Tcp) {
            self.apply_to_stream(socket)?;
        }
        if let Some(device) = &self.device {
            setsockopt(socket, sockopt::BindToDevice, &device.into())
                .during(|| format!("binding to the interface {device}"))?;
        }
        match self.bind {
            Some(address) => bind_to(socket, SocketAddr::new(address, 0)),
            None => Ok(()),
        }
    }

    fn apply_to_stream(&self, socket: &OwnedFd) -> Result<()> {
        setsockopt(socket, sockopt::TcpNoDelay, &!self.nagle)
            .during(|| "switching Nagle's algorithm")?;
        if let Some(mss) = self.mss {
            choose_segment(socket.as_fd(), mss)?;
        }
        match &self.congestion {
            Some(name) => choose_congestion_control(socket.as_fd(), name),
            None => Ok(()),
        }
    }

    /// Sets the codepoint of packets that a socket sends to `to`.
    fn mark(&self, socket: BorrowedFd<'_>, to: IpAddr) -> Result<()> {
        if self.dscp == 0 {
            Ok(())
        } else {
            mark(socket, to, self.dscp)
        }
    }
}

/// Sets the codepoint of packets that a socket sends to `to`: the upper six bits of
/// their service octet [RFC2474 s3].
pub(super) fn mark(socket: BorrowedFd<'_>, to: IpAddr, dscp: u8) -> Result<()> {
    let (level, name) = match to {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TOS),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    };
    option::set(socket, level, name, libc::c_int::from(dscp) << 2)
        .during(|| format!("setting the code point {dscp}"))
}

/// Requests a send buffer, beyond the machine's limit if the kernel allows it.
fn send_buffer(socket: BorrowedFd<'_>, size: Bytes) -> Result<()> {
    let octets = octets(size)?;
    let forced = option::set(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, octets);
    forced
        .or_else(|_| option::set(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, octets))
        .during(|| format!("setting a send buffer of {size}"))
}

/// Requests a receive buffer likewise.
pub(crate) fn receive_buffer(socket: BorrowedFd<'_>, size: Bytes) -> Result<()> {
    let octets = octets(size)?;
    let forced = option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, octets);
    forced
        .or_else(|_| option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, octets))
        .during(|| format!("setting a receive buffer of {size}"))
}

/// Sets the longest time of a blocking call on the socket.
pub(crate) fn set_read_timeout(socket: BorrowedFd<'_>, span: Span) -> Result<()> {
    let micros = i64::try_from(span.as_nanos() / 1_000).unwrap_or(i64::MAX);
    let limit = TimeVal::new(micros / 1_000_000, micros % 1_000_000);
    setsockopt(&socket, sockopt::ReceiveTimeout, &limit)
        .and_then(|()| setsockopt(&socket, sockopt::SendTimeout, &limit))
        .during(|| "limiting how long a socket waits")
}

fn octets(size: Bytes) -> Result<libc::c_int> {
    libc::c_int::try_from(size.get())
        .map_err(io::Error::other)
        .during(|| format!("a buffer of {size}"))
}

/// The value of `IP_MTU_DISCOVER`; `None` keeps the machine's default.
const fn discovery(path_mtu: PathMtu) -> Option<libc::c_int> {
    match path_mtu {
        PathMtu::Machine => None,
        PathMtu::Dont => Some(libc::IP_PMTUDISC_DONT),
        PathMtu::Want => Some(libc::IP_PMTUDISC_WANT),
        PathMtu::Do => Some(libc::IP_PMTUDISC_DO),
        PathMtu::Probe => Some(libc::IP_PMTUDISC_PROBE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn read(socket: &OwnedFd, level: libc::c_int, name: libc::c_int) -> libc::c_int {
        let mut value: libc::c_int = -1;
        let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap();
        #[expect(unsafe_code, reason = "an option is read back")]
        // SAFETY: the kernel writes one int, which outlives the call.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                level,
                name,
                (&raw mut value).cast(),
                &raw mut length,
            )
        };
        assert_eq!(result, 0);
        value
    }

    #[test]
    fn what_is_set_is_what_the_kernel_has() {
        let options = Options {
            dscp: 46,
            ttl: Some(3),
            path_mtu: PathMtu::Probe,
            mss: Some(1000),
            send_buffer: Some(Bytes::new(100_000)),
            ..Options::default()
        };
        for (to, level, names) in [
            (
                IpAddr::V4(Ipv4Addr::LOCALHOST),
                libc::IPPROTO_IP,
                [libc::IP_TOS, libc::IP_TTL, libc::IP_MTU_DISCOVER],
            ),
            (
                IpAddr::V6(Ipv6Addr::LOCALHOST),
                libc::IPPROTO_IPV6,
                [
                    libc::IPV6_TCLASS,
                    libc::IPV6_UNICAST_HOPS,
                    libc::IPV6_MTU_DISCOVER,
                ],
            ),
        ] {
            let socket = open(Transport::Tcp, to).unwrap();
            options.apply(&socket, Some(Transport::Tcp), to).unwrap();
            let values = names.map(|name| read(&socket, level, name));
            assert_eq!(values, [46 << 2, 3, libc::IP_PMTUDISC_PROBE]);
            assert_eq!(read(&socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG), 1000);
            assert_eq!(read(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY), 1);
            // The kernel doubles the requested size [socket(7)].
            assert_eq!(read(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF), 200_000);
        }
    }

    #[test]
    fn a_datagram_fills_a_packet_of_65535_octets_and_no_more() {
        let [four, six] = [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ];
        assert_eq!(sizes(Some(Transport::Udp), four).1, Bytes::new(65_507));
        assert_eq!(sizes(Some(Transport::Udp), six).1, Bytes::new(65_527));
        assert_eq!(sizes(None, six).1, Bytes::new(65_527));
    }
}
