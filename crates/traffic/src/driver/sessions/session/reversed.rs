//! Flows that the receiver of a session sends.

use std::sync::Arc;
use std::thread;

use units::Span;
use wire::control::{Reason, Reverse};

use super::ControlSession;
use super::running::{Counted, Done, Running};
use crate::driver::sessions::counters::SentCounters;
use crate::driver::sessions::intervals::{Observed, SentReader};
use crate::driver::sessions::receive::Signal;
use crate::driver::sessions::reverse;
use crate::driver::sessions::serve::SendingRate;
use os::error::Result;
use os::{clock, kernel_clock};

impl ControlSession<'_> {
    /// Opens a port for a flow that this end sends to the end that asked for it, and
    /// only there ([`Waiting::send`]).
    pub(super) fn reverse(&mut self, asked: &Reverse) -> Result<()> {
        let (Some(clocks), number) = (self.clocks, asked.flow.flow) else {
            return self.reject(Reason::Nonsense, "a flow before the clocks were compared");
        };
        let limit = match self.serving.rate {
            SendingRate::None => return self.reject(Reason::Reverse, "it asked for flows"),
            SendingRate::Most(rate) => Some(rate),
            SendingRate::Any => None,
        };
        let peer = self.peer_of(&asked.flow);
        let Some(flow) = reverse::asked(asked, peer, limit) else {
            return self.reject(Reason::Limit, "it asked for a flow that is not allowed");
        };
        let signal = Signal::new();
        let waiting = self.wait_for(asked.flow, clocks, &signal, None)?;
        let (port, buffer) = (waiting.port, waiting.buffer);
        let counters = Arc::<SentCounters>::default();
        let now = clock::monotonic();
        let observed = Observed {
            flow: number,
            name: flow.name,
            counters: Arc::clone(&counters),
            delay: Span::ZERO,
            omit: Span::ZERO,
            echoed: false,
        };
        let epoch = kernel_clock::monotonic_of(clocks.zero());
        let to = self.to.clone();
        let thread = thread::Builder::new()
            .name(format!("flow {}", flow.name.as_str()))
            .spawn(move || {
                let sent = waiting.send(flow, epoch, counters);
                let sent = sent.map(|sent| Done::Sent(sent.map(Box::new)));
                // The session has ended if the channel is closed.
                let _ = to.send((number, sent));
            });
        let Ok(thread) = thread else {
            return self.reject(
                Reason::Limit,
                "no thread is left for a flow; end other programs there",
            );
        };
        let running = Running {
            flow: asked.flow,
            signal,
            warmup: 0,
            thread: Some(thread),
            counted: Counted::Sent {
                sent: None,
                reader: SentReader::new(observed, now),
            },
        };
        self.opened(running, port, buffer);
        Ok(())
    }
}
