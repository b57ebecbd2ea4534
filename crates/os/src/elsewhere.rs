//! Modules for systems other than Linux, with the names of those in `linux`. Tests on Linux
//! run those that call no other system.

#[cfg(not(target_os = "linux"))]
pub mod cpu_time;
pub mod echoes;
pub mod energy;
pub mod far_host;
pub mod host_changes;
pub mod interfaces;
pub mod kernel_clock;
pub mod lease;
pub mod machine;
pub mod nic;
pub mod pacing;
pub mod processor;
pub mod random;
pub mod secrecy;
pub mod socket;
#[cfg(not(target_os = "linux"))]
pub(crate) mod sys;
#[cfg(not(target_os = "linux"))]
pub(crate) mod users;
