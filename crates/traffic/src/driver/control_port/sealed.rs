//! A control connection that is sealed by a secret: what crosses it is read, changed, repeated
//! and added by nobody else ([`secret::channel`]).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use os::deadline::{Deadline, Ended};
use os::error::{Error, Result};
use os::{clock, random};
use secret::Secret;
use secret::channel::{self, Begun, HANDSHAKE_LEN, Opener, Sealer};
use units::Span;

use super::{Connection, Room};

/// The time for a whole handshake.
pub const HANDSHAKE: Span = Span::from_secs(5);

/// The time of one read, after which deadlines are looked at.
const LOOK: Span = Span::from_millis(50);

/// Frames to the other end.
pub struct Sending {
    connection: Arc<Connection>,
    sealer: Sealer,
}

/// Frames of the other end.
pub struct Receiving {
    connection: Arc<Connection>,
    opener: Opener,
    room: Room,
}

/// Connects as the end that opened the connection: proves the secret, and demands the proof
/// of the server.
///
/// # Errors
/// The connection is lost, or the server does not know the secret.
pub fn begin(connection: &Arc<Connection>, secret: &Secret) -> Result<(Sending, Receiving)> {
    let (begun, first) = Begun::new(secret, random::random()?.into());
    connection.write(&mut first.to_vec())?;
    let mut room = Room::default();
    let deadline = Deadline::fixed(HANDSHAKE);
    let (second, rest) = read_handshake(connection, &mut room, &deadline).map_err(|error| {
        let remedy = "use the same --secret-file and the same jumbolab at both ends";
        Error::new(error.operation, format!("{}; {remedy}", error.source))
    })?;
    let (sealer, mut opener) = begun
        .complete(&second)
        .map_err(|why| forged(connection, why))?;
    opener.push(&rest);
    Ok(halves(connection, sealer, opener, room))
}

/// Connects as the server, for an end that knows the secret.
///
/// # Errors
/// The connection is lost, or the other end does not know the secret.
pub fn accept(
    connection: &Arc<Connection>,
    secret: &Secret,
    deadline: &Deadline,
) -> Result<(Sending, Receiving)> {
    let mut room = Room::default();
    let (first, rest) = read_handshake(connection, &mut room, deadline)?;
    let ephemeral = random::random()?.into();
    let accepted = channel::accept(secret, ephemeral, &first);
    let (sealer, mut opener, second) = accepted.map_err(|why| forged(connection, why))?;
    connection.write(&mut second.to_vec())?;
    opener.push(&rest);
    Ok(halves(connection, sealer, opener, room))
}

fn halves(
    connection: &Arc<Connection>,
    sealer: Sealer,
    opener: Opener,
    room: Room,
) -> (Sending, Receiving) {
    (
        Sending {
            connection: Arc::clone(connection),
            sealer,
        },
        Receiving {
            connection: Arc::clone(connection),
            opener,
            room,
        },
    )
}

/// A message of the handshake, and the bytes behind it.
fn read_handshake(
    connection: &Connection,
    room: &mut Room,
    deadline: &Deadline,
) -> Result<([u8; HANDSHAKE_LEN], Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some((message, rest)) = bytes.split_first_chunk() {
            return Ok((*message, rest.to_vec()));
        }
        let permit = deadline.permit().map_err(|why| ended(connection, why))?;
        bytes.extend_from_slice(connection.read(room, LOOK, permit)?);
    }
}

impl Sending {
    /// Sends a frame.
    ///
    /// # Errors
    /// The other end does not read, or is lost.
    pub fn send(&mut self, content: &[u8]) -> Result<()> {
        self.connection.write(&mut self.sealer.seal(content))
    }
}

impl Receiving {
    /// The next frame.
    ///
    /// # Errors
    /// The deadline ends, the other end is lost, or the frame is not its own.
    pub fn next(&mut self, deadline: &Deadline) -> Result<Vec<u8>> {
        loop {
            let opened = self.opener.open();
            if let Some(content) = opened.map_err(|why| forged(&self.connection, why))? {
                return Ok(content);
            }
            let permit = deadline.permit();
            let permit = permit.map_err(|why| ended(&self.connection, why))?;
            let bytes = self.connection.read(&mut self.room, LOOK, permit)?;
            self.opener.push(bytes);
        }
    }
}

fn ended(connection: &Connection, why: Ended) -> Error {
    let why = match why {
        Ended::Late => "it is silent",
        Ended::Stopped => "the connection was closed here",
        Ended::Interrupted => "stopped",
    };
    Error::new(listening(connection), why)
}

fn forged(connection: &Connection, why: channel::Forged) -> Error {
    Error::new(listening(connection), why.to_string())
}

fn listening(connection: &Connection) -> String {
    format!("listening to {}", connection.peer().ip())
}

/// A deadline `span` from now, which `stop` and the user's signals bring forward.
pub fn within(span: Span, stop: &Arc<AtomicBool>) -> Deadline {
    Deadline::new(clock::monotonic() + span, stop)
}
