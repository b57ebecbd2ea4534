//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod claims;
pub(crate) mod completions;
mod consent;
pub(crate) mod decode;
pub(crate) mod doctor;
pub(crate) mod emulate;
mod flow_text;
#[cfg(feature = "gateway")]
pub(crate) mod gateway;
mod jumbogram;
pub(crate) mod list;
pub(crate) mod man;
mod openmetrics;
mod page;
pub(crate) mod predict;
mod printed;
mod probabilities;
pub(crate) mod probe;
pub(crate) mod recv;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod robustness;
pub(crate) mod run;
pub(crate) mod send;
pub(crate) mod shell;
pub(crate) mod show;
#[cfg(test)]
mod tests;
