//! `jumbolab run`.

pub(super) mod auto_rate;
mod fitted;
mod several;

use std::path::{Path, PathBuf};

use analysis::Findings;
use analysis::completion::complete;
use analysis::passes::leave_out_disturbed;
use analysis::quality_check::check_quality;
use anyhow::{Context, Result, bail};
use backends::run::{ReadyBackend, RunOptions, sort};
use backends::{dry_run, facts};
use document::Document;
use experiment::Experiment;
use plan::{AutoRate, Backend, Cell, NamedHosts, Plan, SideEffect, Trial};
use report::{Paths, Places};
use results::folder::{Folder, Opening, Resume, Shard};
use results::journal::Lost;
use serde_json::{Value, json};

use super::report::evidence_was_read;
use super::{consent, page, printed, replay};
use crate::args::{self, Run};
use crate::exit::{Ending, done};
use crate::output;
use crate::progress::Progress;

/// Where results go unless `-o` says otherwise.
pub(super) const RESULTS: &str = "results";

/// The most columns of a list of links.
const WIDEST_LIST: u16 = 100;

pub(crate) fn run(args: &Run) -> Result<Ending> {
    if args.template {
        return output::print(experiment::TEMPLATE).map(done);
    }
    if args.recording.is_some() || args.experiment.as_deref() == Some(replay::EXPERIMENT) {
        return replay::run(args).map(done);
    }
    let experiment = written(args)?;
    let backends = several::asked(args, &experiment)?;
    let [backend] = backends.as_slice() else {
        return several::run(args, &experiment, &backends);
    };
    let (plan, named) = resolved(args, &experiment, *backend)?;
    let named = named.as_ref();
    if args.dry_run {
        let answer = match args.json {
            true => format!("{}\n", planned(&experiment, &plan, named)?),
            false => dry_run(&experiment, &plan, named),
        };
        return output::print(&answer).map(done);
    }
    let place = args.output.as_deref();
    let places = (Path::new(RESULTS), place);
    let chosen = auto_rate::chosen(&experiment, &plan, places, args.resume.is_some())?;
    let plan = match &chosen {
        Some(chosen) => {
            backends::backend::plan(auto_rate::applied(&experiment, chosen)?, *backend)?
        }
        None => plan,
    };
    #[cfg(target_os = "linux")]
    consent::ask(&experiment, &plan, named, args.allow_commands)?;
    let run = Measured::of(args, (plan, named), (place, chosen))?;
    run.print(args)
}

/// A run after its last trial.
struct Measured {
    plan: Plan,
    folder: Folder,
    shard: Option<Shard>,
}

