//! What a run found: a page and tables for people, JSON Lines for programs.

mod between;
mod figure;
mod grid;
mod json;
mod notes;
mod outliers;
mod page;
mod rows;
mod standing;
mod summary;
mod tables;
mod verdicts;

pub use between::{Run, changes, changes_json};
pub use json::json_lines;
pub use page::{FILE as PAGE, page, write_page};
pub use standing::standing;
pub use tables::tables;
