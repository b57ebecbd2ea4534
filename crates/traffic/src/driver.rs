//! Senders and receivers on the sockets of this machine.
//!
//! [`sessions`] are those of `send` and `recv`, [`jumbogram`] is `send --jumbogram`, and
//! [`packet_log`] writes the logs of either, and [`log_transfer`] brings them to another host. [`iperf3`] speaks to iperf3. A [`control_port`] takes
//! connections of others. The others are ends of a trial: a
//! [`transfer`] of messages, a [`request_response`] exchange, [`connections`] among hosts of
//! a network. A [`trial_token`] admits the other end of each to its data sockets. Connections among
//! hosts, breakdowns of latency and jumbograms need Linux; the others run on every system.

mod callers;
pub mod clock_comparison;
#[cfg(target_os = "linux")]
pub mod connections;
pub mod control_port;
#[cfg(target_os = "linux")]
mod departure_stamps;
pub mod iperf3;
#[cfg(target_os = "linux")]
pub mod jumbogram;
pub mod log_transfer;
pub mod packet_log;
pub mod request_response;
pub mod sessions;
mod timeline;
pub mod transfer;
pub mod trial_token;
