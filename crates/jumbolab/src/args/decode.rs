//! `decode` on the command line.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use traffic::driver::sessions::Codec;

#[derive(Debug, clap::Args)]
pub(crate) struct Decode {
    /// Packet log, as `send --packet-log` and `recv --packet-log-dir` write it, or a log of D-ITG. A truncated log is read up to its damage.
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,

    /// Report each interval of this length; 0: none [default: 0s].
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
    pub(crate) definitions: Definitions,
    /// Each flow is a call with this codec: add its mean opinion score (MOS) by the E-model (ITU-T G.107). Of a receiver's log.
    #[arg(long, value_name = "CODEC", value_parser = codec(), help_heading = "Rows", conflicts_with_all = ["packets", "ditg_log"])]
    pub(crate) codec: Option<Codec>,
    /// Print every packet of all logs in the order of arrival instead. With the logs of both ends, also those that were lost.
    #[arg(long, help_heading = "Rows")]
    pub(crate) packets: bool,

    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    pub(crate) json: bool,
    /// Print CSV instead of text.
    #[arg(long, help_heading = "Output")]
    pub(crate) csv: bool,
    /// Also write the rows to a Parquet file; with --packets instead of the text.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write the packets of the log as a log of D-ITG instead, which its decoder ITGDec reads.
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["packets", "json", "csv", "parquet"])]
    pub(crate) ditg_log: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Definitions {
    /// Those of the RFCs that docs/reference/json.md names.
    Standard,
    /// Those of D-ITG's decoder, for comparison with its output.
    Ditg,
}

/// Reads the name of a codec.
fn codec() -> impl TypedValueParser<Value = Codec> {
    let names = PossibleValuesParser::new(Codec::ALL.map(Codec::name));
    names.map(|name| Codec::named(&name).expect("the name is one of those of all codecs"))
}
