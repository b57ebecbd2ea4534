//! Random numbers of the kernel.

use std::fs::File;
use std::io::Read as _;

use crate::error::{OperationContext, Result};

/// Unpredictable bytes.
///
/// # Errors
/// They cannot be read.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .during(|| "reading /dev/urandom")?;
    Ok(bytes)
}
