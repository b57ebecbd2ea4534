//! `jumbolab run --on A,B,C`: one experiment in several backends, one after the other, and
//! one report of all of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use experiment::Experiment;
use plan::Backend;

use super::{Measured, RESULTS, auto_rate, dry_run, planned, resolved};
use crate::args::{Report, Run};
#[cfg(target_os = "linux")]
use crate::command::consent;
use crate::command::report;
use crate::exit::{Ending, done};
use crate::output;

/// The backends of a run, in the order in which they are named.
pub(super) fn asked(args: &Run, experiment: &Experiment) -> Result<Vec<Backend>> {
    let Some(named) = &args.on else {
        let backend = experiment.backend()?.unwrap_or_default();
        return backends::backend::require(backend).map(|()| vec![backend]);
    };
    let mut backends: Vec<Backend> = Vec::new();
    for name in named.split(',') {
        let backend = name.trim().parse()?;
        if backends.contains(&backend) {
            bail!("--on {named}: `{backend}` is named twice; name each backend once");
        }
        backends::backend::require(backend)?;
        backends.push(backend);
    }
    let has_named_hosts = backends
        .iter()
        .any(|backend| !backend.profile().builds_network);
    if backends.len() > 1 && !args.host.is_empty() && !has_named_hosts {
        bail!("--host: these backends make their own hosts; add `hosts` to --on");
    }
    Ok(backends)
}

/// Whether the run names more than one backend.
pub(super) fn is_several(args: &Run) -> bool {
    args.on.as_ref().is_some_and(|named| named.contains(','))
}

/// Runs `experiment` in each of `backends`, and prints one report.
pub(super) fn run(args: &Run, experiment: &Experiment, backends: &[Backend]) -> Result<Ending> {
    if args.shard.is_some() {
        bail!("--shard: a part of a run is of one backend; name one with --on");
    }
    // Nothing runs in any backend unless the experiment is right in all.
    let plan = |backend: &Backend| {
        resolved(args, experiment, *backend).with_context(|| format!("--on {backend}"))
    };
    let plans = backends.iter().map(plan).collect::<Result<Vec<_>>>()?;
    if args.dry_run {
        let texts = backends.iter().zip(&plans).map(|(backend, (plan, named))| {
            let named = named.as_ref();
            Ok(match args.json {
                true => format!("{}\n", planned(experiment, plan, named)?),
                false => format!("--on {backend}: {}\n", dry_run(experiment, plan, named)),
            })
        });
        let texts: String = texts.collect::<Result<_>>()?;
        return output::print(&texts).map(done);
    }
    let place = |backend: Backend| Some(args.output.as_ref()?.join(backend.to_string()));
    // Links have the rate that this machine sustains in every backend: only so are the backends
    // comparable.
    let of_machine = plans.iter().map(|(plan, _)| plan);
    let of_machine = of_machine.filter(|plan| plan.backend.profile().depends_on_machine);
    let mut chosen = None;
    for plan in of_machine {
        let place = place(plan.backend);
        let places = (Path::new(RESULTS), place.as_deref());
        let resumes = args.resume.is_some();
        if let Some(rate) = auto_rate::chosen(experiment, plan, places, resumes)? {
            chosen = Some(rate);
        }
    }
    let experiment_in = |backend: Backend| match &chosen {
        Some(chosen) if backend.profile().builds_network => auto_rate::applied(experiment, chosen),
        _ => Ok(experiment.clone()),
    };
    let mut folders: Vec<Option<PathBuf>> = vec![None; backends.len()];
    let mut positions: Vec<usize> = (0..backends.len()).collect();
    // The sandbox is entered for good, and no other machine is reached from there.
    positions.sort_by_key(|&position| is_in_sandbox(backends[position]));
    for position in positions {
        let backend = backends[position];
        let experiment = experiment_in(backend)?;
        let (plan, named) = resolved(args, &experiment, backend)?;
        let place = place(backend);
        let places = (Path::new(RESULTS), place.as_deref());
        let chosen = match &chosen {
            Some(chosen) => Some(chosen.clone()).filter(|_| is_in_sandbox(backend)),
            None => auto_rate::chosen(&experiment, &plan, places, args.resume.is_some())?,
        };
        #[cfg(target_os = "linux")]
        consent::ask(&experiment, &plan, named.as_ref(), args.allow_commands)?;
        let plan = (plan, named.as_ref());
        let measured = Measured::of(args, plan, (place.as_deref(), chosen))?;
        let (_, _, files) = measured.write();
        measured.written(files)?;
        folders[position] = Some(measured.folder.path().to_owned());
    }
    report::run(&Report {
        folders: folders.into_iter().flatten().collect(),
        json: args.json,
        csv: false,
        detail: args.detail,
        verbose: args.verbose,
        strict: args.strict,
    })
}

/// Whether the backend runs in a sandbox of this machine.
fn is_in_sandbox(backend: Backend) -> bool {
    let profile = backend.profile();
    profile.runs_in_real_time && profile.builds_network
}
