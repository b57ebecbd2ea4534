//! The worker process in a node of the test bed, and its protocol: one JSON
//! object per line, a request and its replies.

mod clocks;
mod discovering;
mod flows;
mod probing;

use std::io::{BufRead, Write};
use std::net::IpAddr;

use anyhow::{Context, Result, bail};
use live::Worker;
use live::clock_comparison::{ClockAnswerer, Compared, compare};
use live::discovery::{self, FarEnd, Settled};
use live::meter::{Machine, Process};
use live::probe::{Investigated, Services, Task};
use live::request_response::{Answered, Answerer, Asked, RequestResponse, ask as ask_other};
use live::stamp;
use live::testbed::Testbed;
use live::transfer::latency_breakdown::{self, Answerer as ProbeAnswerer, Probe};
use live::transfer::{Received, Receiver, Recorded, Sent, Transfer, send};
use live::trial_token::{Token, new_token};
use live::worker::Command;
use proto::clock_offset::ClockLine;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

use crate::interrupted;
pub(crate) use flows::{Arrivals, Arrived, Departed, Receiving, Sending, Wanted};
use probing::Probing;

/// The role of the worker, as [`Command::local`] takes it.
pub(crate) const ROLE: &str = "node";

/// The timeout of a transfer as a multiple of its time at the link rate.
/// Congestion control may leave most of the link unused.
const MARGIN: u64 = 20;

/// Additional time for flows beyond their duration: long enough for a stalled
/// stream to fail and for its receiver to notice.
const FLOWS_MARGIN: Span = Span::from_secs(120);

/// Additional time for request-response traffic: long enough for an end without
/// replies to time out.
const REQUEST_RESPONSE_MARGIN: Span = Span::from_secs(30);

/// The timeout of a sample of a host.
const SAMPLE: Span = Span::from_secs(30);

/// A request to a worker. The port of a request for traffic accepts only the peer with the
/// token of that request.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// Open a port, report it, and receive.
    Receive(Transfer, Token),
    /// Send to that port.
    Send(Transfer, Token, u16),
    /// Open a port, report it, and receive flows.
    ReceiveFlows(Receiving, Token),
    /// Send flows to that port.
    SendFlows(Sending, Token, u16),
    /// Open a port, report it, and answer messages.
    Answer(RequestResponse, Token),
    /// Send messages to that port, one at a time.
    Ask(RequestResponse, Token, u16),
    /// Open a port, report it, and answer messages with their timestamps.
    AnswerProbes(Probe, Token),
    /// Send messages to that port, each after the echo of the previous one.
    SendProbes(Probe, Token, u16),
    /// Answer the probes of an investigation from now on.
    OpenFarEnd(Services),
    /// End that, and report what was reflected.
    CloseFarEnd,
    /// Prepare an investigation.
    OpenProber(Task),
    /// Run it.
    Investigate,
    /// Open a port, report it, and receive the data of a connection.
    Accept(discovery::Task),
    /// Connect to that port, and send until the size of packets has settled.
    Settle(discovery::Task, u16),
    /// As `Receive`, but keep the record until `Finish`.
    Record(Transfer, Token),
    /// Report what was kept, corrected by the offset of the clocks.
    Finish(ClockLine),
    /// Open a port on the address, report it, and tell the clock to those who ask.
    AnswerClock(IpAddr, Token),
    /// Ask for the clock at the address and port.
    CompareClocks(IpAddr, Token, u16),
    /// Read the meters of the host.
    Sample,
}

/// A reply of a worker.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Listening(u16),
    Received(Received),
    Sent(Sent),
    Arrived(Arrivals),
    Departed(Vec<Departed>),
    Answered(Answered),
    Asked(Asked),
    ProbesAnswered(latency_breakdown::Answered),
    Probed(latency_breakdown::Asked),
    /// The far end or the prober is open.
    Opened,
    Closed(Option<stamp::Outcome>),
    Investigated(Box<Investigated>),
    Accepted,
    Settled(Settled),
    Recorded,
    ClockAnswered,
    Compared(Compared),
    Sampled(Box<HostSample>),
    /// The request failed: one line of text.
    Failed(String),
}

/// The meters of an agent's host at one instant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct HostSample {
    /// The processor time of the agent since its start.
    pub(crate) process: Process,
    /// The processors of its machine.
    pub(crate) machine: Machine,
    /// The offset of its wall clock from its monotonic clock, in nanoseconds. The
    /// difference of two samples is the step in between.
    pub(crate) wall_offset: i64,
    /// The identity of its clock, see [`live::clock::identity`].
    pub(crate) clock: [u8; 8],
}

