//! Systems without SCTP: opening a socket of it has failed before.

use super::Waiting;
use os::error::{Error, Result};
use os::socket::Socket;

impl Waiting {
    pub(super) fn take_association(&mut self) -> Result<()> {
        self.accept_association().map(drop)
    }

    pub(super) fn accept_association(&self) -> Result<Option<Socket>> {
        Err(Error::new("a flow of SCTP", "it needs Linux"))
    }
}
