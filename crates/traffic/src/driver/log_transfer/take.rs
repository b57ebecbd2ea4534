//! The end that takes packet logs of others who know the secret.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, anyhow, bail, ensure};
use files::Folder;
use os::error::{OperationContext, Result};
use os::socket::Socket;
use os::{clock, interrupt};
use secret::Secret;
use sha2::{Digest as _, Sha256};
use units::Span;

use super::SILENCE;
use crate::driver::control_port::sealed::{self, HANDSHAKE, Receiving, Sending};
use crate::driver::control_port::{Admission, Connection, ControlPort, Sessions};
use crate::driver::packet_log::LogSpace;
use crate::machine::log_transfer::{FromSender, FromTaker, LogName};

/// The interval of checks whether the server is to end.
const LOOK: Span = Span::from_millis(50);

/// The interval of checks whether transfers have ended.
const PAUSE: Span = Span::from_millis(5);

/// The most transfers at a time.
const TRANSFERS: usize = 8;

/// The most names that are tried for a log.
const MOST_NAMES: u32 = 100;

const ANOTHER_PROTOCOL: &str = "it speaks another protocol; use the same jumbolab at both ends";

/// The end of a connection.
#[derive(Debug)]
pub struct Event {
    /// The other end.
    pub peer: SocketAddr,
    pub kind: EventKind,
}

#[derive(Debug)]
pub enum EventKind {
    /// A log is on the disk.
    Stored { name: String, bytes: u64 },
    /// None is, for this reason.
    Rejected(String),
}

/// A server that listens.
pub struct Server {
    port: ControlPort,
    shared: Arc<Shared>,
}

struct Shared {
    secret: Secret,
    folder: Folder,
    space: Arc<LogSpace>,
    /// The names of logs that are about to come.
    coming: Mutex<BTreeSet<String>>,
}

impl Server {
    /// Listens on these addresses only, and stores logs in `folder`.
    ///
    /// # Errors
    /// The system rejects one of them.
    pub fn open(
        listen: &[SocketAddr],
        secret: Secret,
        folder: Folder,
        space: Arc<LogSpace>,
    ) -> Result<Self> {
        Ok(Self {
            port: ControlPort::open(listen)?,
            shared: Arc::new(Shared {
                secret,
                folder,
                space,
                coming: Mutex::default(),
            }),
        })
    }

    /// The addresses with their ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.port.addresses
    }

    /// Takes logs until the user stops it, or, with `once`, until one is stored.
    ///
    /// # Errors
    /// The system rejects an ordinary call. Errors of connections are events.
    pub fn run(self, once: bool, mut tell: impl FnMut(Event)) -> Result<()> {
        let (events, told) = channel();
        let sessions = Sessions::new(TRANSFERS);
        let mut is_over = false;
        while !is_over && !interrupt::asked() {
            for socket in self.port.accept(LOOK, &sessions)? {
                self.begin(socket, &sessions, &events);
            }
            for event in told.try_iter() {
                is_over |= once && matches!(event.kind, EventKind::Stored { .. });
                tell(event);
            }
        }
        // Their deadlines end with the signal. A server of one log has no others.
        while sessions.is_anybody() && interrupt::asked() {
            clock::sleep(PAUSE);
        }
        told.try_iter().for_each(tell);
        Ok(())
    }

    /// Serves a connection in a thread.
    fn begin(&self, socket: Socket, sessions: &Arc<Sessions>, events: &Sender<Event>) {
        // The peer may have closed it already.
        let Ok(connection) = Connection::of(socket).map(Arc::new) else {
            return;
        };
        let peer = connection.peer();
        let admission = sessions.admit(peer.ip());
        let (shared, to) = (Arc::clone(&self.shared), events.clone());
        let body = move || {
            let kind = match shared.take(&connection, admission) {
                Ok((name, bytes)) => EventKind::Stored { name, bytes },
                Err(error) => EventKind::Rejected(format!("{error:#}")),
            };
            // Nobody listens once the server has ended.
            let _ = to.send(Event { peer, kind });
        };
        let thread = thread::Builder::new().name(format!("log of {peer}"));
        if let Err(error) = thread.spawn(body).during(|| "starting a thread") {
            let kind = EventKind::Rejected(error.to_string());
            let _ = events.send(Event { peer, kind });
        }
    }
}

impl Shared {
    /// Takes the log that a connection offers. Returns its name and its bytes once they are on
    /// the disk, and the other end was told so.
    fn take(
        &self,
        connection: &Arc<Connection>,
        mut admission: Admission,
    ) -> anyhow::Result<(String, u64)> {
        let deadline = sealed::within(HANDSHAKE, &admission.evicted());
        let (mut sending, mut receiving) = sealed::accept(connection, &self.secret, &deadline)?;
        // Only an end that took part in the handshake can write it.
        let first = receiving.next(&deadline)?;
        let stored = self.store(
            &first,
            connection,
            &mut admission,
            (&mut sending, &mut receiving),
        );
        match stored {
            Ok((name, bytes, digest)) => {
                // The other end keeps its file if it does not hear of it.
                sending.send(&FromTaker::Stored(digest).content())?;
                Ok((name, bytes))
            }
            Err(error) => {
                let why = FromTaker::Rejected(format!("{error:#}"));
                // It may be gone.
                let _ = sending.send(&why.content());
                Err(error)
            }
        }
    }

