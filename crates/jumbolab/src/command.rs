//! The commands, one file each.

pub(crate) mod doctor;
pub(crate) mod emulate;
pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod shell;
