//! A reflector in a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use super::{Outcome, StampReflector};
use os::error::{Error, OperationContext, Result};

/// A reflector in its thread.
#[derive(Debug)]
pub struct RunningReflector {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Outcome>>,
}

impl RunningReflector {
    /// Starts the thread of a reflector.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(reflector: StampReflector) -> Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let here = Arc::clone(&stop);
        let thread = Builder::new()
            .name("reflector".to_owned())
            .spawn(move || reflector.run(&here))
            .during(|| "starting the thread of the STAMP reflector")?;
        Ok(Self { stop, thread })
    }

    /// Ends it. Returns its counts.
    ///
    /// # Errors
    /// It failed.
    pub fn end(self) -> Result<Outcome> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(Error::new("reflecting", "a thread panicked")))
    }
}
