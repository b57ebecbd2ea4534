//! A test bed that stands, and what its wires show.

use anyhow::{Context, Result, ensure};
use live::capture::Capture;
use live::testbed::{Node, Path, Testbed};
use live::transfer::Transfer;
use units::{Bytes, Rate, Seed};

use super::Failure;
use super::convert::{Paced, pace};
use crate::agent::Agents;
use crate::emulation::Emulation;
use plan::Setting;
use plan::setting::Protocol;

/// What is sent once through a new test bed to see its frames: enough for
/// TCP to build its largest segments, little enough for a capture to hold.
pub(super) const INSPECTION: Bytes = Bytes::new(300_000);

/// A message of the pre-roll where goodput counts: long enough for a sender to
/// be faster than any link that the kernel can shape.
pub(super) const OUTRUNNING: Bytes = Bytes::new(64_000);

/// The seed of what chance does on emulated links outside of trials, each of
/// which has luck of its own.
const LUCK: Seed = Seed::new(1);

/// A test bed, its agents, and what an inspection saw.
pub(crate) struct Standing {
    pub(crate) path: Path,
    pub(crate) testbed: Testbed,
    pub(super) paced: Paced,
    pub(super) emulation: Option<Emulation>,
    pub(super) agents: Agents,
    /// What the sender's interface says is on.
    offloads: Vec<String>,
    inspections: Vec<Inspection>,
}

/// A test bed as one trial meets it.
pub(super) struct Seen {
    pub(super) paced: Paced,
    pub(super) inspection: Inspection,
    pub(super) offloads: Vec<String>,
    /// The most goodput that its path carries.
    pub(super) pace: Option<Rate>,
}

/// What the wire shows of a test bed's settings.
#[derive(Clone)]
pub(super) struct Inspection {
    pub(super) protocol: Protocol,
    pub(super) message: Bytes,
    /// The largest IP packets seen leaving the sender and reaching the receiver.
    pub(super) largest_sent: Bytes,
    pub(super) largest_received: Bytes,
}

impl Standing {
    pub(super) fn build(path: Path, paced: Paced) -> Result<Self> {
        let mut emulation = None;
        let testbed = Testbed::build_with(&path, |namespace, wires| {
            emulation = Some(Emulation::start(namespace, wires, LUCK)?);
            Ok::<_, anyhow::Error>(())
        })?;
        for (node, interface) in testbed.interfaces() {
            let mtu = node.mtu(interface)?;
            ensure!(
                mtu == interface.mtu,
                "{} {} has MTU {mtu}, not {}",
                node.name,
                interface.name,
                interface.mtu
            );
        }
        let agents = Agents::of(&testbed)?;
        let offloads = testbed.sender().offloads(&testbed.sender().interfaces[0])?;
        Ok(Self {
            path,
            testbed,
            paced,
            emulation,
            agents,
            offloads,
            inspections: Vec::new(),
        })
    }

    /// A test bed like this one, which goes: all is new, and it is known what
    /// its frames look like.
    pub(super) fn renewed(self) -> Result<Self> {
        let Self {
            path,
            paced,
            inspections,
            ..
        } = self;
        Ok(Self {
            inspections,
            ..Self::build(path, paced)?
        })
    }

    /// Begins what chance does on its links anew.
    pub(super) fn begin_luck(&mut self, luck: Seed) -> Result<()> {
        let emulation = self.emulation.as_mut();
        emulation.map_or(Ok(()), |emulation| emulation.begin_luck(luck))
    }

    /// A node by its name.
    ///
    /// # Errors
    /// Where the test bed has none of this name.
    pub(crate) fn node(&self, name: &str) -> Result<&Node> {
        let mut nodes = self.testbed.nodes.iter();
        nodes
            .find(|node| node.name == name)
            .with_context(|| format!("the test bed has no node `{name}`"))
    }

    /// What a trial of `setting` meets here, as a little traffic like `base` shows.
    pub(super) fn see(
        &mut self,
        setting: &Setting,
        base: &Transfer,
        protocol: Protocol,
    ) -> Result<Seen, Failure> {
        Ok(Seen {
            paced: self.paced,
            inspection: self.inspect(base, protocol)?,
            offloads: self.offloads.clone(),
            pace: pace(setting, self.paced),
        })
    }

    /// Sends a little and looks at the frames themselves, once for every kind
    /// of traffic: flags do not say all that a kernel does. TCP's messages are
    /// long here, so that its packets are as large as they can be.
    fn inspect(&mut self, base: &Transfer, protocol: Protocol) -> Result<Inspection, Failure> {
        let message = match protocol {
            Protocol::Tcp => OUTRUNNING.max(base.message),
            Protocol::Udp => base.message,
        };
        let same = |done: &&Inspection| done.protocol == protocol && done.message == message;
        if let Some(done) = self.inspections.iter().find(same) {
            return Ok(done.clone());
        }
        let listen = |node: &Node| Capture::open(&node.namespace, &node.interfaces[0].name);
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
