//! The coordinator's end: trials between two agents.

use crate::testbed::{Node, Testbed};
use anyhow::{Context, Result, bail};
use os::request::Request;
use os::worker::Command;
use os::{Worker, clock};
use traffic::driver::request_response::{Answered, Asked, RequestResponse};
use traffic::driver::transfer::latency_breakdown::{self, Probe};
use traffic::driver::transfer::{Received, Sent, Transfer};
use traffic::driver::trial_token::{Token, new_token};
use units::{Bytes, Span, Transport};

use super::flows::check;
use super::{
    Agent, AnswerMessages, AnswerProbes, Receive, ReceiveFlows, Sample, SendFlows, SendMessages,
    SendProbes, SendTransfer,
};
use super::{Arrivals, Departed, Failure, HostSample, ROLE, Receiving, Sending};
use crate::call::{ask, call, hear};

/// The timeout of a transfer as a multiple of its time at the link rate.
/// Congestion control may leave most of the link unused.
const MARGIN: u64 = 20;

/// Additional time for flows beyond their duration: long enough for a stalled
/// stream to fail and for its receiver to notice.
const FLOWS_MARGIN: Span = Span::from_secs(120);

/// Additional time for request-response traffic: long enough for an end without
/// replies to time out.
const REQUEST_RESPONSE_MARGIN: Span = Span::from_secs(30);

