//! Files of values that an experiment names: gaps or sizes that were seen.

use std::io::Write;

use anyhow::Result;
use proto::traffic::Seen;

/// What a law is of, and with it the unit of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Times, `1ms`; the law has picoseconds.
    Gaps,
    /// Sizes, `1500` or `2kB`; the law has octets.
    Sizes,
}

/// What a file of values held when an experiment was planned. A run keeps it
/// in its folder, under a name that changes with every value, so that the plan
/// there stands for itself and a change of the file makes another plan.
#[derive(Clone, Debug, PartialEq)]
pub struct LawFile {
    /// What it is called in a results folder.
    pub name: String,
    measure: Measure,
    /// The values.
    pub seen: Seen,
}

impl LawFile {
    /// The values under a name that is made of them.
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

    /// Writes the values as they can be read again.
    ///
    /// # Errors
    /// What `out` says.
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

impl Measure {
    /// The same in the law's unit.
    pub const fn counted(self) -> f64 {
        match self {
            Self::Gaps => 1e9,
            Self::Sizes => 1.0,
        }
    }

    /// What is counted where no unit is written: milliseconds, as the field's
    /// generators count them [D-ITG], and octets.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Gaps => "1ms",
            Self::Sizes => "1B",
        }
    }
}
