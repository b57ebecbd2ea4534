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

use super::{Agents, Failure};
use super::{AnswerClock, AnswerProbes, CompareClocks, Finish, Record, SendProbes, SendTransfer};

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
        let receiving = |token| AnswerClock(address, token);
        let sending = |token, port| CompareClocks(address, token, port);
        let (compared, ()) = self.both(receiving, sending, TIMEOUT * 4)?;
        Ok(compared)
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
        let receiving = |token| Record(far, token);
        let sending = |token, port| SendTransfer(near, token, port);
        let (sent, ()) = self.both(receiving, sending, timeout)?;
        let line = before.until(self.compare_clocks(transfer.address)?);
        Ok((sent, self.receiver(&Finish(line))?))
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
        let receiving = |token| AnswerProbes(far, token);
        let sending = |token, port| SendProbes(near, token, port);
        let (asked, answered) = self.both(receiving, sending, timeout)?;
        let line = before.until(self.compare_clocks(address)?);
        Ok((asked, answered.corrected(epochs[1], line)))
    }
}
