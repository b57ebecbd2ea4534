//! A session of a receiver, in a separate thread.

mod data_port;
mod reversed;
mod running;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Queue, Sender, channel};
use std::thread;

use crate::machine::control::{Request, Server, Settings};
use meter::clock_offset::ClockOffset;
use units::{Bytes, Span, Time};
use wire::control::{Flow, Reason, Report, SentReport};

use super::intervals::{ReceivedReader, SessionReporter};
use super::receive::{Clocks, Signal};
use super::send::Sent;
use super::serve::{Event, Events, ReceivedFlow, Served, Serving, Session};
use super::{Described, Entry, Interval, Records, reverse, sizes};
use crate::driver::control_port::{Admission, Connection, Polling, Room};
use os::deadline::{Deadline, Ended, Permit};
use os::error::{Error, Result};
use os::random::random;
use os::{clock, kernel_clock};
use running::{Counted, Done, Running};

/// Interval of checks whether flows have ended, or the session is to end.
const LOOK: Span = Span::from_millis(10);

/// The longest time for which a sender may say nothing while flows are sent to it. It
/// asks for the clock every second.
const SILENT: Span = Span::from_secs(5);

/// The largest receive buffer that a sender may request, in bytes.
pub const LARGEST_RECEIVE_BUFFER: Bytes = Bytes::new(64 << 20);

/// Serves one sender until it ends the session, fails, or disconnects.
pub(super) fn serve(
    connection: &Connection,
    serving: &Serving,
    number: u64,
    admission: Admission,
    events: &Events,
) -> Event {
    let peer = connection.peer();
    let rejected = |why: &Error| Event::Rejected {
        peer,
        why: why.to_string(),
    };
    let mut conversation = match ControlSession::new(connection, serving, number, admission, events)
    {
        Ok(conversation) => conversation,
        Err(error) => return rejected(&error),
    };
    let outcome = conversation.hold();
    let (flows, sent) = conversation.finish();
    match (flows.is_empty() && sent.is_empty(), outcome) {
        (true, Err(error)) => rejected(&error),
        (true, Ok(())) => Event::Rejected {
            peer,
            why: "it asked for no flow".to_owned(),
        },
        (false, outcome) => Event::Ended(Served {
            session: conversation.session,
            flows,
            sent,
            fault: outcome.err().map(|error| error.to_string()),
        }),
    }
}

/// The results of a session's flows: of those received, and of those sent.
type Results = (Vec<ReceivedFlow>, Vec<(Flow, Sent)>);

struct ControlSession<'a> {
    connection: &'a Connection,
    serving: &'a Serving,
    events: &'a Events,
    admission: Admission,
    server: Server,
    session: Session,
    clocks: Option<Clocks>,
    records: Option<Records>,
    flows: BTreeMap<u16, Running>,
    /// The number of flows that have not ended, and the time since which there is
    /// none.
    open: usize,
    idle_since: Time,
    /// Reports of intervals, if they are wanted.
    reporter: Option<SessionReporter>,
    /// The latest time at which the sender said something.
    heard: Time,
    to: Sender<(u16, Result<Done>)>,
    finished: Queue<(u16, Result<Done>)>,
}

impl<'a> ControlSession<'a> {
    fn new(
        connection: &'a Connection,
        serving: &'a Serving,
        number: u64,
        admission: Admission,
        events: &'a Events,
    ) -> Result<Self> {
        let settings = Settings {
            secret: serving.secret.clone(),
            limits: serving.limits,
            nonce: random()?,
            clock: kernel_clock::identity(),
        };
        let (to, finished) = channel();
        Ok(Self {
            connection,
            serving,
            events,
            admission,
            server: Server::new(clock::monotonic(), settings),
            session: Session {
                number,
                peer: connection.peer(),
                here: connection.here()?,
                offset: ClockOffset::NONE,
                epoch: 0,
            },
            clocks: None,
            records: None,
            flows: BTreeMap::new(),
            open: 0,
            idle_since: clock::monotonic(),
            reporter: serving.interval.map(SessionReporter::new),
            heard: clock::monotonic(),
            to,
            finished,
        })
    }

