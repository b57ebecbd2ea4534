//! The agent's end: serves requests.

use std::io::{BufRead, Write};

use anyhow::{Context, Result};
use traffic::driver::clock_comparison::{ClockAnswerer, compare};
use traffic::driver::connections;
use traffic::driver::discovery::{self, FarEnd};
use traffic::driver::request_response::{Answerer, ask};
use traffic::driver::transfer::latency_breakdown::{self, Answerer as ProbeAnswerer};
use traffic::driver::transfer::{Receiver, Recorded, send};

use super::probing::Probing;
use super::{HostSample, Reply, Request, flows};

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
    /// With the ports of a trial.
    host: Option<connections::Host>,
}

/// Serves the request in `line`; what later ones need is in `kept`.
///
/// # Errors
/// It is no request, or the replies cannot be written.
pub(crate) fn answer(line: &str, kept: &mut Kept, mut replies: impl Write) -> Result<()> {
    let request = serde_json::from_str(line).context("reading a request")?;
    let mut say = |reply: &Reply| -> Result<()> {
        writeln!(replies, "{}", serde_json::to_string(reply)?)?;
        Ok(replies.flush()?)
    };
    let reply = kept.serve(request, |port| say(&Reply::Listening(port)));
    say(&reply.unwrap_or_else(|error| Reply::Failed(format!("{error:#}"))))
}

impl Kept {
    /// Does what `request` asks for. `listening` tells the port that it opens.
    fn serve(
        &mut self,
        request: Request,
        mut listening: impl FnMut(u16) -> Result<()>,
    ) -> Result<Reply> {
        Ok(match request {
            Request::Send(transfer, token, port) => Reply::Sent(send(&transfer, &token, port)?),
            Request::Receive(transfer, token) => {
                let receiver = Receiver::open(transfer, token)?;
                listening(receiver.port)?;
                Reply::Received(receiver.receive()?)
            }
            Request::Record(transfer, token) => {
                let receiver = Receiver::open(transfer, token)?;
                listening(receiver.port)?;
                self.recorded = Some(receiver.record()?);
                Reply::Recorded
            }
            Request::Finish(line) => {
                let recorded = self.recorded.take().context("no transfer was kept")?;
                Reply::Received(recorded.finish(Some(line)))
            }
            Request::SendFlows(sending, token, port) => {
                Reply::Departed(flows::send(sending, &token, port)?)
            }
            Request::ReceiveFlows(receiving, token) => {
                Reply::Arrived(flows::receive(receiving, &token, listening)?)
            }
            Request::Ask(requests, token, port) => Reply::Asked(ask(&requests, &token, port)?),
            Request::Answer(requests, token) => {
                let answerer = Answerer::open(requests, token)?;
                listening(answerer.port)?;
                Reply::Answered(answerer.answer()?)
            }
            Request::SendProbes(probe, token, port) => {
                Reply::Probed(latency_breakdown::ask(&probe, &token, port)?)
            }
            Request::AnswerProbes(probe, token) => {
                let answerer = ProbeAnswerer::open(probe, token)?;
                listening(answerer.port)?;
                Reply::ProbesAnswered(answerer.answer()?)
            }
            Request::CompareClocks(address, token, port) => {
                Reply::Compared(compare(address, &token, port)?)
            }
            Request::AnswerClock(address, token) => {
                let answerer = ClockAnswerer::open(address, token)?;
                listening(answerer.port)?;
                answerer.answer()?;
                Reply::ClockAnswered
            }
            Request::Settle(task, token, port) => {
                Reply::Settled(discovery::settle(&task, &token, port)?)
            }
            Request::Accept(task, token) => {
                let far_end = FarEnd::open(task, token)?;
                listening(far_end.port)?;
                Reply::Accepted(far_end.serve()?)
            }
            Request::OpenFarEnd(services) => self.probing.open_far_end(services)?,
            Request::CloseFarEnd => self.probing.close_far_end()?,
            Request::OpenProber(task) => self.probing.open_prober(&task)?,
            Request::Investigate => self.probing.investigate()?,
            Request::Connect(task) => {
                // Its ports may be the same.
                self.host = None;
                self.host = Some(connections::Host::open(task)?);
                Reply::Opened
            }
            Request::Carry(begin) => {
                let host = self.host.take().context("no ports are open")?;
                Reply::Carried(host.run(begin)?)
            }
            Request::Disconnect => {
                self.host = None;
                Reply::Disconnected
            }
            Request::Sample => Reply::Sampled(Box::new(HostSample::now()?)),
        })
    }
}