impl Measured {
    /// Runs the trials of `plan`, whose links have the rate `chosen`, that its folder in
    /// `place` lacks.
    fn of(
        args: &Run,
        (mut plan, named): (Plan, Option<&NamedHosts>),
        (place, chosen): (Option<&Path>, Option<AutoRate>),
    ) -> Result<Self> {
        let shard = args.shard.as_deref().map(str::parse).transpose()?;
        let how = RunOptions {
            threads: args.threads,
            shard,
            retry: args.retry,
            named,
        };
        let mut facts = facts::here(plan.backend)?;
        facts.auto_rate = chosen;
        if let Some(chosen) = facts.auto_rate.as_ref().filter(|_| !args.detail.quiet) {
            output::info(&report::auto_rate(chosen));
        }
        // Acquire privileges first: if they are denied, nothing has been written.
        let mut bench = ReadyBackend::ready(&plan, how)?;
        // A run that was begun with other MTUs of hosts has trials of cells that are left out now.
        let planned = named.map(|_| plan.clone());
        bench.describe(&mut plan, &mut facts);
        // A chosen rate was tried a moment ago.
        if args.resume.is_none() && facts.auto_rate.is_none() {
            let warnings = bench.check_rates(&plan)?;
            warnings.iter().for_each(|warning| output::warn(warning));
        }
        let mut opening = Opening {
            base: Path::new(RESULTS),
            explicit: place,
            plan: &plan,
            facts: &facts,
            resume: match args.resume {
                None => Resume::No,
                Some(args::Resume::Same) => Resume::Same,
                Some(args::Resume::Force) => Resume::Force,
            },
            shard,
            complete,
        };
        // Of several backends some may not have begun.
        if several::is_several(args) && !Folder::exists(&opening) {
            opening.resume = Resume::No;
        }
        let mut folder = Folder::open(&opening)?;
        let mut progress: Box<dyn backends::run::Progress + '_> = match args.detail.quiet {
            true => Box::new(Silent),
            false => {
                let what = match several::is_several(args) {
                    true => format!("writing results of {} to", plan.backend),
                    false => "writing results to".to_owned(),
                };
                output::info_folder(&what, folder.path());
                Box::new(Progress::new(&plan, args.plain))
            }
        };
        let kept = format!(
            "the trials so far are in {}; add --resume to continue",
            folder.path().display()
        );
        let ran = bench.run(&plan, how, &mut folder, &mut *progress);
        ran.map_err(|error| match error.is::<Lost>() {
            true => folder.rescued(&plan, error),
            false => error.context(kept),
        })?;
        let notes = bench.restore();
        let notes = notes.unwrap_or_else(|error| vec![format!("{error:#}")]);
        notes.iter().for_each(|note| output::warn(note));
        drop(progress);
        folder.change(|trials| leave_out_disturbed(&plan, trials));
        if plan.backend.profile().runs_side_by_side {
            folder.sort(|trials| sort(&plan, trials));
        }
        let failed = folder
            .trials()
            .iter()
            .filter(|trial| trial.failure.is_some())
            .count();
        if failed > 0 {
            output::warn(&format!(
                "{failed} trials failed and are excluded from all results; use --resume --retry to run them again"
            ));
        }
        let plan = planned.map_or(plan, |mut planned| {
            facts.leave_out(&mut planned, folder.trials());
            planned
        });
        Ok(Self {
            plan,
            folder,
            shard,
        })
    }

    fn found(&self) -> Findings<'_> {
        Findings::of(&self.plan, self.folder.trials(), self.folder.facts())
    }

    /// Writes page and table; returns what the page says.
    fn write(&self) -> (Findings<'_>, Document, [Result<PathBuf>; 2]) {
        let files = self.folder.files();
        let write = || {
            let found = self.found();
            let document = report::of_run(&found, Some(files.path()));
            let page = page::write(files, report::PAGE, &report::html(&document));
            (found, document, page)
        };
        let ((found, document, page), table) =
            page::beside_table(files, self.folder.trials(), write);
        (found, document, [page, table])
    }

    fn write_table(&self) -> Result<PathBuf> {
        page::write_table(self.folder.files(), self.folder.trials())
    }

    /// The error that page or table could not be written, or that the trials are gone.
    fn written(&self, files: impl IntoIterator<Item = Result<PathBuf>>) -> Result<()> {
        let lost = |error| self.folder.rescued(&self.plan, error);
        self.folder.check().map_err(lost)?;
        let path = self.folder.path().display();
        let say = || format!("all trials are saved: see `jumbolab report {path}`");
        let all: Result<Vec<PathBuf>> = files.into_iter().collect();
        all.map(drop).with_context(say)
    }

    /// Writes and prints what the run is to leave.
    fn print(&self, args: &Run) -> Result<Ending> {
        match self.shard.is_some() && !complete(&self.plan, self.folder.trials()) {
            true => self.print_part(args),
            false => self.print_whole(args),
        }
    }

    /// Writes the table of a part of a run, and prints how many trials are there: a report
    /// needs the other parts.
    fn print_part(&self, args: &Run) -> Result<Ending> {
        let path = self.folder.path();
        let trials = self.folder.trials();
        let table = self.write_table();
        if args.json {
            let paths = Paths {
                folder: path,
                page: None,
                table: table.as_deref().ok(),
            };
            output::print_lines([report::run_json(&self.found(), paths)])?;
        } else {
            let (done, all) = (trials.len(), self.plan.expected_trials());
            let path = path.display();
            output::print(&format!(
                "{done} of {all} trials are in {path}; `jumbolab report {path}` reports what is there\n"
            ))?;
        }
        self.written([table])?;
        evidence_was_read(trials)?;
        let state = check_quality(self.folder.facts(), trials).state();
        Ok(Ending::of(state, args.strict))
    }

    /// Writes page and table, and prints the report.
    fn print_whole(&self, args: &Run) -> Result<Ending> {
        let (found, document, [page, table]) = self.write();
        let path = self.folder.path();
        if args.json {
            output::print_lines(report::json_lines(&found))?;
            let paths = Paths {
                folder: path,
                page: page.as_deref().ok(),
                table: table.as_deref().ok(),
            };
            output::print_lines([report::run_json(&found, paths)])?;
        } else {
            let files = Places {
                folder: Some(path),
                page: page.as_deref().ok(),
            };
            printed::run(&found, &document, files, (args.detail, args.verbose))?;
        }
        self.written([page, table])?;
        evidence_was_read(self.folder.trials())?;
        Ok(Ending::of(found.state(), args.strict))
    }
}

