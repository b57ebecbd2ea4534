//! Errors that name the operation that failed.

use std::{fmt, io};

/// The result of a request to the kernel.
pub type Result<T> = std::result::Result<T, Error>;

/// The failed operation and the kernel's error. Its text contains both, and it has no
/// further source, so a chain of contexts shows the kernel's text once.
#[derive(Debug)]
pub struct Error {
    /// The operation, with the names of interfaces and files. One with a remedy, after `; `,
    /// states the cause itself, and the kernel's words are left out.
    pub operation: String,
    /// The kernel's answer.
    pub source: io::Error,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation.contains("; ") {
            true => f.write_str(&self.operation),
            false => write!(f, "{}: {}", self.operation, self.source),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// An error with our own text.
    pub fn new(operation: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            operation: operation.into(),
            source: io::Error::other(problem.into()),
        }
    }
}

/// Adds the operation to the error of a failed call.
pub trait OperationContext<T> {
    /// `operation` is evaluated only if the call failed.
    fn during<S: Into<String>>(self, operation: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<io::Error>> OperationContext<T> for std::result::Result<T, E> {
    fn during<S: Into<String>>(self, operation: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|source| Error {
            operation: operation().into(),
            source: source.into(),
        })
    }
}
