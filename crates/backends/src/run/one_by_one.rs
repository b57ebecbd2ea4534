//! Trials in real time, one at a time.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use analysis::passes::next_attempt;
use anyhow::{Context, Result, bail};
use os::clock::{self, Epoch};
use os::interrupt;
use os::socket::try_congestion_control;
use plan::command_line::CommandLine;
use plan::setting::Traffic;
use plan::{DisturbedPass, Plan, Setting, Trial};
use units::{Seed, Span};

use super::job::Job;
use super::order::Slot;
use super::{TrialSink, settings};
use crate::agent::Failure;
use crate::backend::netns::Netns;
use crate::backend::real_time::RealTime;
use crate::interrupted;
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// Prepares this machine for `plan`.
pub(super) fn ready(plan: &Plan) -> Result<Netns> {
    let mut netns = Netns::enter()?;
    let names: BTreeSet<_> = settings(plan)
        .map(|setting| setting.host.congestion.as_str())
        .collect();
    for name in names {
        try_congestion_control(name).with_context(|| format!("host.congestion = {name}"))?;
    }
    settings(plan).try_for_each(programs)?;
    // Building the first test network reveals other missing features.
    if let Some(setting) = settings(plan).next() {
        netns.prepare(setting)?;
    }
    Ok(netns)
}

impl TrialSink<'_> {
    /// Whether the run is complete.
    fn is_done(&self) -> Result<bool> {
        match interrupt::asked() {
            true => Err(interrupted()),
            false => Ok(self.has_enough()),
        }
    }
}

/// Runs `slots` in their order, then disturbed trials again where their values are missed.
pub(super) fn run(
    backend: &mut dyn RealTime,
    slots: &[Slot],
    sink: &mut TrialSink<'_>,
) -> Result<()> {
    backend.may_wait(sink.plan.retry_limit.time);
    for slot in slots {
        if sink.is_done()? {
            break;
        }
        one(backend, *slot, sink)?;
    }
    repeat_disturbed(backend, sink)
}

/// Runs disturbed trials again where undisturbed values are missing, one after the other,
/// as long as the retry limit of the plan allows.
fn repeat_disturbed(backend: &mut dyn RealTime, sink: &mut TrialSink<'_>) -> Result<()> {
    let limit = sink.plan.retry_limit;
    let (begun, time) = (clock::monotonic(), backend.waits_left());
    let further =
        { sink.folder.trials().iter() }.map(|trial| trial.attempt.saturating_sub(1) as usize);
    let mut left = limit
        .further_trials(sink.plan.expected_trials())
        .saturating_sub(further.sum());
    // Attempts that were announced. An attempt that is disturbed again is one more.
    let mut announced = 0;
    while left > 0 && clock::monotonic().since(begun) < Some(time) {
        let Some((next, missing)) = next_attempt(sink.plan, sink.folder.trials()) else {
            break;
        };
        if interrupt::asked() {
            return Err(interrupted());
        }
        if announced == 0 {
            announced = missing.min(left);
            sink.progress.again(announced);
        }
        one(backend, next.into(), sink)?;
        announced -= 1;
        left -= 1;
    }
    Ok(())
}

/// Runs the trial of one slot and keeps it.
fn one(backend: &mut dyn RealTime, slot: Slot, sink: &mut TrialSink<'_>) -> Result<()> {
    let cell = &sink.plan.cells[slot.cell];
    sink.progress.trial(cell, slot.repeat);
    // The same seed in every attempt: only the machine differs.
    let seed = sink.plan.seed.derive(&format!("luck/{}", slot.id()));
    let trial = trial(backend, slot.job(cell), seed, sink.folder.path())?;
    sink.keep(trial)
}

/// Runs `jobs` for `plan` in their order and hands each trial to `keep`, until it wants
/// no more.
pub(super) fn each(
    backend: &mut dyn RealTime,
    plan: &Plan,
    jobs: &[Job<'_>],
    results: &Path,
    mut keep: impl FnMut(Trial) -> Result<bool>,
) -> Result<()> {
    for job in jobs {
        if interrupt::asked() {
            return Err(interrupted());
        }
        let seed = plan.seed.derive(&format!("luck/{}", job.id));
        if !keep(trial(backend, job.clone(), seed, results)?)? {
            break;
        }
    }
    Ok(())
}

/// Runs one trial.
fn trial(backend: &mut dyn RealTime, job: Job<'_>, seed: Seed, results: &Path) -> Result<Trial> {
    let (epoch, begun) = (Epoch::now(), clock::monotonic());
    let artifacts = ArtifactDir {
        results,
        trial: &job.id,
    };
    let (measurements, failure) = match backend.measure(job.setting, seed, epoch, artifacts) {
        Ok(measurements) => (measurements, None),
        Err(Failure::Transfer(reason)) => (Measurements::default(), Some(reason)),
        Err(Failure::Disturbed(reason)) => {
            let measurements = Measurements {
                disturbed: vec![DisturbedPass::of_trial(reason.clone())],
                ..Measurements::default()
            };
            (measurements, Some(reason))
        }
        Err(Failure::Lost(error)) => {
            return Err(error).with_context(|| format!("trial {} ({})", job.id, job.factors));
        }
    };
    Ok(Trial {
        start: Some(rfc3339(epoch.unix_nanos()).into()),
        seconds: clock::monotonic()
            .since(begun)
            .map_or(0.0, Span::as_secs_f64),
        ..job.trial(measurements, failure)
    })
}

/// Checks that this machine has the user's programs.
fn programs(setting: &Setting) -> Result<()> {
    let Traffic::Command(command) = &setting.traffic else {
        return Ok(());
    };
    let receiver = command.receiver.as_ref();
    let lines = [("sender", Some(&command.sender)), ("receiver", receiver)];
    for (key, line) in lines {
        if let Some(program) = line.and_then(CommandLine::missing_program) {
            bail!(
                "traffic.{key}: this machine has no program `{program}`; install it, or write its path"
            );
        }
    }
    Ok(())
}

/// A time in UTC with milliseconds [RFC3339 s5.6].
pub fn rfc3339(unix_nanos: u64) -> String {
    let instant = SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_nanos);
    humantime::format_rfc3339_millis(instant).to_string()
}
