//! Who is at a receiver: those that proved what they must know have seats, and
//! all others wait in a room of their own, so that no number of strangers
//! keeps anybody out who knows the secret.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that may be about to prove themselves. Each has a thread.
const WAITING: usize = 64;

/// Connections that were shown out and whose threads have not ended yet: they
/// look every 10 ms.
const LEAVING: usize = 64;

/// All who are here.
#[derive(Debug)]
pub(super) struct Guests {
    seats: usize,
    crowd: Mutex<Crowd>,
}

#[derive(Debug, Default)]
struct Crowd {
    seated: usize,
    /// In the order in which they came.
    waiting: Vec<Waiting>,
    leaving: usize,
    /// So many came until now.
    came: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    from: IpAddr,
    shown_out: Arc<AtomicBool>,
}

/// One who is here as long as this lives.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Arc<Guests>,
    number: u64,
    place: Place,
    shown_out: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Waiting,
    Seated,
}

impl Guests {
    /// Nobody is here; so many may have seats at a time.
    pub(super) fn new(seats: usize) -> Arc<Self> {
        Arc::new(Self {
            seats,
            crowd: Mutex::default(),
        })
    }

    /// Whether one more may come in: threads of those who leave are bounded too.
    pub(super) fn has_room(&self) -> bool {
        self.crowd().leaving < LEAVING
    }

    /// Whether somebody is here.
    pub(super) fn is_anybody(&self) -> bool {
        let crowd = self.crowd();
        crowd.seated + crowd.waiting.len() + crowd.leaving > 0
    }

    /// Lets one in who has proved nothing yet. Where too many wait, one is shown
    /// out: the first who came of the address that has most of them.
    pub(super) fn enter(self: &Arc<Self>, from: IpAddr) -> Guest {
        let mut crowd = self.crowd();
        if crowd.waiting.len() >= WAITING {
            crowd.show_one_out();
        }
        let (number, shown_out) = (crowd.came, Arc::<AtomicBool>::default());
        crowd.came += 1;
        crowd.waiting.push(Waiting {
            number,
            from,
            shown_out: Arc::clone(&shown_out),
        });
        Guest {
            guests: Arc::clone(self),
            number,
            place: Place::Waiting,
            shown_out,
        }
    }

    fn crowd(&self) -> MutexGuard<'_, Crowd> {
        // Numbers are right whatever happened to whoever held them.
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crowd {
    fn show_one_out(&mut self) {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for waiting in &self.waiting {
            *counts.entry(waiting.from).or_default() += 1;
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let first = |waiting: &Waiting| counts.get(&waiting.from) == Some(&most);
        if let Some(at) = self.waiting.iter().position(first) {
            let waiting = self.waiting.remove(at);
            waiting.shown_out.store(true, Ordering::Relaxed);
            self.leaving += 1;
        }
    }
}

impl Guest {
    /// Takes a seat, now that it has proved what it must know; whether one was free.
    pub(super) fn sit(&mut self) -> bool {
        let mut crowd = self.guests.crowd();
        let place = crowd
            .waiting
            .iter()
            .position(|one| one.number == self.number);
        let Some(place) = place.filter(|_| crowd.seated < self.guests.seats) else {
            return false;
        };
        crowd.waiting.remove(place);
        crowd.seated += 1;
        self.place = Place::Seated;
        true
    }

    /// Whether it must go, because others came before it proved anything.
    pub(super) fn is_shown_out(&self) -> bool {
        self.shown_out.load(Ordering::Relaxed)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut crowd = self.guests.crowd();
        match self.place {
            Place::Seated => crowd.seated -= 1,
            Place::Waiting => {
                let place = crowd
                    .waiting
                    .iter()
                    .position(|one| one.number == self.number);
                match place {
                    Some(place) => drop(crowd.waiting.remove(place)),
                    None => crowd.leaving -= 1,
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
        let guests = Guests::new(1);
        let strangers: Vec<Guest> = (0..WAITING).map(|_| guests.enter(address(1))).collect();
        let mut sender = guests.enter(address(2));
        assert!(strangers[0].is_shown_out(), "the first who came");
        assert!(strangers[1..].iter().all(|one| !one.is_shown_out()));
        let more: Vec<Guest> = (0..WAITING - 2).map(|_| guests.enter(address(1))).collect();
        assert!(!sender.is_shown_out(), "its address has no other");
        assert!(sender.sit());
        let mut second = guests.enter(address(3));
        assert!(!second.sit(), "there is one seat");
        drop(sender);
        assert!(second.sit());
        drop((strangers, more, second));
        assert!(!guests.is_anybody());
    }

    #[test]
    fn who_was_shown_out_has_no_seat_and_counts_until_it_is_gone() {
        let guests = Guests::new(8);
        let mut crowd: Vec<Guest> = (0..WAITING + LEAVING)
            .map(|_| guests.enter(address(1)))
            .collect();
        assert!(!guests.has_room());
        assert!(crowd[0].is_shown_out() && !crowd[0].sit());
        drop(crowd.remove(0));
        assert!(guests.has_room());
    }
}
