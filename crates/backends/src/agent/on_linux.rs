//! The requests that an agent answers on Linux alone, and what it does.

use anyhow::Context as _;
use probe::driver::{self, Investigated, Prober, Services, stamp};
use traffic::driver::connections;
use traffic::driver::transfer::latency_breakdown::{self, Probe};
use traffic::driver::trial_token::Token;
use units::Span;

use super::requests::{Agent, listening};

/// The requests of other systems that this one lacks: none.
pub(crate) const ABSENT: [&str; 0] = [];

/// The time for a host to open or close its ports.
const OPENING: Span = Span::from_secs(10);

/// The far end and the prober of a path that requests have opened.
#[derive(Default)]
pub(crate) struct OnLinux {
    far_end: Option<driver::FarEnd>,
    prober: Option<Prober>,
    /// With the ports of a trial.
    host: Option<connections::Host>,
}

os::requests! {
    /// Reads a request that needs Linux.
    pub(crate) fn requests_of_linux(agent: Agent);

    /// Open a port, report it, and answer messages with their timestamps.
    AnswerProbes(probe: Probe, token: Token) -> latency_breakdown::Answered {
        let answerer = latency_breakdown::Answerer::open(probe, token)?;
        listening(answerer.port)?;
        answerer.answer()?
    }
    /// Send messages to that port, each after the echo of the previous one.
    SendProbes(probe: Probe, token: Token, port: u16) -> latency_breakdown::Asked {
        latency_breakdown::ask(&probe, &token, port)?
    }
    /// Answer the probes of an investigation from now on.
    OpenFarEnd(services: Services) -> () {
        agent.on_linux.far_end = Some(driver::FarEnd::open(services)?);
    }
    /// End that, and report what was reflected, if there was a reflector.
    CloseFarEnd() -> Option<stamp::Outcome> {
        let outcome = agent.on_linux.far_end.take().map(driver::FarEnd::close);
        outcome.transpose()?.flatten()
    }
    /// Prepare an investigation, and look for a reflector.
    OpenProber(task: driver::Task) -> () {
        agent.on_linux.prober = Some(Prober::open(&task)?);
    }
    /// Run it.
    Investigate() -> Investigated {
        agent.on_linux.prober.take().context("no prober is open")?.run(|_| ())?
    }
    /// Open all ports.
    Connect(task: connections::Task) within OPENING -> () {
        // Its ports may be the same.
        agent.on_linux.host = None;
        agent.on_linux.host = Some(connections::Host::open(task)?);
    }
    /// Carry their connections from this time on, in nanoseconds of CLOCK_MONOTONIC.
    Carry(begin: u64) -> connections::Outcome {
        agent.on_linux.host.take().context("no ports are open")?.run(begin)?
    }
    /// Close all ports instead.
    Disconnect() within OPENING -> () {
        agent.on_linux.host = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::no_linux;
    use super::*;

    #[test]
    fn other_systems_reject_these_requests_by_name() {
        for name in no_linux::ABSENT {
            assert!(requests_of_linux(name, "").is_some(), "{name}");
            let job = no_linux::requests_of_linux(name, "").unwrap().unwrap();
            let reply = job(&mut Agent::default());
            let start = format!(r#"{{"Err":"{name} needs Linux, and this host runs "#);
            assert!(reply.starts_with(&start), "{reply}");
        }
        assert!(no_linux::requests_of_linux("Receive", "").is_none());
    }
}
