//! The world `netns`: one trial on real kernels.
//!
//! A test bed is built for every network that the plan holds and kept until
//! the end, so that no trial pays for making or removing namespaces.

mod convert;
mod figures;

use std::net::IpAddr;
use std::process::Command;

use anyhow::{Context, Result};
use live::capture::Capture;
use live::clock::{self, Epoch};
use live::meter;
use live::testbed::{Path, Testbed};
use live::transfer::Transfer;
use live::{Sandbox, Worker};
use serde_json::json;
use units::Bytes;

pub use crate::agent::Failure;
use crate::agent::{Agents, ROLE};
use crate::experiment::{Protocol, Setting};
use convert::{path_of, transfer_of};
pub use figures::Figures;
use figures::Passes;

/// What is sent once through a new test bed to see its frames: enough for
/// TCP to build its largest segments, little enough for a capture to hold.
const INSPECTION: Bytes = Bytes::new(1_000_000);

/// A message of the pre-roll where goodput counts: long enough for a sender to
/// be faster than any link that the kernel can shape.
const OUTRUNNING: Bytes = Bytes::new(64_000);

/// Test beds that stand at once; the oldest goes first. Each keeps two or
/// three namespaces and two processes.
const MOST_TESTBEDS: usize = 32;

/// The network namespaces of this machine, as a place for trials.
pub struct Netns {
    standing: Vec<Standing>,
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
    inspection: Option<Inspection>,
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
        Ok(Self {
            standing: Vec::new(),
            _sandbox: Sandbox::enter()?,
        })
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
        let mut figures = Figures::new(base.pace);

        let step_before = clock::wall_offset_nanos();
        let drops_before = standing.testbed.queue_drops().context("counting drops")?;
        // What drains a bucket need not look like the traffic: long messages
        // outrun links that short ones do not.
        let drained = Transfer {
            preroll_message: OUTRUNNING.max(base.message),
            ..base.clone()
        };
        let rated = standing.agents.transfer(&drained)?;
        let one_way = standing.agents.transfer(&base)?;
        let echoed = standing.agents.transfer(&Transfer {
            echo: true,
            ..base.clone()
        })?;
        let metered = match setting.traffic.cpu_size {
            Bytes::ZERO => None,
            size => {
                let before = meter::Machine::sample().context("metering the machine")?;
                let ends = standing.agents.transfer(&Transfer { size, ..drained })?;
                let after = meter::Machine::sample().context("metering the machine")?;
                Some((ends, after.since(&before)))
            }
        };
        let drops = standing.testbed.queue_drops().context("counting drops")? - drops_before;
        let clock_step = clock::wall_offset_nanos() - step_before;

        figures.take(&Passes {
            rated,
            one_way,
            echoed,
            metered,
        });
        figures.note("offloads_on", json!(standing.offloads));
        figures.note("preroll_octets", json!(base.preroll.get()));
        figures.note("queue_drops", json!(drops));
        figures.note("clock_step_us", json!(clock_step / 1_000));
        figures.note("largest_packet_sent", json!(inspection.largest_sent.get()));
        figures.note(
            "largest_packet_received",
            json!(inspection.largest_received.get()),
        );
        figures.check(setting, clock_step);
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
            inspection: None,
        })
    }

    /// Sends a little and looks at the frames themselves, once for every kind
    /// of traffic: flags do not say all that a kernel does.
    fn inspect(&mut self, base: &Transfer, setting: &Setting) -> Result<Inspection, Failure> {
        let (protocol, message) = (setting.traffic.protocol, setting.traffic.message);
        if let Some(done) = self
            .inspection
            .as_ref()
            .filter(|done| done.protocol == protocol && done.message == message)
        {
            return Ok(done.clone());
        }
        let listen =
            |node: &live::testbed::Node| Capture::open(&node.namespace, &node.interfaces[0].name);
        let sent = listen(self.testbed.sender()).context("capturing at the sender")?;
        let received = listen(self.testbed.receiver()).context("capturing at the receiver")?;
        self.agents.transfer(&Transfer {
            size: INSPECTION.min(base.size),
            ..base.clone()
        })?;
        let seen = |capture: &Capture| capture.drain().context("reading captured frames");
        let inspection = Inspection {
            protocol,
            message,
            largest_sent: seen(&sent)?.largest_packet,
            largest_received: seen(&received)?.largest_packet,
        };
        self.inspection = Some(inspection.clone());
        Ok(inspection)
    }
}