impl HostSample {
    fn now() -> live::Result<Self> {
        Ok(Self {
            clock: live::clock::identity(),
            wall_offset: live::clock::wall_offset_nanos(),
            machine: Machine::sample()?,
            process: Process::sample()?,
        })
    }
}

/// The main loop of the worker: serves requests until its input ends.
///
/// # Errors
/// The parent process cannot be read from or written to.
pub(crate) fn serve(requests: impl BufRead, mut replies: impl Write) -> Result<()> {
    let mut kept = Kept::default();
    for line in requests.lines() {
        answer(&line?, &mut kept, &mut replies)?;
    }
    Ok(())
}

/// The state of an agent between requests.
#[derive(Default)]
pub(crate) struct Kept {
    probing: Probing,
    recorded: Option<Recorded>,
}

/// Serves the request in `line`; what later ones need is in `kept`.
///
/// # Errors
/// It is no request, or the replies cannot be written.
pub(crate) fn answer(line: &str, kept: &mut Kept, mut replies: impl Write) -> Result<()> {
    let Kept { probing, recorded } = kept;
    let request = serde_json::from_str(line).context("reading a request")?;
    let mut answer = |reply: &Reply| -> Result<()> {
        writeln!(replies, "{}", serde_json::to_string(reply)?)?;
        Ok(replies.flush()?)
    };
    let result = match request {
        Request::Send(transfer, token, port) => send(&transfer, &token, port).map(Reply::Sent),
        Request::Receive(transfer, token) => match Receiver::open(transfer, token) {
            Ok(receiver) => {
                answer(&Reply::Listening(receiver.port))?;
                receiver.receive().map(Reply::Received)
            }
            Err(error) => Err(error),
        },
        Request::Ask(request_response, token, port) => {
            ask_other(&request_response, &token, port).map(Reply::Asked)
        }
        Request::SendProbes(probe, token, port) => {
            latency_breakdown::ask(&probe, &token, port).map(Reply::Probed)
        }
        Request::AnswerProbes(probe, token) => match ProbeAnswerer::open(probe, token) {
            Ok(answerer) => {
                answer(&Reply::Listening(answerer.port))?;
                answerer.answer().map(Reply::ProbesAnswered)
            }
            Err(error) => Err(error),
        },
        Request::Answer(requests, token) => match Answerer::open(requests, token) {
            Ok(answerer) => {
                answer(&Reply::Listening(answerer.port))?;
                answerer.answer().map(Reply::Answered)
            }
            Err(error) => Err(error),
        },
        Request::OpenFarEnd(services) => probing.open_far_end(services),
        Request::CloseFarEnd => probing.close_far_end(),
        Request::OpenProber(task) => probing.open_prober(&task),
        Request::Investigate => probing.investigate(),
        Request::Accept(task) => match FarEnd::open(task) {
            Ok(far_end) => {
                answer(&Reply::Listening(far_end.port))?;
                far_end.serve().map(|()| Reply::Accepted)
            }
            Err(error) => Err(error),
        },
        Request::Settle(task, port) => discovery::settle(&task, port).map(Reply::Settled),
        Request::Record(transfer, token) => match Receiver::open(transfer, token) {
            Ok(receiver) => {
                answer(&Reply::Listening(receiver.port))?;
                receiver.record().map(|whole| {
                    *recorded = Some(whole);
                    Reply::Recorded
                })
            }
            Err(error) => Err(error),
        },
        Request::Finish(line) => Ok(match recorded.take() {
            Some(recorded) => Reply::Received(recorded.finish(Some(line))),
            None => Reply::Failed("no transfer was kept".to_owned()),
        }),
        Request::AnswerClock(address, token) => match ClockAnswerer::open(address, token) {
            Ok(answerer) => {
                answer(&Reply::Listening(answerer.port))?;
                answerer.answer().map(|()| Reply::ClockAnswered)
            }
            Err(error) => Err(error),
        },
        Request::CompareClocks(address, token, port) => {
            compare(address, &token, port).map(Reply::Compared)
        }
        Request::Sample => HostSample::now().map(|sample| Reply::Sampled(Box::new(sample))),
        Request::SendFlows(sending, token, port) => {
            return answer(&reply_of(
                flows::send(sending, &token, port).map(Reply::Departed),
            ));
        }
        Request::ReceiveFlows(receiving, token) => {
            let listening = |port| answer(&Reply::Listening(port));
            let arrived = flows::receive(receiving, &token, listening);
            return answer(&reply_of(arrived.map(Reply::Arrived)));
        }
    };
    answer(&reply_of(result.map_err(anyhow::Error::from)))
}

