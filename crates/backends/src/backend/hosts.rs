//! The backend `hosts`: trials between machines that the user names, reached by `ssh`.
//!
//! Each end has two agents: one sends and receives, the other answers requests about
//! the machine itself meanwhile. Nothing of the network between them is built.

mod cells;
mod machine;
mod nic_change;
mod pair;
mod path;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use os::clock::Epoch;
use plan::command_line::{Addresses, CommandLine};
use plan::setting::Traffic;
use plan::{HostRole, NamedHosts, Plan, RoleFacts, Setting};
use units::{Bytes, IpVersion, Seed, Span, Transport};

use crate::agent::{Agents, Failure};
use crate::backend::real_time::RealTime;
use crate::host_agent::{BeginCapture, EndCapture, FindProgram, TryCongestion};
use crate::measure::{
    self, INSPECTION, IdleWaits, Inspection, OUTRUNNING, Pair, Path, sample, transfer_of,
};
use crate::measurements::Measurements;
use crate::pace::Paced;
use crate::recording::ArtifactDir;
use machine::Machine;
use pair::{HostMeters, HostPrograms};

/// Two machines with their agents.
pub struct Hosts {
    agents: Agents,
    idle_waits: RefCell<IdleWaits>,
    inspections: Vec<Inspected>,
    /// The positions of cells that cannot be measured here, with the reason.
    left_out: Vec<(usize, String)>,
    /// Whether the interfaces may be changed through which the machines are reached.
    allow_management_interface: bool,
    // Dropped last: their connections carry those of the agents.
    ends: [Machine; 2],
    /// A machine on the path, which is metered.
    router: Option<Machine>,
}

/// An inspection of a path with packets of one size.
struct Inspected {
    mtu: u32,
    offloads: bool,
    ip: IpVersion,
    transport: Transport,
    message: Bytes,
    /// `None`: the machines do not let their agents capture frames.
    seen: Option<Inspection>,
}

impl Hosts {
    /// Reaches the machines, starts their agents, and finds out which cells of `plan` can
    /// be measured between them. What the plan wants changed on them is put back when this
    /// value is dropped, or when they do not hear of this process.
    ///
    /// # Errors
    /// One line of text with the remedy: a machine cannot be reached or lacks something
    /// that the plan needs, or nothing of the plan can be measured.
    pub fn ready(plan: &Plan, named: &NamedHosts) -> Result<Self> {
        let mut ends = [
            Machine::reach(HostRole::Sender, &named.sender)?,
            Machine::reach(HostRole::Receiver, &named.receiver)?,
        ];
        let mut addresses = BTreeSet::new();
        for end in &ends {
            for setting in settings(plan) {
                addresses.insert(end.address(setting.network.ip)?);
            }
        }
        let router = named.router.as_ref();
        let router = router.map(|named| Machine::reach_router(named, &addresses));
        let router = router.transpose()?;
        needs(plan, &ends)?;
        let allow = named.allow_management_interface;
        let left_out = cells::left_out(plan, &mut ends, allow)?;
        if let Some((_, why)) = left_out.first()
            && left_out.len() == settings(plan).count()
        {
            bail!("nothing of this experiment can be measured between these hosts: {why}");
        }
        let [sender, receiver] = [&ends[0], &ends[1]].map(Machine::command);
        Ok(Self {
            agents: Agents::start(sender?, receiver?)?,
            idle_waits: RefCell::default(),
            inspections: Vec::new(),
            left_out,
            allow_management_interface: allow,
            ends,
            router,
        })
    }

    /// The reason for which a machine was lost, if one was.
    fn lost(&mut self) -> Option<anyhow::Error> {
        match os::interrupt::asked() {
            true => None,
            false => {
                let mut machines = self.ends.iter_mut().chain(&mut self.router);
                machines.find_map(Machine::lost)
            }
        }
    }

    /// Gives the interfaces what `setting` asks for.
    fn change(&self, setting: &Setting) -> Result<()> {
        let (mtu, host) = (cells::interface_mtu(setting), &setting.host);
        self.ends
            .iter()
            .try_for_each(|end| end.change(mtu, host, self.allow_management_interface))
    }

    /// The path for a trial of `setting`, with an inspection of its frames.
    fn path(&mut self, setting: &Setting, epoch: Epoch) -> Result<Path, Failure> {
        let ip = setting.network.ip;
        let [sender, receiver] = [&self.ends[0], &self.ends[1]].map(|end| end.address(ip));
        let addresses = Addresses {
            sender: sender?,
            receiver: receiver?,
            router: None,
        };
        let inspection = self.inspect(setting, &addresses, epoch)?;
        let sender = &self.ends[0];
        let offloads = sender.states_offloads().then(|| sender.interface());
        let offloads = offloads.transpose()?.map(|interface| interface.offloads);
        Ok(Path {
            paced: Paced::Kernel,
            inspection,
            offloads,
            pace: None,
            hosts: Vec::new(),
            addresses,
        })
    }

