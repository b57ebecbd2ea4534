//! Segments that arrived out of order, on systems that do not tell of them.

use super::recorder::ReceiveRecorder;
use os::error::Result;
use os::socket::Socket;

/// The segments that had arrived out of order at the beginning: this system does not count them.
pub(super) enum RateStarts {}

impl RateStarts {
    /// Nothing, whatever arrives.
    pub(super) fn new(_: &Socket, _: u64) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(super) fn arrived(&mut self, _: u64, _: &Socket, _: &ReceiveRecorder) -> Result<()> {
        match *self {}
    }

    pub(super) fn finish(self, _: &Socket, _: &ReceiveRecorder) -> Result<()> {
        match self {}
    }
}
