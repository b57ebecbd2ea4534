//! Claims to what one program at a time can have: two would handle each packet twice.

use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, bind, socket};

use crate::error::{Error, OperationContext, Result};

/// A claim, which ends with this value or with the process. It is a socket with an abstract
/// name, which belongs to the network namespace as interfaces and addresses do [unix(7)].
#[derive(Debug)]
pub struct Claim {
    _socket: OwnedFd,
}

impl Claim {
    /// Claims `what`, by a `name` that is the same in each program; `taken` is the problem
    /// if there is another claim.
    ///
    /// # Errors
    /// If there is another claim.
    pub fn of(name: &str, what: &str, taken: &'static str) -> Result<Self> {
        let operation = || format!("claiming {what}");
        let name = format!("jumbolab {name}");
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Unix, SockType::Datagram, flags, None);
        let socket = socket.during(operation)?;
        let address = UnixAddr::new_abstract(name.as_bytes()).during(operation)?;
        match bind(socket.as_raw_fd(), &address) {
            Err(Errno::EADDRINUSE) => Err(Error::new(operation(), taken)),
            bound => bound.during(operation).map(|()| Self { _socket: socket }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_claim_at_a_time() {
        let of = |name| Claim::of(name, "a test", "another has it");
        let claim = of("tester of claims").unwrap();
        let other = of("tester of other claims").unwrap();
        let error = of("tester of claims").unwrap_err().to_string();
        assert!(error.contains("another has it"), "{error}");
        drop(claim);
        of("tester of claims").unwrap();
        drop(other);
    }
}
