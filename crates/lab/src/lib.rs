//! Experiments: read them, resolve them into plans, run them, keep what was
//! measured, compare and report.
//!
//! In the order in which a run meets them: [`experiment`] reads the file and
//! resolves it into a [`plan`]; [`run`] takes it through a world, trial by
//! trial; [`folder`] keeps every [`trial`]; [`compare`] and [`verdict`] say
//! what the trials show, [`certificate`] whether they can be trusted, and
//! [`report`] prints it. [`doctor`] says beforehand what the machine can do.

mod agent;
pub mod doctor;
mod emulation;
pub mod facts;
pub mod figures;
pub mod flows;
mod measure;
pub mod netns;
pub mod outline;
pub mod packet_log;
mod passed;
pub mod recording;
pub mod replay;
pub mod run;
pub mod shell;
pub mod sim;
pub mod worker;
pub mod world;

/// What is said when someone asked the run to stop.
fn interrupted() -> anyhow::Error {
    anyhow::anyhow!("stopped on request")
}
