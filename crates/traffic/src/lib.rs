//! Generated traffic, between hosts that the user has and between the ends of a trial.
//!
//! The [`machine`] is the control protocol and the admission to data sockets, without
//! I/O. The [`driver`] has the sockets, the threads and the clocks. [`flows`] are read from
//! options and files.

pub mod driver;
pub mod flows;
pub mod machine;
