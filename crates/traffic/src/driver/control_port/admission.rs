//! Admission of control connections to a receiver. A connection that has authenticated
//! itself takes a session slot. All others wait in a separate bounded list, so that no
//! number of them keeps out an authorised sender.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most connections that wait for authentication. Each has a thread.
const WAITING: usize = 64;

/// The most evicted connections whose threads have not ended yet; threads check for
/// eviction every 10 ms.
const LEAVING: usize = 64;

/// The sessions of a receiver, and the connections not authenticated yet.
#[derive(Debug)]
pub struct Sessions {
    slots: usize,
    /// The number of flows that poll for messages.
    polling: Arc<AtomicUsize>,
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
pub struct Admission {
    sessions: Arc<Sessions>,
    number: u64,
    state: State,
    evicted: Arc<AtomicBool>,
}

/// The permission of a flow to poll for messages, until it is dropped.
#[derive(Debug)]
pub struct Polling(Arc<AtomicUsize>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Admitted,
}

impl Sessions {
    /// No connections, and `slots` session slots.
    pub fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            slots,
            polling: Arc::default(),
            connections: Mutex::default(),
        })
    }

    /// Whether another connection may be accepted; the threads of evicted connections
    /// are limited, too.
    pub fn has_room(&self) -> bool {
        self.connections().leaving < LEAVING
    }

    /// Whether there is any connection.
    pub fn is_anybody(&self) -> bool {
        let connections = self.connections();
        connections.taken + connections.waiting.len() + connections.leaving > 0
    }

    /// Admits an unauthenticated connection. If too many wait, one is evicted: the
    /// oldest of the network and address with the most waiting connections.
    pub fn admit(self: &Arc<Self>, from: IpAddr) -> Admission {
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

/// The prefixes by which waiting connections are counted. A site has an IPv6 prefix of 48
/// to 64 bits [RFC6177], and thus any number of addresses.
const PREFIXES: [u32; 3] = [48, 64, 128];

impl Connections {
    /// Evicts the oldest connection of the address with the most connections, within the
    /// /64 with the most connections, within the /48 with the most.
    fn evict_one(&mut self) {
        let mut chosen: Vec<&Waiting> = self.waiting.iter().collect();
        for length in PREFIXES {
            let mut counts: BTreeMap<u128, usize> = BTreeMap::new();
            for waiting in &chosen {
                *counts.entry(prefix(waiting.from, length)).or_default() += 1;
            }
            let most = counts.values().copied().max();
            let crowded =
                |waiting: &&Waiting| counts.get(&prefix(waiting.from, length)) == most.as_ref();
            // The first of them, if several have as many.
            let first = chosen.iter().find(|waiting| crowded(waiting));
            let Some(first) = first.map(|waiting| prefix(waiting.from, length)) else {
                return;
            };
            chosen.retain(|waiting| prefix(waiting.from, length) == first);
        }
        let oldest = chosen.first().map(|waiting| waiting.number);
        if let Some(at) = self
            .waiting
            .iter()
            .position(|one| Some(one.number) == oldest)
        {
            let waiting = self.waiting.remove(at);
            waiting.evicted.store(true, Ordering::Relaxed);
            self.leaving += 1;
        }
    }
}

/// The first `length` bits of an IPv6 address. An IPv4 address counts as a whole.
fn prefix(address: IpAddr, length: u32) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits() >> (128 - length) << (128 - length),
    }
}

impl Admission {
    /// Takes a slot for a connection that has authenticated itself. Returns whether one
    /// was free.
    pub fn take_slot(&mut self) -> bool {
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

    /// Set if the connection must end, because newer ones evicted it before its
    /// authentication.
    pub fn evicted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.evicted)
    }

    /// Lets a flow poll for messages, unless `most` flows of the receiver do.
    pub fn poll(&self, most: usize) -> Option<Polling> {
        let polling = &self.sessions.polling;
        let one_more = |count| (count < most).then_some(count + 1);
        polling
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Polling(Arc::clone(polling)))
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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

    fn is_evicted(connection: &Admission) -> bool {
        connection.evicted.load(Ordering::Relaxed)
    }

    #[test]
    fn a_network_with_many_addresses_counts_as_one() {
        // The flood has a /64, and then a /48; the sender is in another network, or has
        // another /64 of the same /48.
        let flood: [fn(u16) -> IpAddr; 2] = [
            |last| [0x2001, 0xdb8, 1, 1, 0, 0, 0, last].into(),
            |last| [0x2001, 0xdb8, 1, last, 0, 0, 0, 1].into(),
        ];
        let elsewhere: IpAddr = [0x2001, 0xdb8, 2, 1, 0, 0, 0, 1].into();
        let beside: IpAddr = [0x2001, 0xdb8, 1, 0, 0, 0, 0, 1].into();
        for (flood, from) in [
            (flood[0], elsewhere),
            (flood[0], beside),
            (flood[1], elsewhere),
            (flood[1], address(1)),
        ] {
            let sessions = Sessions::new(1);
            let mut sender = sessions.admit(from);
            let unknown_senders: Vec<Admission> =
                (1..120).map(|last| sessions.admit(flood(last))).collect();
            assert!(!is_evicted(&sender), "{from}");
            assert!(is_evicted(&unknown_senders[0]) && !is_evicted(&unknown_senders[118]));
            assert!(sender.take_slot());
        }
    }

    #[test]
    fn as_many_flows_poll_as_are_allowed() {
        let sessions = Sessions::new(8);
        let [one, other] = [1, 2].map(|last| sessions.admit(address(last)));
        assert!(one.poll(0).is_none());
        let first = one.poll(2).unwrap();
        let _second = other.poll(2).unwrap();
        assert!(one.poll(2).is_none() && other.poll(2).is_none());
        drop(first);
        assert!(other.poll(2).is_some());
    }

    #[test]
    fn who_proved_itself_has_a_seat_however_many_unknown_senders_come() {
        let sessions = Sessions::new(1);
        let unknown_senders: Vec<Admission> =
            (0..WAITING).map(|_| sessions.admit(address(1))).collect();
        let mut sender = sessions.admit(address(2));
        assert!(is_evicted(&unknown_senders[0]), "the first who came");
        assert!(unknown_senders[1..].iter().all(|one| !is_evicted(one)));
        let more: Vec<Admission> = (0..WAITING - 2)
            .map(|_| sessions.admit(address(1)))
            .collect();
        assert!(!is_evicted(&sender), "its address has no other");
        assert!(sender.take_slot());
        let mut second = sessions.admit(address(3));
        assert!(!second.take_slot(), "there is one slot");
        drop(sender);
        assert!(second.take_slot());
        drop((unknown_senders, more, second));
        assert!(!sessions.is_anybody());
    }

    #[test]
    fn an_evicted_session_has_no_slot_and_counts_until_it_is_gone() {
        let sessions = Sessions::new(8);
        let mut connections: Vec<Admission> = (0..WAITING + LEAVING)
            .map(|_| sessions.admit(address(1)))
            .collect();
        assert!(!sessions.has_room());
        assert!(is_evicted(&connections[0]) && !connections[0].take_slot());
        drop(connections.remove(0));
        assert!(sessions.has_room());
    }
}
