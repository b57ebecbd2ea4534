//! Flows that the receiver of the session sends to this end.

use std::sync::Arc;

use units::{Span, Time};
use wire::control::{self, Name};

use super::waits::REPORT;
use super::{Session, TIMEOUT};
use crate::driver::sessions::intervals::IncomingFlow;
use crate::driver::sessions::options::Options;
use crate::driver::sessions::receive::{Signal, Waiting};
use crate::driver::sessions::send::Ready;
use crate::driver::sessions::{Flow, Protocol, Report, Source, reverse};
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::random::random;
use os::socket;
use os::{clock, kernel_clock};

/// The time between two questions for the receiver's clock while flows come, which tell it
/// that this end is there.
pub(super) const HEARTBEAT: Span = Span::from_secs(1);

/// A flow that is about to come.
pub(crate) struct Incoming {
    pub number: u16,
    pub name: Name,
    waiting: Waiting,
    pub signal: Arc<Signal>,
    /// The time from its start within which it is over.
    pub lasts: Span,
    delay: Span,
    omit: Span,
}

impl Incoming {
    /// The flow, to be observed while it runs.
    pub(super) fn observed(&self) -> IncomingFlow {
        IncomingFlow {
            flow: self.number,
            name: self.name,
            counters: self.waiting.counters(),
            delay: self.delay,
            omit: self.omit,
        }
    }

    /// Receives the flow.
    pub(super) fn run(self) -> Result<Report> {
        self.waiting.run()
    }
}

impl Session {
    /// Asks for a flow and connects to its port. Times in headers count from `epoch`.
    pub(super) fn open_reverse(
        &mut self,
        number: u16,
        mut flow: Flow,
        source: &Source,
        epoch: Time,
    ) -> Result<(Incoming, u32)> {
        self.check(number, &flow)?;
        flow.choose_path(self.connection.here()?.ip());
        let (peer, cookie) = (self.connection.peer(), random()?);
        let traffic = reverse::traffic(&flow, source)?;
        let request = reverse::request(number, &flow, traffic, peer.ip(), cookie);
        self.client.reverse(request);
        let (port, _) = self.port_of(number)?;
        let mut to = flow.options.data_address(peer);
        to.set_port(port);
        // The flow may last until then.
        let lasts = flow
            .length
            .map_or(self.longest, |length| length + flow.delay);
        let end = clock::monotonic() + super::PREPARATION + lasts + REPORT;
        let (name, delay, omit) = (flow.name, flow.delay, flow.omit);
        let (merge, busy) = (flow.options.merge, flow.options.busy);
        let own = &flow.options.socket;
        let here = Flow {
            options: Options {
                destination: flow.options.destination,
                socket: socket::Options {
                    bind: own.bind,
                    reuse_address: own.reuse_address,
                    device: own.device.clone(),
                    segment: own.segment,
                    no_delay: true,
                    dscp: own.dscp,
                    receive_buffer: own.receive_buffer,
                    ..socket::Options::default()
                },
                ..Options::default()
            },
            ..flow
        };
        let ready = Ready::connect(
            here,
            number,
            to,
            &cookie,
            None,
            &self.deadline.within(TIMEOUT),
        )?;
        let socket = ready.into_socket();
        if merge && request.flow.transport == Protocol::Udp {
            socket::merge(&socket).during(|| "letting the kernel merge datagrams")?;
        }
        let signal = Signal::new();
        let asked = control::Flow {
            merge,
            busy,
            ..request.flow
        };
        let deadline = Deadline::of_owner(end, &signal.stopped());
        let waiting = Waiting::connected(
            asked,
            socket,
            peer.ip(),
            kernel_clock::nanos_of(epoch),
            Arc::clone(&signal),
            deadline,
        )?;
        let buffer = u32::try_from(waiting.buffer).unwrap_or(u32::MAX);
        let incoming = Incoming {
            number,
            name,
            waiting,
            signal,
            lasts,
            delay,
            omit,
        };
        Ok((incoming, buffer))
    }
}
