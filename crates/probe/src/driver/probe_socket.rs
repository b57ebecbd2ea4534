//! A socket that sends the probes of one protocol and flow to one address, and reads
//! their answers.

use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::machine::{Answer, AnswerKind, Probe};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use units::Bytes;
use wire::probe::Transport;
use wire::protocol::ip::Addresses;

use super::error::{About, meaning, rejected_here};
use super::format::{Arrived, Format};
use super::receive::{Message, PathError, Queue, Room, is_pending};
use super::sent::{Latest, Quoted, Sent};
use super::socket::{self, Ends};
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::kernel_clock::Mapping;
use os::socket::address_of;

/// The most messages that are read from a queue of a socket at a time, so that a peer
/// that sends many does not stop the investigation.
const MOST: usize = 32;

/// The most times that a call is repeated which fails because of earlier probes: errors that
/// a peer sent fill at most the receive buffer, and some are read before each call.
const TRIES: usize = 64;

/// A socket with the probes that it has sent.
pub(super) struct ProbeSocket {
    ends: Ends,
    /// The address of this host.
    here: IpAddr,
    socket: OwnedFd,
    format: Box<dyn Format>,
    latest: Latest,
    hop_limit: Option<u8>,
    bytes: Vec<u8>,
}

/// The context for reading answers.
pub(super) struct Reading<'a> {
    pub(super) room: &'a mut Room,
    pub(super) mapping: &'a Mapping,
    pub(super) deadline: &'a Deadline,
    /// The answers that were read.
    pub(super) arrived: &'a mut Vec<Arrived>,
}

impl ProbeSocket {
    /// The probes on a connected socket.
    pub(super) fn new(socket: OwnedFd, ends: Ends, here: IpAddr, format: Box<dyn Format>) -> Self {
        Self {
            ends,
            here,
            socket,
            format,
            latest: Latest::default(),
            hop_limit: None,
            bytes: Vec::new(),
        }
    }

