//! TCP segments of any size with SYN, from a raw socket.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use crate::machine::ReplySize;
use units::Bytes;
use wire::ip_packet::IpPacket;
use wire::probe::{Content, ProbePacket, QuotedTransport, Tcp, Transport};
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;

use super::error::version;
use super::format::{Format, Reply};
use super::probe_socket::{ProbeSocket, addresses};
use super::sent::{Latest, Quoted};
use super::socket::{self, Ends, zoned};
use os::error::{Error, OperationContext, Result};
use os::socket::{Kind, Options, address_of, begin_to_connect, open as os_socket};

/// A socket for TCP segments.
const RAW: Kind = Kind::Raw(libc::IPPROTO_TCP);

/// Bytes of TCP's header [RFC9293 s3.1].
const HEADER: u64 = 20;

/// Bytes of the option with the segment size [RFC9293 s3.2].
const OPTION: u64 = 4;

/// The receive window that the segments state.
const WINDOW: u16 = u16::MAX;

/// The distance of the sequence numbers of a flow's probes. All that are remembered lie in
/// one receive window of 65 535 bytes, so that the far end takes a reset, or a SYN in
/// place of a reset that got lost, for one of a connection that an earlier probe has left
/// half open [RFC9293 s3.10.7.4]. Otherwise it would answer by ACK at most, and not often,
/// and the probes would seem to vanish.
const DISTANCE: u32 = 509;

/// The protocol number of TCP [RFC9293 s3.1].
const TCP: u8 = 6;

/// The format of segments.
struct Segment {
    addresses: Addresses,
    ports: [u16; 2],
    /// The MSS that they announce: what the local interface receives.
    mss: u16,
    /// The sequence number of the latest probe.
    latest: Option<u32>,
    /// Whether a probe may have left a connection half open: the SYN/ACK or the kernel's
    /// reset may get lost.
    is_half_open: bool,
    /// Keeps the source port, so that no other program gets it. The kernel answers a
    /// SYN/ACK with RST, which ends the far end's half of the connection.
    _port: OwnedFd,
}

/// Whether this process may send segments to `to`.
pub(super) fn is_allowed(to: SocketAddr) -> bool {
    os_socket(RAW, to.ip(), &Options::default()).is_ok()
}

/// Opens a socket for segments.
///
/// # Errors
/// The kernel's.
pub(super) fn open(ends: Ends, here: IpAddr, mtu: Bytes) -> Result<ProbeSocket> {
    let to = ends.to;
    let options = Options {
        bind: Some(zoned(SocketAddr::new(here, 0), ends.zone)),
        ..Options::default()
    };
    let port = os_socket(Kind::Stream, to.ip(), &options)?;
    let source = address_of(port.as_fd())?.port();
    let socket = socket::open(RAW, &ends)?;
    // The address of a raw socket has no port.
    let mut far_end = to;
    far_end.set_port(0);
    begin_to_connect(&socket, far_end).during(|| format!("connecting to {}", to.ip()))?;
    let addresses = addresses(here, to.ip())?;
    let headers = version(here).header().get() + HEADER;
    let segment = Segment {
        addresses,
        ports: [source, to.port()],
        mss: u16::try_from(mtu.get().saturating_sub(headers)).unwrap_or(u16::MAX),
        latest: None,
        is_half_open: false,
        _port: port,
    };
    Ok(ProbeSocket::new(socket, ends, here, Box::new(segment)))
}

impl Segment {
    /// The header of the next probe. Nobody off the path knows the first sequence number.
    fn syn(&mut self, id: u64) -> Tcp {
        let number = match self.latest {
            Some(latest) => latest.wrapping_add(DISTANCE),
            None => u32::try_from(id & u64::from(u32::MAX)).unwrap_or(0),
        };
        self.latest = Some(number);
        self.is_half_open = true;
        Tcp {
            ports: self.ports,
            sequence: number,
            acknowledgement: 0,
            flags: flag::SYN,
            window: WINDOW,
            mss: Some(self.mss),
        }
    }

