//! The sessions of a reflector: the next sequence number of each [RFC8762 s4.3].

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use units::Time;

use super::Limits;

/// The identity of a session: the sender's address and port, and the identifier that it
/// chose [RFC8972 s3]. The reflector's own address and port are those of its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    address: IpAddr,
    port: u16,
    session: u16,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    used: Time,
    next: u32,
}

/// The table of sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: BTreeMap<Key, Session>,
}

impl Sessions {
    /// The sequence number of the next reply in a session; `None` if the table has no
    /// place for it.
    pub(super) fn next(
        &mut self,
        now: Time,
        from: SocketAddr,
        session: u16,
        limits: &Limits,
    ) -> Option<u32> {
        let key = Key {
            address: from.ip(),
            port: from.port(),
            session,
        };
        if !self.sessions.contains_key(&key) {
            self.make_room(now, key.address, limits)?;
        }
        let session = self
            .sessions
            .entry(key)
            .or_insert(Session { used: now, next: 0 });
        session.used = now;
        let number = session.next;
        session.next = number.wrapping_add(1);
        Some(number)
    }

    /// Ends the session of `address` that was idle for longest if it has too many, or of
    /// any sender if the table is full and that session is idle.
    fn make_room(&mut self, now: Time, address: IpAddr, limits: &Limits) -> Option<()> {
        let first = Key {
            address,
            port: 0,
            session: 0,
        };
        let last = Key {
            address,
            port: u16::MAX,
            session: u16::MAX,
        };
        let own = || self.sessions.range(first..=last);
        if own().count() >= limits.sessions_per_address {
            let (oldest, _) = own().min_by_key(|(_, session)| session.used)?;
            let oldest = *oldest;
            self.sessions.remove(&oldest);
        } else if self.sessions.len() >= limits.sessions {
            let all = self.sessions.iter();
            let (oldest, session) = all.min_by_key(|(_, session)| session.used)?;
            let oldest = (session.used + limits.idle <= now).then_some(*oldest)?;
            self.sessions.remove(&oldest);
        }
        Some(())
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }
}
