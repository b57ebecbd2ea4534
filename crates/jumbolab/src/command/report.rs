//! `jumbolab report`.

use std::path::Path;

use analysis::Findings;
use analysis::across_backends::across_backends;
use analysis::compare::without_cell;
use analysis::passes::leave_out_disturbed;
use analysis::quality_check::State;
use anyhow::{Context, Result, anyhow, bail, ensure};
use backends::sensitivity::{Study, is_search};
use document::Document;
use experiment::{Experiment, LARGEST_FILE};
use files::Folder as Files;
use plan::{Plan, RunFacts, Trial};
use report::{Paths, Places, Run};
use results::folder::Folder;

use super::{page, printed, sensitivity};
use crate::args::Report;
use crate::exit::{Ending, done};
use crate::output;

pub(crate) fn run(args: &Report) -> Result<Ending> {
    let runs: Vec<ReadRun<'_>> = args
        .folders
        .iter()
        .map(|folder| ReadRun::read(folder))
        .collect::<Result<_>>()?;
    let ending = of_runs(args, &runs)?;
    runs.iter()
        .try_for_each(|run| evidence_was_read(&run.trials))?;
    Ok(ending)
}

/// Checks that all evidence could be read that was asked for.
pub(super) fn evidence_was_read(trials: &[Trial]) -> Result<()> {
    let failure = trials.iter().find_map(|trial| trial.evidence.failure());
    failure.map_or(Ok(()), |why| bail!("{why}"))
}

fn of_runs(args: &Report, runs: &[ReadRun<'_>]) -> Result<Ending> {
    let one_backend = |runs: &[ReadRun<'_>]| {
        runs.iter()
            .all(|other| other.plan.backend == runs[0].plan.backend)
    };
    match runs {
        [one] => match searched(one)? {
            Some(study) if !args.csv => {
                ensure!(
                    !args.verbose,
                    "--verbose: a search has no quality check; write --full, or leave it out"
                );
                sensitivity::print(&study, &one.trials, &one.files, (args.json, args.detail))
                    .map(done)
            }
            _ => alone(args, one),
        },
        [first, second] if one_backend(runs) => changes(args, first, second),
        all if one_backend(all) => bail!(
            "cannot compare {} runs in backend {}; give two runs, or runs in different backends",
            all.len(),
            all[0].plan.backend
        ),
        all => backends(args, all),
    }
}

/// The study of a folder that `sensitivity` made.
pub(super) fn searched(run: &ReadRun<'_>) -> Result<Option<Study>> {
    if !is_search(&run.plan, &run.trials) {
        return Ok(None);
    }
    // The plan has defaults written out that follow from unstated settings.
    let place = run.folder.join(sensitivity::EXPERIMENT);
    let name = place.display().to_string();
    let text = { run.files.read_text(sensitivity::EXPERIMENT, LARGEST_FILE) }
        .with_context(|| format!("cannot read {name}"))?;
    let experiment = Experiment::parse_results(&text, &name)?;
    Study::new(experiment, run.plan.backend).map(Some)
}

/// The content of a results folder.
pub(super) struct ReadRun<'a> {
    folder: &'a Path,
    files: Files,
    plan: Plan,
    facts: RunFacts,
    trials: Vec<Trial>,
}

impl<'a> ReadRun<'a> {
    pub(super) fn read(folder: &'a Path) -> Result<Self> {
        let files = Files::open(folder).with_context(|| {
            format!(
                "cannot read the folder {}; give the folder of a run",
                folder.display()
            )
        })?;
        let (text, facts, mut trials) = Folder::read_in(&files)?;
        let name = folder.join("plan.toml");
        let experiment = Experiment::parse_results(&text, &name.display().to_string())?;
        let mut plan = backends::backend::plan(experiment, facts.backend)?;
        let stray = without_cell(&plan, &trials).filter(|_| !is_search(&plan, &trials));
        if let Some(trial) = stray {
            let (id, factors) = (trial.id.as_str(), &trial.factors);
            bail!(
                "{}: the trial {id} ({factors}) is in no cell of plan.toml; put back the journal of this run",
                folder.join("trials.jsonl").display()
            );
        }
        facts.leave_out(&mut plan, &trials);
        leave_out_disturbed(&plan, &mut trials);
        if plan.backend.profile().runs_side_by_side {
            backends::run::sort(&plan, &mut trials);
        }
        Ok(Self {
            folder,
            files,
            plan,
            facts,
            trials,
        })
    }

    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) const fn facts(&self) -> &RunFacts {
        &self.facts
    }

    pub(super) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    pub(super) fn run(&self) -> Run<'_> {
        Run {
            folder: self.folder,
            found: Findings::of(&self.plan, &self.trials, &self.facts),
        }
    }
}

