//! A row of the table of keys.

use super::support::Worlds;
use crate::tree::Value;

/// Keys that stand in the same tables.
#[derive(Debug)]
pub(crate) struct Section {
    /// The tables that have these keys; empty: the head of the file. A part in
    /// capitals stands for any name.
    pub(crate) tables: &'static [&'static str],
    /// The kinds of traffic that have them; empty: all.
    pub(crate) kinds: &'static [&'static str],
    /// What the tables are for.
    pub(crate) about: &'static str,
    /// What each world makes of the tables, whatever is in them.
    pub(crate) worlds: Worlds,
    pub(crate) keys: &'static [Key],
}

/// A key of the format.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The type of its value and the unit, as a user reads them.
    pub(crate) kind: &'static str,
    /// What holds where it is not written.
    pub(crate) default: DefaultValue,
    pub(crate) meaning: &'static str,
    pub(crate) worlds: Worlds,
}

/// The type of a key that names a queue; documents list the names.
pub(crate) const QUEUES: &str = "the name of a queue";

/// The value of a key that is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    /// This text.
    Text(&'static str),
    /// This number.
    Number(i64),
    /// Nothing: the key must be there.
    Required,
    /// Nothing: without the key there is no such thing.
    Absent,
    /// What follows from other keys, in words.
    Follows(&'static str),
}

impl DefaultValue {
    /// The value, if it is one.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Number(number) => Some(number.into()),
            Self::Required | Self::Absent | Self::Follows(_) => None,
        }
    }
}
