//! The world `netns`: one trial on real kernels.
//!
//! A test bed is built for every network that the plan holds and kept until
//! the end, so that no trial pays for making or removing namespaces.

mod checks;
mod convert;
mod figures;

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::process::Command;

use anyhow::{Context, Result};
use live::capture::Capture;
use live::clock::{self, Epoch};
use live::meter;
use live::testbed::{Path, Testbed};
use live::transfer::{Transfer, keep_stamping};
use live::{Sandbox, Worker};
use serde_json::json;
use units::{Bytes, Rate};

pub use crate::agent::Failure;
use crate::agent::{Agents, ROLE};
use crate::experiment::{Protocol, Setting};
use checks::flags;
use convert::{path_of, transfer_of};
pub use figures::Figures;
use figures::Passes;

/// What is sent once through a new test bed to see its frames: enough for
/// TCP to build its largest segments, little enough for a capture to hold.
const INSPECTION: Bytes = Bytes::new(300_000);

/// A message of the pre-roll where goodput counts: long enough for a sender to
/// be faster than any link that the kernel can shape.
const OUTRUNNING: Bytes = Bytes::new(64_000);

/// Test beds that stand at once; the oldest goes first. Each keeps two or
/// three namespaces and two processes.
const MOST_TESTBEDS: usize = 32;

/// The network namespaces of this machine, as a place for trials.
pub struct Netns {
    standing: Vec<Standing>,
    _stamping: OwnedFd,
    // Dropped last: the sandbox's anchor cannot go before the agents are reaped.
    _sandbox: Sandbox,
}

/// A test bed, its agents, and what an inspection saw.
struct Standing {
    path: Path,
    testbed: Testbed,
    agents: Agents,
    /// What the sender's interface says is on.
    offloads: Vec<String>,
    inspections: Vec<Inspection>,
}

/// What the wire shows of a test bed's settings.
#[derive(Clone)]
struct Inspection {
    protocol: Protocol,
    message: Bytes,
    /// The largest IP packets seen leaving the sender and reaching the receiver.
    largest_sent: Bytes,
    largest_received: Bytes,
}

impl Netns {
    /// Enters the sandbox. The process is never privileged again outside.
    ///
    /// # Errors
    /// One line with the remedy where this machine forbids it.
    pub fn enter() -> Result<Self> {
        let sandbox = Sandbox::enter()?;
        Ok(Self {
            standing: Vec::new(),
            _stamping: keep_stamping()?,
            _sandbox: sandbox,
        })
    }

    /// Builds the test bed of `setting` if it does not stand.
    ///
    /// # Errors
    /// Where this machine lacks something that it needs.
    pub fn prepare(&mut self, setting: &Setting) -> Result<()> {
        self.stand(setting).map(|_| ())
    }

    /// Has `command` start in a node of the test bed of `setting`, which is
    /// built if it does not stand, and end with this process.
    ///
    /// # Errors
    /// Where the test bed cannot be built or has no such node.
    pub fn place(
        &mut self,
        setting: &Setting,
        node: &str,
        command: &mut Command,
    ) -> Result<IpAddr> {
        let standing = self.stand(setting)?;
        let node = standing
            .testbed
            .nodes
            .iter()
            .find(|other| other.name == node)
            .with_context(|| format!("the test bed has no node `{node}`"))?;
        node.namespace.place(command);
        Ok(standing.testbed.destination(&standing.path))
    }

