//! Asks workers. Every wait has a deadline, and ends when the user asks to stop.

use anyhow::{Result, anyhow, bail};
use os::Worker;
use os::request::{self, Reply, Request};
use serde::de::DeserializeOwned;
use units::Span;

use crate::interrupted;

/// What `worker`, called `end` in messages, answers to `request`.
///
/// # Errors
/// It has no answer, has ended or does not reply, or the user asked to stop.
pub(crate) fn call<R: Request>(worker: &mut Worker, end: &str, request: &R) -> Result<R::Answer> {
    call_within(worker, end, request, R::TIME)
}

/// The same, for a request that takes `time`.
///
/// # Errors
/// As [`call`].
pub(crate) fn call_within<R: Request>(
    worker: &mut Worker,
    end: &str,
    request: &R,
    time: Span,
) -> Result<R::Answer> {
    ask(worker, request)?;
    hear(worker, end, time)?.map_err(|why| anyhow!(why))
}

/// Sends a request.
///
/// # Errors
/// The worker has ended.
pub(crate) fn ask<R: Request>(worker: &mut Worker, request: &R) -> Result<()> {
    Ok(worker.send_line(&request::line(request)?)?)
}

/// The next reply of `worker`, called `end` in messages, for which it has `time`.
///
/// # Errors
/// It has ended or does not reply, or the user asked to stop.
pub(crate) fn hear<T: DeserializeOwned>(
    worker: &mut Worker,
    end: &str,
    time: Span,
) -> Result<Reply<T>> {
    let deadline = os::clock::monotonic() + time;
    loop {
        let soon = deadline.min(os::clock::monotonic() + Span::from_millis(100));
        let line = worker
            .receive_line(soon)
            .map_err(|error| match os::interrupt::asked() {
                // The signal may have reached the worker, too.
                true => interrupted(),
                false => error.into(),
            })?;
        match line {
            Some(line) => {
                return request::heard(&line)
                    .map_err(|why| anyhow!("reading the reply of the {end}: {why}"));
            }
            None if os::interrupt::asked() => return Err(interrupted()),
            None if os::clock::monotonic() >= deadline => {
                bail!(
                    "the {end} did not answer within {:.0} s",
                    time.as_secs_f64()
                )
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
