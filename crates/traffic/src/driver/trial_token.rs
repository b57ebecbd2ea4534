//! Data sockets of a trial that accept only the end with the trial's token
//! ([`crate::machine::trial_token`]).
//!
//! - **TCP:** the sender writes the token first, and begins once the kernel at the other
//!   end has acknowledged it. There is no reply, because data in both directions would
//!   change how acknowledgements are delayed. A thread at the port accepts all
//!   connections, passes on those with the token, and resets the others.
//! - **UDP:** the sender repeats the token in a datagram until it is answered. The
//!   receiver then connects its socket to the sender, so that the kernel gives the
//!   datagrams of others to a second socket, which only counts them.

mod acceptor;
mod datagrams;
#[cfg_attr(not(target_os = "linux"), path = "trial_token/no_others.rs")]
mod others;
#[cfg_attr(not(target_os = "linux"), path = "trial_token/no_wake.rs")]
mod wake;

use std::io;
use std::net::{IpAddr, SocketAddr};

pub use crate::machine::trial_token::Token;
use units::{Span, Time, Transport};

use super::callers::{BACKLOG, Callers};
use acceptor::Acceptor;
use os::clock;
use os::error::{OperationContext, Result};
use os::random::random;
use os::socket::{
    self, Errno, MsgFlags, Options, Socket, address_of, borrowed, listen, open, send, stalled,
    stated_unacknowledged, take_error, wait_to_write,
};
use others::Others;

/// The interval of looks whether the token is acknowledged.
const LOOK: Span = Span::from_micros(50);

/// The time for the token to be acknowledged where the system does not tell: a receiver may
/// delay it by as much as this [RFC9293 s3.8.6.3].
const UNSTATED: Span = Span::from_millis(500);

/// An unpredictable token.
///
/// # Errors
/// If the kernel provides no random numbers.
pub fn new_token() -> Result<Token> {
    Ok(Token::new(random()?))
}

/// A port that waits for the sender of a trial.
pub(crate) struct DataPort {
    /// Its number.
    pub(crate) port: u16,
    way: PortKind,
    token: Token,
    /// Datagrams of unauthenticated peers before the sender's.
    rejected_peers: u64,
    /// Those since.
    others: Option<Others>,
}

enum PortKind {
    Stream(Acceptor),
    /// The bound socket, until the sender has been met.
    Datagrams(Option<Socket>),
}

impl DataPort {
    /// Opens a port on `address` only, for at most `most` connections with `token`.
    ///
    /// # Errors
    /// If the kernel rejects the address or an option.
    pub(crate) fn open(
        transport: Transport,
        address: IpAddr,
        options: Options,
        token: Token,
        most: usize,
    ) -> Result<Self> {
        let options = Options {
            bind: Some(SocketAddr::new(address, 0)),
            ..options
        };
        let socket = open(transport, address, &options)?;
        let port = address_of(borrowed(&socket))?.port();
        let way = match transport {
            Transport::Tcp => {
                listen(&socket, BACKLOG)?;
                let callers =
                    Callers::new(socket, None, token.clone(), most, options.non_blocking)?;
                PortKind::Stream(Acceptor::begin(callers)?)
            }
            Transport::Udp => PortKind::Datagrams(Some(socket)),
        };
        Ok(Self {
            port,
            way,
            token,
            rejected_peers: 0,
            others: None,
        })
    }

    /// The next connection with the token, or the UDP socket connected to its sender.
    ///
    /// # Errors
    /// If nobody shows the token within `timeout`.
    pub(crate) fn admit(&mut self, timeout: Span) -> Result<Socket> {
        let late = || stalled("waiting for the sender", timeout);
        match &mut self.way {
            PortKind::Stream(acceptor) => acceptor.next(timeout)?.ok_or_else(late),
            PortKind::Datagrams(socket) => {
                let socket = socket.take().ok_or_else(late)?;
                let met = datagrams::meet(&socket, &self.token, timeout)?;
                self.rejected_peers = met.rejected_peers;
                self.others = met.others;
                match self.others {
                    Some(_) => Ok(socket),
                    None => Err(late()),
                }
            }
        }
    }

    /// Closes the port. Returns the unauthenticated peers: rejected connections, those that
    /// wait at this moment included, or datagrams.
    pub(crate) fn close(self) -> u64 {
        match self.way {
            PortKind::Stream(acceptor) => acceptor.end(),
            PortKind::Datagrams(_) => {
                self.rejected_peers + self.others.map_or(0, |others| others.count())
            }
        }
    }
}

/// A socket connected to the receiver at `to`, which has not shown the token.
///
/// # Errors
/// If the kernel rejects an option, or the receiver does not answer within `timeout`.
pub(crate) fn connect(
    transport: Transport,
    to: SocketAddr,
    options: &Options,
    timeout: Span,
) -> Result<Socket> {
    let socket = open(transport, to.ip(), options)?;
    let operation = || format!("connecting to the receiver at {to}");
    match socket::connect(&socket, to) {
        Err(Errno::EINPROGRESS) => {
            let deadline = clock::monotonic() + timeout;
            if !wait_to_write(&socket, deadline)? {
                return Err(stalled(&operation(), timeout));
            }
            take_error(borrowed(&socket)).during(operation)?;
        }
        result => result.during(operation)?,
    }
    Ok(socket)
}

/// Shows the token on a socket that is connected to the receiver at `to`.
///
/// # Errors
/// If it is not taken within `timeout`.
pub(crate) fn show(
    socket: &Socket,
    transport: Transport,
    token: &Token,
    to: SocketAddr,
    timeout: Span,
) -> Result<()> {
    let deadline = clock::monotonic() + timeout;
    let shown = match transport {
        Transport::Tcp => show_on_stream(socket, token, deadline),
        Transport::Udp => datagrams::introduce(socket, token, deadline).map_err(io::Error::from),
    };
    let operation = || format!("showing the trial's token to {to}");
    match shown.during(operation)? {
        true => Ok(()),
        false => Err(stalled(&operation(), timeout)),
    }
}

/// Writes the token, and waits until it is acknowledged: a short segment in flight would
/// hold back a short message if Nagle's algorithm is active [RFC9293 s3.7.4]. Returns
/// whether it was.
fn show_on_stream(socket: &Socket, token: &Token, deadline: Time) -> io::Result<bool> {
    let mut left: &[u8] = token.bytes();
    while !left.is_empty() {
        match send(socket, left, MsgFlags::MSG_NOSIGNAL) {
            Ok(count) => left = &left[count..],
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => {
                if !wait_to_write(socket, deadline).unwrap_or_default() {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    loop {
        match stated_unacknowledged(socket)? {
            Some(0) => return Ok(true),
            Some(_) if clock::monotonic() >= deadline => return Ok(false),
            Some(_) => clock::sleep(LOOK),
            None => {
                clock::sleep(UNSTATED);
                return Ok(true);
            }
        }
        take_error(borrowed(socket))?;
    }
}

#[cfg(test)]
mod tests;
