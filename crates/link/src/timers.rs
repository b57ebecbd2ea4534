//! Times at which something is due, in order: what is due next is found without a
//! look at all the rest.

use std::collections::BTreeSet;

use units::Time;

/// Keys with the times at which they are due; a key is there once at most.
#[derive(Debug)]
pub struct Timers<K>(BTreeSet<(Time, K)>);

impl<K> Default for Timers<K> {
    /// Nothing is due.
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<K: Copy + Ord> Timers<K> {
    /// Makes `key` due `at`; `None`: never. `before` is when it was due so far, and is
    /// kept by the owner of the key.
    pub fn set(&mut self, key: K, before: &mut Option<Time>, at: Option<Time>) {
        if *before == at {
            return;
        }
        if let Some(before) = *before {
            self.0.remove(&(before, key));
        }
        if let Some(at) = at {
            self.0.insert((at, key));
        }
        *before = at;
    }

    /// When the next key is due.
    pub fn first(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }

    /// The keys in the order in which they are due.
    pub fn iter(&self) -> impl Iterator<Item = (Time, K)> {
        self.0.iter().copied()
    }

    /// The key that is due next, if it is due by `now`.
    pub fn first_due(&self, now: Time) -> Option<K> {
        self.due(now).next()
    }

    /// The keys that are due by `now`, in the same order.
    pub fn due(&self, now: Time) -> impl Iterator<Item = K> {
        let due = self.iter().take_while(move |(at, _)| *at <= now);
        due.map(|(_, key)| key)
    }
}
