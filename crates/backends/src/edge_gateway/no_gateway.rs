//! The gateway in a build that has none.

use anyhow::{Result, bail};
use units::Time;

use super::EdgeGateway;
use crate::NO_GATEWAY;

/// A gateway, of which there is none.
pub(crate) enum Gateway {}

/// Rejects.
pub(super) fn open(_edge: EdgeGateway) -> Result<Gateway> {
    bail!(NO_GATEWAY)
}

impl Gateway {
    /// Is never called.
    pub(super) fn run_until(&mut self, _until: Time) -> Result<()> {
        match *self {}
    }
}
