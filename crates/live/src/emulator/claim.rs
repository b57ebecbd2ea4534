//! The claim of an emulator to an interface: two emulators would forward each frame twice.

use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, bind, socket};

use crate::error::{During, Error, Result};
use crate::netlink::Route;

/// A claim, which ends with this value or with the process. It is a socket with an abstract
/// name, which belongs to the network namespace as the interface does [unix(7)].
#[derive(Debug)]
pub(super) struct Claim {
    _socket: OwnedFd,
}

impl Claim {
    /// # Errors
    /// If another emulator has the interface, or there is none of this name.
    pub(super) fn of(interface: &str) -> Result<Self> {
        let operation = || format!("claiming the interface {interface}");
        let index = Route::open()?.index(interface)?;
        let name = format!("jumbolab emulator of {index}");
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Unix, SockType::Datagram, flags, None);
        let socket = socket.during(operation)?;
        let address = UnixAddr::new_abstract(name.as_bytes()).during(operation)?;
        match bind(socket.as_raw_fd(), &address) {
            Err(Errno::EADDRINUSE) => Err(Error::new(
                operation(),
                "another emulator forwards its frames; end that one, or name other interfaces",
            )),
            bound => bound.during(operation).map(|()| Self { _socket: socket }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_has_one_emulator_at_a_time() {
        let claim = Claim::of("lo").unwrap();
        let error = Claim::of("lo").unwrap_err().to_string();
        assert!(error.contains("another emulator"), "{error}");
        drop(claim);
        Claim::of("lo").unwrap();
    }
}
