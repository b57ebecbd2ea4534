//! The stall meter of a run: a worker whose threads ask for wake-ups on each CPU,
//! because the coordinator has one thread.

use std::io::BufRead;

use anyhow::{Context, Result};
use os::Worker;
use os::request::{self, Request};
use os::stalls::{self, Stalls};
use os::worker::Command;

use crate::call::call;

/// The worker's role.
pub(crate) const ROLE: &str = "stall-meter";

/// The worker; dropping it ends the process.
pub(crate) struct StallMeter {
    worker: Worker,
}

impl StallMeter {
    /// Starts the worker.
    ///
    /// # Errors
    /// The kernel rejects to start it.
    pub(crate) fn start() -> Result<Self> {
        let worker = Worker::spawn(Command::local(None, ROLE))?;
        Ok(Self { worker })
    }

    /// What the worker answers to `request`.
    ///
    /// # Errors
    /// The worker has exited, cannot meter, or has not begun.
    pub(crate) fn call<R: Request<Server = Metering>>(&mut self, request: &R) -> Result<R::Answer> {
        call(&mut self.worker, "stall meter", request)
    }
}

/// The metering that goes on in the worker.
#[derive(Default)]
pub(crate) struct Metering(Option<stalls::StallMeter>);

os::requests! {
    /// Reads a request to the stall meter.
    pub(crate) fn requests(metering: Metering);

    /// Begin to meter. A metering that was not ended is discarded.
    Begin() -> () {
        metering.0 = None;
        metering.0 = Some(stalls::StallMeter::start()?);
    }
    /// End it, and report the stalls since it began.
    End() -> Stalls {
        metering.0.take().context("the stall meter has not begun")?.finish()?
    }
}

/// Meters stalls as the lines of stdin request, until stdin ends.
pub(crate) fn serve(lines: impl BufRead) -> Result<()> {
    let mut metering = Metering::default();
    for line in lines.lines() {
        request::answer(&line?, requests, &mut metering)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_follows_a_beginning() {
        let mut metering = Metering::default();
        let lines = ["End []", "Begin []", "Begin []", "End []", "End []"];
        let replies = lines.map(|line| request::read(line, requests).unwrap()(&mut metering));
        let [early, begun, again, ended, late] = &replies;
        assert_eq!(early, r#"{"Err":"the stall meter has not begun"}"#);
        assert_eq!([begun, again], [r#"{"Ok":null}"#; 2]);
        assert!(request::heard::<Stalls>(ended).unwrap().is_ok());
        assert_eq!(late, early);
    }
}
