//! What is asked of other processes and of other machines.

pub mod far_host;
pub mod host_changes;
pub mod lease;
pub mod lines;
pub mod request;
pub mod ssh;
pub mod worker;
