//! The backend `netns`: trials on real kernels.
//!
//! A test network is built for each network of the plan and kept until the end, so
//! that trials do not include the creation of namespaces. A setting with mixed
//! links has two: one for bulk data, one for single messages.

mod convert;
mod emulator_timing_error;
mod gateways;
mod pair;
mod testbed_handle;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::process::Command;

use anyhow::{Context, Result};
use os::Sandbox;
use os::clock::Epoch;
use os::socket::keep_stamping;
use plan::setting::Traffic;
use plan::{Setting, evidence};
use units::{Seed, Span};

pub use crate::agent::Failure;
use crate::backend::real_time::RealTime;
use crate::emulation::{Begin, Emulation, End};
use crate::measure::{self, IdleWaits, Pair, counted_of};
use crate::measurements::Measurements;
use crate::pace::Paced;
use crate::recording::ArtifactDir;
use crate::stall_meter::StallMeter;
use convert::{cross_of, path_of, recorded_of};
use pair::MachineMeters;
pub(crate) use testbed_handle::TestbedHandle;

/// The maximum number of test networks; the least recently used one is removed
/// first. Each has at least two namespaces and as many processes.
const MOST_TESTBEDS: usize = 32;

/// The seed of cross traffic outside of a plan's trials.
const SHARED: Seed = Seed::new(1);

/// The lead time of cross traffic before a trial, so that the first message
/// meets the same queue as later ones.
const SETTLING: Span = Span::from_millis(20);

/// The network namespaces of this machine as a backend.
pub struct Netns {
    /// Ordered by last use, the latest at the end.
    testbeds: Vec<TestbedHandle>,
    idle_waits: RefCell<IdleWaits>,
    stall_meter: RefCell<StallMeter>,
    _stamping: OwnedFd,
    // Dropped last: the sandbox's init process must outlive the workers.
    _sandbox: Sandbox,
}

impl Netns {
    /// Enters the sandbox. The process does not regain privileges outside.
    ///
    /// # Errors
    /// One line of text with the remedy if this machine forbids it.
    pub fn enter() -> Result<Self> {
        let sandbox = Sandbox::enter()?;
        Ok(Self {
            testbeds: Vec::new(),
            idle_waits: RefCell::default(),
            stall_meter: RefCell::new(StallMeter::start()?),
            _stamping: keep_stamping()?,
            _sandbox: sandbox,
        })
    }

    /// Builds the missing test networks of `setting`.
    ///
    /// # Errors
    /// This machine lacks a feature that they need.
    pub fn prepare(&mut self, setting: &Setting) -> Result<()> {
        Paced::beds(setting.network.link)
            .try_for_each(|paced| self.paced_testbed(setting, paced).map(drop))
    }

    /// Makes `command` start in a node of the test network of `setting`, which is
    /// built if needed, and end with this process.
    ///
    /// # Errors
    /// The test network cannot be built or has no such node.
    pub fn place(
        &mut self,
        setting: &Setting,
        node: &str,
        command: &mut Command,
    ) -> Result<IpAddr> {
        let handle = self.testbed(setting)?;
        handle.node(node)?.namespace.place(command);
        Ok(handle.testbed.destination(&handle.path))
    }

    /// Runs one trial without recordings, building missing test networks. The
    /// randomness of emulated links derives from `seed` alone.
    ///
    /// # Errors
    /// [`Failure`] states whether the next trial can run.
    pub fn measure(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
    ) -> Result<Measurements, Failure> {
        self.trial(setting, seed, epoch, None)
    }

    fn trial(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
        artifacts: Option<ArtifactDir<'_>>,
    ) -> Result<Measurements, Failure> {
        match setting.traffic {
            Traffic::Flows(_)
                if setting.network.isolate_trials && setting.network.graph.is_none() =>
            {
                self.renew(setting, epoch)?
            }
            Traffic::Flows(_) if setting.network.graph.is_some() => self.forget(setting),
            Traffic::Probe(_) => self.forget(setting),
            _ => {}
        }
        let recorded = match artifacts {
            Some(_) => recorded_of(setting),
            None => Vec::new(),
        };
        let cross = cross_of(setting);
        let counted: Vec<usize> = counted_of(setting).map(|(number, _)| number).collect();
        let steered = !cross.is_empty() || !recorded.is_empty() || !counted.is_empty();
        if steered {
            let numbers = recorded.iter().map(|(number, _)| *number);
            let numbers = numbers.chain(counted).collect::<BTreeSet<usize>>();
            let numbers = numbers.into_iter().collect();
            let crossed = !cross.is_empty();
            let begin = Begin(cross, numbers, seed.derive("cross").get());
            self.emulation(setting)?.call(&begin)?;
            if crossed {
                os::clock::sleep(SETTLING);
            }
        }
        let measured = self
            .pairs(setting, seed, epoch)
            .and_then(|mut pairs| measure::trial(&mut pairs, setting, seed, epoch, artifacts));
        let mut names = Vec::new();
        if steered && !matches!(measured, Err(Failure::Lost(_))) {
            let mut files = Vec::new();
            for (number, link) in &recorded {
                let Some(artifacts) = artifacts else { break };
                let name = artifacts.name(link)?;
                let path = std::path::absolute(artifacts.results.join(&name));
                files.push((*number, path.context("finding the results folder")?));
                names.push(name);
            }
            self.emulation(setting)?.call(&End(files))?;
        }
        let mut measurements = measured?;
        if !names.is_empty() {
            measurements.note(evidence::RECORDINGS, names);
        }
        Ok(measurements)
    }

