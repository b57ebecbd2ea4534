//! What is to be run, and what one trial leaves: plain data.
//!
//! A [`Plan`] holds [`Cell`]s, each with a [`Setting`] in which every value is
//! typed and every default written out; a [`Trial`] is what one run of a cell
//! leaves in the journal, its figures named by the catalogue of [`metric`]s.
//! Text becomes a plan in `experiment`; `analysis` makes findings of trials.

pub mod command_line;
mod factors;
mod facts;
mod flag;
mod law_file;
pub mod metric;
mod plan;
mod printed;
pub mod setting;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
mod trial;
mod until;
mod world;

pub use factors::{COPY, Factors, Level};
pub use facts::{HostFacts, Resumed, RunFacts};
pub use flag::Flag;
pub use law_file::{LawFile, Measure};
pub use plan::*;
pub use printed::printed;
pub use setting::Setting;
pub use trial::Trial;
pub use until::Until;
pub use world::{Hosts, World, WorldProfile};

/// What a series shows of an interval in which nothing came.
pub const UNKNOWN: &str = "-";
