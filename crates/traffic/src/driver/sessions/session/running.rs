//! The flows of a session.

use std::sync::Arc;
use std::thread::JoinHandle;

use wire::control::{Flow, Report};

use crate::driver::sessions::counters::ReceivedCounters;
use crate::driver::sessions::intervals::{ReceivedReader, SentReader};
use crate::driver::sessions::receive::Signal;
use crate::driver::sessions::send::Sent;

/// A flow that was opened.
pub(super) struct Running {
    pub(super) flow: Flow,
    pub(super) signal: Arc<Signal>,
    /// Messages of the warm-up, as its sender reports them.
    pub(super) warmup: u64,
    pub(super) thread: Option<JoinHandle<()>>,
    pub(super) counted: Counted,
}

/// The counters of a flow that is received or sent.
pub(super) enum Counted {
    /// Of a flow that is received: its report, its counters, and their reader for the
    /// sender.
    Received {
        report: Report,
        counters: Arc<ReceivedCounters>,
        reader: ReceivedReader,
    },
    /// Of a flow that this end sends.
    Sent {
        sent: Option<Box<Sent>>,
        reader: SentReader,
    },
}

/// The result of a flow.
pub(super) enum Done {
    Received(Report),
    Sent(Option<Box<Sent>>),
}

impl Running {
    /// Whether this end sends the flow.
    pub(super) fn is_sent(&self) -> bool {
        matches!(self.counted, Counted::Sent { .. })
    }

    /// Notes the result of the flow.
    pub(super) fn end(&mut self, done: Done) {
        match (&mut self.counted, done) {
            (Counted::Received { report, .. }, Done::Received(done)) => *report = done,
            (Counted::Sent { sent, .. }, Done::Sent(done)) => *sent = done,
            // A flow has one direction.
            _ => {}
        }
    }
}