fn reply_of(result: Result<Reply>) -> Reply {
    result.unwrap_or_else(|error| Reply::Failed(format!("{error:#}")))
}

/// A sender and a receiver, running in their nodes.
pub(crate) struct Agents {
    sender: Worker,
    receiver: Worker,
    /// Whether both read one clock, once that is known.
    one_clock: Option<bool>,
}

impl Agents {
    /// Starts both with the commands of their workers.
    ///
    /// # Errors
    /// One of them cannot be started.
    pub(crate) fn start(sender: Command<'_>, receiver: Command<'_>) -> Result<Self> {
        Ok(Self {
            sender: Worker::spawn(sender)?,
            receiver: Worker::spawn(receiver)?,
            one_clock: None,
        })
    }

    /// Starts both in the outer nodes of `testbed`.
    ///
    /// # Errors
    /// As [`Agents::start`].
    pub(crate) fn of(testbed: &Testbed) -> Result<Self> {
        let [sender, receiver] = [testbed.sender(), testbed.receiver()]
            .map(|node| Command::local(Some(&node.namespace), ROLE));
        Self::start(sender, receiver)
    }

    /// The meters of the sender's and of the receiver's host, which may be one machine.
    ///
    /// # Errors
    /// One of them has exited or does not answer.
    pub(crate) fn samples(&mut self) -> Result<[HostSample; 2]> {
        let sample = |agent: &mut Worker, end| {
            ask(agent, &Request::Sample)?;
            match hear(agent, end, SAMPLE)? {
                Reply::Sampled(sample) => Ok(*sample),
                other => bail!("unexpected reply of the {end}: {other:?}"),
            }
        };
        Ok([
            sample(&mut self.sender, "sender")?,
            sample(&mut self.receiver, "receiver")?,
        ])
    }

    /// Runs one transfer between the two.
    ///
    /// # Errors
    /// [`Failure::Transfer`] if an end reports an error; the agents remain
    /// usable. [`Failure::Lost`] if an agent has exited or does not answer.
    pub(crate) fn transfer(&mut self, transfer: &Transfer) -> Result<(Sent, Received), Failure> {
        // Each end has a timeout of its own; this one covers an end that hangs.
        let carried = carried(transfer, transfer.octets());
        let timeout = transfer.timeout + transfer.timeout + transfer.quiet + carried;
        if !self.share_a_clock()? {
            return self.transfer_between_clocks(transfer, timeout);
        }
        let receiving = |token| Request::Receive(transfer.clone(), token);
        let sending = |token, port| Request::Send(transfer.clone(), token, port);
        match self.both(receiving, sending, timeout)? {
            (Reply::Sent(sent), Reply::Received(received)) => Ok((sent, received)),
            others => Err(Failure::unexpected_of_two(others)),
        }
    }

