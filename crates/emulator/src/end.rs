//! Properties of an interface before an emulator uses it.

use units::Bytes;

use os::error::Result;
use os::netlink::Route;

/// An interface of the calling process's namespace, as an emulator would find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Whether the interface is set up.
    pub up: bool,
    /// Whether its frames are Ethernet frames.
    pub ethernet: bool,
    /// Whether it is the loopback interface.
    pub loopback: bool,
    pub mtu: Bytes,
}

impl End {
    /// Reads the properties of the interface `name`.
    ///
    /// # Errors
    /// If the interface does not exist.
    pub fn look(name: &str) -> Result<Self> {
        let kind = Route::open()?.kind(name)?;
        Ok(Self {
            up: kind.up,
            ethernet: kind.ethernet,
            loopback: kind.loopback,
            mtu: Bytes::new(u64::from(kind.mtu)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_told_from_others_and_what_is_not_there_is_an_error() {
        let end = End::look("lo").unwrap();
        assert!(
            end.loopback && !end.ethernet && end.mtu.get() > 0,
            "{end:?}"
        );
        assert!(End::look("no-such-thing").is_err());
    }
}
