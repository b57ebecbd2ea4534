//! The end that has a packet log.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use os::clock;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::Options;
use secret::Secret;
use sha2::{Digest as _, Sha256};
use units::{Span, Time};

use super::SILENCE;
use crate::driver::control_port::Connection;
use crate::driver::control_port::sealed::{self, Receiving, Sending};
use crate::machine::log_transfer::{FromSender, FromTaker, LogName, PIECE};

/// The time for a connection.
const CONNECTING: Span = Span::from_secs(10);

/// The time in which the other end has the log on its disk after its last byte.
const STORING: Span = Span::from_secs(120);

/// The time for the reason of an end that closed the connection.
const REASON: Span = Span::from_secs(1);

/// The time between two frames of an end that waits, and that between two looks.
const ALIVE: Span = Span::from_secs(5);
const LOOK: Span = Span::from_millis(50);

/// The remedy if nobody listens.
const ABSENT: &str = "nobody takes logs there; start `jumbolab recv --take-logs DIR --secret-file FILE` on that host, with --listen ADDRESS";

/// The host that takes logs.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its addresses; the first that answers is used.
    pub addresses: Vec<SocketAddr>,
    pub secret: Secret,
}

/// Sends the log in the file at `path`, and returns the number of its bytes once they are on the
/// disk there. Waits while `is_busy`, because a transfer would disturb flows.
///
/// # Errors
/// One line: the log is not there.
pub fn send(path: &Path, to: &Destination, is_busy: impl Fn() -> bool) -> Result<u64> {
    let doing = || format!("reading {}", path.display());
    let name = path
        .file_name()
        .and_then(|name| LogName::new(name.to_str()?));
    let name = name.ok_or_else(|| Error::new(doing(), "it has no name of a packet log"))?;
    let file = files::open_regular(path).during(doing)?;
    let size = file.metadata().during(doing)?.len();
    while is_busy() {
        clock::sleep(LOOK);
    }
    let connection = Arc::new(connect(&to.addresses)?);
    let (sending, receiving) = sealed::begin(&connection, &to.secret)?;
    let mut transfer = Transfer { sending, receiving };
    transfer.tell(&FromSender::Offer { size, name })?;
    match transfer.answer(SILENCE)? {
        FromTaker::Begin => {}
        other => return Err(unexpected(&connection, other)),
    }
    let digest = transfer.pieces(file, size, is_busy)?;
    transfer.tell(&FromSender::End(digest))?;
    match transfer.answer(STORING)? {
        FromTaker::Stored(stored) if stored == digest => Ok(size),
        other => Err(unexpected(&connection, other)),
    }
}

fn connect(addresses: &[SocketAddr]) -> Result<Connection> {
    let mut connected = Err(Error::new("connecting", "the host has no address"));
    for address in addresses {
        connected = Connection::to(*address, &Options::default(), CONNECTING, ABSENT);
        if connected.is_ok() {
            break;
        }
    }
    connected
}

struct Transfer {
    sending: Sending,
    receiving: Receiving,
}

impl Transfer {
    /// Sends `size` bytes of the file. Returns their digest.
    fn pieces(&mut self, file: File, size: u64, is_busy: impl Fn() -> bool) -> Result<[u8; 32]> {
        let (mut file, mut left) = (file.take(size), size);
        let (mut digest, mut room) = (Sha256::new(), vec![0; PIECE]);
        while left > 0 {
            self.wait(&is_busy)?;
            let length = file.read(&mut room).during(|| "reading a piece")?;
            if length == 0 {
                return Err(Error::new("reading a piece", "the file became shorter"));
            }
            digest.update(&room[..length]);
            self.tell(&FromSender::Piece(&room[..length]))?;
            left -= length as u64;
        }
        Ok(digest.finalize().into())
    }

    /// Waits while there are flows, and shows that this end is there.
    fn wait(&mut self, is_busy: &impl Fn() -> bool) -> Result<()> {
        let mut told: Time = clock::monotonic();
        while is_busy() {
            clock::sleep(LOOK);
            if clock::monotonic() > told + ALIVE {
                self.tell(&FromSender::Alive)?;
                told = clock::monotonic();
            }
        }
        Ok(())
    }

    /// Sends a frame. If the other end does not take it, its reason is the error.
    fn tell(&mut self, frame: &FromSender<'_>) -> Result<()> {
        self.sending.send(&frame.content()).map_err(|lost| {
            let last = self.receiving.next(&Deadline::fixed(REASON));
            match last.map(|content| FromTaker::parse(&content)) {
                Ok(Some(FromTaker::Rejected(why))) => Error::new(lost.operation, rejected(&why)),
                _ => lost,
            }
        })
    }

    fn answer(&mut self, within: Span) -> Result<FromTaker> {
        let content = self.receiving.next(&Deadline::fixed(within))?;
        let answer = FromTaker::parse(&content);
        answer.ok_or_else(|| {
            Error::new(
                "sending a log",
                "the other end speaks another protocol; use the same jumbolab at both ends",
            )
        })
    }
}

fn rejected(why: &str) -> String {
    format!("the other host rejects it: {why}")
}

fn unexpected(connection: &Connection, answer: FromTaker) -> Error {
    let why = match answer {
        FromTaker::Rejected(why) => rejected(&why),
        FromTaker::Begin | FromTaker::Stored(_) => "it answers about another log".to_owned(),
    };
    Error::new(format!("sending a log to {}", connection.peer().ip()), why)
}
