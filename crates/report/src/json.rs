//! The report as JSON Lines; docs/formats.md is its schema.

mod answer_rows;
mod cells;
mod claims;
mod comparisons;
mod curves;
mod fronts;
mod line;
mod over_time;
mod paired;
mod ranking;
mod rivals;
mod run;
mod shifts;
mod worlds;

use analysis::Findings;

pub(crate) use line::json_line;
pub use run::{Paths, run_json};
pub use shifts::changes_json;
pub use worlds::worlds_json;

/// One object a metric and cell, then one a cell, then those of claims, rival
/// explanations, fronts, curves, flows and links over time, the ranking and differences run by run, without line ends.
pub fn json_lines(found: &Findings<'_>) -> Vec<String> {
    [
        comparisons::lines(found),
        cells::lines(found),
        claims::lines(&found.claims),
        rivals::lines(&found.rivals),
        fronts::lines(&found.fronts),
        curves::lines(&found.curves),
        over_time::lines(found),
        ranking::lines(found.plan, &found.ranking),
        paired::lines(found),
    ]
    .concat()
}
