//! The table of keys: for every key of the format its type, its default, its
//! meaning, and what each world makes of it.
//!
//! The reader takes defaults and refusals from here, a key that is in no row is
//! unknown, and docs/experiments.md is printed from here.

mod domain;
mod flows;
mod general;
mod host;
mod index;
mod links;
mod network;
mod page;
mod queue;
mod study;
mod support;
mod tcp;
#[cfg(test)]
mod tests;
mod traffic;

use super::tree::Value;
pub(super) use flows::OF_MESSAGES;
pub(super) use index::{Place, find, hint, known, unknown};
pub use page::documented;
pub(super) use support::{Support, Takes, Worlds};

/// Keys that stand in the same tables.
#[derive(Debug)]
pub(super) struct Section {
    /// The tables that have these keys; empty: the head of the file. A part in
    /// capitals stands for any name.
    pub(super) tables: &'static [&'static str],
    /// The kinds of traffic that have them; empty: all.
    pub(super) kinds: &'static [&'static str],
    /// What the tables are for.
    pub(super) about: &'static str,
    /// What each world makes of the tables, whatever is in them.
    pub(super) worlds: Worlds,
    pub(super) keys: &'static [Key],
}

/// A key of the format.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// The type of its value and the unit, as a user reads them.
    pub(super) kind: &'static str,
    /// What holds where it is not written.
    pub(super) default: Usual,
    pub(super) meaning: &'static str,
    pub(super) worlds: Worlds,
}

/// What holds where a key is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usual {
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

impl Usual {
    /// The value, if it is one.
    pub(super) fn value(self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Number(number) => Some(number.into()),
            Self::Required | Self::Absent | Self::Follows(_) => None,
        }
    }
}

/// The tables of a cell: their keys can be swept, differ between worlds and be
/// written by a choice.
const CELL: &[&[Section]] = &[
    network::SECTIONS,
    links::SECTIONS,
    queue::SECTIONS,
    domain::SECTIONS,
    host::SECTIONS,
    tcp::SECTIONS,
    traffic::SECTIONS,
    flows::SECTIONS,
];

/// What a run has once: the head of the file, and what is compared.
const RUN: &[&[Section]] = &[general::SECTIONS, study::SECTIONS];

/// All sections, in the order of the page.
fn sections() -> impl Iterator<Item = &'static Section> {
    let all = [&RUN[..1], CELL, &RUN[1..]];
    all.into_iter().flatten().copied().flatten()
}

/// The first parts of the keys of a cell.
pub(super) fn cell_roots() -> &'static [&'static str] {
    index::cell_roots()
}

/// The first parts of all other keys.
pub(super) fn run_roots() -> &'static [&'static str] {
    index::run_roots()
}
