//! Fragments of packets outside of a tunnel, which only Linux counts.

use crate::machine::PathReport;

use super::Outgoing;

/// The tunnel through which probes leave: none is known.
pub(super) enum Tunnel {}

impl Tunnel {
    /// The tunnel of an interface.
    pub(super) const fn of(_: &Outgoing) -> Option<Self> {
        None
    }

    /// Adds nothing.
    pub(super) const fn add_to(&self, _: &mut PathReport) {
        match *self {}
    }
}
