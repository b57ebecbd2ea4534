//! Worlds, and runs of plans in them.
//!
//! [`run`] takes a plan trial by trial through its [`world`]; a trial between
//! two agents is a function of `measure`, which knows neither namespaces nor
//! hosts. [`doctor`] says beforehand what the machine can do, [`outline`] what a
//! run would do; [`flows`] and [`packet_log`] serve traffic by hand, [`recording`]
//! and [`replay`] frames that an emulated link has kept.

mod agent;
pub mod doctor;
pub mod dry_run;
mod emulation;
pub mod facts;
pub mod flows;
mod link_window;
mod measure;
pub mod measurements;
pub mod packet_log;
pub mod recording;
pub mod replay;
pub mod robustness;
pub mod run;
pub mod shell;
pub mod worker;
pub mod world;

/// What is said when someone asked the run to stop.
fn interrupted() -> anyhow::Error {
    anyhow::anyhow!("stopped on request")
}
