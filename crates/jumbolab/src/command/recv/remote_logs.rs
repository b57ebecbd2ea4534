//! Packet logs on their way to the host of `--log-to`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result};
use os::host_name::host_and_port;
use os::{clock, far_host};
use secret::Secret;
use traffic::driver::log_transfer::{Destination, send};
use traffic::driver::packet_log::PacketLog;
use units::Span;

use super::Logs;
use crate::args::PORT;

/// The interval of looks for complete logs.
const LOOK: Span = Span::from_millis(50);

/// The host of `--log-to`.
///
/// # Errors
/// One line with what to write.
pub(super) fn destination(text: &str, secret: &Secret) -> Result<Destination> {
    let (host, port) = host_and_port(text).with_context(|| {
        format!("--log-to {text}: write HOST or HOST:PORT, an IPv6 address with a port in brackets")
    })?;
    let addresses = far_host::addresses(host, port.unwrap_or(PORT), ("--log-to", None))
        .with_context(|| format!("--log-to {text}"))?;
    Ok(Destination {
        addresses,
        secret: secret.clone(),
    })
}

/// The thread that sends complete logs while no session writes one.
pub(super) struct RemoteLogs {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<bool>,
}

impl RemoteLogs {
    /// Starts it.
    ///
    /// # Errors
    /// The system has no thread.
    pub(super) fn start(to: Destination, logs: Logs) -> Result<Self> {
        let is_over = Arc::<AtomicBool>::default();
        let stop = Arc::clone(&is_over);
        let thread = thread::Builder::new().name("remote logs".to_owned());
        let thread = thread.spawn(move || send_all(&to, &logs, &stop));
        let thread = thread.context("starting a thread")?;
        Ok(Self { is_over, thread })
    }

    /// Sends the logs that are left, and returns whether all were stored at the other host.
    pub(super) fn end(self) -> bool {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(false)
    }
}

/// Sends complete logs until `is_over` and none is left. Returns whether all were stored. At
/// the end the first error is the last attempt: the other host may be gone.
fn send_all(to: &Destination, logs: &Logs, is_over: &AtomicBool) -> bool {
    let mut stored = true;
    loop {
        // Set before the last logs are complete, and read before they are looked for.
        let ends = is_over.load(Ordering::Relaxed);
        logs.end(PacketLog::is_over);
        match logs.next_unsent() {
            Some(path) if ends && !stored => kept(logs, &path, "the other host failed before"),
            Some(path) => stored &= send_one(to, logs, &path),
            None if ends => return stored,
            None => clock::sleep(LOOK),
        }
    }
}

/// Sends a log, and removes it once it is stored. Returns whether it is.
fn send_one(to: &Destination, logs: &Logs, path: &Path) -> bool {
    let host = { to.addresses.first() }.map_or_else(String::new, |first| first.ip().to_string());
    match send(path, to, || logs.are_written()) {
        Err(error) => {
            kept(logs, path, &error.to_string());
            false
        }
        Ok(bytes) => {
            let line = format!("sent the log {} to {host}: {bytes} bytes", path.display());
            logs.log_thread.info(match files::remove(path) {
                Ok(()) => line,
                // It is there twice, and nothing is lost.
                Err(error) => format!("{line}; it could not be removed here: {error}"),
            });
            true
        }
    }
}

fn kept(logs: &Logs, path: &Path, why: &str) {
    let path = path.display();
    let line = format!("the log {path} was not sent and stays there: {why}");
    logs.log_thread.info(line);
}
