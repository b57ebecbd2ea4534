//! The protocols between both ends, without I/O.

pub mod control;
pub mod iperf3;
pub mod log_transfer;
pub mod trial_token;
