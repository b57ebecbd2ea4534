//! The protocols between both ends, without I/O.

pub mod control;
pub mod trial_token;
