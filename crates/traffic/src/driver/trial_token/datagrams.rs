//! The token in datagrams.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::machine::trial_token::{TOKEN_LEN, Token};
use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, recvmsg, send, setsockopt, sockopt};
use units::{Span, Time};

use os::clock;
use os::error::{OperationContext, Result};
use os::socket::{Kind, Options, address_of, bind_to, open, wait};
use os::sys::option;

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
const MOST_EARLIER: u32 = 1 << 20;

/// The result of waiting for a sender.
pub(super) struct SenderArrival {
    /// The socket for datagrams of others since the sender came; `None` until then.
    pub(super) others: Option<Others>,
    /// Datagrams of unauthenticated peers before that.
    pub(super) rejected_peers: u64,
}

/// A second socket at the port of one that is connected: the kernel gives it the datagrams of
/// all but the sender, which take no room of the first.
pub(super) struct Others(OwnedFd);

impl Others {
    fn beside(connected: &OwnedFd) -> Result<Self> {
        let doing = || "counting the datagrams of others";
        let at = address_of(connected.as_fd())?;
        let options = Options {
            non_blocking: true,
            ..Options::default()
        };
        let socket = open(Kind::Datagram, at.ip(), &options)?;
        // Both must share the port while the second is bound [socket(7)], and no longer:
        // the socket of another user could join them.
        for socket in [connected, &socket] {
            setsockopt(socket, sockopt::ReuseAddr, &true).during(doing)?;
        }
        let bound = bind_to(&socket, at);
        for socket in [connected, &socket] {
            setsockopt(socket, sockopt::ReuseAddr, &false).during(doing)?;
        }
        bound?;
        Ok(Self(socket))
    }

    /// The number of datagrams that came.
    pub(super) fn count(&self) -> u64 {
        let waiting = (0..MOST_EARLIER).take_while(|_| {
            let read = read(&self.0, MsgFlags::empty());
            read.is_ok_and(|datagram| datagram.is_some())
        });
        let waiting = waiting.count() as u64;
        // The rest found no room.
        waiting + u64::from(option::dropped(self.0.as_fd()).unwrap_or_default())
    }
}

/// Waits for a datagram that holds the token, connects the socket to its source, and
/// answers. Messages of the sender stay in the socket.
pub(super) fn meet(socket: &OwnedFd, token: &Token, timeout: Span) -> Result<SenderArrival> {
    let doing = || "waiting for the sender";
    let deadline = clock::monotonic() + timeout;
    let mut rejected_peers = 0;
    let others = loop {
        if wait(socket.as_fd(), PollFlags::POLLIN, deadline)?.is_empty() {
            return Ok(SenderArrival {
                others: None,
                rejected_peers,
            });
        }
        match read_any(socket, MsgFlags::empty()).during(doing)? {
            Some(datagram) if token.is(datagram.bytes()) => {
                let from = datagram.from.ok_or(Errno::EDESTADDRREQ).during(doing)?;
                connect(socket.as_raw_fd(), &from).during(doing)?;
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
fn answer(socket: &OwnedFd, token: &Token) -> Result<()> {
    let doing = || "answering the sender";
    let mut repeated = true;
    let mut deadline = clock::monotonic() + SETTLED;
    loop {
        if repeated {
            // The sender repeats the token if the answer is lost.
            let _ = send(socket.as_raw_fd(), token.bytes(), MsgFlags::empty());
        }
        if wait(socket.as_fd(), PollFlags::POLLIN, deadline)?.is_empty() {
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
pub(super) fn introduce(socket: &OwnedFd, token: &Token, deadline: Time) -> nix::Result<bool> {
    while clock::monotonic() < deadline {
        match send(socket.as_raw_fd(), token.bytes(), MsgFlags::empty()) {
            // A full queue of the interface is like a loss.
            Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
        let soon = deadline.min(clock::monotonic() + REPEAT);
        while wait(socket.as_fd(), PollFlags::POLLIN, soon).is_ok_and(|events| !events.is_empty()) {
            if read(socket, MsgFlags::empty())?.is_some_and(|answer| token.is(answer.bytes())) {
                clock::sleep(APART);
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The start of a datagram: longer ones than a token are not one.
struct Datagram {
    room: [u8; TOKEN_LEN + 1],
    length: usize,
    from: Option<SockaddrStorage>,
}

impl Datagram {
    fn bytes(&self) -> &[u8] {
        &self.room[..self.length]
    }
}

/// Reads a datagram, if there is one. An answer that did not arrive is no error: the sender
/// may have ended.
fn read_any(socket: &OwnedFd, flags: MsgFlags) -> nix::Result<Option<Datagram>> {
    match read(socket, flags) {
        Err(Errno::ECONNREFUSED) => Ok(None),
        result => result,
    }
}

/// Reads a datagram, if there is one.
fn read(socket: &OwnedFd, flags: MsgFlags) -> nix::Result<Option<Datagram>> {
    let mut room = [0; TOKEN_LEN + 1];
    let mut pieces = [IoSliceMut::new(&mut room)];
    let flags = flags | MsgFlags::MSG_DONTWAIT;
    match recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, None, flags) {
        Ok(message) => {
            let (length, from) = (message.bytes, message.address);
            Ok(Some(Datagram { room, length, from }))
        }
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(error) => Err(error),
    }
}
