//! Messages that arrive over an association of SCTP.

use os::deadline::Permit;
use os::socket::{Errno, MsgFlags, Socket, receive_piece};

/// The longest message.
pub(super) const LONGEST: usize = 1 << 16;

/// The messages that arrive over an association, and the bytes of one that is incomplete: the
/// kernel passes on a long one in pieces if its buffer is full.
pub(super) struct Messages {
    room: Vec<u8>,
    filled: usize,
}

/// The outcome of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A message is complete, with the kernel's timestamp of its last bytes.
    Whole { length: usize, stamp: Option<u64> },
    /// A message continues.
    Part,
    /// No message will follow: the other end has ended the association.
    End,
    /// A message is longer than the longest.
    TooLong,
}

impl Messages {
    pub(super) fn new() -> Self {
        Self {
            room: vec![0; LONGEST],
            filled: 0,
        }
    }

    /// Reads once. A message that is complete lies in [`Messages::bytes`] until the next read.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn read(
        &mut self,
        socket: &Socket,
        flags: MsgFlags,
        permit: Permit,
    ) -> nix::Result<Piece> {
        let room = &mut self.room[self.filled..];
        let (taken, ends) = match receive_piece(socket, room, flags, permit) {
            Err(Errno::ECONNRESET | Errno::ENOTCONN | Errno::EPIPE) => return Ok(Piece::End),
            read => read?,
        };
        if taken.length == 0 {
            return Ok(Piece::End);
        }
        self.filled += taken.length;
        Ok(match (ends, self.filled == self.room.len()) {
            (true, _) => Piece::Whole {
                length: std::mem::take(&mut self.filled),
                stamp: taken.stamp,
            },
            (false, true) => Piece::TooLong,
            (false, false) => Piece::Part,
        })
    }

    /// The first bytes of the message that was read last.
    pub(super) fn bytes(&mut self, length: usize) -> &mut [u8] {
        &mut self.room[..length]
    }
}

/// The stream of a message: they go round.
pub(super) fn stream_of(sequence: u64, streams: u16) -> u16 {
    u16::try_from(sequence % u64::from(streams.max(1))).unwrap_or(0)
}
