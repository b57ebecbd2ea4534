//! TCP segments of any size with SYN, from a raw socket.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::sys::socket::{SockProtocol, SockType, SockaddrStorage, bind};
use proto::probe::ReplySize;
use units::Bytes;
use wire::ip_packet::IpPacket;
use wire::probe::{Content, ProbePacket, QuotedTransport, Tcp, Transport};
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;

use super::error::version;
use super::line::{Format, Line, Reply, addresses};
use super::sent::{Latest, Quoted};
use super::socket::{self, Ends};
use crate::error::{During, Error, Result};
use crate::sockets::address_of;

/// Octets of TCP's header [RFC9293 s3.1].
const HEADER: u64 = 20;

/// The receive window that the segments state.
const WINDOW: u16 = u16::MAX;

/// The most connections of a flow that may be half open and are reset before each of its
/// probes. An open port answers a SYN in a connection that is half open by ACK at most,
/// and not often: if the SYN/ACK or the kernel's reset got lost, later probes of the flow
/// would seem to vanish [RFC9293 s3.10.7.4].
const MOST_HALF_OPEN: usize = 16;

/// The protocol number of TCP [RFC9293 s3.1].
const TCP: u8 = 6;

/// The format of segments.
struct Segment {
    addresses: Addresses,
    ports: [u16; 2],
    /// The MSS that they announce: what the own interface receives.
    mss: u16,
    /// The sequence numbers of probes that may have left a connection half open, in the
    /// order of sending.
    half_open: Vec<u32>,
    /// Keeps the source port, so that no other program gets it. The kernel answers a
    /// SYN/ACK with RST, which ends the far end's half of the connection.
    _port: OwnedFd,
}

/// Whether this process may send segments to `to`.
pub(super) fn is_allowed(to: SocketAddr) -> bool {
    open(to).is_ok()
}

fn open(to: SocketAddr) -> nix::Result<OwnedFd> {
    socket::open(to, SockType::Raw, Some(SockProtocol::Tcp))
}

/// Opens a line for segments.
///
/// # Errors
/// The kernel's.
pub(super) fn line(ends: Ends, here: IpAddr, mtu: Bytes) -> Result<Line> {
    let to = ends.to;
    let operation = || "opening a raw socket for TCP";
    let port = socket::open(to, SockType::Stream, None).during(operation)?;
    bind(
        port.as_raw_fd(),
        &SockaddrStorage::from(SocketAddr::new(here, 0)),
    )
    .during(operation)?;
    let source = address_of(port.as_fd())?.port();
    let socket = open(to).during(operation)?;
    socket::prepare(&socket, &ends)?;
    // The address of a raw socket has no port.
    let mut far_end = to;
    far_end.set_port(0);
    socket::join(&socket, far_end).during(|| format!("connecting to {}", to.ip()))?;
    let addresses = addresses(here, to.ip())?;
    let headers = version(here).header().get() + HEADER;
    let segment = Segment {
        addresses,
        ports: [source, to.port()],
        mss: u16::try_from(mtu.get().saturating_sub(headers)).unwrap_or(u16::MAX),
        half_open: Vec::new(),
        _port: port,
    };
    Ok(Line::new(socket, ends, here, Box::new(segment)))
}

impl Segment {
    /// The header of a probe.
    fn syn(&self, id: u64) -> Tcp {
        Tcp {
            ports: self.ports,
            sequence: sequence(id),
            acknowledgement: 0,
            flags: flag::SYN,
            window: WINDOW,
            mss: Some(self.mss),
        }
    }

    fn note_half_open(&mut self, id: u64) {
        if self.half_open.len() < MOST_HALF_OPEN {
            self.half_open.push(sequence(id));
        }
    }

    /// The far end has answered the probe with this number: connections of earlier probes
    /// are gone, and so is its own if the answer `is_reset`.
    fn close_until(&mut self, number: u32, is_reset: bool) {
        let mut numbers = self.half_open.iter();
        match numbers.position(|open| *open == number) {
            Some(place) => drop(self.half_open.drain(..place + usize::from(is_reset))),
            // It came after the most that are noted.
            None => self.half_open.clear(),
        }
    }

    /// The reset of the connection that a probe has left half open, if it has
    /// [RFC9293 s3.10.7.4].
    const fn reset(&self, probe: u32) -> Tcp {
        Tcp {
            ports: self.ports,
            sequence: probe.wrapping_add(1),
            acknowledgement: 0,
            flags: flag::RST,
            window: 0,
            mss: None,
        }
    }

    /// Writes a segment in a packet of `size`, or a larger one if it has no room, without
    /// the header of IP: the kernel writes that.
    fn emit(&self, segment: Tcp, size: Bytes, octets: &mut Vec<u8>) -> Result<()> {
        let mut packet = ProbePacket {
            addresses: self.addresses,
            hop_limit: 0,
            flow_label: 0,
            identification: 0,
            dont_fragment: true,
            transport: Transport::Tcp(segment),
            data: &[],
            size: u32::try_from(size.get()).unwrap_or(u32::MAX),
        };
        packet.size = packet
            .size
            .max(u32::try_from(packet.headers()).unwrap_or(0));
        octets.clear();
        octets.resize(packet.buffer_len(), 0);
        packet
            .emit(octets)
            .map_err(|error| Error::new("writing a segment", error.to_string()))?;
        let header = usize::try_from(self.addresses.version().header().get()).unwrap_or(0);
        octets.drain(..header);
        Ok(())
    }

