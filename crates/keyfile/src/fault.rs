//! Errors in what people write.

use std::{error, fmt};

use anyhow::Error;

use super::shown::{one_line, without_middle};
use super::tree::{Origin, Value};

/// The letters of a message before and after what is left out of a longer one.
const MESSAGE_ENDS: [usize; 2] = [600, 400];

/// The letters of a value that a message repeats.
const VALUE_LETTERS: usize = 80;

/// An error in a file or an argument, and its place. It is printed as one line; programs read its
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

/// An error with place and problem, in one line of bounded length.
pub fn fault(place: &Origin, what: impl fmt::Display) -> Error {
    located(place, what).into()
}

/// An error of a key with its value, shortened, in one line of bounded length.
pub fn fault_at(
    place: &Origin,
    key: impl fmt::Display,
    value: Option<&str>,
    why: impl fmt::Display,
) -> Error {
    let value = value.map(|value| match value.char_indices().nth(VALUE_LETTERS) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value.to_owned(),
    });
    let shown = (value.as_ref()).map_or_else(String::new, |value| format!(" = {value}"));
    Fault {
        key: Some(key.to_string()),
        value,
        ..located(place, format!("{key}{shown}: {why}"))
    }
    .into()
}

fn located(place: &Origin, what: impl fmt::Display) -> Fault {
    let message = one_line(&format!("{place}: {what}"));
    let (file, line) = match place {
        Origin::File { path, line } => (Some(path.to_string()), Some(*line)),
        _ => (None, None),
    };
    let argument = match place {
        Origin::Option { .. } => Some(place.to_string()),
        _ => None,
    };
    Fault {
        message: without_middle(&message, MESSAGE_ENDS).into_owned(),
        file,
        line,
        argument,
        ..Fault::default()
    }
}

/// The error that `value` is invalid at `path`, with the reason.
pub fn rejection(origin: &Origin, path: &str, value: &Value, why: impl fmt::Display) -> Error {
    fault_at(origin, path, Some(&value.to_string()), why)
}
