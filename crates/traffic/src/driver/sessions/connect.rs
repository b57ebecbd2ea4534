//! A sender's session: it requests flows, sends them, and receives the statistics.

mod reversed;
mod under_way;
mod waits;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::machine::control::{Client, FlowBounds, ReceiverMessage};
use meter::clock_offset::{ClockExchange, ClockOffset};
use secret::Secret;
use units::{Span, Time};
use wire::control::{self, Report};

use super::intervals::Intervals;
#[cfg(target_os = "linux")]
use super::send::run_echoes;
use super::send::{Ready, Sent};
use super::{CommonStart, Described, Entry, Flow, Protocol, Records, black_hole, reverse, sizes};
use crate::driver::control_port::{Connection, Room};
use os::deadline::{Deadline, Ended};
use os::error::{Error, Result};
use os::random::random;
use os::socket::Options;
use os::{clock, interrupt, kernel_clock, program_stamps};
use under_way::Flows;

/// The longest time for an answer of the receiver.
const TIMEOUT: Span = Span::from_secs(10);

/// The remedy if nobody listens.
const ABSENT: &str = "no receiver listens there; start `jumbolab recv` on that host, with --listen ADDRESS if it is another one";

/// The longest time of a session until its flows begin.
const PREPARATION: Span = Span::from_secs(120);

/// The longest time for comparing the clocks after a signal of the user.
const LAST_COMPARISONS: Span = Span::from_secs(1);

/// Number of clock comparisons before the flows, and after them. There are fewer if they
/// take longer than [`TIMEOUT`].
const COMPARISONS: usize = 64;

/// Time between the last preparation and the start of the flows.
pub(super) const HEAD_START: Span = Span::from_millis(5);

/// Interval between checks of the control connection while flows run.
const LOOK: Span = Span::from_millis(50);

/// The task of a sender.
pub struct Plan {
    /// The receiver's control address.
    pub to: SocketAddr,
    /// The flows, in the order of their numbers.
    pub flows: Vec<Flow>,
    /// The secret shared with the receiver.
    pub secret: Option<Secret>,
    /// Called once the connection is established: opens the log, if any.
    pub keep: Keep,
    /// Reports while the flows run, if they are wanted.
    pub intervals: Option<Intervals>,
    /// The start together with the sessions of other receivers, if there are any.
    pub common_start: Option<CommonStart>,
}

/// Opens a log. The argument is this clock at the time from which records count, in
/// nanoseconds.
pub type Keep = Box<dyn FnOnce(u64) -> std::result::Result<Option<Records>, String> + Send>;

/// The outcome of a session.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The receiver's clock minus this one, from before until after the flows; `None`
    /// without a receiver.
    pub offset: Option<ClockOffset>,
    /// Whether both ends read the same clock.
    pub same_clock: bool,
    /// The flows, in the order of their numbers.
    pub flows: Vec<FlowOutcome>,
    /// The reason if it failed.
    pub fault: Option<String>,
}

#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// Name of the flow.
    pub name: control::Name,
    /// The sender's results; `None` if it failed.
    pub sent: Option<Sent>,
    /// The receiver's report; `None` if there is none.
    pub report: Option<Report>,
    /// The receive buffer, in bytes of kernel memory.
    pub receive_buffer: u64,
    /// The reason if it failed.
    pub fault: Option<String>,
}

/// Carries out a plan of echoes, which the other end's kernel answers.
#[cfg(target_os = "linux")]
fn run_of_echoes(plan: Plan) -> Result<Outcome> {
    let start = clock::monotonic();
    let records = open_log(plan.keep, start)?;
    let flows = run_echoes(plan.to, plan.flows, start, records, plan.intervals)?;
    Ok(Outcome {
        offset: None,
        same_clock: false,
        flows: flows.into_iter().map(FlowOutcome::of_echoes).collect(),
        fault: None,
    })
}

