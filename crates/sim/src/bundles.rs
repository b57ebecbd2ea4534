//! What is in the bundles under way.
//!
//! A packet that queues see is a few numbers, copied from ring to ring; so what
//! is in a bundle is kept here, under the place of its content. A queue hands a
//! packet nothing but itself: while an engine acts, its bundles lie where its
//! packets find them, and no longer; between two steps it has them.

use std::cell::RefCell;

use queue::Bundle;

use crate::packet::Packet;

thread_local! {
    /// The bundles of the engine that acts in this thread.
    static ACTING: RefCell<Loads> = const { RefCell::new(Loads(Vec::new())) };
}

/// The bundles of an engine, by the places of their contents.
#[derive(Default)]
pub(crate) struct Loads(Vec<Option<Load>>);

/// A bundle, and between which places it travels.
pub(crate) struct Load {
    pub(crate) bundle: Bundle<Packet>,
    /// Who gathered it, by a number of its own.
    pub(crate) origin: usize,
    /// Which one of its gathering it is.
    pub(crate) number: u64,
    /// The node that gathered it, and the one that unpacks it.
    pub(crate) ingress: usize,
    pub(crate) egress: usize,
}

impl Loads {
    /// Trades places with those of the engine that acts: lends these, or takes
    /// them back.
    pub(crate) fn trade(&mut self) {
        ACTING.with_borrow_mut(|acting| std::mem::swap(acting, self));
    }
}

/// Keeps `load` under the place `content`.
pub(crate) fn put(content: u32, load: Load) {
    ACTING.with_borrow_mut(|Loads(loads)| {
        let place = content as usize;
        if loads.len() <= place {
            loads.resize_with(place + 1, || None);
        }
        loads[place] = Some(load);
    });
}

/// Takes away what is under the place `content`.
pub(crate) fn take(content: u32) -> Option<Load> {
    ACTING.with_borrow_mut(|loads| loads.0.get_mut(content as usize)?.take())
}

/// What `look` says of what is under the place `content`.
pub(crate) fn look<T>(content: u32, look: impl FnOnce(&mut Load) -> T) -> Option<T> {
    ACTING.with_borrow_mut(|loads| loads.0.get_mut(content as usize)?.as_mut().map(look))
}