/// How the report of runs ends: as the one of them that is least sound.
fn ending(args: &Report, runs: &[Run<'_>]) -> Ending {
    let states = runs.iter().map(|run| run.found.state());
    Ending::of(states.max().unwrap_or(State::Passed), args.strict)
}

/// The objects of runs, one each.
fn run_lines(runs: &[Run<'_>]) -> Vec<String> {
    let line = |run: &Run<'_>| {
        let paths = Paths {
            folder: run.folder,
            page: None,
            table: None,
        };
        report::run_json(&run.found, paths)
    };
    runs.iter().map(line).collect()
}

fn alone(args: &Report, read: &ReadRun<'_>) -> Result<Ending> {
    let run = read.run();
    let ending = ending(args, std::slice::from_ref(&run));
    let Run { folder, found } = run;
    let write = || {
        let document = report::of_run(&found, Some(read.files.path()));
        let page = page::write(&read.files, report::PAGE, &report::html(&document));
        (document, page)
    };
    let ((document, page), table) = page::beside_table(&read.files, &read.trials, write);
    // Print the requested output even if the folder cannot be written to.
    let table = match page {
        Ok(_) => table.map(Some),
        // The folder is closed: the reason is the same.
        Err(_) => Ok(None),
    };
    for error in page.as_ref().err().into_iter().chain(table.as_ref().err()) {
        output::report_error(error);
    }
    let page = page.ok();
    if args.csv {
        results::trials::csv(&read.trials, output::print_table)?;
    } else if args.json {
        output::print_lines(report::json_lines(&found))?;
        let paths = Paths {
            folder,
            page: page.as_deref(),
            table: table.as_ref().ok().and_then(|table| table.as_deref()),
        };
        output::print_lines([report::run_json(&found, paths)])?;
    } else {
        let files = Places {
            folder: Some(folder),
            page: page.as_deref(),
        };
        printed::run(&found, &document, files, (args.detail, args.verbose))?;
    }
    Ok(ending)
}

fn changes(args: &Report, first: &ReadRun<'_>, second: &ReadRun<'_>) -> Result<Ending> {
    if args.csv {
        bail!(
            "--csv prints the trials of one folder; give one folder, or use --json for the comparison"
        );
    }
    let files = &second.files;
    let runs = [first.run(), second.run()];
    let [first, second] = &runs;
    if args.json {
        output::print_lines(report::changes_json(first, second))?;
        output::print_lines(run_lines(&runs))?;
    } else {
        let document = report::of_changes(first, second);
        print_with_page(&document, files, report::CHANGES_PAGE, (args, &runs))?;
    }
    Ok(ending(args, &runs))
}

fn backends(args: &Report, runs: &[ReadRun<'_>]) -> Result<Ending> {
    if args.csv {
        bail!(
            "--csv prints the trials of one folder; give one folder, or use --json for all backends"
        );
    }
    let files = &runs[0].files;
    let runs: Vec<Run<'_>> = runs.iter().map(ReadRun::run).collect();
    let found: Vec<&Findings<'_>> = runs.iter().map(|run| &run.found).collect();
    let all = across_backends(&found).map_err(|why| anyhow!(why))?;
    if args.json {
        output::print_lines(report::backends_json(&all, &runs))?;
        output::print_lines(run_lines(&runs))?;
        return Ok(ending(args, &runs));
    }
    let document = report::of_backends(&all, &runs);
    print_with_page(&document, files, report::BACKENDS_PAGE, (args, &runs))?;
    Ok(ending(args, &runs))
}

/// Prints a report of several runs and writes its page. The requested output is
/// printed even if the folder cannot be written to.
fn print_with_page(
    document: &Document,
    folder: &Files,
    name: &str,
    (args, runs): (&Report, &[Run<'_>]),
) -> Result<()> {
    let page = page::write(folder, name, &report::html(document));
    if let Err(error) = &page {
        output::report_error(error);
    }
    let files = Places {
        folder: None,
        page: page.as_deref().ok(),
    };
    printed::other(document, files, args.detail)?;
    let verbose = runs.iter().filter(|_| args.verbose);
    verbose
        .map(|run| &run.found)
        .try_for_each(printed::quality_check)
}
