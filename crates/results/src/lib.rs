//! The results folder: what was run and what it gave, on disk.
//!
//! A [`folder`] holds the resolved plan and a [`journal`], one line a finished
//! trial, which is the truth about a run. [`trials`] makes one table of it,
//! Parquet or CSV. [`decode`] reads the packet logs of the traffic tools.

pub mod decode;
pub mod folder;
pub mod journal;
mod replace;
pub mod table;
pub mod trials;

pub use replace::replace;
