//! Admission to the data sockets of a trial, without I/O.
//!
//! Both ends of a trial know its token. The sender shows it first on every connection,
//! and in a datagram of its own before the messages. Other peers are unauthenticated: they are
//! rejected and counted.
//!
//! A driver reports each connection to an [`Admission`] and hands in what it reads, at
//! most as many bytes as [`Admission::missing`] says, so that the messages behind the
//! token stay in the kernel with their timestamps.

use std::fmt;
use std::net::IpAddr;

use units::{Span, Time};

/// Bytes of a token.
pub const TOKEN_LEN: usize = 16;

/// The most connections that wait for their token. Each takes a descriptor.
pub const MOST_WAITING: usize = 64;

/// The time that a connection has to show the token. A lost first segment is sent again
/// after 1 s, and then after 2 s and 4 s [RFC6298 s2].
pub const TIMEOUT: Span = Span::from_secs(10);

/// A number that only the two ends of a trial know; it is never printed.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Token([u8; TOKEN_LEN]);

impl Token {
    /// The token of these bytes.
    pub const fn new(bytes: [u8; TOKEN_LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes to show.
    pub const fn bytes(&self) -> &[u8; TOKEN_LEN] {
        &self.0
    }

    /// Whether `shown` is the whole token. The time of the comparison does not depend on
    /// the place of the first difference.
    pub fn is(&self, shown: &[u8]) -> bool {
        let pairs = self.0.iter().zip(shown);
        shown.len() == TOKEN_LEN && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// The number of a connection, chosen by the driver.
pub type Number = u64;

/// The decision about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// More bytes are needed.
    Wait,
    /// It showed the token.
    Admit,
    /// It is an unauthenticated peer: close it.
    Reject,
}

/// The connections to one port that have not shown the token.
#[derive(Clone, Debug)]
pub struct Admission {
    token: Token,
    /// The number of connections that may still be admitted.
    vacancies: usize,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    rejected_peers: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    number: Number,
    from: IpAddr,
    until: Time,
    shown: [u8; TOKEN_LEN],
    count: usize,
}

impl Admission {
    /// The admission for at most `most` connections that show `token`.
    pub const fn new(token: Token, most: usize) -> Self {
        Self {
            token,
            vacancies: most,
            waiting: Vec::new(),
            rejected_peers: 0,
        }
    }

    /// Notes a connection that arrived at `now`. Returns the one to reject for it: itself
    /// if all who may enter are in, or the oldest of the address with the most
    /// connections if too many wait.
    pub fn arrive(&mut self, number: Number, from: IpAddr, now: Time) -> Option<Number> {
        if self.is_complete() {
            self.rejected_peers += 1;
            return Some(number);
        }
        self.waiting.push(Waiting {
            number,
            from,
            until: now + TIMEOUT,
            shown: [0; TOKEN_LEN],
            count: 0,
        });
        if self.waiting.len() <= MOST_WAITING {
            return None;
        }
        let of = |from: IpAddr| self.waiting.iter().filter(|one| one.from == from).count();
        // Of equal numbers `max_by_key` takes the last, which is the oldest here.
        let busiest = self.waiting.iter().rev().max_by_key(|one| of(one.from))?;
        let from = busiest.from;
        let oldest = self.waiting.iter().find(|one| one.from == from)?.number;
        self.reject(oldest);
        Some(oldest)
    }

    /// The number of bytes of the token that a connection has not shown.
    pub fn missing(&self, number: Number) -> usize {
        let one = self.waiting.iter().find(|one| one.number == number);
        one.map_or(0, |one| TOKEN_LEN - one.count)
    }

    /// Takes bytes that a connection showed. Nothing is decided before all of them are
    /// there: an early rejection would tell how many were right.
    pub fn show(&mut self, number: Number, bytes: &[u8]) -> Decision {
        let Some(at) = self.waiting.iter().position(|one| one.number == number) else {
            return Decision::Reject;
        };
        let one = &mut self.waiting[at];
        let Some(room) = one.shown.get_mut(one.count..one.count + bytes.len()) else {
            self.reject(number);
            return Decision::Reject;
        };
        room.copy_from_slice(bytes);
        one.count += bytes.len();
        if one.count < TOKEN_LEN {
            return Decision::Wait;
        }
        if !self.token.is(&one.shown) || self.vacancies == 0 {
            self.reject(number);
            return Decision::Reject;
        }
        self.waiting.remove(at);
        self.vacancies -= 1;
        Decision::Admit
    }

    /// Counts a connection as an unauthenticated peer: it ended without the token.
    pub fn reject(&mut self, number: Number) {
        if let Some(at) = self.waiting.iter().position(|one| one.number == number) {
            self.waiting.remove(at);
            self.rejected_peers += 1;
        }
    }

    /// The connections to reject at `now`: those that waited too long, or all if nobody
    /// else may enter.
    pub fn expire(&mut self, now: Time) -> Vec<Number> {
        let late = |one: &&Waiting| one.until <= now || self.vacancies == 0;
        let late = self.waiting.iter().filter(late).map(|one| one.number);
        let late: Vec<Number> = late.collect();
        late.iter().for_each(|number| self.reject(*number));
        late
    }

    /// The next time at which [`Admission::expire`] has something to do.
    pub fn next_expiry(&self) -> Option<Time> {
        self.waiting.iter().map(|one| one.until).min()
    }

    /// Whether all who may enter are in.
    pub const fn is_complete(&self) -> bool {
        self.vacancies == 0
    }

    /// The unauthenticated peers so far.
    pub const fn rejected_peers(&self) -> u64 {
        self.rejected_peers
    }
}

#[cfg(test)]
mod tests;
