//! Features of UDP sockets that only Linux has.

use std::env::consts::OS;
use std::io;

use super::calls::Socket;
use crate::error::Result;

/// Whether the kernel can timestamp arrivals.
pub const STAMPS_ARRIVALS: bool = false;

/// Enables the kernel's receive timestamps, of which there are none: the program's own count.
///
/// # Errors
/// None on these systems.
pub fn stamp_arrivals(_: &Socket) -> Result<()> {
    Ok(())
}

/// Datagrams that found no room in a socket: unknown.
///
/// # Errors
/// None on these systems.
pub fn stated_drops(_: &Socket) -> io::Result<Option<u32>> {
    Ok(None)
}

/// Rejects that datagrams arrive in pieces of several.
///
/// # Errors
/// Always: it needs Linux.
pub fn merge(_: &Socket) -> io::Result<()> {
    Err(needs_linux())
}

/// Rejects that the kernel cuts what is written into datagrams.
///
/// # Errors
/// Always: it needs Linux.
pub fn cut(_: &Socket, _: usize) -> io::Result<()> {
    Err(needs_linux())
}

fn needs_linux() -> io::Error {
    let text = format!("it needs Linux, and this program is for {OS}");
    io::Error::new(io::ErrorKind::Unsupported, text)
}
