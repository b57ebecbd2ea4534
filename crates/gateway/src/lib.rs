//! A gateway between networks of small and of large packets.
//!
//! The [`machine`] decides what becomes of each packet and has no I/O. The [`driver`]
//! connects it to interfaces, sockets and routes. A [`configuration`] describes a gateway; a
//! [`recording`] holds what came to it and what it decided, for a [`replay`].

#[cfg(target_os = "linux")]
pub mod configuration;
#[cfg(target_os = "linux")]
pub mod driver;
pub mod machine;
pub mod recording;
pub mod replay;
mod written;
