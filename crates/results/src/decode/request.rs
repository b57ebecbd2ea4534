//! What is wanted of a log.

use units::Span;

/// The maximum number of rows for a log.
pub const MOST_ROWS: usize = 100_000;

/// The source of the statistics' definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definitions {
    /// The standards; docs/reference/json.md names the standard of each value.
    Standard,
    /// D-ITG's decoder.
    Ditg,
}

/// The statistics to derive from a log.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The definitions to use.
    pub definitions: Definitions,
    /// Whether to add rows for each flow.
    pub by_flow: bool,
    /// The length of the intervals with rows of their own.
    pub interval: Option<Span>,
}
