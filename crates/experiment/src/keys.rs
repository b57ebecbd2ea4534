//! The table of keys: type, default, meaning, and support by each backend of
//! every key of the format.
//!
//! The reader takes defaults and rejections from this table, and keys without a
//! row are unknown. docs/reference/keys.md and docs/reference/support.md are printed from it.

mod analyses;
mod domain;
mod faults;
mod flows;
mod general;
mod host;
mod index;
mod links;
mod named_hosts;
mod network;
mod on_kernels;
mod page;
mod queue;
mod report;
mod row;
mod schema;
mod study;
mod support;
mod table;
mod tcp;
#[cfg(test)]
mod tests;
mod traffic;

pub(super) use flows::OF_MESSAGES;
pub(super) use index::{KeyNode, find, hint, known, named, unknown};
pub use page::PAGES;
pub(super) use row::{DefaultValue, Effect, Key, Section};
pub use schema::schema;
pub(super) use support::{Backends, KeySupport, Support};
pub(super) use tcp::KERNELS_TCP;

/// The first parts of the keys of a cell.
pub(super) fn cell_roots() -> &'static [&'static str] {
    index::cell_roots()
}

/// The first parts of all other keys.
pub(super) fn run_roots() -> &'static [&'static str] {
    index::run_roots()
}