    /// Runs flows of at most `duration` between the two; returns the
    /// observations of both ends for each flow.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn flows(
        &mut self,
        sending: Sending,
        receiving: Receiving,
        duration: Span,
    ) -> Result<(Vec<Departed>, Arrivals), Failure> {
        let receiving = |token| Request::ReceiveFlows(receiving, token);
        let sending = |token, port| Request::SendFlows(sending, token, port);
        match self.both(receiving, sending, duration + FLOWS_MARGIN)? {
            (Reply::Departed(sent), Reply::Arrived(received)) => Ok((sent, received)),
            others => Err(Failure::unexpected_of_two(others)),
        }
    }

    /// Makes the sender send the sizes of `request_response` to the receiver.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn request_response(
        &mut self,
        request_response: &RequestResponse,
    ) -> Result<(Asked, Answered), Failure> {
        let timeout =
            request_response.timeout + request_response.deadline * 4 + REQUEST_RESPONSE_MARGIN;
        let receiving = |token| Request::Answer(request_response.clone(), token);
        let sending = |token, port| Request::Ask(request_response.clone(), token, port);
        match self.both(receiving, sending, timeout)? {
            (Reply::Asked(asked), Reply::Answered(answered)) => Ok((asked, answered)),
            others => Err(Failure::unexpected_of_two(others)),
        }
    }

    /// Exchanges the messages of `probe` between the two; returns the
    /// timestamps of sender and receiver.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn latency_breakdown(
        &mut self,
        probe: &Probe,
    ) -> Result<(latency_breakdown::Asked, latency_breakdown::Answered), Failure> {
        let octets = probe.transfer.message * (probe.plain + probe.messages) * 2;
        let timeout = probe.transfer.timeout;
        let timeout = timeout + timeout + carried(&probe.transfer, octets) + FLOWS_MARGIN;
        if !self.share_a_clock()? {
            return self.breakdown_between_clocks(probe, timeout);
        }
        let receiving = |token| Request::AnswerProbes(probe.clone(), token);
        let sending = |token, port| Request::SendProbes(probe.clone(), token, port);
        match self.both(receiving, sending, timeout)? {
            (Reply::Probed(asked), Reply::ProbesAnswered(answered)) => Ok((asked, answered)),
            others => Err(Failure::unexpected_of_two(others)),
        }
    }

    /// Makes the receiver listen and the sender send to its port, with a new token;
    /// returns the final replies of both.
    fn both(
        &mut self,
        receiving: impl FnOnce(Token) -> Request,
        sending: impl FnOnce(Token, u16) -> Request,
        timeout: Span,
    ) -> Result<(Reply, Reply), Failure> {
        let token = new_token().context("making a token")?;
        ask(&mut self.receiver, &receiving(token.clone()))?;
        let port = match hear(&mut self.receiver, "receiver", timeout)? {
            Reply::Listening(port) => port,
            other => return Err(Failure::unexpected("receiver", other)),
        };
        ask(&mut self.sender, &sending(token, port))?;
        let sent = hear(&mut self.sender, "sender", timeout)?;
        Ok((sent, hear(&mut self.receiver, "receiver", timeout)?))
    }
}

/// The time that `octets` may be in flight at the pace of a transfer.
fn carried(transfer: &Transfer, octets: Bytes) -> Span {
    let pace = transfer.pace;
    pace.map_or(Span::ZERO, |pace| pace.serialise(octets) * MARGIN)
}

/// The reason why a transfer has no result.
#[derive(Debug)]
pub enum Failure {
    /// An end of the transfer reported this error; the next trial can run.
    Transfer(String),
    /// Other work on the machine disturbed the trial so far that it has no
    /// result; the next trial can run.
    Disturbed(String),
    /// The test bed is unusable, or the user asked to stop.
    Lost(anyhow::Error),
}

impl Failure {
    /// An error from the last replies of sender and receiver: a failed end
    /// states the reason.
    fn unexpected_of_two((sender, receiver): (Reply, Reply)) -> Self {
        match sender {
            Reply::Failed(_) => Self::unexpected("sender", sender),
            _ if matches!(receiver, Reply::Failed(_)) => Self::unexpected("receiver", receiver),
            _ => Self::unexpected("sender", sender),
        }
    }

    fn unexpected(end: &str, reply: Reply) -> Self {
        match reply {
            Reply::Failed(reason) => Self::Transfer(format!("{end}: {reason}")),
            reply => Self::Lost(anyhow::anyhow!("unexpected reply of the {end}: {reply:?}")),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Lost(error)
    }
}

/// Sends a request to an agent.
///
/// # Errors
/// The agent has ended.
pub(crate) fn ask(worker: &mut Worker, request: &impl Serialize) -> Result<()> {
    Ok(worker.send_line(&serde_json::to_string(request)?)?)
}

/// The next reply of the agent of `end`, for which it has `timeout`.
///
/// # Errors
/// The agent has ended or does not answer, or the user asked to stop.
pub(crate) fn hear<T: DeserializeOwned>(
    worker: &mut Worker,
    end: &str,
    timeout: Span,
) -> Result<T> {
    let deadline = live::clock::monotonic() + timeout;
    loop {
        let soon = deadline.min(live::clock::monotonic() + Span::from_millis(100));
        let line = worker
            .receive_line(soon)
            .map_err(|error| match live::interrupt::asked() {
                // The signal may have reached the worker, too.
                true => interrupted(),
                false => error.into(),
            })?;
        match line {
            Some(line) => {
                return serde_json::from_str(&line)
                    .with_context(|| format!("reading the reply of the {end}"));
            }
            None if live::interrupt::asked() => return Err(interrupted()),
            None if live::clock::monotonic() >= deadline => {
                bail!(
                    "the {end} did not answer within {:.0} s",
                    timeout.as_secs_f64()
                )
            }
            None => {}
        }
    }
}
