//! What is in the bundles under way.
//!
//! A packet that queues see is a few numbers, copied from ring to ring; so what
//! is in a bundle is kept here, under the place of its content. A simulation
//! runs in one thread, and each thread has its own.

use std::cell::RefCell;

use queue::Bundle;

use crate::packet::Packet;

thread_local! {
    static LOADS: RefCell<Vec<Option<Load>>> = const { RefCell::new(Vec::new()) };
}

/// A bundle, and between which places it travels.
pub(crate) struct Load {
    pub(crate) bundle: Bundle<Packet>,
    /// Who gathered it, by a number of its own.
    pub(crate) origin: usize,
    /// The node that unpacks it.
    pub(crate) egress: usize,
}

/// Keeps `load` under the place `content`.
pub(crate) fn put(content: u32, load: Load) {
    LOADS.with_borrow_mut(|loads| {
        let place = content as usize;
        if loads.len() <= place {
            loads.resize_with(place + 1, || None);
        }
        loads[place] = Some(load);
    });
}

/// Takes away what is under the place `content`.
pub(crate) fn take(content: u32) -> Option<Load> {
    LOADS.with_borrow_mut(|loads| loads.get_mut(content as usize)?.take())
}

/// What `look` says of what is under the place `content`.
pub(crate) fn look<T>(content: u32, look: impl FnOnce(&mut Load) -> T) -> Option<T> {
    LOADS.with_borrow_mut(|loads| loads.get_mut(content as usize)?.as_mut().map(look))
}
