//! Files of observed values (gaps or sizes) that an experiment names.

use std::io::Write;

use anyhow::Result;
use meter::departures::{Measure, Seen};

/// The content of a file of values when the experiment was planned. A run keeps
/// a copy in its folder under a name derived from the values. The plan is
/// therefore self-contained, and a change of the file makes another plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DistributionFile {
    /// The file name in a results folder.
    pub name: String,
    measure: Measure,
    /// The values.
    pub seen: Seen,
}

impl DistributionFile {
    /// Wraps the values under a name derived from them.
    pub fn new(measure: Measure, seen: Seen) -> Self {
        let kind = match measure {
            Measure::Gaps => "gaps",
            Measure::Sizes => "sizes",
        };
        Self {
            name: format!("{kind}-{:016x}.txt", seen.digest()),
            measure,
            seen,
        }
    }

    /// Writes the values in the format that the reader accepts.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(&self, out: impl Write) -> Result<()> {
        let mut out = std::io::BufWriter::new(out);
        let unit = match self.measure {
            Measure::Gaps => "ps",
            Measure::Sizes => "",
        };
        for value in self.seen.iter() {
            writeln!(out, "{value}{unit}")?;
        }
        Ok(out.flush()?)
    }
}
