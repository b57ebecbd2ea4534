//! Counters, observations and random streams of the emulated links.

use anyhow::{Result, bail};
use live::emulator::{Observation, Report};
use plan::setting::{Link, Sends, Traffic};
use plan::{HostRole, Setting};
use proto::link::Fate;
use units::{Seed, Span, Time};

use super::{CORE, Edges, Layout, Machine, OF_HOST, of_host};
use crate::host_agent::{EdgeReply, EdgeRequest};

impl Edges {
    /// The counters of both directions of each core link as those of one link, and behind them
    /// those of the links `of_hosts`, from the host on. The processors of the gateways are not
    /// those that trials meter.
    pub(in crate::world::hosts) fn report<'a>(
        &self,
        of_hosts: impl Iterator<Item = (usize, &'a Link)>,
        ends: &[Machine; 2],
    ) -> Result<Report> {
        let [there, back] = &self.machines;
        let [there, back] = [asked(there, CORE)?, asked(back, CORE)?];
        let directions = |report: &Report| report.links.clone().into_iter().map(|[out, _]| out);
        // Each machine counts from itself on.
        let both = directions(&there).zip(directions(&back).rev());
        let mut all = Report {
            links: both.map(|(one, other)| [one, other]).collect(),
            cpu: Span::ZERO,
            departures: 0,
            late: [Span::ZERO; 3],
            scheduling: there.scheduling,
        };
        let mut add = |report: &Report| {
            all.departures += report.departures;
            for (late, more) in all.late.iter_mut().zip(report.late) {
                *late = more.max(*late);
            }
        };
        add(&there);
        add(&back);
        let (mut links, mut cpu) = (Vec::new(), Span::ZERO);
        for (side, _) in of_hosts {
            let [host, gateway] = self.ends_of(side, ends);
            let [up, down] = [asked(host, OF_HOST)?, asked(gateway, OF_HOST)?];
            add(&up);
            add(&down);
            links.extend(directions(&up).zip(directions(&down)));
            // This one is beside the metered traffic.
            cpu += up.cpu;
        }
        all.links
            .extend(links.into_iter().map(|(up, down)| [up, down]));
        all.cpu = cpu;
        Ok(all)
    }

    /// The reason why a trial of `setting`, whose flows are between the machines, says nothing
    /// about the network with this report, if so.
    pub(in crate::world::hosts) fn bypassed(
        &self,
        setting: &Setting,
        layout: &Layout,
        ends: &[Machine; 2],
        report: &Report,
    ) -> Option<String> {
        let [sender, receiver] = [HostRole::Sender, HostRole::Receiver];
        let carries = [sender, receiver].map(|from| sends(setting, from));
        let cores = layout.cores(&setting.network).len();
        let (core, of_hosts) = report.links.split_at_checked(cores)?;
        let [ingress, egress] = &self.machines;
        let mut ways = vec![
            (&core.first()?[0], carries[0], ingress),
            (&core.last()?[1], carries[1], egress),
        ];
        for ((side, _), [up, down]) in layout.of_hosts(&setting.network).zip(of_hosts) {
            let [host, gateway] = self.ends_of(side, ends);
            ways.push((up, carries[side], host));
            ways.push((down, carries[1 - side], gateway));
        }
        let mut silent = ways.into_iter().filter(|(direction, carries, _)| {
            let counted = [Fate::Delivered, Fate::Dropped];
            *carries && counted.iter().all(|fate| direction.counters.of(*fate) == 0)
        });
        let (_, _, machine) = silent.next()?;
        Some(format!(
            "no packet crossed the emulated link from host {}: packets take another way",
            machine.agent.host()
        ))
    }

    /// Restarts the random streams of the core links and of those `of_hosts`.
    pub(in crate::world::hosts) fn reseed<'a>(
        &self,
        of_hosts: impl Iterator<Item = (usize, &'a Link)>,
        ends: &[Machine; 2],
        seed: Seed,
    ) -> Result<()> {
        let reseed = |machine: &Machine, interface: &str, seed: u64| {
            let asked = machine.agent.ask_edge(interface, EdgeRequest::Reseed(seed));
            asked.map(drop)
        };
        for (number, machine) in self.machines.iter().enumerate() {
            reseed(machine, CORE, seed.derive(&format!("core/{number}")).get())?;
        }
        for (side, _) in of_hosts {
            for (number, machine) in self.ends_of(side, ends).into_iter().enumerate() {
                reseed(machine, OF_HOST, of_host(seed, side, number))?;
            }
        }
        Ok(())
    }

    /// Keeps observations of the core links at these places, from the ingress on, from now on,
    /// with the headers of packets where that is said.
    pub(in crate::world::hosts) fn observe(&self, places: Vec<(usize, bool)>) -> Result<()> {
        let ingress = &self.machines[0].agent;
        ingress
            .ask_edge(CORE, EdgeRequest::Observe(places))
            .map(drop)
    }

    /// Hands the observations of the link at `place` to `take`, each with the instant at which CLOCK_MONOTONIC of
    /// the ingress showed `begin` nanoseconds.
    pub(in crate::world::hosts) fn observations(
        &self,
        place: usize,
        begin: u64,
        take: &mut dyn FnMut(Time, Observation),
    ) -> Result<()> {
        let ingress = &self.machines[0].agent;
        loop {
            let reply = ingress.ask_edge(CORE, EdgeRequest::Observations(place, begin))?;
            let EdgeReply::Observed(observed) = reply else {
                bail!("unexpected reply of an edge: {reply:?}");
            };
            observed
                .some
                .into_iter()
                .for_each(|one| take(observed.zero, one));
            if observed.are_last {
                return Ok(());
            }
        }
    }
}

/// Whether packets leave the machine `from`: those of flows that begin there, and the
/// acknowledgements of connections that end there.
fn sends(setting: &Setting, from: HostRole) -> bool {
    let Traffic::Flows(flows) = &setting.traffic else {
        return true;
    };
    let mut flows = flows.flows.iter();
    flows.any(|flow| !matches!(flow.sends, Sends::Datagrams { .. }) || flow.from == from.name())
}

fn asked(machine: &Machine, interface: &str) -> Result<Report> {
    match machine.agent.ask_edge(interface, EdgeRequest::Report)? {
        EdgeReply::Reported(report) => Ok(*report),
        other => bail!("unexpected reply of an edge: {other:?}"),
    }
}