/// A sender and a receiver, running in their nodes.
pub(crate) struct Agents {
    pub(super) sender: Worker,
    pub(super) receiver: Worker,
    /// The agents of further hosts, in a network that is no path.
    pub(super) others: Vec<Worker>,
    /// Whether both read one clock, once that is known.
    pub(super) one_clock: Option<bool>,
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
            others: Vec::new(),
            one_clock: None,
        })
    }

    /// Starts both in the outer nodes of `testbed`; in a network that is no path, one in
    /// each host, of which the first and the last are sender and receiver.
    ///
    /// # Errors
    /// As [`Agents::start`].
    pub(crate) fn of(testbed: &Testbed) -> Result<Self> {
        let hosts: Vec<&Node> = testbed.hosts().collect();
        let [first, others @ .., last] = hosts.as_slice() else {
            bail!("a network with fewer than two hosts");
        };
        let mut agents = Self::start(agent(first), agent(last))?;
        let others = others.iter().map(|node| Ok(Worker::spawn(agent(node))?));
        agents.others = others.collect::<Result<_>>()?;
        Ok(agents)
    }

    /// The meters of the sender's and of the receiver's host, which may be one machine; the
    /// sender's process has the time of all further agents, too.
    ///
    /// # Errors
    /// One of them has exited or does not answer.
    pub(crate) fn samples(&mut self) -> Result<[HostSample; 2]> {
        let sample = |agent: &mut Worker, end| call(agent, end, &Sample());
        let mut sender = sample(&mut self.sender, "sender")?;
        for other in &mut self.others {
            sender.process.cpu += sample(other, "host")?.process.cpu;
        }
        Ok([sender, sample(&mut self.receiver, "receiver")?])
    }

    /// Runs one transfer between the two.
    ///
    /// # Errors
    /// [`Failure::Transfer`] if an end reports an error; the agents remain
    /// usable. [`Failure::Lost`] if an agent has exited or does not answer.
    pub(crate) fn transfer(&mut self, transfer: &Transfer) -> Result<(Sent, Received), Failure> {
        // Each end has a timeout of its own; this one covers an end that hangs.
        let carried = carried(transfer, transfer.bytes());
        let timeout = transfer.timeout + transfer.timeout + transfer.quiet + carried;
        let (sent, received) = match self.share_a_clock()? {
            true => {
                let receiving = |token| Receive(transfer.clone(), token);
                let sending = |token, port| SendTransfer(transfer.clone(), token, port);
                self.both(receiving, sending, timeout)?
            }
            false => self.transfer_between_clocks(transfer, timeout)?,
        };
        let copies = match transfer.protocol {
            Transport::Tcp => 1,
            Transport::Udp => MOST_COPIES,
        };
        let most = transfer.bytes().get().saturating_mul(copies);
        possible(most, &received).map_err(Failure::Transfer)?;
        Ok((sent, received))
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
        let receiving = |token| ReceiveFlows(receiving, token);
        let sending = |token, port| SendFlows(sending, token, port);
        let begun = clock::monotonic();
        let (sent, received) = self.both(receiving, sending, duration + FLOWS_MARGIN)?;
        let elapsed = clock::monotonic().since(begun).unwrap_or_default();
        check(&sent, &received, elapsed).map_err(Failure::Transfer)?;
        Ok((sent, received))
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
        let receiving = |token| AnswerMessages(request_response.clone(), token);
        let sending = |token, port| SendMessages(request_response.clone(), token, port);
        self.both(receiving, sending, timeout)
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
        let bytes = probe.transfer.message * (probe.plain + probe.messages) * 2;
        let timeout = probe.transfer.timeout;
        let timeout = timeout + timeout + carried(&probe.transfer, bytes) + FLOWS_MARGIN;
        if !self.share_a_clock()? {
            return self.breakdown_between_clocks(probe, timeout);
        }
        let receiving = |token| AnswerProbes(probe.clone(), token);
        let sending = |token, port| SendProbes(probe.clone(), token, port);
        self.both(receiving, sending, timeout)
    }

    /// What the sender answers to `request`.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn sender<R: Request<Server = Agent>>(
        &mut self,
        request: &R,
    ) -> Result<R::Answer, Failure> {
        ask(&mut self.sender, request)?;
        let reply = hear(&mut self.sender, "sender", R::TIME)?;
        Failure::or_answer("sender", reply)
    }

    /// What the receiver answers to `request`.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn receiver<R: Request<Server = Agent>>(
        &mut self,
        request: &R,
    ) -> Result<R::Answer, Failure> {
        ask(&mut self.receiver, request)?;
        let reply = hear(&mut self.receiver, "receiver", R::TIME)?;
        Failure::or_answer("receiver", reply)
    }

    /// Makes the receiver listen and the sender send to its port, with a new token;
    /// returns the answers of both.
    pub(super) fn both<Receiving, Sending>(
        &mut self,
        receiving: impl FnOnce(Token) -> Receiving,
        sending: impl FnOnce(Token, u16) -> Sending,
        timeout: Span,
    ) -> Result<(Sending::Answer, Receiving::Answer), Failure>
    where
        Receiving: Request<Server = Agent>,
        Sending: Request<Server = Agent>,
    {
        let token = new_token().context("making a token")?;
        ask(&mut self.receiver, &receiving(token.clone()))?;
        let port = hear(&mut self.receiver, "receiver", timeout)?;
        let port = Failure::or_answer("receiver", port)?;
        ask(&mut self.sender, &sending(token, port))?;
        let sent = hear(&mut self.sender, "sender", timeout)?;
        let received = hear(&mut self.receiver, "receiver", timeout)?;
        // An end without an answer states the reason.
        Ok((
            Failure::or_answer("sender", sent)?,
            Failure::or_answer("receiver", received)?,
        ))
    }
}

/// No program stamps arrivals later: a datagram of loopback that takes longer counts as lost.
const LATEST_STAMP: Span = Span::from_secs(1);

/// The most copies of a packet that a path makes.
const MOST_COPIES: u64 = 16;

/// Checks what a receiver reports of a transfer that carries `most` bytes at most. Its host
/// may belong to somebody else.
///
/// # Errors
/// The first impossible figure.
fn possible(most: u64, received: &Received) -> Result<(), String> {
    let delays = &received.delays;
    let first = delays.received.checked_sub(delays.duplicates);
    let first = first.and_then(|first| first.checked_sub(delays.unexpected));
    let rate_is_possible = received.goodput.is_none_or(|goodput| {
        let rate = 8.0 * goodput.bytes.get() as f64 / goodput.span.as_secs_f64();
        let rates = [goodput.bits_per_second, goodput.plain_bits_per_second];
        goodput.bytes <= received.bytes
            && rate.is_finite()
            && goodput.bits_per_second <= 1.000_001 * rate
            && rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0)
    });
    let stamps_are_possible = received
        .stamps
        .is_none_or(|stamps| stamps.late <= LATEST_STAMP);
    let why = if received.bytes.get() > most {
        "more arrived than was sent"
    } else if first.and_then(|first| first.checked_add(delays.lost)) != Some(delays.expected) {
        "the messages that arrived and the lost ones are not those that were sent"
    } else if !rate_is_possible {
        "the goodput is not that of its bytes and its time"
    } else if !stamps_are_possible {
        "its stamps are more than a second late"
    } else {
        return Ok(());
    };
    Err(format!("the receiver's report is impossible: {why}"))
}

