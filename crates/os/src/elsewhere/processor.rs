//! Pinning of a thread to a processor, which needs Linux.

use std::env::consts::OS;

use crate::error::{Error, Result};

/// A thread that stays on one processor: never on this system.
pub enum Pinned {}

impl Pinned {
    /// Rejects to pin the thread.
    ///
    /// # Errors
    /// Always.
    pub fn to(processor: u32) -> Result<Self> {
        Err(Error::new(
            format!("running on processor {processor}"),
            format!("it needs Linux, and this program is for {OS}"),
        ))
    }
}