/// Carries out a plan. The outcome holds the measurements made before an error, and the
/// error.
///
/// # Errors
/// If it cannot begin: no receiver listens, the receiver rejects, or the kernel does; or as
/// [`program_stamps`].
pub fn run(plan: Plan) -> Result<Outcome> {
    #[cfg(target_os = "linux")]
    if plan.flows.iter().all(|flow| flow.transport.is_none()) {
        return run_of_echoes(plan);
    }
    // Before there is traffic, which would delay the stamps.
    program_stamps()?;
    let wanted = plan.flows.first().map(|flow| Options {
        bind: { flow.options.socket.bind }.map(|bind| SocketAddr::new(bind.ip(), 0)),
        ..flow.options.socket.clone()
    });
    let is_apart = |flow: &Flow| flow.options.destination.is_some();
    let wanted = wanted.filter(|_| !plan.flows.iter().any(is_apart));
    let mut session = Session::begin(plan.to, &wanted.unwrap_or_default(), plan.secret)?;
    let before = session.compare(&session.deadline.within(TIMEOUT))?;
    let start = clock::monotonic();
    let bounds = plan.flows.iter().map(|flow| FlowBounds {
        clock_bound: before.bound,
        ..flow.bounds(plan.to.ip())
    });
    session.bounds = bounds.collect();
    let records = open_log(plan.keep, start)?;
    let log = records.clone();
    let write_down = |entry| {
        if let Some(log) = &log {
            // The writer of the log has ended with an error of its own.
            let _ = log.send(entry);
        }
    };
    session
        .client
        .clocks(kernel_clock::nanos_of(start), before.nanos, before.bound);
    let (mut ready, mut incoming, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    let reversed = (0..).zip(&plan.flows);
    let reversed = reversed.filter(|(_, flow)| flow.reverse.is_some());
    let reversed: Vec<u16> = reversed.map(|(number, _)| number).collect();
    let meters: Vec<_> = plan.flows.iter().map(|flow| flow.meter).collect();
    for (number, flow) in (0..).zip(plan.flows) {
        let name = flow.name;
        let buffer = match flow.reverse.clone() {
            None => {
                let (flow, buffer) = session.open(number, flow, records.clone())?;
                ready.push(flow);
                buffer
            }
            Some(source) => {
                let (flow, buffer) = session.open_reverse(number, flow, &source, start)?;
                incoming.push(flow);
                buffer
            }
        };
        outcomes.push(FlowOutcome {
            name,
            sent: None,
            report: None,
            receive_buffer: buffer.into(),
            fault: None,
        });
    }
    drop(records);
    write_down(Entry::Clocks(kernel_clock::monotonic_nanos(), before));
    let flows = Flows { ready, incoming };
    let fault = session.carry(
        flows,
        &mut outcomes,
        start,
        plan.intervals,
        plan.common_start,
    )?;
    for (number, outcome) in (0..).zip(&mut outcomes) {
        if let Some(bounds) = session.bounds_of(number, start) {
            outcome.check(&bounds, reversed.contains(&number));
        }
    }
    // Compares the clocks again, if the receiver is still there.
    let after = match fault {
        None => session.compare(&session.last_deadline()).ok(),
        Some(_) => None,
    };
    let lives = after.is_some();
    for (outcome, meter) in outcomes.iter_mut().zip(meters) {
        if outcome.fault.is_none() {
            outcome.fault = black_hole::why(outcome, meter, session.connection.peer(), lives);
        }
    }
    let offset = after.map_or(before, |after| before.and(after));
    session
        .client
        .clocks(kernel_clock::nanos_of(start), offset.nanos, offset.bound);
    session.client.farewell();
    let _ = session.connection.write(session.client.output());
    write_down(Entry::Clocks(kernel_clock::monotonic_nanos(), offset));
    for (number, outcome) in (0..).zip(&outcomes) {
        if let Some(sent) = &outcome.sent {
            let (messages, bytes) = sent.all();
            write_down(Entry::Sent {
                flow: number,
                messages,
                bytes: bytes.get(),
            });
        }
    }
    Ok(Outcome {
        offset: Some(offset),
        same_clock: session.same_clock,
        flows: outcomes,
        fault: fault.map(|error| error.to_string()),
    })
}

impl FlowOutcome {
    /// That of echoes, which need no receiver.
    fn of_echoes((name, sent): (control::Name, Result<Sent>)) -> Self {
        Self {
            name,
            fault: sent.as_ref().err().map(ToString::to_string),
            sent: sent.ok(),
            report: None,
            receive_buffer: 0,
        }
    }

    /// Replaces what the receiver reports by a fault if it cannot be true: its figures of a flow
    /// that this end sent, or of a reversed one that it sent itself.
    fn check(&mut self, bounds: &FlowBounds, is_reversed: bool) {
        let sent = self.sent.as_ref().map(|sent| reverse::report(0, sent));
        let checked = match (&sent, &self.report) {
            (Some(sent), Some(report)) => bounds.check(sent, report),
            (Some(sent), None) => bounds.check_sent(sent),
            (None, Some(report)) => bounds.check_received(report),
            (None, None) => Ok(()),
        };
        let Err(why) = checked else {
            return;
        };
        let sent = sent.map_or((0, 0), |sent| (sent.messages, sent.bytes));
        let arrived = self.report.map_or((0, 0), |one| (one.messages, one.bytes));
        let (verb, (messages, bytes), (others, other_bytes)) = match is_reversed {
            true => ("sent", sent, arrived),
            false => ("received", arrived, sent),
        };
        self.fault.get_or_insert_with(|| {
            format!(
                "the receiver reports that it {verb} {messages} messages and {bytes} bytes, and this end counted {others} and {other_bytes}: {why}; its report is left out"
            )
        });
        match is_reversed {
            true => self.sent = None,
            false => self.report = None,
        }
    }
}

/// Opens the requested log, if any.
fn open_log(keep: Keep, start: Time) -> Result<Option<Records>> {
    keep(kernel_clock::nanos_of(start)).map_err(|why| Error::new("opening the log", why))
}

struct Session {
    connection: Connection,
    client: Client,
    room: Room,
    /// Messages that were read together with an earlier one.
    heard: VecDeque<ReceiverMessage>,
    /// The end of the preparation.
    deadline: Deadline,
    /// Stops the flows.
    stop: Arc<AtomicBool>,
    same_clock: bool,
    flows: u16,
    longest: Span,
    /// What reports of the flows cannot exceed, in the order of their numbers.
    bounds: Vec<FlowBounds>,
}

impl Session {
    fn begin(to: SocketAddr, wanted: &Options, secret: Option<Secret>) -> Result<Self> {
        let connection = Connection::to(to, wanted, TIMEOUT, ABSENT)?;
        let client = Client::new(secret, random()?, kernel_clock::identity());
        let stop = Arc::<AtomicBool>::default();
        let mut session = Self {
            connection,
            client,
            room: Room::default(),
            heard: VecDeque::new(),
            deadline: Deadline::new(clock::monotonic() + PREPARATION, &stop),
            stop,
            same_clock: false,
            flows: 0,
            longest: Span::ZERO,
            bounds: Vec::new(),
        };
        match session.hear(&session.deadline.within(TIMEOUT))? {
            ReceiverMessage::Welcome {
                flows,
                longest,
                same_clock,
            } => {
                session.flows = flows;
                session.longest = longest;
                session.same_clock = same_clock;
                Ok(session)
            }
            _ => Err(session.out_of_turn()),
        }
    }

    /// What reports of a flow cannot exceed by now; the session began at `start`.
    fn bounds_of(&self, number: u16, start: Time) -> Option<FlowBounds> {
        let bounds = self.bounds.get(usize::from(number))?;
        let elapsed = clock::monotonic().since(start).unwrap_or_default();
        Some(FlowBounds {
            elapsed: elapsed.as_nanos(),
            ..bounds.clone()
        })
    }

    /// The deadline of the last comparison of the clocks.
    fn last_deadline(&self) -> Deadline {
        match interrupt::asked() {
            true => Deadline::fixed(LAST_COMPARISONS),
            false => Deadline::new(clock::monotonic() + TIMEOUT, &self.stop),
        }
    }

    /// Compares the clocks several times, at least once until the deadline.
    fn compare(&mut self, deadline: &Deadline) -> Result<ClockOffset> {
        if self.same_clock {
            return Ok(ClockOffset::NONE);
        }
        let mut exchanges: Vec<ClockExchange> = Vec::new();
        while exchanges.len() < COMPARISONS {
            self.client.compare(kernel_clock::monotonic_nanos());
            match self.hear(deadline) {
                Ok(ReceiverMessage::Compared(exchange)) => exchanges.push(exchange),
                // A late answer about the last interval.
                Ok(ReceiverMessage::Progress(_)) => {}
                Ok(_) => return Err(self.out_of_turn()),
                Err(_) if !exchanges.is_empty() && deadline.permit().is_err() => break,
                Err(error) => return Err(error),
            }
        }
        ClockOffset::of(&exchanges)
            .ok_or_else(|| Error::new("comparing the clocks", "the answers contradict each other"))
    }

    /// Checks a flow against the receiver's limits.
    fn check(&self, number: u16, flow: &Flow) -> Result<()> {
        if number >= self.flows {
            let problem = format!("the receiver allows {} flows", self.flows);
            return Err(Error::new("asking for a flow", problem));
        }
        if flow
            .length
            .is_some_and(|length| length + flow.delay > self.longest)
        {
            let problem = format!("the receiver allows sessions of {}", self.longest);
            return Err(Error::new("asking for a flow", problem));
        }
        Ok(())
    }

    /// The port that the receiver opens for a flow, and the buffer of its socket.
    fn port_of(&mut self, number: u16) -> Result<(u16, u32)> {
        let deadline = self.deadline.within(TIMEOUT);
        loop {
            match self.hear(&deadline)? {
                ReceiverMessage::Ready { flow, port, buffer } if flow == number => {
                    return Ok((port, buffer));
                }
                // The answer to a comparison that took too long.
                ReceiverMessage::Compared(_) => {}
                _ => return Err(self.out_of_turn()),
            }
        }
    }

    /// Requests a flow and connects to its port.
    fn open(
        &mut self,
        number: u16,
        mut flow: Flow,
        records: Option<Records>,
    ) -> Result<(Ready, u32)> {
        self.check(number, &flow)?;
        flow.choose_path(self.connection.here()?.ip());
        let mut to = flow.options.data_address(self.connection.peer());
        let transport = flow.transport.unwrap_or(Protocol::Udp);
        let cookie = random()?;
        let largest = flow
            .largest
            .unwrap_or_else(|| sizes(Some(transport), flow.meter, to.ip()).1);
        let bytes = |size: units::Bytes| u32::try_from(size.get()).unwrap_or(u32::MAX);
        self.client.open(control::Flow {
            flow: number,
            name: flow.name,
            transport,
            meter: flow.meter,
            busy: flow.options.busy,
            merge: flow.options.merge,
            dscp: flow.options.socket.dscp,
            buffer: flow.options.socket.receive_buffer.map_or(0, bytes),
            largest: bytes(largest),
            port: flow.options.destination_port,
            at: flow.options.requested_address(),
            codec: flow.codec,
            cookie,
        });
        let (port, buffer) = self.port_of(number)?;
        to.set_port(port);
        if let Some(records) = &records {
            let described = Described {
                flow: number,
                name: flow.name,
                transport: flow.transport,
                meter: flow.meter,
                from: SocketAddr::new(self.connection.here()?.ip(), 0),
                to,
                dscp: flow.options.socket.dscp,
            };
            let _ = records.send(Entry::Flow(described));
        }
        let ready = Ready::connect(flow, number, to, &cookie, records, &self.deadline)?;
        Ok((ready, buffer))
    }

    /// The receiver's messages within a moment. The flows have limits of their own.
    fn listen(&mut self, wait: Span) -> Result<Vec<ReceiverMessage>> {
        let deadline = Deadline::fixed(TIMEOUT);
        let mut news: Vec<ReceiverMessage> = self.heard.drain(..).collect();
        news.extend(self.read(&deadline, wait)?);
        Ok(news)
    }

    /// The messages of one read.
    fn read(&mut self, deadline: &Deadline, wait: Span) -> Result<Vec<ReceiverMessage>> {
        let from = self.connection.peer().ip();
        let permit = deadline.permit().map_err(|ended| {
            let problem = match ended {
                Ended::Late => "it did not answer in time",
                Ended::Stopped | Ended::Interrupted => "this end was interrupted",
            };
            Error::new(format!("listening to {from}"), problem)
        })?;
        self.connection.write(self.client.output())?;
        let bytes = self.connection.read(&mut self.room, wait, permit)?;
        let clock = kernel_clock::monotonic_nanos();
        self.client
            .receive(clock, bytes)
            .map_err(|fault| self.rejected(&fault))
    }

    /// The receiver's next message.
    fn hear(&mut self, deadline: &Deadline) -> Result<ReceiverMessage> {
        loop {
            if let Some(first) = self.heard.pop_front() {
                return Ok(first);
            }
            let news = self.read(deadline, LOOK)?;
            self.heard.extend(news);
        }
    }

    fn rejected(&self, fault: &crate::machine::control::Fault) -> Error {
        Error::new(
            format!("asking {}", self.connection.peer().ip()),
            fault.to_string(),
        )
    }

    fn out_of_turn(&self) -> Error {
        self.rejected(&crate::machine::control::Fault::Unexpected)
    }
}

#[cfg(test)]
mod tests;