/// The output of `--dry-run`: the title, the test network, the trials, and what is done outside.
fn dry_run(experiment: &Experiment, plan: &Plan, named: Option<&NamedHosts>) -> String {
    let links = report::topology_text(plan, output::width().min(WIDEST_LIST));
    let trials = dry_run::summary(plan);
    let (title, trials) = trials.split_once('\n').unwrap_or_default();
    let outside = consent::listed(plan, named);
    let rate = auto_rate::announced(experiment, plan);
    format!("{title}\n\n{links}\n{trials}{rate}{outside}")
}

/// The object of `--dry-run --json`: what would run, and which program would run it.
fn planned(experiment: &Experiment, plan: &Plan, named: Option<&NamedHosts>) -> Result<Value> {
    let outside = consent::side_effects(plan, named);
    let outside: Vec<String> = outside.iter().map(SideEffect::to_string).collect();
    Ok(json!({
        "kind": "dry_run",
        "plan": plan.name,
        "title": plan.title,
        "backend": plan.backend.to_string(),
        "hash": plan.hash,
        "cells": plan.cells.iter().filter(|cell| cell.setting.is_ok()).count(),
        "repeat": plan.repeat,
        "trials": plan.expected_trials(),
        "seed": plan.seed.get(),
        "auto_rates": auto_rate::candidates(experiment, plan),
        "until": plan.until.map(|until| until.to_string()),
        "version": env!("CARGO_PKG_VERSION"),
        "binary": facts::binary()?,
        "side_effects": outside,
    }))
}

/// The progress of a run that is asked to be quiet.
struct Silent;

impl backends::run::Progress for Silent {
    fn begin(&mut self, _: usize, _: usize) {}
    fn trial(&mut self, _: &Cell, _: u32) {}
    fn done(&mut self, _: &Plan, _: &[Trial], _: &Trial) {}
    fn again(&mut self, _: usize) {}
    fn end(&mut self) {}
}

/// The experiment with all options of the command line applied.
fn written(args: &Run) -> Result<Experiment> {
    let mut experiment = Experiment::load(args.experiment.as_deref().unwrap_or_default())?;
    for assignment in &args.set {
        for assignment in fitted::assignments(assignment)? {
            experiment.set(&assignment)?;
        }
    }
    if let Some(repeat) = &args.repeat {
        experiment.set(&format!("repeat={repeat}"))?;
    }
    Ok(experiment)
}

/// The plan of `experiment` in `backend`, and the machines that the user named if the backend
/// measures between such.
fn resolved(
    args: &Run,
    experiment: &Experiment,
    backend: Backend,
) -> Result<(Plan, Option<NamedHosts>)> {
    let named = match (backend.profile().builds_network, args.host.is_empty()) {
        (false, _) => Some(experiment.named_hosts(&args.host)?),
        (true, true) => None,
        (true, false) if several::is_several(args) => None,
        (true, false) => {
            bail!("--host: the backend `{backend}` makes its own hosts; add --on hosts")
        }
    };
    Ok((backends::backend::plan(experiment.clone(), backend)?, named))
}

/// The plans of a run, one for each of its backends.
#[cfg(test)]
pub(super) fn plans(args: &Run) -> Result<Vec<Plan>> {
    let experiment = written(args)?;
    let backends = several::asked(args, &experiment)?;
    let plan = |backend: &Backend| Ok(resolved(args, &experiment, *backend)?.0);
    backends.iter().map(plan).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, examples_of};

    #[test]
    fn every_example_has_a_plan() {
        let mut planned = 0;
        for example in examples_of("run") {
            let Command::Run(args) = example.parse().command else {
                panic!("{} runs nothing", example.line)
            };
            if !args.template && args.recording.is_none() {
                assert!(plans(&args).is_ok(), "{}", example.line);
                planned += 1;
            }
        }
        assert_eq!(planned, 2);
    }
}
