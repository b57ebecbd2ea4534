//! Random numbers of systems other than Linux.

use crate::error::{Error, Result};

/// Unpredictable bytes.
///
/// # Errors
/// The system has none.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|why| Error::new("asking for random numbers", why.to_string()))?;
    Ok(bytes)
}
