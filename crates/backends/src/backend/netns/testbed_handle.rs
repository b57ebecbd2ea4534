//! A running test network with its agents and the properties of its links.

use std::net::IpAddr;

use crate::testbed::{Node, Path, Testbed};
use anyhow::{Context, Result, ensure};
use os::capture::Capture;
use os::clock::Epoch;
use plan::Setting;
use plan::command_line::Addresses;
use plan::setting::Domain;
use traffic::driver::transfer::Transfer;
use units::{Bytes, Seed, Transport};

use super::gateways::of_domain;
use crate::agent::{Agents, Failure};
use crate::edge_gateway::EdgeGateways;
use crate::emulation::{Emulation, Reseed};
use crate::measure::{self, INSPECTION, Inspection, OUTRUNNING, sample, transfer_of};
use crate::pace::{Paced, pace};

/// The seed of the emulated links' random streams outside of trials; each trial
/// has its own seed.
const SEED: Seed = Seed::new(1);

/// A test network, its agents, and the results of inspections.
pub(crate) struct TestbedHandle {
    pub(crate) path: Path,
    pub(crate) testbed: Testbed,
    pub(super) paced: Paced,
    pub(super) emulation: Option<Emulation>,
    pub(super) agents: Agents,
    /// The gateways at the edges of its domain.
    pub(super) gateways: EdgeGateways,
    /// The offloads that the sender's interface reports as enabled.
    offloads: Vec<String>,
    /// By the largest segment of TCP.
    inspections: Vec<(Option<u16>, Inspection)>,
}

impl TestbedHandle {
    /// Builds the test network of `path`; the edges of `domain` aggregate packets, if there is one.
    pub(super) fn build(path: Path, paced: Paced, domain: Option<&Domain>) -> Result<Self> {
        let mut emulation = None;
        let testbed = Testbed::build_with(&path, |namespace, links| {
            emulation = Some(Emulation::start(namespace, links, SEED)?);
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
        let mut gateways = EdgeGateways::default();
        let wanted = domain.map(|domain| of_domain(domain, &testbed, &path));
        for gateway in wanted.unwrap_or_default() {
            let mut nodes = testbed.nodes.iter();
            let node = nodes.find(|node| node.name == gateway.node);
            gateways.start(node.context("the domain has an unknown edge")?, gateway)?;
        }
        let agents = Agents::of(&testbed)?;
        let offloads = testbed.sender().offloads(&testbed.sender().interfaces[0])?;
        Ok(Self {
            path,
            testbed,
            paced,
            emulation,
            agents,
            gateways,
            offloads,
            inspections: Vec::new(),
        })
    }

    /// Replaces this test network by a new one, keeping the known properties of its
    /// frames.
    pub(super) fn renewed(self) -> Result<Self> {
        let Self {
            path,
            paced,
            inspections,
            ..
        } = self;
        Ok(Self {
            inspections,
            ..Self::build(path, paced, None)?
        })
    }

    /// Restarts the random streams of the links' impairments.
    pub(super) fn reseed(&mut self, seed: Seed) -> Result<()> {
        let emulation = self.emulation.as_mut();
        emulation.map_or(Ok(()), |emulation| emulation.call(&Reseed(seed.get())))
    }

    /// A node by its name.
    ///
    /// # Errors
    /// The test network has no node of this name.
    pub(crate) fn node(&self, name: &str) -> Result<&Node> {
        let mut nodes = self.testbed.nodes.iter();
        nodes
            .find(|node| node.name == name)
            .with_context(|| format!("the test network has no node `{name}`"))
    }

    /// The addresses for the placeholders of command lines.
    pub(crate) fn addresses(&self) -> Addresses {
        let of = |name: &str| {
            let node = self.node(name).ok()?;
            let first = node.interfaces.first()?;
            self.testbed.address(&self.path, node, first)
        };
        let receiver = self.testbed.destination(&self.path);
        Addresses {
            sender: of("sender").unwrap_or(receiver),
            receiver,
            router: of("router"),
        }
    }

    /// The hosts of a network that is no path, with the addresses to which traffic goes.
    fn hosts(&self) -> Vec<(String, IpAddr)> {
        let hosts = self.testbed.hosts().filter(|_| self.path.graph.is_some());
        let of = |node: &Node| {
            let address = self.testbed.host_address(&self.path, &node.name)?;
            Some((node.name.clone(), address))
        };
        hosts.filter_map(of).collect()
    }

    /// Makes the congestion control of `setting` the default of both hosts.
    ///
    /// # Errors
    /// The kernel rejects it.
    pub(crate) fn set_congestion_control(&self, setting: &Setting) -> Result<()> {
        let name = &setting.host.congestion;
        Ok(self.testbed.set_congestion_control(&self.path, name)?)
    }

    /// The path for a trial of `setting`, with an inspection of its frames.
    pub(super) fn see(
        &mut self,
        setting: &Setting,
        epoch: Epoch,
    ) -> Result<measure::Path, Failure> {
        let addresses = self.addresses();
        let sample = sample(&setting.traffic).filter(|_| self.path.graph.is_none());
        let inspection = sample.map(|sample| {
            let base = transfer_of(setting, self.paced, &sample, addresses.receiver, epoch);
            self.inspect(&base, sample.protocol)
        });
        Ok(measure::Path {
            paced: self.paced,
            addresses,
            hosts: self.hosts(),
            inspection: inspection.transpose()?,
            offloads: Some(self.offloads.clone()),
            // Flows of a network share no single path.
            pace: pace(setting, self.paced).filter(|_| self.path.graph.is_none()),
        })
    }

    /// Sends a little traffic and captures its frames, once for every kind of
    /// traffic, because flags do not describe all effects of a kernel. TCP's
    /// messages are long here, so that its packets reach their maximum size.
    fn inspect(&mut self, base: &Transfer, protocol: Transport) -> Result<Inspection, Failure> {
        let message = match protocol {
            Transport::Tcp => OUTRUNNING.max(base.message),
            Transport::Udp => base.message,
        };
        let same = |(segment, done): &&(Option<u16>, Inspection)| {
            done.protocol == protocol && done.message == message && *segment == base.largest_segment
        };
        if let Some((_, done)) = self.inspections.iter().find(same) {
            return Ok(done.clone());
        }
        let listen = |node: &Node| Capture::open(&node.namespace, &node.interfaces[0].name);
        let sent = listen(self.testbed.sender()).context("capturing at the sender")?;
        let received = listen(self.testbed.receiver()).context("capturing at the receiver")?;
        self.agents.transfer(&Transfer {
            warmup: Bytes::ZERO,
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
        self.inspections
            .push((base.largest_segment, inspection.clone()));
        Ok(inspection)
    }
}
