//! Comparison of the wall clocks of two hosts over the path of a trial.
//!
//! One end asks for the other's clock in datagrams, and gets its readings at arrival and
//! departure ([`meter::clock_offset`]). Arrivals are timed by the kernel's timestamps,
//! so neither end's wake-up widens the bound on Linux; other systems have none. The messages are those of the control
//! protocol ([`wire::control`]), one in each datagram, after the trial's token.

use std::net::{IpAddr, SocketAddr};

use meter::clock_offset::{ClockEstimate, ClockExchange, ClockLine};
use units::{Span, Time, Transport};
use wire::control::{Control, LONGEST};

use crate::driver::trial_token::{self, DataPort, Token};
use os::clock::{self, Epoch};
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::socket::{
    Errno, MsgFlags, Options, Socket, borrowed, receive_stamped, send, stalled, wait_to_read,
};

/// Number of exchanges. There are fewer if they take longer than [`TIMEOUT`].
const EXCHANGES: usize = 64;

/// The longest time for the sender to come, and for all exchanges.
pub const TIMEOUT: Span = Span::from_secs(10);

/// The time after which an answer counts as lost.
const LOST: Span = Span::from_millis(500);

/// The silence after which the answering end takes the comparison for ended.
const SILENT: Span = Span::from_secs(2);

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Compared {
    /// The answering end's clock minus the asking end's.
    pub estimate: ClockEstimate,
    /// The asking end's clock after the comparison, in nanoseconds since 1970.
    pub now: u64,
}

impl Compared {
    /// Epochs of a trial that begins now: one time, on the asking and on the answering
    /// end's clock.
    pub fn epochs(&self) -> [Epoch; 2] {
        let there = self.estimate.offset.to_other(self.now);
        [self.now, there].map(Epoch::at)
    }

    /// The offset from this comparison until a later one.
    pub fn until(&self, later: Self) -> ClockLine {
        ClockLine {
            before: self.estimate,
            after: later.estimate,
        }
    }
}

/// The end whose clock is asked for.
pub struct ClockAnswerer {
    data_port: DataPort,
    /// The port to which the asking end sends.
    pub port: u16,
}

impl ClockAnswerer {
    /// Opens a port on `address` only, for the asking end with `token`.
    ///
    /// # Errors
    /// If the kernel rejects the address.
    pub fn open(address: IpAddr, token: Token) -> Result<Self> {
        let data_port = DataPort::open(Transport::Udp, address, stamped(), token, 1)?;
        Ok(Self {
            port: data_port.port,
            data_port,
        })
    }

    /// Answers until the asking end has finished or says nothing more.
    ///
    /// # Errors
    /// If it does not come.
    pub fn answer(mut self) -> Result<()> {
        let socket = self.data_port.admit(TIMEOUT)?;
        let end = clock::monotonic() + TIMEOUT + TIMEOUT;
        loop {
            let deadline = end.min(clock::monotonic() + SILENT);
            let Some((message, received)) = receive(&socket, deadline)? else {
                return Ok(());
            };
            match message {
                Control::Ask { sent } => {
                    let tell = |answered| Control::Tell {
                        asked: sent,
                        received,
                        answered,
                    };
                    put(&socket, &tell(clock::wall_nanos()));
                }
                Control::Farewell => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Compares this clock with that of the end that answers at `address` and `port`.
///
/// # Errors
/// If it does not answer, or its answers contradict each other.
pub fn compare(address: IpAddr, token: &Token, port: u16) -> Result<Compared> {
    let to = SocketAddr::new(address, port);
    let socket = trial_token::connect(Transport::Udp, to, &stamped(), TIMEOUT)?;
    let operation = || format!("comparing the clocks with {address}");
    trial_token::show(&socket, Transport::Udp, token, to, TIMEOUT)?;
    let deadline = clock::monotonic() + TIMEOUT;
    let mut exchanges = Vec::with_capacity(EXCHANGES);
    while exchanges.len() < EXCHANGES && clock::monotonic() < deadline {
        let asked = clock::wall_nanos();
        put(&socket, &Control::Ask { sent: asked });
        exchanges.extend(answer_to(&socket, asked)?);
    }
    // If all are lost, the other end notices the silence.
    (0..3).for_each(|_| put(&socket, &Control::Farewell));
    if exchanges.is_empty() {
        return Err(stalled(&operation(), TIMEOUT));
    }
    let estimate = ClockEstimate::of(&exchanges)
        .ok_or_else(|| Error::new(operation(), "the answers contradict each other"))?;
    let now = clock::wall_nanos();
    Ok(Compared { estimate, now })
}

/// The exchange that began at `asked`, unless it is lost.
fn answer_to(socket: &Socket, asked: u64) -> Result<Option<ClockExchange>> {
    let deadline = clock::monotonic() + LOST;
    while let Some((message, back)) = receive(socket, deadline)? {
        match message {
            Control::Tell {
                asked: of,
                received,
                answered,
            } if of == asked => {
                return Ok(Some(ClockExchange {
                    asked,
                    received,
                    answered,
                    back,
                }));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The options of a socket whose arrivals have timestamps.
fn stamped() -> Options {
    Options {
        stamps: true,
        ..Options::default()
    }
}

/// Sends a message; a failure is like a loss.
fn put(socket: &Socket, message: &Control) {
    let mut room = [0; LONGEST];
    let length = message.emit(&mut room);
    let _ = send(socket, &room[..length], MsgFlags::MSG_DONTWAIT);
}

/// The next message until `deadline`, and its arrival by the wall clock.
fn receive(socket: &Socket, deadline: Time) -> Result<Option<(Control, u64)>> {
    let doing = || "comparing clocks";
    let mut room = [0; LONGEST];
    while wait_to_read(socket, deadline)? {
        let (flags, permit) = (MsgFlags::MSG_DONTWAIT, Permit::of_worker());
        let taken = match receive_stamped(borrowed(socket), &mut room, flags, permit) {
            Ok(taken) => taken,
            // An answer to an end that has finished.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => {
                if clock::monotonic() >= deadline {
                    break;
                }
                continue;
            }
            Err(error) => return Err(error).during(doing),
        };
        let at = taken.stamp.map_or_else(clock::wall_nanos, clock::as_read);
        if let Ok(message) = Control::parse(&room[..taken.length]) {
            return Ok(Some((message, at)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
