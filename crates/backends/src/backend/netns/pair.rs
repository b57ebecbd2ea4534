//! Provides a test network as the pair of a trial.

use std::cell::RefCell;

use crate::testbed::{self, SentPackets, Testbed};
use anyhow::{Context, Result};
use emulator::{Observation, Report};
use os::cpu_time::{Machine, Process};
use os::fragments::Fragments;
use os::stalls::Stalls;
use os::tool::Tool;
use plan::Setting;
use units::{Seed, Span, Time};

use super::emulator_timing_error::invalid;
use super::testbed_handle::TestbedHandle;
use crate::edge_gateway::EdgeGateways;
use crate::emulation::{Emulation, Observe, ReportCounters, Reseed, Window};
use crate::link_window::LinkWindow;
use crate::measure::{End, IdleWaits, Meters, Pair, Path, Program, Programs, RoleUse};
use crate::stall_meter::{self, StallMeter};

/// The meters of this machine that all pairs share.
#[derive(Clone, Copy)]
pub(super) struct MachineMeters<'a> {
    pub(super) idle_waits: &'a RefCell<IdleWaits>,
    pub(super) stall_meter: &'a RefCell<StallMeter>,
}

impl TestbedHandle {
    /// The agents, meters and hosts of this test network for a trial of `setting`,
    /// with the inspected path.
    pub(super) fn pair<'a>(
        &'a mut self,
        setting: &'a Setting,
        path: Path,
        machine: MachineMeters<'a>,
    ) -> Pair<'a> {
        Pair {
            agents: &mut self.agents,
            path,
            meters: Box::new(BedMeters {
                testbed: &self.testbed,
                emulation: self.emulation.as_mut(),
                gateways: &self.gateways,
                setting,
                machine,
            }),
            programs: Box::new(BedPrograms {
                testbed: &self.testbed,
                path: &self.path,
            }),
        }
    }
}

/// The meters of a test network on this machine.
struct BedMeters<'a> {
    testbed: &'a Testbed,
    emulation: Option<&'a mut Emulation>,
    gateways: &'a EdgeGateways,
    setting: &'a Setting,
    machine: MachineMeters<'a>,
}

impl Meters for BedMeters<'_> {
    fn machine(&self) -> Result<Machine> {
        Ok(Machine::sample()?)
    }

    fn wait_until_idle(&mut self) -> Result<Span> {
        self.machine.idle_waits.borrow_mut().wait()
    }

    fn begin_stalls(&mut self) -> Result<()> {
        self.machine
            .stall_meter
            .borrow_mut()
            .call(&stall_meter::Begin())
    }

    fn end_stalls(&mut self) -> Result<Stalls> {
        self.machine
            .stall_meter
            .borrow_mut()
            .call(&stall_meter::End())
    }

    fn begin_hosts(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn end_hosts(&mut self) -> Result<Vec<RoleUse>> {
        Ok(Vec::new())
    }

    fn coordinator(&self) -> Result<Process> {
        let own = Process::sample()?;
        let gateways = self.gateways.used()?;
        Ok(Process {
            cpu: own.cpu + gateways,
            user: own.user + gateways,
            ..own
        })
    }

    fn queue_drops(&self) -> Result<Option<u64>> {
        Ok(Some(self.testbed.queue_drops()?))
    }

    fn fragments(&self) -> Result<Vec<(String, Fragments)>> {
        let counts = self.testbed.nodes.iter().map(|node| {
            let counts = node.fragments(self.setting.network.ip);
            Ok((node.name.clone(), counts.context("counting fragments")?))
        });
        counts.collect()
    }

    fn sent(&self) -> Result<SentPackets> {
        Ok(self.testbed.sender().sent()?)
    }

    fn emulator(&mut self) -> Result<Option<Report>> {
        let emulation = self.emulation.as_mut();
        let report = emulation.map(|emulation| emulation.call(&ReportCounters()));
        report.transpose()
    }

    fn invalid(&self, report: &Report) -> Option<String> {
        invalid(self.setting, report)
    }

    fn window(&mut self, link: usize, from: u64, to: u64) -> Result<Option<LinkWindow>> {
        let emulation = self.emulation.as_mut();
        let emulation = emulation.context("the links have no emulator")?;
        emulation.call(&Window(link, from, to))
    }

    fn observe(&mut self, links: Vec<(usize, bool)>) -> Result<()> {
        let emulation = self.emulation.as_mut();
        let emulation = emulation.context("the links have no emulator")?;
        emulation.call(&Observe(links))
    }

    fn observations(
        &mut self,
        link: usize,
        begin: u64,
        take: &mut dyn FnMut(Time, Observation),
    ) -> Result<()> {
        let emulation = self.emulation.as_mut();
        let emulation = emulation.context("the links have no emulator")?;
        emulation.observations(link, begin, take)
    }

    fn restart_links(&mut self, seed: Seed) -> Result<()> {
        let emulation = self.emulation.as_mut();
        emulation.map_or(Ok(()), |emulation| emulation.call(&Reseed(seed.get())))
    }
}

/// The outer nodes of a test network, which run programs of the user.
struct BedPrograms<'a> {
    testbed: &'a Testbed,
    path: &'a testbed::Path,
}

impl Programs for BedPrograms<'_> {
    fn set_congestion_control(&self, name: &str) -> Result<()> {
        Ok(self.testbed.set_congestion_control(self.path, name)?)
    }

    fn listeners(&self) -> Result<usize> {
        Ok(self.testbed.receiver().namespace.listeners()?)
    }

    fn start(&self, end: End, words: &[String]) -> Result<Box<dyn Program + '_>> {
        let node = match end {
            End::Sender => self.testbed.sender(),
            End::Receiver => self.testbed.receiver(),
        };
        Ok(Box::new(Tool::heard(&node.namespace, words)?))
    }
}
