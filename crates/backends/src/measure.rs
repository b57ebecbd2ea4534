//! Trials between two agents: traffic, metrics and flags.
//!
//! A backend builds a [`Pair`] and passes it to [`trial`]. The backend decides how
//! to inspect the path; [`sample`] defines the traffic of an inspection.

mod checks;
mod clocks;
mod command;
mod convert;
mod disturbance;
mod flows;
mod hosts;
mod idle_waits;
mod latency_breakdown;
mod network;
mod pair;
mod pass;
mod passes;
mod probe;
mod program_files;
mod program_stamps;
mod request_response;
mod sample;
#[cfg(test)]
mod synthetic;
mod transfers;
mod trial;

pub(crate) use command::{ended, until_ready};
pub(crate) use convert::transfer_of;
pub(crate) use disturbance::spare;
pub(crate) use hosts::RoleUse;
pub(crate) use idle_waits::IdleWaits;
pub(crate) use pair::{End, Inspection, Meters, Pair, Path, Program, Programs};
pub(crate) use sample::{INSPECTION, OUTRUNNING, sample};
pub(crate) use transfers::counted_of;
pub(crate) use trial::trial;