    /// Sends a little traffic and captures its frames, once for every kind of traffic
    /// and MTU. A machine without the privilege or the system to capture shows none.
    fn inspect(
        &mut self,
        setting: &Setting,
        addresses: &Addresses,
        epoch: Epoch,
    ) -> Result<Option<Inspection>, Failure> {
        let Some(sample) = sample(&setting.traffic) else {
            return Ok(None);
        };
        let base = transfer_of(setting, Paced::Kernel, &sample, addresses.receiver, epoch);
        let message = match sample.protocol {
            Transport::Tcp => OUTRUNNING.max(base.message),
            Transport::Udp => base.message,
        };
        let ip = setting.network.ip;
        let mtu = setting.network.path_mtu().map_or(0, units::IpMtu::get);
        let same = |done: &&Inspected| {
            let kind = (done.transport, done.message);
            let hosts = (done.mtu, done.ip, done.offloads);
            hosts == (mtu, ip, setting.host.offloads) && kind == (sample.protocol, message)
        };
        if let Some(done) = self.inspections.iter().find(same) {
            return Ok(done.seen.clone());
        }
        let ends = [addresses.sender, addresses.receiver];
        let both = self.ends.iter().all(Machine::supports::<BeginCapture>);
        let captures = [&self.ends[0], &self.ends[1]].map(|end| both && end.begin_capture(ends));
        self.agents.transfer(&traffic::driver::transfer::Transfer {
            warmup: Bytes::ZERO,
            size: INSPECTION,
            message,
            delays: false,
            ..base
        })?;
        let seen = match captures {
            [true, true] => Some(Inspection {
                protocol: sample.protocol,
                message,
                largest_sent: self.ends[0].agent.call(&EndCapture())?,
                largest_received: self.ends[1].agent.call(&EndCapture())?,
            }),
            _ => None,
        };
        self.inspections.push(Inspected {
            mtu,
            offloads: setting.host.offloads,
            ip,
            transport: sample.protocol,
            message,
            seen: seen.clone(),
        });
        Ok(seen)
    }
}

impl RealTime for Hosts {
    fn may_wait(&mut self, time: Span) {
        self.idle_waits = RefCell::new(IdleWaits::new(time));
    }

    fn waits_left(&self) -> Span {
        self.idle_waits.borrow().left()
    }

    fn hosts(&self) -> Vec<RoleFacts> {
        let machines = self.ends.iter().chain(&self.router);
        machines.map(Machine::facts).collect()
    }

    fn left_out(&self) -> &[(usize, String)] {
        &self.left_out
    }

    fn restore(&mut self) -> Result<Vec<String>> {
        let notes = self.ends.iter_mut().map(Machine::restore);
        Ok(notes.collect::<Result<Vec<_>>>()?.concat())
    }

    fn measure(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
        artifacts: ArtifactDir<'_>,
    ) -> Result<Measurements, Failure> {
        let changed = self.change(setting).map_err(Failure::from);
        let measured = changed.and_then(|()| self.path(setting, epoch));
        let measured = measured.and_then(|path| {
            let pair = Pair {
                agents: &mut self.agents,
                path,
                meters: Box::new(HostMeters {
                    ends: &self.ends,
                    router: self.router.as_ref(),
                    setting,
                    idle_waits: &self.idle_waits,
                }),
                programs: Box::new(HostPrograms { ends: &self.ends }),
            };
            measure::trial(&mut [pair], setting, seed, epoch, Some(artifacts))
        });
        match measured {
            // The connection that has ended says more than the agent behind it.
            Err(Failure::Lost(error)) => Err(Failure::Lost(self.lost().unwrap_or(error))),
            measured => measured,
        }
    }
}

/// Checks that the machines have what the plan needs of them.
fn needs(plan: &Plan, ends: &[Machine; 2]) -> Result<()> {
    let controls: BTreeSet<&str> = settings(plan)
        .map(|setting| setting.host.congestion.as_str())
        .collect();
    for (name, end) in controls
        .iter()
        .flat_map(|name| ends.iter().map(move |end| (name, end)))
    {
        // A system that lets no program choose keeps its own, and its facts state so.
        let tried = end.agent.call(&TryCongestion((*name).to_owned()));
        tried.with_context(|| format!("host.congestion = {name}"))?;
    }
    for setting in settings(plan) {
        let Traffic::Command(command) = &setting.traffic else {
            continue;
        };
        let lines = [Some(&command.sender), command.receiver.as_ref()];
        for (line, end) in lines.into_iter().zip(ends) {
            if let Some(program) = line.and_then(CommandLine::program)
                && !end.agent.call(&FindProgram(program.to_owned()))?
            {
                bail!(
                    "traffic.{}: host {} has no program `{program}`; install it there, or write its path",
                    end.role.name(),
                    end.agent.host()
                );
            }
        }
    }
    Ok(())
}

/// The settings of the cells of `plan` that this backend can measure.
fn settings(plan: &Plan) -> impl Iterator<Item = &Setting> {
    let cells = plan.cells.iter();
    cells.filter_map(|cell| cell.setting.as_ref().ok())
}
