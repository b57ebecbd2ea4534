//! What every system has.

pub mod clock;
pub mod deadline;
pub mod error;
pub mod interrupt;
pub mod memory;
pub mod own_executable;
