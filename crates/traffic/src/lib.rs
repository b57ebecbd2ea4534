//! Generated traffic, between hosts that the user has and between the ends of a trial.
//!
//! The [`machine`] is the control protocol and the admission to data sockets, without
//! I/O. The [`driver`] has the sockets, the threads and the clocks. [`flows`] are read from
//! options and files.
//!
//! Sessions and the ends of most trials run on every system. Parts of them need Linux, and are
//! left out elsewhere with all that they alone use.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

pub mod driver;
pub mod flows;
pub mod machine;
