//! Protocol endpoints without I/O: state machines that a driver with sockets and a clock
//! runs.

pub mod control;
pub mod gateway;
pub mod probe;
pub mod secret;
pub mod stamp;
pub mod trial_token;
