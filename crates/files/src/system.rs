//! What differs between systems: files relative to an open folder, links that are not
//! followed, and who may open a file.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

use std::io::{self, ErrorKind};

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// For writing; nothing of that name exists.
    New,
    /// As `New`, for its owner alone.
    NewPrivate,
    /// For appending, a new one if needed.
    Append,
    /// For reading.
    Read,
}

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file, or a link itself: a rename may replace it.
    Replaceable,
    Other,
}

/// The error of opening a link.
fn not_followed(name: &str) -> io::Error {
    io::Error::other(format!(
        "{name} is a symbolic link or of another kind, and links are not followed here; \
         replace it by what it stands for"
    ))
}

fn not_ordinary(name: &str) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        format!("{name} is not an ordinary file; remove it"),
    )
}

fn not_regular() -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        "it is not a regular file; name one",
    )
}