    /// Runs one trial. Building a test bed that does not stand yet is part of it.
    ///
    /// # Errors
    /// [`Failure`] says whether the next trial can be tried.
    pub fn measure(&mut self, setting: &Setting, epoch: Epoch) -> Result<Figures, Failure> {
        let standing = self.stand(setting)?;
        let base = transfer_of(setting, standing.testbed.destination(&standing.path), epoch);
        let inspection = standing.inspect(&base, setting)?;
        let step_before = clock::wall_offset_nanos();
        let (machine, conductor) = sample()?;
        let drops_before = standing.testbed.queue_drops().context("counting drops")?;
        // Goodput and CPU are taken through a drained bucket; the messages
        // that drain it need not look like the traffic, and long ones outrun
        // links that short ones do not. Delays begin with an idle path.
        let drained = Transfer {
            preroll_message: OUTRUNNING.max(base.message),
            delays: false,
            ..base.clone()
        };
        let idle = Transfer {
            preroll: Bytes::ZERO,
            ..base.clone()
        };
        let rated = standing.agents.transfer(&drained)?;
        let one_way = standing.agents.transfer(&idle)?;
        let echoed = standing.agents.transfer(&Transfer { echo: true, ..idle })?;
        let metered = match setting.traffic.cpu_size {
            Bytes::ZERO => None,
            size => {
                let before = meter::Machine::sample().context("metering the machine")?;
                let ends = standing.agents.transfer(&Transfer { size, ..drained })?;
                let after = meter::Machine::sample().context("metering the machine")?;
                Some((ends, after.since(&before)))
            }
        };
        let (machine_after, conductor_after) = sample()?;
        let drops = standing.testbed.queue_drops().context("counting drops")?;
        // The kernel counts in 32 bits, and starts again from 0.
        let drops = drops.saturating_sub(drops_before);
        let clock_step = clock::wall_offset_nanos() - step_before;

        let passes = Passes {
            rated,
            one_way,
            echoed,
            metered,
            clock_step,
            drops,
            machine: machine_after.since(&machine),
            conductor: conductor_after.cpu - conductor.cpu,
        };
        passes.something_arrived()?;
        let mut figures = Figures::of(&passes);
        figures.flags = flags(setting, base.pace, &passes, &inspection, &standing.offloads);
        figures.note(
            "limit_mbit",
            json!(base.pace.map(Rate::megabits_per_second)),
        );
        figures.note("offloads_on", json!(standing.offloads));
        let links = &setting.network.links;
        figures.note("message_octets", json!(base.message.get()));
        figures.note("preroll_octets", json!(base.preroll.get()));
        figures.note(
            "burst_octets",
            json!(
                links
                    .iter()
                    .map(|link| link.burst.get())
                    .collect::<Vec<_>>()
            ),
        );
        figures.note(
            "buffer_octets",
            json!(
                links
                    .iter()
                    .map(|link| link.buffer.get())
                    .collect::<Vec<_>>()
            ),
        );
        figures.note("largest_packet_sent", json!(inspection.largest_sent.get()));
        figures.note(
            "largest_packet_received",
            json!(inspection.largest_received.get()),
        );
        Ok(figures)
    }

    /// The test bed of `setting`, built if it does not stand.
    fn stand(&mut self, setting: &Setting) -> Result<&mut Standing> {
        let path = path_of(setting);
        let position = match self
            .standing
            .iter()
            .position(|standing| standing.path == path)
        {
            Some(position) => position,
            None => {
                if self.standing.len() == MOST_TESTBEDS {
                    self.standing.remove(0);
                }
                self.standing.push(Standing::build(path)?);
                self.standing.len() - 1
            }
        };
        Ok(&mut self.standing[position])
    }
}

/// The accounts of the machine and of this process.
fn sample() -> Result<(meter::Machine, meter::Process)> {
    let machine = meter::Machine::sample().context("metering the machine")?;
    let conductor = meter::Process::sample().context("metering the conductor")?;
    Ok((machine, conductor))
}

impl Standing {
    fn build(path: Path) -> Result<Self> {
        let testbed = Testbed::build(&path)?;
        for (node, interface) in testbed.interfaces() {
            let mtu = node.mtu(interface)?;
            anyhow::ensure!(
                mtu == interface.mtu,
                "{} {} has MTU {mtu}, not {}",
                node.name,
                interface.name,
                interface.mtu
            );
        }
        let agents = Agents::new(
            Worker::spawn(Some(&testbed.sender().namespace), ROLE)?,
            Worker::spawn(Some(&testbed.receiver().namespace), ROLE)?,
        );
        let offloads = testbed.sender().offloads(&testbed.sender().interfaces[0])?;
        Ok(Self {
            path,
            testbed,
            agents,
            offloads,
            inspections: Vec::new(),
        })
    }

    /// Sends a little and looks at the frames themselves, once for every kind
    /// of traffic: flags do not say all that a kernel does. TCP's messages are
    /// long here, so that its packets are as large as they can be.
    fn inspect(&mut self, base: &Transfer, setting: &Setting) -> Result<Inspection, Failure> {
        let protocol = setting.traffic.protocol;
        let message = match protocol {
            Protocol::Tcp => OUTRUNNING.max(base.message),
            Protocol::Udp => base.message,
        };
        let same = |done: &&Inspection| done.protocol == protocol && done.message == message;
        if let Some(done) = self.inspections.iter().find(same) {
            return Ok(done.clone());
        }
        let listen =
            |node: &live::testbed::Node| Capture::open(&node.namespace, &node.interfaces[0].name);
        let sent = listen(self.testbed.sender()).context("capturing at the sender")?;
        let received = listen(self.testbed.receiver()).context("capturing at the receiver")?;
        self.agents.transfer(&Transfer {
            preroll: Bytes::ZERO,
            size: INSPECTION,
            message,
            delays: false,
            ..base.clone()
        })?;
        let seen = |capture: &Capture| capture.drain().context("reading captured frames");
        let inspection = Inspection {
            protocol,
            message,
            largest_sent: seen(&sent)?.largest_packet,
            largest_received: seen(&received)?.largest_packet,
        };
        self.inspections.push(inspection.clone());
        Ok(inspection)
    }
}
