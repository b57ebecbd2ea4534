//! The token in datagrams.

use std::net::SocketAddr;

use units::{Span, Time};

use super::others::Others;
use crate::machine::trial_token::{TOKEN_LEN, Token};
use os::clock;
use os::deadline::Permit;
use os::error::{self, OperationContext};
use os::socket::{Errno, MsgFlags, Socket, connect, receive_from, send, wait_to_read};

/// The interval of repetitions of the token.
const REPEAT: Span = Span::from_millis(100);

/// The pause between the answer and the sender's first message. A message that follows at
/// once arrives when the queue of the path has just let the token through, and would wait
/// less than at any other time [Kleinrock1975 ch 5].
const APART: Span = Span::from_millis(20);

/// The time after an answer in which the token may arrive once more, because the answer
/// was lost: several intervals of repetition.
const SETTLED: Span = Span::from_millis(500);

/// The most datagrams of unauthenticated peers that are read once the socket is connected: more than
/// fit the largest receive buffer.
pub(super) const MOST_EARLIER: u32 = 1 << 20;

/// The result of waiting for a sender.
pub(super) struct SenderArrival {
    /// The socket for datagrams of others since the sender came; `None` until then.
    pub(super) others: Option<Others>,
    /// Datagrams of unauthenticated peers before that.
    pub(super) rejected_peers: u64,
}

/// Waits for a datagram that holds the token, connects the socket to its source, and
/// answers. Messages of the sender stay in the socket.
pub(super) fn meet(socket: &Socket, token: &Token, timeout: Span) -> error::Result<SenderArrival> {
    let doing = || "waiting for the sender";
    let deadline = clock::monotonic() + timeout;
    let mut rejected_peers = 0;
    let others = loop {
        if !wait_to_read(socket, deadline)? {
            return Ok(SenderArrival {
                others: None,
                rejected_peers,
            });
        }
        match read_any(socket, MsgFlags::empty()).during(doing)? {
            Some(datagram) if token.is(datagram.bytes()) => {
                let from = datagram.from.ok_or(Errno::ENOTCONN).during(doing)?;
                connect(socket, from).during(doing)?;
                break Others::beside(socket)?;
            }
            Some(_) => rejected_peers += 1,
            None => {}
        }
        // A flood may keep the socket readable.
        if clock::monotonic() >= deadline {
            return Ok(SenderArrival {
                others: None,
                rejected_peers,
            });
        }
    };
    for _ in 0..MOST_EARLIER {
        match read_any(socket, MsgFlags::empty()).during(doing)? {
            Some(datagram) if token.is(datagram.bytes()) => {}
            Some(_) => rejected_peers += 1,
            None => break,
        }
    }
    answer(socket, token)?;
    Ok(SenderArrival {
        others: Some(others),
        rejected_peers,
    })
}

/// Answers the token until a message follows it or the sender is silent.
fn answer(socket: &Socket, token: &Token) -> error::Result<()> {
    let doing = || "answering the sender";
    let mut repeated = true;
    let mut deadline = clock::monotonic() + SETTLED;
    loop {
        if repeated {
            // The sender repeats the token if the answer is lost.
            let _ = send(socket, token.bytes(), MsgFlags::empty());
        }
        if !wait_to_read(socket, deadline)? {
            return Ok(());
        }
        match read_any(socket, MsgFlags::MSG_PEEK).during(doing)? {
            Some(datagram) if token.is(datagram.bytes()) => {
                read_any(socket, MsgFlags::empty()).during(doing)?;
                deadline = clock::monotonic() + SETTLED;
                repeated = true;
            }
            Some(_) => return Ok(()),
            None => repeated = false,
        }
    }
}

/// Sends the token on a connected socket until the receiver answers. Returns whether it
/// did, after a pause.
pub(super) fn introduce(socket: &Socket, token: &Token, deadline: Time) -> Result<bool, Errno> {
    while clock::monotonic() < deadline {
        match send(socket, token.bytes(), MsgFlags::empty()) {
            // A full queue of the interface is like a loss.
            Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
        let soon = deadline.min(clock::monotonic() + REPEAT);
        while wait_to_read(socket, soon).unwrap_or_default() {
            if read(socket, MsgFlags::empty())?.is_some_and(|answer| token.is(answer.bytes())) {
                clock::sleep(APART);
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The start of a datagram: longer ones than a token are not one.
pub(super) struct Datagram {
    room: [u8; TOKEN_LEN + 1],
    length: usize,
    from: Option<SocketAddr>,
}

impl Datagram {
    fn bytes(&self) -> &[u8] {
        &self.room[..self.length]
    }
}

/// Reads a datagram, if there is one. An answer that did not arrive is no error: the sender
/// may have ended.
fn read_any(socket: &Socket, flags: MsgFlags) -> Result<Option<Datagram>, Errno> {
    match read(socket, flags) {
        Err(Errno::ECONNREFUSED) => Ok(None),
        result => result,
    }
}

/// Reads a datagram, if there is one.
pub(super) fn read(socket: &Socket, flags: MsgFlags) -> Result<Option<Datagram>, Errno> {
    let mut room = [0; TOKEN_LEN + 1];
    let (flags, permit) = (flags | MsgFlags::MSG_DONTWAIT, Permit::of_worker());
    match receive_from(socket, &mut room, flags, permit) {
        Ok((length, from)) => Ok(Some(Datagram { room, length, from })),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(error) => Err(error),
    }
}
