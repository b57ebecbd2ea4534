//! A socket that sends the probes of one flow of datagrams, and reads their answers.

use std::net::IpAddr;

use crate::machine::{Answer, AnswerKind, Probe};
use units::Bytes;

use super::error::{rejected_here, version};
use super::format::{Arrived, Format};
use super::sent::{Latest, Sent};
use super::socket::{self, Ends};
use os::clock;
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::socket::{Errno, MsgFlags, Socket, receive, send};

/// The most messages that are read at a time, so that a peer that sends many does not stop
/// the investigation.
const MOST: usize = 32;

/// The most times that a call is repeated which fails because of earlier probes.
const TRIES: usize = 8;

/// Bytes of the largest reply.
const ROOM: usize = 65_536;

/// A message that nobody listens at a port: two headers of IP, its own of eight bytes, and
/// that of UDP [RFC792] [RFC4443 s2.1].
const UNREACHABLE: Bytes = Bytes::new(16);

/// A socket with the probes that it has sent.
pub(super) struct ProbeSocket {
    ends: Ends,
    /// The address of this host.
    here: IpAddr,
    socket: Socket,
    format: Box<dyn Format>,
    latest: Latest,
    hop_limit: Option<u8>,
    bytes: Vec<u8>,
    room: Vec<u8>,
}

/// What became of a probe that was handed to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handed {
    /// It left, or got lost in this host.
    Over,
    /// The system rejects its size.
    TooLarge,
    /// The system rejects it for another reason.
    Rejected(AnswerKind),
}

impl ProbeSocket {
    /// The probes on a connected socket.
    pub(super) fn new(socket: Socket, ends: Ends, here: IpAddr, format: Box<dyn Format>) -> Self {
        Self {
            ends,
            here,
            socket,
            format,
            latest: Latest::default(),
            hop_limit: None,
            bytes: Vec::new(),
            room: vec![0; ROOM],
        }
    }

    pub(super) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends a probe.
    ///
    /// # Errors
    /// The system's, other than those about the packet or the path.
    pub(super) fn send(&mut self, probe: &Probe) -> Result<Handed> {
        let Probe {
            id,
            size,
            hop_limit,
            reply,
            ..
        } = *probe;
        if hop_limit != self.hop_limit {
            socket::set_hop_limit(&self.socket, self.ends.to, hop_limit)?;
            self.hop_limit = hop_limit;
        }
        let number = self.format.write(id, size, reply, &mut self.bytes)?;
        self.latest.push(Sent { id, size, number });
        for attempt in 1..=TRIES {
            let error = match send(&self.socket, &self.bytes, MsgFlags::MSG_DONTWAIT) {
                // What the system has no room for is lost.
                Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM) => {
                    return Ok(Handed::Over);
                }
                Err(Errno::EMSGSIZE) => return Ok(Handed::TooLarge),
                Err(error) => error,
            };
            // The call may fail because of an error about an earlier probe.
            let is_pending = matches!(error, Errno::ECONNREFUSED | Errno::ECONNRESET);
            if attempt < TRIES {
                continue;
            }
            return match rejected_here(error, version(self.here)) {
                Some(kind) => Ok(Handed::Rejected(kind)),
                None if is_pending => Ok(Handed::Over),
                None => Err(error).during(|| format!("probing {}", self.ends.to.ip())),
            };
        }
        Ok(Handed::Over)
    }

    /// Reads the replies that wait. Returns whether the system said that nobody listens.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn read(&mut self, deadline: &Deadline, arrived: &mut Vec<Arrived>) -> Result<bool> {
        let mut is_closed = false;
        for _ in 0..MOST {
            let Ok(permit) = deadline.permit() else {
                break;
            };
            let flags = MsgFlags::MSG_DONTWAIT;
            let length = match receive(&self.socket, &mut self.room, flags, permit) {
                Ok(length) => length,
                Err(Errno::EAGAIN) => break,
                Err(Errno::ECONNREFUSED) => {
                    is_closed = true;
                    continue;
                }
                // Other errors of the path, of which the system names no sender.
                Err(_) => continue,
            };
            let Some(reply) = self.format.read(&self.room[..length], &self.latest) else {
                continue;
            };
            let kind = AnswerKind::Reply {
                size: reply.size,
                fragment_size: None,
                mss: reply.mss,
                is_unreachable: false,
                reflected: reply.reflected,
            };
            let answer = Answer {
                id: reply.id,
                from: self.ends.to.ip(),
                kind,
            };
            arrived.push((clock::monotonic(), answer));
        }
        Ok(is_closed)
    }

    /// The answer that nobody listens, for a socket that has sent one probe. The system tells
    /// that of one with the ports and addresses of the probe, and not who sent it.
    pub(super) fn closed(&self) -> Option<Answer> {
        let sent = self.latest.latest(|_| true)?;
        Some(Answer {
            id: sent.id,
            from: self.ends.to.ip(),
            kind: AnswerKind::Reply {
                size: version(self.here).header() * 2 + UNREACHABLE,
                fragment_size: None,
                mss: None,
                is_unreachable: true,
                reflected: None,
            },
        })
    }
}
