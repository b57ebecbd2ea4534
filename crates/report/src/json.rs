//! The report as JSON Lines; docs/reference/schema has its schema.

mod answer_rows;
mod backends;
mod cells;
mod claims;
mod comparisons;
mod curves;
mod line;
mod over_time;
mod paired;
mod run;
mod shifts;

use analysis::Findings;

pub use backends::backends_json;
pub use run::{Paths, run_json};
pub use shifts::changes_json;

/// One object a metric and cell, then one a cell, then those of claims, curves, flows and
/// links over time, and differences run by run, without line ends.
pub fn json_lines(found: &Findings<'_>) -> Vec<String> {
    [
        comparisons::lines(found),
        cells::lines(found),
        claims::lines(&found.claims),
        curves::lines(&found.curves),
        over_time::lines(found),
        paired::lines(found),
    ]
    .concat()
}
