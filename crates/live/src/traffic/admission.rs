//! Admission of control connections to a receiver. A connection that has authenticated
//! itself takes a session slot. All others wait in a separate bounded list, so that no
//! number of them keeps out an authorised sender.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most connections that wait for authentication. Each has a thread.
const WAITING: usize = 64;

/// The most evicted connections whose threads have not ended yet; threads check for
/// eviction every 10 ms.
const LEAVING: usize = 64;

/// The sessions of a receiver, and the connections not authenticated yet.
#[derive(Debug)]
pub(super) struct Sessions {
    slots: usize,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    taken: usize,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    leaving: usize,
    /// Number of connections so far.
    came: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    from: IpAddr,
    evicted: Arc<AtomicBool>,
}

/// The admission of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Admission {
    sessions: Arc<Sessions>,
    number: u64,
    state: State,
    evicted: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Admitted,
}

impl Sessions {
    /// No connections, and `slots` session slots.
    pub(super) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            slots,
            connections: Mutex::default(),
        })
    }

    /// Whether another connection may be accepted; the threads of evicted connections
    /// are limited, too.
    pub(super) fn has_room(&self) -> bool {
        self.connections().leaving < LEAVING
    }

    /// Whether there is any connection.
    pub(super) fn is_anybody(&self) -> bool {
        let connections = self.connections();
        connections.taken + connections.waiting.len() + connections.leaving > 0
    }

    /// Admits an unauthenticated connection. If too many wait, one is evicted: the
    /// oldest of the address with the most waiting connections.
    pub(super) fn admit(self: &Arc<Self>, from: IpAddr) -> Admission {
        let mut connections = self.connections();
        if connections.waiting.len() >= WAITING {
            connections.evict_one();
        }
        let (number, evicted) = (connections.came, Arc::<AtomicBool>::default());
        connections.came += 1;
        connections.waiting.push(Waiting {
            number,
            from,
            evicted: Arc::clone(&evicted),
        });
        Admission {
            sessions: Arc::clone(self),
            number,
            state: State::Waiting,
            evicted,
        }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        // The counts are valid even if a thread that held the lock panicked.
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    fn evict_one(&mut self) {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for waiting in &self.waiting {
            *counts.entry(waiting.from).or_default() += 1;
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let first = |waiting: &Waiting| counts.get(&waiting.from) == Some(&most);
        if let Some(at) = self.waiting.iter().position(first) {
            let waiting = self.waiting.remove(at);
            waiting.evicted.store(true, Ordering::Relaxed);
            self.leaving += 1;
        }
    }
}

impl Admission {
    /// Takes a slot for a connection that has authenticated itself. Returns whether one
    /// was free.
    pub(super) fn take_slot(&mut self) -> bool {
        let mut connections = self.sessions.connections();
        let place = connections
            .waiting
            .iter()
            .position(|one| one.number == self.number);
        let Some(place) = place.filter(|_| connections.taken < self.sessions.slots) else {
            return false;
        };
        connections.waiting.remove(place);
        connections.taken += 1;
        self.state = State::Admitted;
        true
    }

    /// Whether the connection must end, because newer ones evicted it before its
    /// authentication.
    pub(super) fn is_evicted(&self) -> bool {
        self.evicted.load(Ordering::Relaxed)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut connections = self.sessions.connections();
        match self.state {
            State::Admitted => connections.taken -= 1,
            State::Waiting => {
                let place = connections
                    .waiting
                    .iter()
                    .position(|one| one.number == self.number);
                match place {
                    Some(place) => drop(connections.waiting.remove(place)),
                    None => connections.leaving -= 1,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn who_proved_itself_has_a_seat_however_many_strangers_come() {
        let sessions = Sessions::new(1);
        let strangers: Vec<Admission> = (0..WAITING).map(|_| sessions.admit(address(1))).collect();
        let mut sender = sessions.admit(address(2));
        assert!(strangers[0].is_evicted(), "the first who came");
        assert!(strangers[1..].iter().all(|one| !one.is_evicted()));
        let more: Vec<Admission> = (0..WAITING - 2)
            .map(|_| sessions.admit(address(1)))
            .collect();
        assert!(!sender.is_evicted(), "its address has no other");
        assert!(sender.take_slot());
        let mut second = sessions.admit(address(3));
        assert!(!second.take_slot(), "there is one slot");
        drop(sender);
        assert!(second.take_slot());
        drop((strangers, more, second));
        assert!(!sessions.is_anybody());
    }

    #[test]
    fn an_evicted_session_has_no_slot_and_counts_until_it_is_gone() {
        let sessions = Sessions::new(8);
        let mut connections: Vec<Admission> = (0..WAITING + LEAVING)
            .map(|_| sessions.admit(address(1)))
            .collect();
        assert!(!sessions.has_room());
        assert!(connections[0].is_evicted() && !connections[0].take_slot());
        drop(connections.remove(0));
        assert!(sessions.has_room());
    }
}