    /// The pairs of a trial of `setting`, bulk first, with inspected paths and
    /// random streams derived from `seed`.
    fn pairs<'a>(
        &'a mut self,
        setting: &'a Setting,
        seed: Seed,
        epoch: Epoch,
    ) -> Result<Vec<Pair<'a>>, Failure> {
        let mut paths = Vec::new();
        for paced in Paced::of_trial(setting) {
            let handle = self.paced_testbed(setting, paced)?;
            paths.push(handle.see(setting, epoch)?);
            handle.reseed(seed)?;
        }
        // The test networks just requested are at the end, in this order.
        let first = self.testbeds.len() - paths.len();
        let beds = self.testbeds[first..].iter_mut().zip(paths);
        let machine = MachineMeters {
            idle_waits: &self.idle_waits,
            stall_meter: &self.stall_meter,
        };
        let pair = |(bed, path): (&'a mut TestbedHandle, _)| bed.pair(setting, path, machine);
        Ok(beds.map(pair).collect())
    }

    /// Replaces the test network of `setting`, once its frames are inspected, by
    /// one with hosts without cached state.
    fn renew(&mut self, setting: &Setting, epoch: Epoch) -> Result<(), Failure> {
        let [_, paced] = Paced::of(setting.network.link);
        self.paced_testbed(setting, paced)?.see(setting, epoch)?;
        // The test network just requested is at the end.
        if let Some(known) = self.testbeds.pop() {
            self.testbeds.push(known.renewed()?);
        }
        Ok(())
    }

    /// Removes the test network of `setting`, so that the next trial has a new one: no kernel
    /// on the path remembers path MTUs, fragments, or how many errors it has sent, and no
    /// queue of a network what was sent in it.
    fn forget(&mut self, setting: &Setting) {
        for paced in Paced::of_trial(setting) {
            let path = path_of(setting, paced);
            self.testbeds.retain(|handle| handle.path != path);
        }
    }

    /// Starts the cross traffic of `setting` for other users of its test network.
    ///
    /// # Errors
    /// The test network cannot be built.
    pub(crate) fn share_links(&mut self, setting: &Setting) -> Result<()> {
        let cross = cross_of(setting);
        match cross.is_empty() {
            true => Ok(()),
            false => {
                let begin = Begin(cross, Vec::new(), SHARED.get());
                self.emulation(setting)?.call(&begin)
            }
        }
    }

    /// The emulator of the links of `setting`, all of which are emulated.
    fn emulation(&mut self, setting: &Setting) -> Result<&mut Emulation> {
        let emulation = self
            .paced_testbed(setting, Paced::Emulator)?
            .emulation
            .as_mut();
        emulation.context("the links have no emulator")
    }

    /// The test network for programs of the user: the one for bulk data.
    pub(crate) fn testbed(&mut self, setting: &Setting) -> Result<&mut TestbedHandle> {
        let [bulk, _] = Paced::of(setting.network.link);
        self.paced_testbed(setting, bulk)
    }

    /// The test network of `setting` with links of the kind `paced`, built if
    /// needed.
    fn paced_testbed(&mut self, setting: &Setting, paced: Paced) -> Result<&mut TestbedHandle> {
        let path = path_of(setting, paced);
        let matches = |handle: &TestbedHandle| handle.path == path;
        let handle = match self.testbeds.iter().position(matches) {
            Some(position) => self.testbeds.remove(position),
            None => {
                if self.testbeds.len() == MOST_TESTBEDS {
                    self.testbeds.remove(0);
                }
                TestbedHandle::build(path, paced, setting.network.domain.as_ref())?
            }
        };
        self.testbeds.push(handle);
        Ok(self.testbeds.last_mut().expect("it was just put there"))
    }
}

impl RealTime for Netns {
    fn may_wait(&mut self, time: Span) {
        self.idle_waits = RefCell::new(IdleWaits::new(time));
    }

    fn waits_left(&self) -> Span {
        self.idle_waits.borrow().left()
    }

    /// Runs a trial with recordings of the links that `setting` selects. They are on disk
    /// on return, even if the trial failed.
    fn measure(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
        artifacts: ArtifactDir<'_>,
    ) -> Result<Measurements, Failure> {
        self.trial(setting, seed, epoch, Some(artifacts))
    }
}
