//! Keys and values as people write them, in a TOML file or in options: a tree whose values
//! know their places, and errors that name place, key, value and what would be right.
//!
//! Nothing here reads a file: the caller has its text and its name.

mod argument;
mod fault;
pub mod quantity;
mod section;
mod shown;
mod similar;
mod tree;

pub use argument::values;
pub use fault::{Fault, fault, fault_at, rejection};
pub use section::Section;
pub use shown::{acts_on_terminals, escaped, one_line, quoted, shortened};
pub use similar::{did_you_mean, meant, near, slips};
pub use tree::{KeyPath, Node, Origin, Table, Value, parse};

/// A parsed value and its canonical spelling; `Err` holds the expected form.
pub type Parsed<T> = Result<(T, Value), String>;
