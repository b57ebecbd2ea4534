//! `claims` on the command line.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Claims {
    /// Name of a paper, such as egan, or of a claim, which is then shown in full [default: all papers].
    #[arg(value_name = "PAPER|CLAIM")]
    pub(crate) name: Option<String>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the pages of docs/evidence/claims; run it in the root of the repository.
    #[arg(long, hide = true, conflicts_with_all = ["name", "json", "record"])]
    pub(crate) pages: bool,
    /// Record the verdicts of results folders in docs/results; run it in the root of the repository.
    #[arg(long, hide = true, value_name = "DIR", num_args = 1.., conflicts_with_all = ["name", "json"])]
    pub(crate) record: Vec<PathBuf>,
    /// With --record: name of a run whose settings differ from the shipped ones.
    #[arg(long, hide = true, value_name = "NAME", requires = "record")]
    pub(crate) variant: Option<String>,
}
