//! Findings as text: a page and tables for people, JSON Lines for programs.
//!
//! Every function returns a string and writes nothing.

mod between;
mod claims;
mod courses;
mod crosstab;
mod figure;
mod grid;
mod json;
mod mechanisms;
mod notes;
mod outliers;
mod page;
mod paired;
mod pareto;
mod ranking;
mod rows;
mod section;
mod sections;
mod sizes;
mod standing;
mod summary;
mod tables;
mod verdicts;
mod worlds;

pub use between::{Run, changes, changes_json};
pub use json::json_lines;
pub use page::{FILE as PAGE, WORLDS_FILE as WORLDS_PAGE, page, worlds_page};
pub use standing::standing;
pub use tables::tables;
pub use worlds::{worlds, worlds_json};
