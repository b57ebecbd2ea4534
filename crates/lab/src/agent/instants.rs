//! One instant on the clocks of several machines.
//!
//! Connections begin and links are counted by CLOCK_MONOTONIC of each machine. The wall
//! clocks are compared over the network, and each machine tells what CLOCK_MONOTONIC showed
//! at one instant of them.

use std::cell::RefCell;
use std::net::IpAddr;

use anyhow::Context;
use live::Worker;
use live::clock;
use live::clock_comparison::{Compared, TIMEOUT};
use live::trial_token::new_token;
use proto::clock_offset::ClockLine;
use units::{Span, Time};

use super::{Agents, Failure, Reply, Request, ask, hear};

/// Time for messages to all machines before an instant.
const ON_THE_WAY: Span = Span::from_secs(1);

/// The clocks of machines beside that of the sender.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// An instant of this process, and a reading of the sender's clock that was not later.
    heard: Time,
    sender: u64,
    /// The reading of the receiver's clock then, and of the clocks of the other machines.
    receiver: u64,
    others: Vec<u64>,
    /// The comparison of the sender's clock with the receiver's.
    compared: Compared,
    /// The bound of the error of each.
    pub(crate) bound: u64,
}

impl Clocks {
    /// The reading of the other machine number `other` when the sender's clock shows
    /// `nanos`.
    pub(crate) fn on_other(&self, other: usize, nanos: u64) -> u64 {
        let then = self.others.get(other).copied().unwrap_or(self.sender);
        shifted(nanos, self.sender, then)
    }
}

/// `nanos` on a clock that shows `there` when the one of `nanos` shows `here`.
const fn shifted(nanos: u64, here: u64, there: u64) -> u64 {
    nanos.wrapping_add(there.wrapping_sub(here))
}

impl Agents {
    /// Compares the sender's clock with the receiver's, which answers at `receiver`, and with
    /// those of the machines of `others`: agents, each with the address at which it answers.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn compare_all_clocks(
        &mut self,
        receiver: IpAddr,
        others: &[(&RefCell<Worker>, IpAddr)],
    ) -> Result<(), Failure> {
        let compared = compare(&mut self.sender, &mut self.receiver, receiver)?;
        let now = compared.now;
        let heard = clock::monotonic();
        let mut bound = compared.estimate.offset.bound;
        let [at_sender, at_receiver] = [now, compared.estimate.offset.to_other(now)];
        let mut clocks = Clocks {
            heard,
            sender: read(&mut self.sender, at_sender)?,
            receiver: read(&mut self.receiver, at_receiver)?,
            others: Vec::new(),
            compared,
            bound: 0,
        };
        for (other, address) in others {
            let mut other = other.borrow_mut();
            let compared = compare(&mut self.sender, &mut other, *address)?;
            let offset = compared.estimate.offset;
            bound = bound.max(offset.bound);
            clocks.others.push(read(&mut other, offset.to_other(now))?);
        }
        clocks.bound = bound;
        self.clocks = Some(clocks);
        Ok(())
    }

    /// Compares the clocks of the sender and of the receiver, at `receiver`, once more:
    /// returns the line of their offset since all clocks were compared.
    ///
    /// # Errors
    /// As [`Agents::transfer`].
    pub(crate) fn clock_line(&mut self, receiver: IpAddr) -> Result<ClockLine, Failure> {
        let clocks = self.clocks.as_ref();
        let before = clocks.context("clocks that were not compared")?.compared;
        Ok(before.until(compare(&mut self.sender, &mut self.receiver, receiver)?))
    }

    /// The comparison of all clocks, if the machines have been compared.
    pub(crate) const fn clocks(&self) -> Option<&Clocks> {
        self.clocks.as_ref()
    }

    /// An instant in at least `lead` on the clock of each host, the sender's first.
    pub(crate) fn begins(&self, lead: Span) -> Vec<u64> {
        let hosts = 2 + self.others.len();
        let Some(clocks) = &self.clocks else {
            return vec![clock::monotonic_nanos() + lead.as_nanos(); hosts];
        };
        let passed = clock::monotonic().since(clocks.heard).unwrap_or_default();
        let begin = clocks.sender + (passed + lead + ON_THE_WAY).as_nanos();
        let mut begins = vec![begin; hosts];
        begins[hosts - 1] = shifted(begin, clocks.sender, clocks.receiver);
        begins
    }
}

/// Compares the clock of `asking` with that of `answering`, which answers at `address`.
fn compare(
    asking: &mut Worker,
    answering: &mut Worker,
    address: IpAddr,
) -> Result<Compared, Failure> {
    let timeout = TIMEOUT * 4;
    let token = new_token().context("making a token")?;
    ask(answering, &Request::AnswerClock(address, token.clone()))?;
    let port = match hear(answering, "host", timeout)? {
        Reply::Listening(port) => port,
        other => return Err(Failure::unexpected("host", other)),
    };
    ask(asking, &Request::CompareClocks(address, token, port))?;
    let compared = hear(asking, "sender", timeout)?;
    match (compared, hear(answering, "host", timeout)?) {
        (Reply::Compared(compared), Reply::ClockAnswered) => Ok(compared),
        others => Err(Failure::unexpected_of_two(others)),
    }
}

/// CLOCK_MONOTONIC of an agent's machine when its wall clock shows `unix_nanos`.
fn read(agent: &mut Worker, unix_nanos: u64) -> Result<u64, Failure> {
    ask(agent, &Request::ReadClock(unix_nanos))?;
    match hear(agent, "host", TIMEOUT)? {
        Reply::Clock(nanos) => Ok(nanos),
        other => Err(Failure::unexpected("host", other)),
    }
}

#[cfg(test)]
mod tests {
    use proto::clock_offset::{ClockEstimate, ClockOffset};

    use super::*;

    #[test]
    fn an_instant_is_carried_to_a_clock_that_is_ahead_or_behind() {
        let clocks = Clocks {
            heard: Time::ZERO,
            sender: 1_000,
            receiver: 5_000,
            others: vec![400, 9_000],
            compared: Compared {
                estimate: ClockEstimate {
                    at: 0,
                    offset: ClockOffset { nanos: 0, bound: 0 },
                },
                now: 0,
            },
            bound: 0,
        };
        assert_eq!(clocks.on_other(0, 1_500), 900);
        assert_eq!(clocks.on_other(1, 1_500), 9_500);
        assert_eq!(shifted(1_500, clocks.sender, clocks.receiver), 5_500);
    }
}
