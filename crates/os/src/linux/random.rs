//! Random numbers of the kernel.

use std::fs::File;
use std::io::Read as _;

use crate::error::{During, Result};

/// Unpredictable octets.
///
/// # Errors
/// They cannot be read.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut octets = [0; N];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut octets))
        .during(|| "reading /dev/urandom")?;
    Ok(octets)
}
