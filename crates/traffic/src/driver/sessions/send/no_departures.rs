//! Departures of messages on systems whose kernel does not timestamp them: there are none.

use units::Time;

use super::Departed;
use crate::driver::sessions::Options;
use os::error::Result;
use os::socket::SocketRef;

/// Timestamps of departures, of which this system has none.
pub(super) enum Stamps {}

impl Stamps {
    /// No timestamps, whatever is wanted.
    pub(super) fn begin(_: SocketRef<'_>, _: &Options, _: Time) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(super) fn begin_message<'a>(
        &mut self,
        _: SocketRef<'_>,
        _: u64,
        _: &'a [u8],
    ) -> Result<&'a [u8]> {
        match *self {}
    }

    pub(super) fn end(self, _: SocketRef<'_>) -> Result<Vec<Departed>> {
        match self {}
    }
}