    fn hold(&mut self) -> Result<()> {
        let unknown_sender = !self.session.peer.ip().is_loopback()
            && self.serving.secret.is_none()
            && !self.serving.open;
        if unknown_sender {
            return self.reject(
                Reason::UnknownSender,
                "it is another machine, and there is neither --secret-file nor --open",
            );
        }
        let mut room = Room::default();
        loop {
            let permit = self.permit()?;
            let bytes = self.connection.read(&mut room, self.wait(), permit)?;
            if !bytes.is_empty() {
                self.heard = clock::monotonic();
            }
            let received = self.server.receive(kernel_clock::monotonic_nanos(), bytes);
            let requests = match received {
                Ok(requests) => requests,
                Err(fault) => {
                    // The peer may have closed; the fault is known in any case.
                    let _ = self.connection.write(self.server.output());
                    return Err(Error::new("a control message", fault.to_string()));
                }
            };
            for request in requests {
                match request {
                    Request::Admit => {
                        if !self.admission.take_slot() {
                            let why = "as many sessions as are allowed are open";
                            return self.reject(Reason::Busy, why);
                        }
                        self.idle_since = clock::monotonic();
                        self.server.admit(self.idle_since);
                    }
                    Request::Clocks {
                        epoch,
                        offset,
                        bound,
                    } => self.compare(epoch, offset, bound),
                    Request::Open(flow) => self.open(flow)?,
                    Request::Reverse(reverse) => self.reverse(&reverse)?,
                    Request::Begin => {
                        for running in self.flows.values() {
                            running.signal.begin();
                        }
                    }
                    Request::Ended {
                        flow,
                        messages,
                        bytes,
                        warmup,
                    } => {
                        match self.flows.get_mut(&flow) {
                            Some(running) if running.is_sent() => running.signal.stop(),
                            Some(running) => {
                                running.warmup = warmup;
                                running.signal.expect(messages);
                            }
                            None => {}
                        }
                        self.write_down(Entry::Sent {
                            flow,
                            messages,
                            bytes,
                        });
                    }
                    Request::Watch { number } => self.answer(number),
                    Request::Farewell => return Ok(()),
                }
            }
            if let Some(reporter) = &mut self.reporter {
                let interval = reporter.look(clock::monotonic());
                self.pass_on(interval);
            }
            self.take_reports()?;
            self.connection.write(self.server.output())?;
        }
    }

    /// The time until the session is to look after its flows.
    fn wait(&self) -> Span {
        let now = clock::monotonic();
        let next = self.reporter.as_ref().and_then(|one| one.until_next(now));
        next.unwrap_or(LOOK).min(LOOK)
    }

    /// Answers the question for observations.
    fn answer(&mut self, number: u32) {
        let now = clock::monotonic();
        for (flow, running) in &mut self.flows {
            self.server.progress(match &mut running.counted {
                Counted::Received {
                    counters, reader, ..
                } => reader.next(counters, now).progress(*flow, number),
                Counted::Sent { reader, .. } => reader.progress(number, now),
            });
        }
    }

    /// Passes on an interval, unless the receiver's owner lags behind.
    fn pass_on(&self, interval: Option<Interval>) {
        if let Some(interval) = interval {
            self.events.send_interval(self.session.number, interval);
        }
    }

    /// Permits one read from the control connection, or rejects the sender.
    fn permit(&mut self) -> Result<Permit> {
        let idle = self.server.is_open() && self.open == 0;
        let idle_until = self.idle_since + self.serving.limits.idle;
        let (end, why) = match idle && idle_until < self.server.deadline() {
            true => (idle_until, "it had no flow for too long"),
            false => (self.server.deadline(), "it took too long"),
        };
        let sends = || {
            self.flows
                .values()
                .any(|flow| flow.is_sent() && flow.thread.is_some())
        };
        let silent = clock::monotonic().since(self.heard + SILENT);
        if silent.is_some() && self.server.is_open() && sends() {
            let why = "it sent nothing for 5 s while flows were sent to it";
            return Err(self.rejection(Reason::Late, why));
        }
        let (reason, why) = match Deadline::new(end, &self.admission.evicted()).permit() {
            Ok(permit) => return Ok(permit),
            Err(Ended::Late) => (Reason::Late, why),
            Err(Ended::Interrupted) => {
                (Reason::Stopped, "the receiver was stopped; start it again")
            }
            Err(Ended::Stopped) => (Reason::Busy, "others connected before it was authenticated"),
        };
        Err(self.rejection(reason, why))
    }

    fn compare(&mut self, epoch: u64, nanos: i64, bound: u64) {
        let offset = ClockOffset { nanos, bound };
        self.session.offset = offset;
        self.session.epoch = epoch;
        self.write_down(Entry::Clocks(kernel_clock::monotonic_nanos(), offset));
        self.clocks = Some(Clocks { epoch, offset });
    }

