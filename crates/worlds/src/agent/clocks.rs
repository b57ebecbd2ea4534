//! Trials between agents on different machines, whose clocks differ.
//!
//! The clocks are compared over the data path before and after the traffic. Delays are
//! corrected by the line through both offsets.

use std::net::IpAddr;

use anyhow::Result;
use traffic::driver::clock_comparison::{Compared, TIMEOUT};
use traffic::driver::transfer::latency_breakdown::{self, Probe};
use traffic::driver::transfer::{Received, Sent, Transfer};
use units::Span;

use super::{Agents, Failure, Reply, Request, ask, hear};

/// The timeout of a corrected result.
const EVALUATION: Span = Span::from_secs(60);

impl Agents {
    /// Whether both agents read one clock, because they are on one machine.
    ///
    /// # Errors
    /// One of them has exited or does not answer.
    pub(crate) fn share_a_clock(&mut self) -> Result<bool> {
        if let Some(known) = self.one_clock {
            return Ok(known);
        }
        let [sender, receiver] = self.samples()?.map(|sample| sample.clock);
        Ok(*self.one_clock.insert(sender == receiver))
    }

    /// Compares the sender's clock with the receiver's, which answers on `address`.
    fn compare_clocks(&mut self, address: IpAddr) -> Result<Compared, Failure> {
        let receiving = |token| Request::AnswerClock(address, token);
        let sending = |token, port| Request::CompareClocks(address, token, port);
        match self.both(receiving, sending, TIMEOUT * 4)? {
            (Reply::Compared(compared), Reply::ClockAnswered) => Ok(compared),
            others => Err(Failure::unexpected_of_two(others)),
        }
    }

    /// Runs one transfer between hosts with different clocks.
    pub(super) fn transfer_between_clocks(
        &mut self,
        transfer: &Transfer,
        timeout: Span,
    ) -> Result<(Sent, Received), Failure> {
        let before = self.compare_clocks(transfer.address)?;
        let [near, far] = before.epochs().map(|epoch| Transfer {
            epoch,
            ..transfer.clone()
        });
        let receiving = |token| Request::Record(far, token);
        let sending = |token, port| Request::Send(near, token, port);
        let sent = match self.both(receiving, sending, timeout)? {
            (Reply::Sent(sent), Reply::Recorded) => sent,
            others => return Err(Failure::unexpected_of_two(others)),
        };
        let line = before.until(self.compare_clocks(transfer.address)?);
        ask(&mut self.receiver, &Request::Finish(line))?;
        match hear(&mut self.receiver, "receiver", EVALUATION)? {
            Reply::Received(received) => Ok((sent, received)),
            other => Err(Failure::unexpected("receiver", other)),
        }
    }

    /// Exchanges the messages of `probe` between hosts with different clocks.
    pub(super) fn breakdown_between_clocks(
        &mut self,
        probe: &Probe,
        timeout: Span,
    ) -> Result<(latency_breakdown::Asked, latency_breakdown::Answered), Failure> {
        let address = probe.transfer.address;
        let before = self.compare_clocks(address)?;
        let epochs = before.epochs();
        let [near, far] = epochs.map(|epoch| Probe {
            transfer: Transfer {
                epoch,
                ..probe.transfer.clone()
            },
            ..probe.clone()
        });
        let receiving = |token| Request::AnswerProbes(far, token);
        let sending = |token, port| Request::SendProbes(near, token, port);
        let (asked, answered) = match self.both(receiving, sending, timeout)? {
            (Reply::Probed(asked), Reply::ProbesAnswered(answered)) => (asked, answered),
            others => return Err(Failure::unexpected_of_two(others)),
        };
        let line = before.until(self.compare_clocks(address)?);
        Ok((asked, answered.corrected(epochs[1], line)))
    }
}
