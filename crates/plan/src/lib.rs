//! The plan of a run and the record of each trial, as plain data.
//!
//! A [`Plan`] holds [`Cell`]s. Each cell has a [`Setting`] with all values
//! typed and all defaults filled in. A [`Trial`] is the journal entry of one
//! run of a cell; its values are named by the catalogues of [`metric`]s and
//! of [`evidence`]. The crate `experiment` reads text into plans, and `analysis` derives findings
//! from trials.

pub mod attempts;
mod backend;
pub mod command_line;
mod compact;
mod distribution_file;
pub mod evidence;
mod factors;
mod facts;
mod flag;
pub mod metric;
mod named_hosts;
mod page;
mod plan;
mod printed;
pub mod replayed_gateway;
pub mod replayed_link;
mod report;
mod report_figure;
mod report_row;
mod retry_limit;
pub mod setting;
mod side_effect;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
mod trial;
mod until;
mod values;

pub use backend::{Backend, BackendProfile, Hosts};
pub use compact::{OptionalVec, TrialName};
pub use distribution_file::DistributionFile;
pub use factors::{COPY, Factors, Level};
pub use facts::{AutoRate, HostFacts, LeftOut, Resumed, RoleFacts, RunFacts, is_wine};
pub use flag::Flag;
pub use named_hosts::{HostRole, NamedHost, NamedHosts};
pub use page::documented;
pub use plan::*;
pub use printed::printed;
pub use report::Report;
pub use report_figure::{PrintedPoint, ReportFigure, Shows};
pub use report_row::ReportRow;
pub use retry_limit::RetryLimit;
pub use setting::Setting;
pub use side_effect::{Action, SideEffect};
pub use trial::{DisturbedPass, LARGEST_FIGURE, Trial};
pub use until::Until;
pub use values::{Evidence, EvidenceStore, Metrics, Shared, TrialReader};

/// The placeholder in a time series for an interval without arrivals.
pub const UNKNOWN: &str = "-";
