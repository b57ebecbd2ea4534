//! Connection attempts: the small TCP segments that every program can send.

use std::collections::VecDeque;

use crate::machine::{Answer, AnswerKind};
use units::Bytes;

use super::error::version;
use super::format::Arrived;
use super::socket::{self, Ends};
use os::clock;
use os::error::Result;
use os::socket::{Errno, Kind, Socket, begin_to_connect, borrowed, ready_to_write, take_error};

/// Attempts under way; the oldest one is given up for another.
const MOST: usize = 32;

/// Bytes of a TCP header without options [RFC9293 s3.1].
const TCP_HEADER: Bytes = Bytes::new(20);

/// The connection attempts to a far end.
pub(super) struct Connects {
    ends: Ends,
    under_way: VecDeque<Attempt>,
}

/// A connection attempt.
struct Attempt {
    id: u64,
    socket: Socket,
    /// How it ended, if it did at once.
    ended: Option<Ended>,
}

impl Connects {
    pub(super) const fn new(ends: Ends) -> Self {
        Self {
            ends,
            under_way: VecDeque::new(),
        }
    }

    /// Whether answers are waited for.
    pub(super) fn is_waiting(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Begins an attempt.
    ///
    /// # Errors
    /// The system's, other than those about the path.
    pub(super) fn send(&mut self, id: u64, hop_limit: Option<u8>) -> Result<()> {
        let to = self.ends.to;
        let socket = socket::open(Kind::Stream, &self.ends)?;
        socket::set_hop_limit(&socket, to, hop_limit)?;
        let begun = begin_to_connect(&socket, to);
        let ended = begun.err().map(Ended::by);
        if self.under_way.len() == MOST {
            self.under_way.pop_front();
        }
        self.under_way.push_back(Attempt { id, socket, ended });
        Ok(())
    }

    /// Reads which attempts have ended.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn read(&mut self, arrived: &mut Vec<Arrived>) -> Result<()> {
        let sockets = self.under_way.iter().map(|one| borrowed(&one.socket));
        let ready = match self.is_waiting() {
            true => ready_to_write(&sockets.collect::<Vec<_>>())?,
            false => return Ok(()),
        };
        let size = version(self.ends.to.ip()).header() + TCP_HEADER;
        let from = self.ends.to.ip();
        let mut waiting = VecDeque::new();
        for (attempt, is_ready) in self.under_way.drain(..).zip(ready) {
            let ended = attempt.ended.or_else(|| match take_error(&attempt.socket) {
                Err(error) => Some(Ended::by(Errno::from(error))),
                Ok(()) => is_ready.then_some(Ended::Answered),
            });
            match ended {
                // The largest segment that the far end accepts is not asked for.
                Some(Ended::Answered) => {
                    let kind = AnswerKind::Reply {
                        size,
                        fragment_size: None,
                        mss: None,
                        is_unreachable: false,
                        reflected: None,
                    };
                    let id = attempt.id;
                    arrived.push((clock::monotonic(), Answer { id, from, kind }));
                }
                Some(Ended::Nothing) => {}
                None => waiting.push_back(attempt),
            }
        }
        self.under_way = waiting;
        Ok(())
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The far end accepted or rejected it.
    Answered,
    /// Without an answer.
    Nothing,
}

impl Ended {
    fn by(error: Errno) -> Self {
        match error {
            Errno::ECONNREFUSED | Errno::ECONNRESET => Self::Answered,
            _ => Self::Nothing,
        }
    }
}
