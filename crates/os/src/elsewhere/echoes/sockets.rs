//! Echo requests by sockets of ICMP, which macOS gives to every user, and FreeBSD to root.

#[path = "sockets/answers.rs"]
mod answers;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use meter::departures::PathMtu;
use units::{IpVersion, Span, Time};
use wire::protocol::icmp::{EchoHeader, HEADER_LEN};

use self::answers::Answered;
use super::super::random::random;
use super::super::socket::{
    Errno, Kind, MsgFlags, Options, Socket, open, receive_from, send_to, set_hop_limit,
};
use super::{EchoAnswer, EchoKind, EchoRequest};
use crate::clock::monotonic;
use crate::deadline::Deadline;
use crate::error::{OperationContext, Result};

/// The longest wait for an answer.
const LONGEST: Span = Span::from_secs(3);

/// The longest time of reading: all ICMP of this host arrives, also that of others.
const READING: Span = Span::from_millis(20);

/// Room for any packet.
const ROOM: usize = 1 << 16;

/// Echo requests from one socket.
#[derive(Debug)]
pub struct Echoes {
    socket: Socket,
    version: IpVersion,
    identifier: u16,
    /// The sequence number of the next request.
    next: u16,
    waiting: Vec<Waiting>,
    /// Requests that this system itself rejected.
    rejected: Vec<EchoAnswer>,
    room: Vec<u8>,
}

/// A request under way.
#[derive(Debug)]
struct Waiting {
    number: u64,
    sequence: u16,
    until: Time,
}

impl Echoes {
    /// Opens a socket for echo requests to an address.
    ///
    /// # Errors
    /// The system's: FreeBSD gives such sockets to root alone.
    pub fn open(to: IpAddr) -> Result<Self> {
        let options = Options {
            path_mtu: PathMtu::Do,
            non_blocking: true,
            ..Options::default()
        };
        let socket = open(Kind::Echo, to, &options)?;
        Ok(Self {
            socket,
            version: match to {
                IpAddr::V4(_) => IpVersion::V4,
                IpAddr::V6(_) => IpVersion::V6,
            },
            identifier: u16::from_be_bytes(random()?),
            next: 0,
            waiting: Vec::new(),
            rejected: Vec::new(),
            room: vec![0; ROOM],
        })
    }

    /// Sends a request.
    ///
    /// # Errors
    /// The system's, other than that the packet is too big.
    pub fn send(&mut self, request: EchoRequest) -> Result<()> {
        let EchoRequest { number, to, .. } = request;
        let sequence = self.next;
        self.next = sequence.wrapping_add(1);
        let mut bytes = vec![0; HEADER_LEN + request.length];
        let data = bytes[HEADER_LEN..].iter_mut();
        for (place, byte) in data.zip(number.to_be_bytes()) {
            *place = byte;
        }
        let header = EchoHeader {
            reply: false,
            identifier: self.identifier,
            sequence,
        };
        let emitted = header.emit(&mut bytes, self.version);
        emitted.expect("the bytes begin with room for the header");
        set_hop_limit(&self.socket, to, request.hop_limit)
            .during(|| "setting the hop limit of an echo request")?;
        match send_to(&self.socket, &bytes, SocketAddr::new(to, 0)) {
            Ok(_) => {
                let until = monotonic() + LONGEST;
                self.waiting.push(Waiting {
                    number,
                    sequence,
                    until,
                });
            }
            Err(Errno::EMSGSIZE) => self.rejected.push(EchoAnswer {
                number,
                // Nobody says which router this system has heard of it.
                from: match self.version {
                    IpVersion::V4 => Ipv4Addr::UNSPECIFIED.into(),
                    IpVersion::V6 => Ipv6Addr::UNSPECIFIED.into(),
                },
                kind: EchoKind::TooBig,
            }),
            // Without room in front of the interface it is lost, as on the path.
            Err(Errno::ENOBUFS | Errno::EAGAIN) => {}
            Err(error) => return Err(error).during(|| "sending an echo request"),
        }
        Ok(())
    }

    /// The answers since the last call.
    pub fn arrived(&mut self) -> Vec<EchoAnswer> {
        let mut arrived = std::mem::take(&mut self.rejected);
        let deadline = Deadline::new(monotonic() + READING, &Arc::default());
        while let Ok(permit) = deadline.permit() {
            let flags = MsgFlags::MSG_DONTWAIT;
            let read = receive_from(&self.socket, &mut self.room, flags, permit);
            let Ok((length, Some(from))) = read else {
                break;
            };
            let answered = answers::of(self.version, &self.room[..length]);
            let Some(Answered { sequence, kind, .. }) =
                answered.filter(|answered| answered.identifier == self.identifier)
            else {
                continue;
            };
            let mut waiting = self.waiting.iter();
            if let Some(place) = waiting.position(|one| one.sequence == sequence) {
                let number = self.waiting.swap_remove(place).number;
                let from = from.ip();
                arrived.push(EchoAnswer { number, from, kind });
            }
        }
        let now = monotonic();
        self.waiting.retain(|one| one.until > now);
        arrived
    }

    /// Whether answers are waited for.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.rejected.is_empty()
    }
}
