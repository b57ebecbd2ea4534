//! Options of a flow, and the sizes that its protocol allows.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZero;

use units::Bytes;
use wire::control::{Meter, Protocol};
use wire::message::HEADER_LEN;

use os::socket::{self, Kind};

/// The options of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Those of its socket at the sender; the receive buffer is that of the receiver.
    pub socket: socket::Options,
    /// The receiver's address of the data, if its control address is another one.
    pub destination: Option<SocketAddr>,
    /// The port to ask the receiver for; 0: it chooses.
    pub destination_port: u16,
    /// Messages per call, which the kernel or the network card segments (UDP
    /// segmentation offload); 1: none.
    pub segmentation: u16,
    /// Whether the receiver's kernel may merge datagrams (UDP GRO).
    pub merge: bool,
    /// Whether to poll the clock shortly before a time instead of sleeping.
    pub spin: bool,
    /// Whether both ends poll for arrivals instead of sleeping.
    pub busy: bool,
    /// Whether each gap counts from the end of the previous one, so that timing error
    /// accumulates, as in D-ITG without polling [D-ITG].
    pub drifts: bool,
    /// The kernel timestamps the departure of every n-th message of a stream, at its
    /// first bytes; other kernels than that of Linux timestamp none.
    pub stamp_departures: Option<NonZero<u64>>,
}

impl Options {
    /// The receiver's address of the data, where its control address is `control`; the port is
    /// to be set.
    pub(super) fn data_address(&self, control: SocketAddr) -> SocketAddr {
        self.destination.unwrap_or(control)
    }

    /// The same in a request; zeros where it is that of the control connection.
    pub(super) fn requested_address(&self) -> [u8; 16] {
        match self.destination.map(|address| address.ip()) {
            Some(IpAddr::V4(four)) => four.to_ipv6_mapped().octets(),
            Some(IpAddr::V6(six)) => six.octets(),
            None => [0; 16],
        }
    }
}

/// The largest message of a stream. TCP has no limit; this one limits the memory of the
/// sender.
const LARGEST_OF_STREAM: u64 = 16 << 20;

/// The largest message of SCTP, which has no limit either.
const LARGEST_OF_SCTP: u64 = 1 << 16;

/// The socket of a protocol.
pub fn kind(protocol: Protocol) -> Kind {
    match protocol {
        Protocol::Tcp => Kind::Stream,
        Protocol::Udp => Kind::Datagram,
        Protocol::UdpLite { coverage } => Kind::UdpLite { coverage },
        Protocol::Sctp { streams, .. } => Kind::Sctp { streams },
    }
}

/// The sizes that messages of a flow may have.
///
/// UDP's length has 16 bits and counts its own header of 8 bytes; over IPv4 the
/// packet's length has 16 bits, too, and counts its header of 20 [RFC768] [RFC791]. UDP-Lite
/// has the header of UDP, and the packet's length [RFC3828 s3]. An
/// echo also has a header of 8 bytes [RFC792]. Answers need a whole header of Jumbolab;
/// one-way messages have what fits of it.
pub fn sizes(transport: Option<Protocol>, meter: Meter, to: IpAddr) -> (Bytes, Bytes) {
    let most = match (transport, to) {
        (Some(Protocol::Tcp), _) => LARGEST_OF_STREAM,
        (Some(Protocol::Sctp { .. }), _) => LARGEST_OF_SCTP,
        (_, IpAddr::V4(_)) => 65_535 - 20 - 8,
        (_, IpAddr::V6(_)) => 65_535 - 8,
    };
    let least = match meter {
        Meter::OneWay => 1,
        Meter::RoundTrip => HEADER_LEN as u64,
    };
    (Bytes::new(least), Bytes::new(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn a_datagram_fills_a_packet_of_65535_bytes_and_no_more() {
        let [four, six] = [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ];
        for protocol in [Protocol::Udp, Protocol::UdpLite { coverage: 8 }] {
            let most = |to| sizes(Some(protocol), Meter::OneWay, to).1;
            assert_eq!(most(four), Bytes::new(65_507));
            assert_eq!(most(six), Bytes::new(65_527));
        }
        assert_eq!(sizes(None, Meter::RoundTrip, six).1, Bytes::new(65_527));
    }
}
