//! `decode` on the command line.

use std::path::PathBuf;

use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(crate) struct Decode {
    /// Packet log, as `send --log` and `recv --log` write it. A truncated log is read up to its damage.
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,

    /// Add a row for each interval of this length, by arrival, for example 1s.
    #[arg(long, value_name = "TIME", help_heading = "Rows")]
    pub(crate) interval: Option<String>,
    /// Add a row for each flow.
    #[arg(long, help_heading = "Rows")]
    pub(crate) by_flow: bool,
    /// Definitions of the metrics.
    #[arg(
        long,
        value_name = "DEFINITIONS",
        default_value = "standard",
        help_heading = "Rows"
    )]
    pub(crate) metrics: Metrics,

    /// Print one JSON object per row (see docs/reference/json.md).
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the rows as CSV.
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
    /// Also write the rows to a Parquet file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) parquet: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metrics {
    /// Those of the RFCs that docs/reference/json.md names.
    Standard,
    /// Those of D-ITG's decoder, for comparison with its output.
    Ditg,
}
