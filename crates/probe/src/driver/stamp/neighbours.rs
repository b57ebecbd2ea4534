//! The neighbours to which replies go.
//!
//! A host of the link can send packets from any address of the link. Replies to addresses
//! that nobody has wait in the kernel for three seconds each, in the send buffer of their
//! socket.

use std::collections::BTreeMap;
use std::net::IpAddr;

use units::{Span, Time};

use os::netlink::Route;

/// For how long a source is taken to be resolved, and the most that are remembered.
const MEMORY: Span = Span::from_secs(1);
const MOST: usize = 1_024;

/// The sources of which replies leave at once.
pub(super) struct Neighbours {
    /// `None`: the kernel does not tell, and all are taken to be resolved.
    route: Option<Route>,
    known: BTreeMap<IpAddr, Time>,
}

impl Neighbours {
    pub(super) fn new() -> Self {
        Self {
            route: Route::open().ok(),
            known: BTreeMap::new(),
        }
    }

    /// Whether a reply to `source` leaves at once; its packet arrived on the interface `index`.
    pub(super) fn is_resolved(&mut self, now: Time, source: IpAddr, index: u32) -> bool {
        if self.known.get(&source).is_some_and(|until| now < *until) {
            return true;
        }
        let asked = |route: &Route| route.is_resolved(source, index).unwrap_or(false);
        let is_resolved = self.route.as_ref().is_none_or(asked);
        if is_resolved {
            if self.known.len() >= MOST {
                self.known.clear();
            }
            self.known.insert(source, now + MEMORY);
        }
        is_resolved
    }
}

impl std::fmt::Debug for Neighbours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(&self.known).finish()
    }
}
