//! The rounds of a watch, and the metrics that it serves.

use anyhow::{Result, anyhow, ensure};
use backends::run::rfc3339;
use os::clock::{self, Epoch};
use os::interrupt;
use os::kernel_clock;
use os::metrics::Endpoint;
use units::{Span, Time};

use crate::args::Probe;

/// The shortest interval: a look takes a second or so.
const SHORTEST: Span = Span::from_secs(1);

/// The interval of checks for a stop request.
const LOOK: Span = Span::from_millis(100);

/// The rounds of a watch.
pub(in crate::command::probe) struct Rounds {
    every: Span,
    next: Time,
    endpoint: Option<Endpoint>,
}

impl Rounds {
    /// Rounds at the interval that the user asked for, from now on; `None` without one.
    ///
    /// # Errors
    /// The interval is no time or too short, or metrics cannot be served.
    pub(in crate::command::probe) fn of(args: &Probe) -> Result<Option<Self>> {
        let Some(text) = &args.watch else {
            return Ok(None);
        };
        let every: Span = text
            .parse()
            .map_err(|why| anyhow!("--watch {text}: {why}"))?;
        ensure!(
            every >= SHORTEST,
            "--watch {text}: write {SHORTEST} or more, for instance 60s"
        );
        Ok(Some(Self {
            every,
            next: clock::monotonic(),
            endpoint: args.metrics_listen.map(Endpoint::open).transpose()?,
        }))
    }

    /// Waits for the next round. Returns whether there is one: the user may stop the program.
    pub(in crate::command::probe) fn wait(&mut self) -> bool {
        self.next = (self.next + self.every).max(clock::monotonic());
        while clock::monotonic() < self.next && !interrupt::asked() {
            kernel_clock::sleep_until(self.next.min(clock::monotonic() + LOOK));
        }
        !interrupt::asked()
    }

    /// Replaces the metrics, if any are served.
    pub(in crate::command::probe) fn publish(&self, text: impl FnOnce() -> String) {
        if let Some(endpoint) = &self.endpoint {
            endpoint.publish(text());
        }
    }
}

/// The present time for a line about a change: RFC 3339, UTC.
pub(in crate::command::probe) fn now() -> String {
    rfc3339(Epoch::now().unix_nanos())
}
