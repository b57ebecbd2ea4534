//! A gateway between networks of small and of large packets.
//!
//! The [`machine`] decides what becomes of each packet and has no I/O. The [`driver`]
//! connects it to interfaces, sockets and routes.

pub mod driver;
pub mod machine;
