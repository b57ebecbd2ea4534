//! The results of a run on disk.
//!
//! A [`folder`] holds the resolved plan and a [`journal`] with one line per
//! finished trial, the authoritative record of a run. [`trials`] exports the
//! journal as one table, in Parquet or CSV. [`decode`] reads the packet logs of
//! the traffic tools, [`csv_rows`] tables that others made.

pub mod csv_rows;
pub mod decode;
pub mod folder;
pub mod journal;
pub mod table;
pub mod trials;

#[cfg(test)]
mod tests;