    fn open(&mut self, flow: Flow) -> Result<()> {
        let Some(clocks) = self.clocks else {
            return self.reject(Reason::Nonsense, "a flow before the clocks were compared");
        };
        let largest = sizes(Some(flow.transport), flow.meter, self.peer_of(&flow)).1;
        if u64::from(flow.buffer) > LARGEST_RECEIVE_BUFFER.get()
            || u64::from(flow.largest) > largest.get()
        {
            return self.reject(Reason::Limit, "a larger flow than is allowed");
        }
        if self.flows.is_empty() {
            match (self.serving.keep)(&self.session) {
                Ok(records) => {
                    self.records = records;
                    self.write_down(Entry::Clocks(
                        kernel_clock::monotonic_nanos(),
                        clocks.offset,
                    ));
                }
                Err(why) => return self.reject(Reason::Log, &why),
            }
        }
        let polling = match flow.busy {
            false => None,
            true => match self.admission.poll(self.serving.polling) {
                Some(polling) => Some(polling),
                None => return self.reject(Reason::Polling, "no more flows may poll"),
            },
        };
        let signal = Signal::new();
        let waiting = self.wait_for(flow, clocks, &signal, self.records.clone())?;
        let (port, buffer) = (waiting.port, waiting.buffer);
        let counters = waiting.counters();
        if let Some(reporter) = &mut self.reporter {
            reporter.add(flow.flow, flow.name, Arc::clone(&counters));
        }
        self.describe(&flow, port);
        let (to, number) = (self.to.clone(), flow.flow);
        let thread = thread::Builder::new()
            .name(format!("flow {}", flow.name.as_str()))
            .spawn(move || {
                let report = waiting.run().map(Done::Received);
                drop::<Option<Polling>>(polling);
                // The session has ended if the channel is closed.
                let _ = to.send((number, report));
            });
        let Ok(thread) = thread else {
            return self.reject(
                Reason::Limit,
                "no thread is left for a flow; end other programs there",
            );
        };
        let running = Running {
            flow,
            signal,
            warmup: 0,
            thread: Some(thread),
            counted: Counted::Received {
                report: Report {
                    flow: number,
                    overflowed: Some(0),
                    ..Report::default()
                },
                counters,
                reader: ReceivedReader::default(),
            },
        };
        self.opened(running, port, buffer);
        Ok(())
    }

    /// Notes and announces a flow whose port is open.
    fn opened(&mut self, running: Running, port: u16, buffer: u64) {
        let (flow, reverse) = (running.flow, running.is_sent());
        self.flows.insert(flow.flow, running);
        self.open += 1;
        self.events.send(Event::Opened {
            session: self.session.number,
            peer: self.session.peer,
            flow,
            port,
            reverse,
        });
        let buffer = u32::try_from(buffer).unwrap_or(u32::MAX);
        self.server.ready(flow.flow, port, buffer);
    }

    fn describe(&self, flow: &Flow, port: u16) {
        self.write_down(Entry::Flow(Described {
            flow: flow.flow,
            name: flow.name,
            transport: Some(flow.transport),
            meter: flow.meter,
            from: SocketAddr::new(self.peer_of(flow), 0),
            to: on(self.data_address(flow).unwrap_or(self.session.here), port),
            dscp: flow.dscp,
        }));
    }

    /// Appends an entry to the log, if there is one.
    fn write_down(&self, entry: Entry) {
        if let Some(records) = &self.records {
            // The writer has ended with an error of its own.
            let _ = records.send(entry);
        }
    }

    /// Passes on the reports of flows that have ended.
    fn take_reports(&mut self) -> Result<()> {
        while let Ok((number, result)) = self.finished.try_recv() {
            self.open -= 1;
            self.idle_since = clock::monotonic();
            if let Some(reporter) = &mut self.reporter {
                let interval = reporter.ended(number, self.idle_since);
                self.pass_on(interval);
            }
            match result {
                Ok(done) => {
                    match &done {
                        Done::Received(report) => self.server.report(*report),
                        Done::Sent(Some(sent)) => self.server.sent(reverse::report(number, sent)),
                        Done::Sent(None) => self.server.sent(SentReport {
                            flow: number,
                            ..SentReport::default()
                        }),
                    }
                    if let Some(running) = self.flows.get_mut(&number) {
                        running.end(done);
                    }
                }
                Err(error) => return self.reject(Reason::Kernel, &error.to_string()),
            }
        }
        Ok(())
    }

    /// Notifies the sender of the reason, and records it.
    fn reject(&mut self, reason: Reason, why: &str) -> Result<()> {
        Err(self.rejection(reason, why))
    }

    /// The same, as an error.
    fn rejection(&mut self, reason: Reason, why: &str) -> Error {
        self.server.reject(reason);
        let _ = self.connection.write(self.server.output());
        Error::new("a session", why)
    }

    /// Ends all flows and returns their results.
    fn finish(&mut self) -> Results {
        for running in self.flows.values() {
            running.signal.stop();
        }
        for running in self.flows.values_mut() {
            if let Some(thread) = running.thread.take() {
                // A flow that panicked has an empty report.
                let _ = thread.join();
            }
        }
        while let Ok((number, result)) = self.finished.try_recv() {
            if let (Ok(done), Some(running)) = (result, self.flows.get_mut(&number)) {
                running.end(done);
            }
        }
        self.records = None;
        let (mut received, mut all_sent) = (Vec::new(), Vec::new());
        for running in self.flows.values() {
            match &running.counted {
                Counted::Received { report, .. } => received.push(ReceivedFlow {
                    flow: running.flow,
                    report: *report,
                    sent: { running.signal.expected() }
                        .map(|sent| sent.saturating_sub(running.warmup)),
                }),
                Counted::Sent { sent, .. } => {
                    all_sent.extend(sent.as_deref().map(|sent| (running.flow, sent.clone())));
                }
            }
        }
        (received, all_sent)
    }
}

/// The same address with another port.
fn on(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}
