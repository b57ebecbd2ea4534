//! The catalogue of evidence: each name with the type of its value and its meaning.
//!
//! Who writes evidence and who reads it name it by a constant of this catalogue, so that
//! both mean the same name and the same type.

/// A constant for each name of evidence, and the rows of the page about them.
macro_rules! facts {
    ($($unit:literal, $meaning:literal {
        $($constant:ident: $type:ty = $name:literal),+ $(,)?
    })+) => {
        $($(pub const $constant: Fact<$type> = Fact::new($name);)+)+

        pub(super) const ROWS: &[Row] = &[$(Row {
            names: &[$($name),+],
            unit: $unit,
            meaning: $meaning,
        }),+];
    };
}

mod clocks;
mod command;
mod emulator;
mod fact;
mod flows;
mod hosts;
mod latency_breakdown;
mod links;
mod notes;
mod over_time;
mod path;
mod predicted;
mod probe;
mod processor;
mod request_response;
mod resolution;
mod simulated;
mod transfer;

pub use clocks::*;
pub use command::*;
pub use emulator::*;
pub use fact::{Fact, Number};
pub use flows::*;
pub use hosts::*;
pub use latency_breakdown::*;
pub use links::*;
pub use notes::Notes;
pub use over_time::*;
pub use path::*;
pub use predicted::*;
pub use probe::*;
pub use processor::*;
pub use request_response::*;
pub use resolution::{metric_of_resolution, resolution};
pub use simulated::*;
pub use transfer::*;

use fact::Row;

/// All rows of the catalogue, in the order of docs/reference/metrics.md.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    const RESOLUTIONS: &[Row] = &[Row {
        names: &["resolution_METRIC"],
        unit: "as METRIC",
        meaning: "resolution of this metric in the trial, instead of the metric's own",
    }];
    [
        path::ROWS,
        transfer::ROWS,
        emulator::ROWS,
        flows::ROWS,
        latency_breakdown::ROWS,
        request_response::ROWS,
        probe::ROWS,
        command::ROWS,
        processor::ROWS,
        clocks::ROWS,
        hosts::ROWS,
        over_time::ROWS,
        links::ROWS,
        simulated::ROWS,
        predicted::ROWS,
        RESOLUTIONS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::metric;

    #[test]
    fn every_name_stands_once_in_the_catalogue() {
        let names: Vec<&str> = rows().flat_map(|row| row.names).copied().collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
        assert!(unique.contains(CPU_SECONDS.name()));
    }

    #[test]
    fn a_resolution_is_that_of_one_metric() {
        let fact = resolution(metric::of_flow(&metric::DELAY, "web"));
        assert_eq!(fact.name(), "resolution_delay/web");
        assert_eq!(metric_of_resolution(fact.name()), Some("delay/web"));
        assert_eq!(metric_of_resolution(CPU_SECONDS.name()), None);
    }
}
