//! Many datagrams per call, one after the other.

use std::io::Read as _;

use rustix::event::PollFlags;

use super::calls::{MsgFlags, Socket, receive};
use super::error_number::Errno;
use crate::deadline::Permit;
use crate::portable::socket_parts::InboxEntry;

/// The most datagrams per call.
const BATCH: usize = 16;

/// Room for any datagram: these systems do not tell the length of one that was cut.
const ROOM: usize = 1 << 16;

/// Buffers for datagrams of one call.
pub struct Inbox {
    /// The bytes of each that the caller looks at.
    looked_at: usize,
    bytes: Vec<u8>,
    taken: Vec<InboxEntry>,
}

impl Inbox {
    /// Room for `room` bytes of each datagram.
    pub fn of_datagrams(room: usize) -> Self {
        Self {
            looked_at: room,
            bytes: vec![0; ROOM * BATCH],
            taken: Vec::with_capacity(BATCH),
        }
    }

    /// Receives the waiting datagrams. Waits for the first as long as the socket does,
    /// unless `busy`.
    ///
    /// # Errors
    /// That of the first datagram.
    pub fn take(
        &mut self,
        socket: &Socket,
        busy: bool,
        _permit: Permit,
    ) -> Result<&[InboxEntry], Errno> {
        self.taken.clear();
        let mut flags = match busy {
            true => MsgFlags::MSG_DONTWAIT,
            false => MsgFlags::empty(),
        };
        for room in self.bytes.chunks_exact_mut(ROOM) {
            let read = socket.repeated(flags, PollFlags::IN, || (&socket.inner).read(room));
            match read {
                Ok(length) => self.taken.push(InboxEntry {
                    length,
                    ..InboxEntry::default()
                }),
                Err(error) if self.taken.is_empty() => return Err(error),
                // The next call meets it again, if it is none that passes.
                Err(_) => break,
            }
            flags = MsgFlags::MSG_DONTWAIT;
        }
        Ok(&self.taken)
    }

    /// The entries of the last call.
    pub fn taken(&self) -> &[InboxEntry] {
        &self.taken
    }

    /// Whether the last call filled all buffers.
    pub fn is_full(&self) -> bool {
        self.taken.len() == BATCH
    }

    /// The bytes of entry `place` of the last call.
    pub fn bytes(&self, place: usize) -> &[u8] {
        let length = self.taken[place].length.min(self.looked_at);
        &self.bytes[place * ROOM..][..length]
    }
}

/// Reads once into `room`: a datagram, or a piece of a stream. A stream without bytes has ended.
///
/// # Errors
/// The system's.
pub fn receive_stamped(
    socket: &Socket,
    room: &mut [u8],
    flags: MsgFlags,
    permit: Permit,
) -> Result<InboxEntry, Errno> {
    Ok(InboxEntry {
        length: receive(socket, room, flags, permit)?,
        ..InboxEntry::default()
    })
}
