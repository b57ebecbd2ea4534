//! The backend `sim`: trials in virtual networks.
//!
//! A trial is a pure function of its setting and its seed. It does not depend
//! on clocks, the machine or other trials.

mod check;
mod count;
mod cross_traffic;
mod measurements;
mod probe;
mod request_response;
mod scenario;
mod tee;
mod trace;

use anyhow::{Result, bail};
use os::interrupt;
use os::memory;
use plan::Setting;
use plan::setting::Traffic;
use sim::{Outcome, Scenario, Simulation, Tracer};
use units::{Bytes, Seed, Time};

use crate::measurements::Measurements;
use crate::recording::ArtifactDir;
pub(crate) use check::check;
use count::Counter;
use scenario::{at_first, outlast, shared_until};
pub(crate) use scenario::{scenario_of, simulation_of};
use tee::Tee;
use trace::TraceRecorder;

/// The memory limit of one trial if the machine does not report its memory.
const UNKNOWN: Bytes = sim::Scenario::BUDGET;

/// The reason why a trial has no outcome.
const STOPPED: &str = "stopped before its end";

/// Virtual networks as a backend.
pub struct Simulator {
    /// The memory limit of one trial.
    budget: Bytes,
}

impl Simulator {
    /// Checks that each thread can run every setting at the same time.
    ///
    /// # Errors
    /// One line of text if a trial would need more memory than there is.
    pub fn ready<'a>(settings: impl Iterator<Item = &'a Setting>, threads: usize) -> Result<Self> {
        let threads = u64::try_from(threads).unwrap_or(u64::MAX).max(1);
        let budget = memory::available().map_or(UNKNOWN, |free| Bytes::new(free.get() / threads));
        let simulator = Self { budget };
        let simulated = settings.filter(|setting| !matches!(setting.traffic, Traffic::Probe(_)));
        for setting in simulated {
            let scenario = scenario_of(setting, Seed::new(0), budget);
            if let Err(bad) = simulation_of(setting, scenario) {
                let fewer = match threads {
                    1 => String::new(),
                    threads => format!(
                        " (a share of what is free for each of {threads} threads: --threads 1 gives one all of it)"
                    ),
                };
                bail!("{bad}{fewer}");
            }
        }
        Ok(simulator)
    }

    /// Runs one trial; returns its metrics and the simulated time in seconds.
    /// Records of single packets are discarded.
    ///
    /// # Errors
    /// The reason why nothing could be measured.
    pub fn run(&self, setting: &Setting, seed: Seed) -> Result<(Measurements, f64), String> {
        match &setting.traffic {
            Traffic::RequestResponse(request_response) => {
                return self.request_response(setting, request_response, seed);
            }
            Traffic::Probe(probe) => return probe::run(setting, probe, seed),
            _ => {}
        }
        let (scenario, others) = self.scenario(setting, seed)?;
        let stop = scenario.end;
        let simulation = simulation_of(setting, scenario).map_err(|bad| bad.to_string())?;
        let mut counter = Counter::of(setting);
        let tracer = counter.as_mut().map(|counter| counter as &mut dyn Tracer);
        let outcome = outcome(simulation, tracer)?;
        let measurements = figures_of(setting, &outcome, [stop, others], counter)?;
        Ok((measurements, seconds(outcome.end)))
    }

    /// Like [`Simulator::run`], with the recordings of single packets that
    /// `setting` selects in `artifacts`.
    ///
    /// # Errors
    /// The reason why nothing could be measured or recorded.
    pub(crate) fn run_and_trace(
        &self,
        setting: &Setting,
        seed: Seed,
        artifacts: ArtifactDir<'_>,
    ) -> Result<(Measurements, f64), String> {
        match &setting.traffic {
            Traffic::RequestResponse(request_response) => {
                return self.request_response(setting, request_response, seed);
            }
            Traffic::Probe(probe) => return probe::run(setting, probe, seed),
            _ => {}
        }
        let (scenario, others) = self.scenario(setting, seed)?;
        let recorder = TraceRecorder::of(setting, &scenario, artifacts, self.budget);
        let Some(mut recorder) = recorder.map_err(|error| format!("{error:#}"))? else {
            return self.run(setting, seed);
        };
        let stop = scenario.end;
        let simulation = simulation_of(setting, scenario).map_err(|bad| bad.to_string())?;
        let mut counter = Counter::of(setting);
        let is_full = recorder.is_full();
        let stop_early = || interrupt::asked() || is_full.get();
        let outcome = match &mut counter {
            None => simulation.run_unless(Some(&mut recorder), &stop_early),
            Some(counter) => {
                let mut both = Tee(&mut recorder, counter);
                simulation.run_unless(Some(&mut both), &stop_early)
            }
        };
        if is_full.get() {
            return Err(self.too_much_recorded());
        }
        let outcome = outcome.ok_or(STOPPED)?;
        let mut measurements = figures_of(setting, &outcome, [stop, others], counter)?;
        let kept = recorder.finish(&outcome, artifacts, &mut measurements);
        kept.map_err(|error| format!("{error:#}"))?;
        Ok((measurements, seconds(outcome.end)))
    }

    /// The reason why a trial has failed whose records outgrew the memory.
    fn too_much_recorded(&self) -> String {
        format!(
            "what is watched needs more than the {} bytes of memory that a trial may use; write watch.interval, watch less, or shorten traffic.duration",
            self.budget.get()
        )
    }

    /// The scenario of a trial, and the end of its cross traffic. Only a
    /// simulation can tell how long a TCP transfer lasts with cross traffic, so
    /// the scenario is rebuilt until the cross traffic lasts long enough. Later
    /// cross traffic does not affect the result.
    fn scenario(&self, setting: &Setting, seed: Seed) -> Result<(Scenario, Time), String> {
        let mut until = at_first(setting);
        loop {
            let scenario = shared_until(setting, seed, self.budget, until);
            let end = scenario.end;
            let Some(now) = until.filter(|until| *until < end) else {
                return Ok((scenario, end));
            };
            let simulation = simulation_of(setting, scenario).map_err(|bad| bad.to_string())?;
            if outlast(&outcome(simulation, None)?, now) {
                return Ok((shared_until(setting, seed, self.budget, until), now));
            }
            let twice = now + now.since(Time::ZERO).unwrap_or_default();
            until = Some(twice.min(end));
        }
    }
}

/// The outcome of a simulation that ran to its end.
///
/// # Errors
/// Someone asked the program to stop meanwhile.
fn outcome(simulation: Simulation, tracer: Option<&mut dyn Tracer>) -> Result<Outcome, String> {
    let outcome = simulation.run_unless(tracer, &interrupt::asked);
    outcome.ok_or_else(|| STOPPED.to_owned())
}

/// The measurements of `outcome` with the counters. The two times are the
/// scheduled ends of sources and cross traffic.
fn figures_of(
    setting: &Setting,
    outcome: &Outcome,
    [stop, until]: [Time; 2],
    counter: Option<Counter>,
) -> Result<Measurements, String> {
    let (outcome, cross) = cross_traffic::separate(setting, outcome);
    let mut measurements = measurements::of(setting, &outcome, stop)?;
    cross_traffic::record(&cross, until, setting, &mut measurements);
    if let Some(counter) = counter {
        counter.finish(&mut measurements, measurements::counted(&outcome));
    }
    Ok(measurements)
}

/// A trial starts at time zero.
fn seconds(end: Time) -> f64 {
    end.since(Time::ZERO).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests;
