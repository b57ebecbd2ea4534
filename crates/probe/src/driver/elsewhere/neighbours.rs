//! The neighbours to which replies go, of which only Linux tells who answers.

use std::net::IpAddr;

use units::Time;

/// Nothing about neighbours.
#[derive(Debug)]
pub(super) struct Neighbours;

impl Neighbours {
    pub(super) const fn new() -> Self {
        Self
    }

    /// Whether a reply leaves at once: it is taken to.
    pub(super) const fn is_resolved(&self, _: Time, _: IpAddr, _: u32) -> bool {
        true
    }
}
