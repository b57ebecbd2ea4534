//! What every system has.

pub mod clock;
pub mod deadline;
pub mod error;
pub(crate) mod host_name;
pub mod interrupt;
pub(crate) mod mapping;
pub mod memory;
pub mod own_executable;
pub(crate) mod socket_parts;
