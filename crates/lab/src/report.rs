//! What a run found: tables for people, JSON Lines for programs.

mod figure;
mod grid;
mod json;
mod notes;
mod summary;
mod tables;

pub use json::json_lines;
pub use tables::tables;
