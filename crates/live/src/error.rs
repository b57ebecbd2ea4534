//! Errors that name the operation that failed.

use std::{fmt, io};

/// The result of something the kernel was asked to do.
pub type Result<T> = std::result::Result<T, Error>;

/// What was tried, and what the kernel said. Both are in its text; there is no
/// further source, so that a chain of contexts says the kernel's words once.
#[derive(Debug)]
pub struct Error {
    /// What was tried, with the names of interfaces and files.
    pub operation: String,
    /// The kernel's answer.
    pub source: io::Error,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation, self.source)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Where the kernel says that it has no such thing, names the option of it
    /// that is missing, and what to do.
    pub(crate) fn lacking(self, option: &str, remedy: &str) -> Self {
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

    /// A failure that is ours to word.
    pub(crate) fn new(operation: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            operation: operation.into(),
            source: io::Error::other(problem.into()),
        }
    }
}

/// Names the operation of a failed call.
pub(crate) trait During<T> {
    /// `operation` is made only when the call failed.
    fn during<S: Into<String>>(self, operation: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<io::Error>> During<T> for std::result::Result<T, E> {
    fn during<S: Into<String>>(self, operation: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|source| Error {
            operation: operation().into(),
            source: source.into(),
        })
    }
}
