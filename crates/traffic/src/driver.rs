//! Senders and receivers on the sockets of this machine.
//!
//! [`sessions`] are those of `send` and `recv`, [`jumbogram`] is `send --jumbogram`, and
//! [`packet_log`] writes the logs of either. A [`control_port`] takes
//! connections of others. The others are ends of a trial: a
//! [`transfer`] of messages, a [`request_response`] exchange, [`connections`] among hosts of
//! a network. A [`trial_token`] admits the other end of each to its data sockets. Trials between kernels
//! and jumbograms need Linux; the others run on every system.

mod callers;
#[cfg(target_os = "linux")]
pub mod clock_comparison;
#[cfg(target_os = "linux")]
pub mod connections;
pub mod control_port;
#[cfg(target_os = "linux")]
mod departure_stamps;
#[cfg(target_os = "linux")]
pub mod jumbogram;
pub mod packet_log;
#[cfg(target_os = "linux")]
pub mod request_response;
pub mod sessions;
mod timeline;
#[cfg(target_os = "linux")]
pub mod transfer;
#[cfg(target_os = "linux")]
pub mod trial_token;