    pub(super) const fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends a probe. What this host says about it is read as an answer.
    ///
    /// # Errors
    /// The kernel's, other than those about the packet or the path.
    pub(super) fn send(&mut self, probe: &Probe, reading: &mut Reading<'_>) -> Result<()> {
        let Probe {
            id,
            size,
            hop_limit,
            reply,
            ..
        } = *probe;
        if let Some(bytes) = self.format.ending()? {
            self.set_hop_limit(None)?;
            // If it is lost, the next probe finds out.
            let _ = send(self.socket.as_raw_fd(), &bytes, MsgFlags::MSG_NOSIGNAL);
        }
        self.set_hop_limit(hop_limit)?;
        let number = self.format.write(id, size, reply, &mut self.bytes)?;
        self.latest.push(Sent { id, size, number });
        for attempt in 1..=TRIES {
            let sent = send(self.socket.as_raw_fd(), &self.bytes, MsgFlags::MSG_NOSIGNAL);
            let error = match sent {
                Ok(_) => return Ok(()),
                // The packet is lost in this host.
                Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM) => return Ok(()),
                Err(error) => error,
            };
            // The call may fail because of an error about an earlier probe.
            let rejected = self.read_errors(reading)?;
            let last = attempt == TRIES;
            match error {
                Errno::EMSGSIZE if rejected || last => {
                    if !rejected {
                        let mtu = Bytes::new(size.get().saturating_sub(1));
                        self.answer(id, AnswerKind::LocallyTooBig { mtu }, reading);
                    }
                    return Ok(());
                }
                Errno::EPERM | Errno::EACCES => {
                    if let Some(kind) = rejected_here(error, super::error::version(self.here)) {
                        self.answer(id, kind, reading);
                    }
                    return Ok(());
                }
                error if is_pending(error) && !last => {}
                error if is_pending(error) => {
                    if let Some(kind) = rejected_here(error, super::error::version(self.here)) {
                        self.answer(id, kind, reading);
                    }
                    return Ok(());
                }
                error => return Err(error).during(|| format!("probing {}", self.ends.to.ip())),
            }
        }
        Ok(())
    }

    fn set_hop_limit(&mut self, hop_limit: Option<u8>) -> Result<()> {
        if hop_limit != self.hop_limit {
            socket::set_hop_limit(&self.socket, self.ends.to, hop_limit)?;
            self.hop_limit = hop_limit;
        }
        Ok(())
    }

    /// Source and destination of the packets.
    ///
    /// # Errors
    /// They are of two versions of IP, which does not happen.
    pub(super) fn addresses(&self) -> Result<Addresses> {
        addresses(self.here, self.ends.to.ip())
    }

    /// The header and the data of a probe that another socket sends; this one gets the
    /// answer.
    ///
    /// # Errors
    /// The kernel does not tell the local port, or the data cannot be written.
    pub(super) fn transport(&mut self, probe: &Probe) -> Result<(Transport, Vec<u8>)> {
        let Probe { id, size, .. } = *probe;
        let port = address_of(self.socket.as_fd())?.port();
        let transport = self.format.transport(id, port);
        let number = match transport {
            Transport::Echo(echo) => echo.sequence.into(),
            Transport::Udp { .. } => 0,
            Transport::Tcp(tcp) => tcp.sequence,
        };
        self.latest.push(Sent { id, size, number });
        Ok((transport, self.format.data(id, size, probe.reply)?))
    }

    /// A reply and the quoted probe in bytes that a peer may send.
    #[cfg(test)]
    pub(super) fn understood(
        &mut self,
        bytes: &[u8],
    ) -> (Option<super::format::Reply>, Option<Quoted>) {
        let reply = self.format.read(bytes, &self.latest);
        (reply, self.format.quoted(bytes, &self.latest))
    }

    fn answer(&self, id: u64, kind: AnswerKind, reading: &mut Reading<'_>) {
        let answer = Answer {
            id,
            from: self.here,
            kind,
        };
        reading.arrived.push((os::clock::monotonic(), answer));
    }

    /// Reads the replies and errors that wait.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) -> Result<()> {
        self.read_errors(reading)?;
        for _ in 0..MOST {
            let Ok(permit) = reading.deadline.permit() else {
                break;
            };
            let (room, mapping) = (&mut *reading.room, reading.mapping);
            let Some(message) = room.read(&self.socket, Queue::Replies, mapping, permit)? else {
                break;
            };
            let from = message.from.unwrap_or_else(|| self.ends.to.ip());
            let Some(reply) = self.format.read(message.bytes, &self.latest) else {
                continue;
            };
            let kind = AnswerKind::Reply {
                size: reply.size,
                fragment_size: message.fragment_size,
                mss: reply.mss,
                is_unreachable: false,
                reflected: reply.reflected,
            };
            let answer = Answer {
                id: reply.id,
                from,
                kind,
            };
            reading.arrived.push((message.at, answer));
        }
        Ok(())
    }

    /// Reads the errors that wait. Returns whether this host rejected the latest probe for
    /// its size.
    fn read_errors(&self, reading: &mut Reading<'_>) -> Result<bool> {
        let mut rejected = false;
        for _ in 0..MOST {
            let Ok(permit) = reading.deadline.permit() else {
                break;
            };
            let (room, mapping) = (&mut *reading.room, reading.mapping);
            let Some(message) = room.read(&self.socket, Queue::Errors, mapping, permit)? else {
                break;
            };
            let Some((error, answer)) = self.understand(&message) else {
                continue;
            };
            rejected |= matches!(error, PathError::Mtu(_));
            reading.arrived.push((message.at, answer));
        }
        Ok(rejected)
    }

    /// The answer in a message of the error queue.
    fn understand(&self, message: &Message<'_>) -> Option<(PathError, Answer)> {
        let error = message.error?;
        // Errors of this host are about the latest probe.
        let Quoted { sent, is_proven } = match error {
            PathError::Icmp { .. } => self.format.quoted(message.bytes, &self.latest)?,
            PathError::Mtu(_) | PathError::Here(_) => Quoted {
                sent: self.latest.latest(|_| true)?,
                is_proven: true,
            },
        };
        let quoted = Bytes::new(message.bytes.len() as u64);
        let about = About {
            probe: sent.size,
            message: self.format.before_quote() + quoted,
            to: self.ends.to.ip(),
            here: self.here,
        };
        let (from, kind) = meaning(error, about)?;
        // What a quote of the header alone says about sizes may come from off the path.
        let is_used = is_proven || matches!(kind, AnswerKind::HopLimitExceeded { .. });
        let id = sent.id;
        is_used.then_some((error, Answer { id, from, kind }))
    }
}

/// Source and destination of a packet.
///
/// # Errors
/// They are of two versions of IP.
pub(super) fn addresses(here: IpAddr, to: IpAddr) -> Result<Addresses> {
    match (here, to) {
        (IpAddr::V4(here), IpAddr::V4(to)) => Ok(Addresses::V4([here, to])),
        (IpAddr::V6(here), IpAddr::V6(to)) => Ok(Addresses::V6([here, to])),
        _ => Err(Error::new(
            format!("probing {to}"),
            format!("{here} is an address of another version of IP"),
        )),
    }
}
