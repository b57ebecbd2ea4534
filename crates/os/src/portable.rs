//! What every system has.

pub mod clock;
pub mod console;
pub(crate) mod cpu_use;
pub mod deadline;
pub mod error;
pub mod host_name;
pub mod interrupt;
pub(crate) mod mapping;
pub mod memory;
pub(crate) mod nic_parts;
pub mod own_executable;
pub mod precision;
pub(crate) mod program_stamps;
pub(crate) mod slew;
pub(crate) mod socket_parts;
pub(crate) mod wanted;
