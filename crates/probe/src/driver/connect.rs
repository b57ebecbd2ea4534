//! Connection attempts: the small TCP segments that an ordinary user can send.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

use crate::machine::{Answer, AnswerKind};
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use units::{Bytes, IpVersion};

use super::error::{About, meaning, version};
use super::probe_socket::Reading;
use super::receive::{PathError, Queue};
use super::socket::{self, Ends};
use os::clock;
use os::error::{OperationContext, Result};
use os::socket::{IpOption, Kind, TCP_HEADER, begin_to_connect, full_segment};
use os::sys::tcp_info;

/// Attempts under way; the oldest one is given up for another.
const MOST: usize = 32;

/// The connection attempts to a far end.
pub(super) struct Connects {
    ends: Ends,
    here: IpAddr,
    /// The MTU of the local interface.
    mtu: Bytes,
    under_way: VecDeque<Attempt>,
}

/// A connection attempt.
struct Attempt {
    id: u64,
    socket: OwnedFd,
}

impl Connects {
    pub(super) const fn new(ends: Ends, here: IpAddr, mtu: Bytes) -> Self {
        Self {
            ends,
            here,
            mtu,
            under_way: VecDeque::new(),
        }
    }

    /// The sockets of the attempts under way.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &OwnedFd> {
        self.under_way.iter().map(|attempt| &attempt.socket)
    }

    /// Begins an attempt.
    ///
    /// # Errors
    /// The kernel's, other than those about the path.
    pub(super) fn send(&mut self, id: u64, hop_limit: Option<u8>) -> Result<()> {
        let to = self.ends.to;
        let socket = socket::open(Kind::Stream, &self.ends)?;
        socket::set_hop_limit(&socket, to, hop_limit)?;
        // A rejection that comes at once is read as later ones are.
        let _ = begin_to_connect(&socket, to);
        if self.under_way.len() == MOST {
            self.under_way.pop_front();
        }
        self.under_way.push_back(Attempt { id, socket });
        Ok(())
    }

    /// Reads which attempts have ended.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) -> Result<()> {
        let mut waiting = VecDeque::new();
        while let Some(attempt) = self.under_way.pop_front() {
            match self.ended(&attempt, reading)? {
                Some(Ended::By(from, kind)) => {
                    let id = attempt.id;
                    let answer = Answer { id, from, kind };
                    reading.arrived.push((clock::monotonic(), answer));
                }
                Some(Ended::Nothing) => {}
                None => waiting.push_back(attempt),
            }
        }
        self.under_way = waiting;
        Ok(())
    }

    /// How an attempt ended; `None` if it is under way.
    fn ended(&self, attempt: &Attempt, reading: &mut Reading<'_>) -> Result<Option<Ended>> {
        let Ok(permit) = reading.deadline.permit() else {
            return Ok(None);
        };
        let version = version(self.here);
        let message = reading
            .room
            .read(&attempt.socket, Queue::Errors, reading.mapping, permit)?;
        if let Some(error @ PathError::Icmp { .. }) = message.and_then(|message| message.error) {
            let about = About {
                probe: smallest(version),
                message: smallest(version),
                to: self.ends.to.ip(),
                here: self.here,
            };
            let ended = meaning(error, about).map(|(from, kind)| Ended::By(from, kind));
            return Ok(Some(ended.unwrap_or(Ended::Nothing)));
        }
        let error = getsockopt(&attempt.socket, sockopt::SocketError)
            .during(|| "reading how a connection attempt ended")?;
        let mss = match Errno::from_raw(error) {
            Errno::ECONNREFUSED | Errno::ECONNRESET => None,
            error if error as i32 != 0 => return Ok(Some(Ended::Nothing)),
            _ => match self.segment_size(&attempt.socket) {
                Ok(Connected::Yes(mss)) => mss,
                Ok(Connected::No) => return Ok(None),
                Err(_) => return Ok(Some(Ended::Nothing)),
            },
        };
        let kind = AnswerKind::Reply {
            size: smallest(version),
            fragment_size: None,
            mss,
            is_unreachable: false,
            reflected: None,
        };
        Ok(Some(Ended::By(self.ends.to.ip(), kind)))
    }

    /// The largest segment that the far end accepts, if a connection is established: the
    /// kernel's own limit hides larger ones.
    fn segment_size(&self, socket: &OwnedFd) -> io::Result<Connected> {
        let info = tcp_info::tcp_info(socket.as_fd())?;
        let Some(seen) = full_segment(&info) else {
            return Ok(Connected::No);
        };
        let headers = u32::try_from(version(self.here).header().get()).unwrap_or(0) + TCP_HEADER;
        // The kernel knows a path MTU, perhaps from the probes before this one.
        let known = IpOption::MTU.value(socket.as_fd(), self.here)?;
        let known = u32::try_from(known).unwrap_or(0);
        let own = Bytes::new(known.into()) < self.mtu && seen + headers >= known;
        // Segments are no larger than half of the largest window seen.
        let by_window = info.tcpi_snd_mss >= info.tcpi_snd_wnd / 2;
        let mss = u16::try_from(seen).ok().filter(|_| !own && !by_window);
        Ok(Connected::Yes(mss))
    }
}

/// How an attempt ended.
enum Ended {
    /// With an answer of this system.
    By(IpAddr, AnswerKind),
    /// Without an answer.
    Nothing,
}

/// Whether an attempt led to a connection.
enum Connected {
    /// It did; the largest segment that the far end accepts, if the kernel tells.
    Yes(Option<u16>),
    No,
}

/// The size of a segment without data and options.
fn smallest(version: IpVersion) -> Bytes {
    version.header() + Bytes::new(TCP_HEADER.into())
}