    fn store(
        &self,
        first: &[u8],
        connection: &Connection,
        admission: &mut Admission,
        (sending, receiving): (&mut Sending, &mut Receiving),
    ) -> anyhow::Result<(String, u64, [u8; 32])> {
        let Some(FromSender::Offer { size, name }) = FromSender::parse(first) else {
            bail!(ANOTHER_PROTOCOL);
        };
        ensure!(
            admission.take_slot(),
            "as many logs as are allowed are on their way; send it again later"
        );
        let name = self.name(connection.peer(), &name)?;
        let paid = Paid::of(&self.space, size)?;
        let (mut lost, mut digest) = (None, [0; 32]);
        let written = self.folder.replace(&name.text, |file| {
            sending.send(&FromTaker::Begin.content())?;
            let stop = admission.evicted();
            let mut next = || receiving.next(&sealed::within(SILENCE, &stop));
            match copy(file, size, &mut next) {
                Ok(Ok(all)) => {
                    digest = all;
                    Ok(())
                }
                Ok(Err(why)) => {
                    lost = Some(why);
                    bail!("the log did not arrive")
                }
                Err(error) => Err(error),
            }
        });
        // Errors of the other end are none of the file.
        lost.map_or(Ok(()), Err)?;
        written?;
        paid.keep();
        Ok((name.text.clone(), size, digest))
    }

    /// A free name for a log: that of its sender behind its address, so that hosts do not meet
    /// in it.
    fn name(&self, peer: SocketAddr, name: &LogName) -> anyhow::Result<Coming<'_>> {
        let address = peer.ip().to_canonical().to_string().replace(':', "_");
        let stem = format!("{address}-{}", name.stem());
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        let names = (1..=MOST_NAMES).map(|number| match number {
            1 => format!("{stem}.jlog"),
            number => format!("{stem}-{number}.jlog"),
        });
        let free = |name: &String| !coming.contains(name) && !self.folder.holds(name);
        let text = { names }.find(free);
        let text = text.with_context(|| format!("{MOST_NAMES} logs have the name {stem}"))?;
        coming.insert(text.clone());
        Ok(Coming { shared: self, text })
    }
}

/// Copies `size` bytes from the frames that `next` returns to a file. Returns their digest, or
/// inside the error of the other end.
fn copy(
    file: &mut File,
    size: u64,
    next: &mut impl FnMut() -> Result<Vec<u8>>,
) -> anyhow::Result<anyhow::Result<[u8; 32]>> {
    let (mut left, mut digest) = (size, Sha256::new());
    loop {
        let content = match next() {
            Ok(content) => content,
            Err(error) => return Ok(Err(error.into())),
        };
        match FromSender::parse(&content) {
            Some(FromSender::Alive) => {}
            Some(FromSender::Piece(bytes)) if bytes.len() as u64 <= left => {
                file.write_all(bytes)?;
                digest.update(bytes);
                left -= bytes.len() as u64;
            }
            Some(FromSender::Piece(_)) => {
                return Ok(Err(anyhow!(
                    "it sent more than the {size} bytes that it offered"
                )));
            }
            Some(FromSender::End(theirs)) => {
                let ours: [u8; 32] = digest.finalize().into();
                return Ok(match (left, ours == theirs) {
                    (0, true) => Ok(ours),
                    (0, false) => Err(anyhow!("the bytes differ from those that it read")),
                    (left, _) => Err(anyhow!("{left} bytes of the log are missing")),
                });
            }
            Some(FromSender::Offer { .. }) | None => return Ok(Err(anyhow!(ANOTHER_PROTOCOL))),
        }
    }
}

/// A name that is taken until it is dropped.
struct Coming<'a> {
    shared: &'a Shared,
    text: String,
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        let coming = self.shared.coming.lock();
        coming
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.text);
    }
}

/// Space that is given back unless a log keeps it.
struct Paid<'a> {
    space: &'a LogSpace,
    bytes: Option<u64>,
}

impl<'a> Paid<'a> {
    fn of(space: &'a LogSpace, bytes: u64) -> anyhow::Result<Self> {
        space.take_for_a_log(bytes)?;
        let bytes = Some(bytes);
        Ok(Self { space, bytes })
    }

    fn keep(mut self) {
        self.bytes = None;
    }
}

impl Drop for Paid<'_> {
    fn drop(&mut self) {
        if let Some(bytes) = self.bytes {
            self.space.give_back_of_a_log(bytes);
        }
    }
}