/// The command of the agent in `node`.
fn agent(node: &Node) -> Command<'_> {
    Command::local(Some(&node.namespace), ROLE)
}

/// The time that `bytes` may be in flight at the pace of a transfer.
fn carried(transfer: &Transfer, bytes: Bytes) -> Span {
    let pace = transfer.pace;
    pace.map_or(Span::ZERO, |pace| pace.serialise(bytes) * MARGIN)
}

#[cfg(test)]
mod tests {
    use meter::time_series::TimeSeries;
    use meter::{FlowRecorder, Goodput};
    use os::ProgramStamps;
    use os::cpu_time::Process;
    use units::Time;

    use super::*;

    /// The report of a receiver on 3 messages of 400 bytes, one of them lost.
    fn report() -> Received {
        let mut recorder = FlowRecorder::new();
        for number in 0..2 {
            recorder.record(
                number,
                Time::from_picos(number),
                Time::from_picos(9),
                Bytes::new(400),
            );
        }
        Received {
            bytes: Bytes::new(800),
            unstamped: 0,
            stamps: Some(ProgramStamps {
                resolution: Span::from_nanos(100),
                late: Span::from_secs(1),
            }),
            spread: Span::ZERO,
            goodput: Some(Goodput {
                bytes: Bytes::new(400),
                span: Span::from_millis(4),
                bits_per_second: 800_000.0,
                plain_bits_per_second: 800_000.0,
                first: Time::ZERO,
                last: Time::from_picos(1),
            }),
            delays: recorder.finish(3),
            clocks: None,
            arrivals: TimeSeries::default(),
            receive_buffer: 0,
            rejected_peers: 0,
            process: Process::default(),
        }
    }

    #[test]
    fn a_receiver_that_reports_more_than_can_be_is_not_believed() {
        assert_eq!(possible(1_200, &report()), Ok(()));
        let lies: [fn(&mut Received); 8] = [
            |one| {
                one.stamps
                    .iter_mut()
                    .for_each(|it| it.late = Span::from_picos(1_000_000_000_001))
            },
            |one| one.bytes = Bytes::new(1_201),
            |one| one.delays.lost = 5,
            |one| one.delays.received = 1_000_000_000,
            |one| one.delays.duplicates = 4,
            |one| {
                one.goodput
                    .iter_mut()
                    .for_each(|it| it.bits_per_second = -5.0)
            },
            |one| {
                one.goodput
                    .iter_mut()
                    .for_each(|it| it.bits_per_second = 1e15)
            },
            |one| {
                one.goodput
                    .iter_mut()
                    .for_each(|it| it.bytes = Bytes::new(801))
            },
        ];
        for (number, lie) in lies.into_iter().enumerate() {
            let mut report = report();
            lie(&mut report);
            let why = possible(1_200, &report).unwrap_err();
            assert!(why.contains("impossible"), "{number}: {why}");
        }
    }

    #[test]
    fn a_series_that_could_not_have_been_recorded_is_rejected() {
        let mut series = TimeSeries::new(Span::from_millis(10), 8);
        series.carried(Time::from_picos(1), Bytes::new(100));
        let text = serde_json::to_string(&series).unwrap();
        let interval = Span::from_millis(10).as_picos().to_string();
        assert!(text.contains(&interval), "{text}");
        assert_eq!(serde_json::from_str::<TimeSeries>(&text).unwrap(), series);
        for (from, to) in [(interval.as_str(), "0"), ("\"most\":8", "\"most\":0")] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            assert!(
                serde_json::from_str::<TimeSeries>(&changed).is_err(),
                "{changed}"
            );
        }
    }
}
