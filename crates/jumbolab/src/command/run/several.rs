//! `jumbolab run --on A,B,C`: one experiment in several worlds, one after the other, and
//! one report of all of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use experiment::Experiment;
use plan::World;

use super::{Measured, RESULTS, auto_rate, dry_run, planned, resolved};
use crate::args::{Report, Run};
#[cfg(target_os = "linux")]
use crate::command::consent;
use crate::command::report;
use crate::exit::{Ending, done};
use crate::output;

/// The worlds of a run, in the order in which they are named.
pub(super) fn asked(args: &Run, experiment: &Experiment) -> Result<Vec<World>> {
    let Some(named) = &args.on else {
        let world = experiment.world()?.unwrap_or_default();
        return worlds::world::require(world).map(|()| vec![world]);
    };
    let mut worlds: Vec<World> = Vec::new();
    for name in named.split(',') {
        let world = name.trim().parse()?;
        if worlds.contains(&world) {
            bail!("--on {named}: `{world}` is named twice; name each world once");
        }
        worlds::world::require(world)?;
        worlds.push(world);
    }
    let has_named_hosts = worlds.iter().any(|world| !world.profile().builds_network);
    if worlds.len() > 1 && !args.host.is_empty() && !has_named_hosts {
        bail!("--host: these worlds make their own hosts; add `hosts` to --on");
    }
    Ok(worlds)
}

/// Whether the run names more than one world.
pub(super) fn is_several(args: &Run) -> bool {
    args.on.as_ref().is_some_and(|named| named.contains(','))
}

/// Runs `experiment` in each of `worlds`, and prints one report.
pub(super) fn run(args: &Run, experiment: &Experiment, worlds: &[World]) -> Result<Ending> {
    if args.shard.is_some() {
        bail!("--shard: a part of a run is of one world; name one with --on");
    }
    // Nothing runs in any world unless the experiment is right in all.
    let plan =
        |world: &World| resolved(args, experiment, *world).with_context(|| format!("--on {world}"));
    let plans = worlds.iter().map(plan).collect::<Result<Vec<_>>>()?;
    if args.dry_run {
        let texts = worlds.iter().zip(&plans).map(|(world, (plan, named))| {
            let named = named.as_ref();
            Ok(match args.json {
                true => format!("{}\n", planned(experiment, plan, named)?),
                false => format!("--on {world}: {}\n", dry_run(experiment, plan, named)),
            })
        });
        let texts: String = texts.collect::<Result<_>>()?;
        return output::print(&texts).map(done);
    }
    let place = |world: World| Some(args.output.as_ref()?.join(world.to_string()));
    // Links have the rate that this machine sustains in every world: only so are the worlds
    // comparable.
    let of_machine = plans.iter().map(|(plan, _)| plan);
    let of_machine = of_machine.filter(|plan| plan.world.profile().depends_on_machine);
    let mut chosen = None;
    for plan in of_machine {
        let place = place(plan.world);
        let places = (Path::new(RESULTS), place.as_deref());
        let resumes = args.resume.is_some();
        if let Some(rate) = auto_rate::chosen(experiment, plan, places, resumes)? {
            chosen = Some(rate);
        }
    }
    let experiment_in = |world: World| match &chosen {
        Some(chosen) if world.profile().builds_network => auto_rate::applied(experiment, chosen),
        _ => Ok(experiment.clone()),
    };
    let mut folders: Vec<Option<PathBuf>> = vec![None; worlds.len()];
    let mut positions: Vec<usize> = (0..worlds.len()).collect();
    // The sandbox is entered for good, and no other machine is reached from there.
    positions.sort_by_key(|&position| is_in_sandbox(worlds[position]));
    for position in positions {
        let world = worlds[position];
        let experiment = experiment_in(world)?;
        let (plan, named) = resolved(args, &experiment, world)?;
        let place = place(world);
        let places = (Path::new(RESULTS), place.as_deref());
        let chosen = match &chosen {
            Some(chosen) => Some(chosen.clone()).filter(|_| is_in_sandbox(world)),
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
        strict: args.strict,
    })
}

/// Whether the world runs in a sandbox of this machine.
fn is_in_sandbox(world: World) -> bool {
    let profile = world.profile();
    profile.runs_in_real_time && profile.builds_network
}
