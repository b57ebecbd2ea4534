//! Renders findings: a page and tables for readers, JSON Lines for programs.
//!
//! [`section`] describes a run as blocks of a [`document::Document`], which
//! [`page`] renders. All functions return strings or documents; none writes files.

mod backends;
mod brief;
mod diff;
mod figure;
mod json;
mod latex;
mod page;
mod plots;
mod predict;
mod replayed_gateway;
mod replayed_link;
mod rows;
mod run;
mod running_means;
mod section;
mod sensitivity;
mod series;
mod topology;

pub use backends::of_backends;
pub use brief::{MOST_LINES, Places, answer, answer_of, brief, facts, shortened};
pub use diff::{Run, of_changes};
pub use json::{Paths, backends_json, changes_json, json_lines, run_json};
pub use page::html;
pub use predict::{
    BUNDLE_FRAMING, Bundles, Chosen, CostPredictions, PredictedSeries, Prediction, Sent, Waits,
    of_bundles, of_costs, of_limit, of_optimal, of_overhead, of_transfer, of_waits,
};
pub use replayed_gateway::of_gateway_replay;
pub use replayed_link::of_replay;
pub use run::of_run;
pub use running_means::running_means;
pub use section::auto_rate::auto_rate;
pub use sensitivity::{of_sensitivity, sensitivity_json};
pub use topology::{topology_lines, topology_text};

/// The file name of the page in a results folder.
pub const PAGE: &str = "report.html";

/// The file name of the page of changes between two runs, in the folder of the
/// second.
pub const CHANGES_PAGE: &str = "changes.html";

/// The file name of the page of several runs, in the folder of the first.
pub const BACKENDS_PAGE: &str = "backends.html";

/// The file name of the page of a replayed recording.
pub const REPLAY_PAGE: &str = "replay.html";
