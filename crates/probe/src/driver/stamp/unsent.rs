//! Replies that the system did not send, by reason.

use std::io;

use os::socket::Errno;

/// Replies that the system did not send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unsent {
    /// Those that are larger than the MTU of the interface.
    pub too_large: u64,
    /// Those to a neighbour that has not answered.
    pub unresolved: u64,
    pub others: u64,
    /// The number of the kernel's error for the latest of these.
    pub error: i32,
}

impl Unsent {
    /// Counts a reply; `is_resolved` says whether its neighbour is known.
    pub(super) fn count(&mut self, error: Errno, is_resolved: bool) {
        match error {
            Errno::EMSGSIZE => self.too_large += 1,
            Errno::EHOSTUNREACH => self.unresolved += 1,
            // Others wait for their neighbours, or the kernel remembers no more of them.
            Errno::EAGAIN | Errno::ENOBUFS if !is_resolved => self.unresolved += 1,
            other => {
                self.others += 1;
                self.error = io::Error::from(other).raw_os_error().unwrap_or(0);
            }
        }
    }

    /// All of them.
    pub const fn total(&self) -> u64 {
        self.too_large + self.unresolved + self.others
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_larger_than_the_interface_allows_is_called_too_large() {
        let mut unsent = Unsent::default();
        unsent.count(Errno::EMSGSIZE, true);
        for (error, is_resolved) in [
            (Errno::EAGAIN, false),
            (Errno::ENOBUFS, false),
            (Errno::EHOSTUNREACH, true),
        ] {
            unsent.count(error, is_resolved);
        }
        unsent.count(Errno::EAGAIN, true);
        unsent.count(Errno::EPERM, false);
        let expected = Unsent {
            too_large: 1,
            unresolved: 3,
            others: 2,
            error: libc::EPERM,
        };
        assert_eq!((unsent, unsent.total()), (expected, 6));
    }
}
