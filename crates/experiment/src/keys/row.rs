//! A row of the table of keys.

use super::support::Worlds;
use crate::tree::Value;

/// Keys of the same tables.
#[derive(Debug)]
pub(crate) struct Section {
    /// The tables that have these keys; empty: the head of the file. A part in
    /// capitals stands for any name.
    pub(crate) tables: &'static [&'static str],
    /// The kinds of traffic that have them; empty: all.
    pub(crate) kinds: &'static [&'static str],
    /// The purpose of the tables.
    pub(crate) about: &'static str,
    /// The worlds' support of the tables as a whole.
    pub(crate) worlds: Worlds,
    pub(crate) keys: &'static [Key],
}

/// A key of the format.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The type and unit of its value in a user's terms.
    pub(crate) kind: &'static str,
    /// The default.
    pub(crate) default: DefaultValue,
    pub(crate) meaning: &'static str,
    pub(crate) worlds: Worlds,
}

/// The type of a key that names a queue discipline; documents list the names.
pub(crate) const QUEUES: &str = "the name of a queue";

/// The default of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    /// This text.
    Text(&'static str),
    /// This number.
    Number(i64),
    /// None: the key is required.
    Required,
    /// None: without the key the feature is absent.
    Absent,
    /// A description of how the default follows from other keys.
    Follows(&'static str),
}

impl DefaultValue {
    /// The default value, if it is a value.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Number(number) => Some(number.into()),
            Self::Required | Self::Absent | Self::Follows(_) => None,
        }
    }
}
