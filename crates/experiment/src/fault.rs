//! The typed form of an error in an experiment.

use std::{error, fmt};

/// An error in an experiment, and its place. It is printed as one line; programs read its
/// parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The whole line: place, key, value, and what would be right.
    pub message: String,
    /// The file; `None`: an argument, or a default.
    pub file: Option<String>,
    /// The line of the file, from 1.
    pub line: Option<usize>,
    /// The argument that wrote the value, with its option: `--set mtu=0`.
    pub argument: Option<String>,
    /// The dotted key.
    pub key: Option<String>,
    /// The value as TOML, shortened.
    pub value: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Fault {}
