//! What is asked of other processes and of other machines.

#[cfg(target_os = "linux")]
pub mod far_host;
#[cfg(target_os = "linux")]
pub mod host_changes;
#[cfg(target_os = "linux")]
pub mod lease;
#[cfg(target_os = "linux")]
pub mod lines;
pub mod request;
#[cfg(target_os = "linux")]
pub mod ssh;
#[cfg(target_os = "linux")]
pub mod worker;
