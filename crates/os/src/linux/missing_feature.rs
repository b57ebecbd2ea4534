//! Errors of a kernel that was built without a feature.

use std::io;

use crate::error::Error;

impl Error {
    /// If the kernel lacks the feature, adds the missing kernel option and a remedy.
    pub fn lacking(self, option: &str, remedy: &str) -> Self {
        match self.source.raw_os_error() {
            Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => Self {
                source: io::Error::other(format!(
                    "{}; this kernel lacks {option}: {remedy}",
                    self.source
                )),
                ..self
            },
            _ => self,
        }
    }
}
