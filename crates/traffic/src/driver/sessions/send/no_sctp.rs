//! Systems without SCTP: opening a socket of it has failed before.

use super::{Log, Ready};
use crate::driver::sessions::paced::Departures;
use os::deadline::Deadline;
use os::error::{Error, Result};

impl Ready {
    pub(super) fn see_answer(&self, _: &[u8; 16], _: &Deadline) -> Result<()> {
        Err(Error::new("a flow of SCTP", "it needs Linux"))
    }

    pub(super) fn send_association(&mut self, _: &mut Departures, _: &mut Log) -> Result<()> {
        Err(Error::new("a flow of SCTP", "it needs Linux"))
    }
}