    /// The reset of the connections that probes have left half open, if they may have.
    fn reset(&self) -> Option<Tcp> {
        let latest = self.latest.filter(|_| self.is_half_open)?;
        Some(Tcp {
            ports: self.ports,
            sequence: latest.wrapping_add(1),
            acknowledgement: 0,
            flags: flag::RST,
            window: 0,
            mss: None,
        })
    }

    /// Writes a segment in a packet of `size`, or a larger one if it has no room, without
    /// the header of IP: the kernel writes that.
    fn emit(&self, segment: Tcp, size: Bytes, bytes: &mut Vec<u8>) -> Result<()> {
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
        bytes.clear();
        bytes.resize(packet.buffer_len(), 0);
        packet
            .emit(bytes)
            .map_err(|error| Error::new("writing a segment", error.to_string()))?;
        let header = usize::try_from(self.addresses.version().header().get()).unwrap_or(0);
        bytes.drain(..header);
        Ok(())
    }

    /// The segment in a packet that the kernel delivered, with its header over IPv4, and
    /// the size of the packet.
    fn received(&self, bytes: &[u8]) -> Option<(Tcp, Bytes)> {
        let packet = match self.addresses {
            Addresses::V4(_) => IpPacket::parse(bytes).ok()?,
            Addresses::V6([here, to]) => bare(Addresses::V6([to, here]), bytes)?,
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
    fn write(&mut self, id: u64, size: Bytes, _: ReplySize, bytes: &mut Vec<u8>) -> Result<u32> {
        let syn = self.syn(id);
        self.emit(syn, size, bytes)?;
        Ok(syn.sequence)
    }

    fn transport(&mut self, id: u64, _port: u16) -> Transport {
        Transport::Tcp(self.syn(id))
    }

    fn ending(&self) -> Result<Option<Vec<u8>>> {
        let reset = |segment| {
            let mut bytes = Vec::new();
            self.emit(segment, Bytes::ZERO, &mut bytes)?;
            Ok(bytes)
        };
        self.reset().map(reset).transpose()
    }

    fn read(&mut self, bytes: &[u8], latest: &Latest) -> Option<Reply> {
        let (tcp, size) = self.received(bytes)?;
        let [here, there] = self.ports;
        let is_reset = tcp.flags & flag::RST != 0;
        let is_answer = tcp.ports == [there, here]
            && (tcp.flags & (flag::SYN | flag::ACK) == flag::SYN | flag::ACK
                || tcp.flags & (flag::RST | flag::ACK) == flag::RST | flag::ACK);
        if !is_answer {
            return None;
        }
        // The SYN counts one; the far end accepts the data as well, or not
        // [RFC9293 s3.4].
        let headers = self.addresses.version().header().get() + HEADER + OPTION;
        let sent = latest.latest(|sent| {
            let data = sent.size.get().saturating_sub(headers);
            let accepted = u64::from(tcp.acknowledgement.wrapping_sub(sent.number));
            accepted == 1 || accepted == 1 + data
        })?;
        if is_reset && self.latest == Some(sent.number) {
            self.is_half_open = false;
        }
        Some(Reply {
            id: sent.id,
            size,
            mss: tcp.mss.filter(|_| tcp.flags & flag::SYN != 0),
            reflected: None,
        })
    }

    fn quoted(&self, bytes: &[u8], latest: &Latest) -> Option<Quoted> {
        match QuotedTransport::parse(&bare(self.addresses, bytes)?).ok()? {
            QuotedTransport::Tcp { ports, sequence } if ports == self.ports => {
                let sent = latest.latest(|sent| sent.number == sequence)?;
                let is_proven = true;
                Some(Quoted { sent, is_proven })
            }
            _ => None,
        }
    }

    fn before_quote(&self) -> Bytes {
        // The message has a header of 8 bytes [RFC792] [RFC4443 s2.1].
        self.addresses.version().header() * 2 + Bytes::new(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
    const THERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

    fn segment() -> Segment {
        Segment {
            addresses: Addresses::V4([HERE, THERE]),
            ports: [50_000, 443],
            mss: 8_960,
            latest: None,
            is_half_open: false,
            _port: os_socket(Kind::Stream, HERE.into(), &Options::default()).unwrap(),
        }
    }

    /// The header of a segment that the socket is to send.
    fn header(bytes: &[u8]) -> Tcp {
        let packet = bare(Addresses::V4([HERE, THERE]), bytes).unwrap();
        match Content::of_segment(&packet).unwrap() {
            Content::Data {
                transport: Transport::Tcp(tcp),
                ..
            } => tcp,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a probe; returns its sequence number.
    fn send(segment: &mut Segment, latest: &mut Latest, id: u64, size: u64) -> u32 {
        let (mut bytes, size) = (Vec::new(), Bytes::new(size));
        let number = segment.write(id, size, ReplySize::Same, &mut bytes);
        let number = number.unwrap();
        assert_eq!(header(&bytes).sequence, number);
        latest.push(super::super::sent::Sent { id, size, number });
        number
    }

    /// The probe that a segment of the far end answers.
    fn answered(segment: &mut Segment, latest: &Latest, flags: u8, ack: u32) -> Option<u64> {
        let packet = ProbePacket {
            addresses: Addresses::V4([THERE, HERE]),
            hop_limit: 64,
            flow_label: 0,
            identification: 0,
            dont_fragment: true,
            transport: Transport::Tcp(Tcp {
                ports: [443, 50_000],
                sequence: 9,
                acknowledgement: ack,
                flags,
                window: 0,
                mss: None,
            }),
            data: &[],
            size: 40,
        };
        let mut bytes = vec![0; packet.buffer_len()];
        packet.emit(&mut bytes).unwrap();
        Some(segment.read(&bytes, latest)?.id)
    }

    #[test]
    fn a_reset_lies_in_the_window_of_every_probe_that_may_have_left_a_connection() {
        let (mut segment, mut latest) = (segment(), Latest::default());
        assert_eq!(segment.ending().unwrap(), None);
        let numbers: Vec<u32> = (0..64)
            .map(|id| send(&mut segment, &mut latest, u64::from(u32::MAX - 9) + id, 100))
            .collect();
        assert_eq!(numbers[0], u32::MAX - 9);
        let ending = header(&segment.ending().unwrap().unwrap());
        assert_eq!((ending.flags, ending.mss), (flag::RST, None));
        for number in numbers {
            // The window begins behind the SYN.
            assert!(ending.sequence.wrapping_sub(number) - 1 < 65_535);
        }
        // Late, and to the latest probe.
        let reset = flag::RST | flag::ACK;
        assert!(answered(&mut segment, &latest, reset, u32::MAX - 8).is_some());
        assert!(segment.ending().unwrap().is_some());
        let now = segment.latest.unwrap().wrapping_add(1);
        assert!(answered(&mut segment, &latest, flag::SYN | flag::ACK, now).is_some());
        assert!(
            segment.ending().unwrap().is_some(),
            "its reset may get lost"
        );
        assert!(answered(&mut segment, &latest, reset, now).is_some());
        assert_eq!(segment.ending().unwrap(), None);
    }

    #[test]
    fn an_answer_names_the_probe_whose_syn_it_accepts_with_its_data_or_without() {
        let (mut segment, mut latest) = (segment(), Latest::default());
        let reset = flag::RST | flag::ACK;
        let first = send(&mut segment, &mut latest, 70, 9_000);
        let second = send(&mut segment, &mut latest, 71, 1_500);
        for (flags, ack, id) in [
            (flag::SYN | flag::ACK, first + 1, Some(70)),
            (flag::SYN | flag::ACK, second + 1, Some(71)),
            (reset, first + 1 + 9_000 - 44, Some(70)),
            (reset, second + 1 + 1_500 - 44, Some(71)),
            (reset, second + 2, None),
            (reset, first, None),
            (flag::ACK, second + 1, None),
        ] {
            assert_eq!(answered(&mut segment, &latest, flags, ack), id, "{ack}");
        }
    }
}