    /// The segment in a packet that the kernel delivered, with its header over IPv4, and
    /// the size of the packet.
    fn received(&self, octets: &[u8]) -> Option<(Tcp, Bytes)> {
        let packet = match self.addresses {
            Addresses::V4(_) => IpPacket::parse(octets).ok()?,
            Addresses::V6([here, to]) => bare(Addresses::V6([to, here]), octets)?,
        };
        match Content::of_segment(&packet).ok()? {
            Content::Data {
                transport: Transport::Tcp(tcp),
                ..
            } => Some((tcp, Bytes::new(packet.size.into()))),
            _ => None,
        }
    }
}

/// The sequence number of a probe.
fn sequence(id: u64) -> u32 {
    u32::try_from(id & u64::from(u32::MAX)).unwrap_or(0)
}

/// A packet of which only the payload is there.
fn bare(addresses: Addresses, payload: &[u8]) -> Option<IpPacket<'_>> {
    let size = addresses.version().header() + Bytes::new(payload.len() as u64);
    Some(IpPacket {
        addresses,
        size: u32::try_from(size.get()).ok()?,
        hop_limit: 0,
        flow_label: 0,
        dont_fragment: true,
        fragment: None,
        protocol: TCP,
        payload,
    })
}

impl Format for Segment {
    fn write(&mut self, id: u64, size: Bytes, _: ReplySize, octets: &mut Vec<u8>) -> Result<u32> {
        self.emit(self.syn(id), size, octets)?;
        self.note_half_open(id);
        Ok(sequence(id))
    }

    fn transport(&mut self, id: u64, _port: u16) -> Transport {
        self.note_half_open(id);
        Transport::Tcp(self.syn(id))
    }

    fn endings(&mut self) -> Result<Vec<Vec<u8>>> {
        let reset = |number: &u32| {
            let mut octets = Vec::new();
            self.emit(self.reset(*number), Bytes::ZERO, &mut octets)?;
            Ok(octets)
        };
        self.half_open.iter().map(reset).collect()
    }

    fn read(&mut self, octets: &[u8], latest: &Latest) -> Option<Reply> {
        let (tcp, size) = self.received(octets)?;
        let [here, there] = self.ports;
        let is_reset = tcp.flags & flag::RST != 0;
        let is_answer = tcp.ports == [there, here]
            && (tcp.flags & (flag::SYN | flag::ACK) == flag::SYN | flag::ACK
                || tcp.flags & (flag::RST | flag::ACK) == flag::RST | flag::ACK);
        if !is_answer {
            return None;
        }
        // The SYN counts one; the far end may accept the data, or not [RFC9293 s3.4].
        let sent = latest.latest(|sent| {
            let accepted = tcp.acknowledgement.wrapping_sub(sent.number);
            accepted >= 1 && u64::from(accepted) <= sent.size.get()
        })?;
        self.close_until(sent.number, is_reset);
        Some(Reply {
            id: sent.id,
            size,
            mss: tcp.mss.filter(|_| tcp.flags & flag::SYN != 0),
            reflected: None,
        })
    }

    fn quoted(&self, octets: &[u8], latest: &Latest) -> Option<Quoted> {
        match QuotedTransport::parse(&bare(self.addresses, octets)?).ok()? {
            QuotedTransport::Tcp { ports, sequence } if ports == self.ports => {
                let sent = latest.latest(|sent| sent.number == sequence)?;
                let is_proven = true;
                Some(Quoted { sent, is_proven })
            }
            _ => None,
        }
    }

    fn before_quote(&self) -> Bytes {
        // The message has a header of 8 octets [RFC792] [RFC4443 s2.1].
        self.addresses.version().header() * 2 + Bytes::new(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
    const THERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

    /// The segments that leave before a probe: flags and sequence numbers.
    fn endings(segment: &mut Segment) -> Vec<(u8, u32)> {
        let endings = segment.endings().unwrap();
        let read = endings.iter().map(|octets| {
            let addresses = Addresses::V4([HERE, THERE]);
            match Content::of_segment(&bare(addresses, octets).unwrap()).unwrap() {
                Content::Data {
                    transport: Transport::Tcp(tcp),
                    data: [],
                } => (tcp.flags, tcp.sequence),
                other => panic!("{other:?}"),
            }
        });
        read.collect()
    }

    #[test]
    fn what_a_probe_left_half_open_is_reset_before_the_next_ones() {
        let mut segment = Segment {
            addresses: Addresses::V4([HERE, THERE]),
            ports: [50_000, 443],
            mss: 8_960,
            half_open: Vec::new(),
            _port: socket::open((HERE, 0).into(), SockType::Stream, None).unwrap(),
        };
        let send = |segment: &mut Segment, id| {
            segment.write(id, Bytes::new(60), ReplySize::Same, &mut Vec::new())
        };
        assert_eq!(endings(&mut segment), []);
        send(&mut segment, 7).unwrap();
        send(&mut segment, u64::from(u32::MAX)).unwrap();
        for _ in 0..5 {
            assert_eq!(endings(&mut segment), [(flag::RST, 8), (flag::RST, 0)]);
        }
        // A SYN/ACK to the second probe, whose reset may get lost, and RST to a third one.
        segment.close_until(u32::MAX, false);
        assert_eq!(endings(&mut segment), [(flag::RST, 0)]);
        send(&mut segment, 9).unwrap();
        segment.close_until(9, true);
        assert_eq!(endings(&mut segment), []);
        for id in 0..100 {
            send(&mut segment, id).unwrap();
        }
        assert_eq!(endings(&mut segment).len(), MOST_HALF_OPEN);
        segment.close_until(99, false);
        assert_eq!(endings(&mut segment), []);
    }
}
