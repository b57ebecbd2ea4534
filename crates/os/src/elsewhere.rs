//! Modules for systems other than Linux, with the names of those in `linux`. The tests run
//! them on Linux, too.

pub mod echoes;
pub mod far_host;
pub mod kernel_clock;
pub mod pacing;
pub mod random;
pub mod secrecy;
pub mod socket;
