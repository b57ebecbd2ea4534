//! How much of a stream had arrived where its rate may start, with the bytes behind
//! missing segments.

use std::os::fd::{AsFd, OwnedFd};

use super::recorder::ReceiveRecorder;
use crate::driver::sessions::records::{OutOfOrder, SETTLING, StreamPoint};
use os::clock;
use os::error::{OperationContext, Result};
use os::sys::tcp_info::{self, InOrder};

/// Asks TCP what has arrived at the times at which the rate of a stream may start.
pub(super) struct RateStarts {
    /// Bytes in front of the first message.
    ahead: u64,
    /// The bytes that had arrived before the first message.
    start: InOrder,
    first: Option<FirstArrival>,
    /// The bytes that had arrived [`SETTLING`] after the first message.
    settled: Option<Option<StreamPoint>>,
}

struct FirstArrival {
    at: u64,
    point: Option<StreamPoint>,
}

impl RateStarts {
    /// For a stream of which the first `ahead` bytes, in front of its first message,
    /// have been read.
    pub(super) fn new(stream: &OwnedFd, ahead: u64) -> Result<Option<Self>> {
        let start = tcp_info::in_order(stream.as_fd());
        Ok(Some(Self {
            ahead,
            start: start.during(|| "asking what has arrived")?,
            first: None,
            settled: None,
        }))
    }

    /// Called for each read that completes messages; `at` is the arrival of the last
    /// one, in nanoseconds since the start of the session.
    pub(super) fn arrived(
        &mut self,
        at: u64,
        stream: &OwnedFd,
        recorder: &ReceiveRecorder,
    ) -> Result<()> {
        match &self.first {
            None => {
                let point = self.ask(stream, recorder)?;
                self.first = Some(FirstArrival { at, point });
            }
            Some(first) if self.settled.is_none() && at >= first.at + SETTLING => {
                self.settled = Some(self.ask(stream, recorder)?);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Hands over the answers if any segment arrived out of order until now.
    pub(super) fn finish(self, stream: &OwnedFd, recorder: &ReceiveRecorder) -> Result<()> {
        if self.ask(stream, recorder)?.is_some() {
            recorder.out_of_order(|flow| OutOfOrder {
                flow,
                at_first: self.first.and_then(|first| first.point),
                settled: self.settled.flatten(),
            });
        }
        Ok(())
    }

    /// The bytes of messages that have arrived, if any segment arrived out of order.
    fn ask(&self, stream: &OwnedFd, recorder: &ReceiveRecorder) -> Result<Option<StreamPoint>> {
        let at = recorder.nanos(clock::monotonic());
        let arrived = tcp_info::arrived_at_most(stream.as_fd(), self.start);
        let arrived = arrived.during(|| "asking what has arrived")?;
        Ok(arrived.map(|bytes| StreamPoint {
            at,
            bytes: bytes.saturating_sub(self.ahead),
        }))
    }
}
