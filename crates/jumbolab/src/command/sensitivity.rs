//! `jumbolab sensitivity`.

use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use backends::facts;
use backends::run::{ReadyBackend, RunOptions};
use backends::sensitivity::{self, Budget, End, Study};
use experiment::Experiment;
use files::Folder as Files;
use indicatif::{ProgressBar, ProgressStyle};
use os::clock;
use plan::Trial;
use report::Places;
use results::folder::{Folder, Opening, Resume};
use results::journal::Lost;
use serde_json::json;
use units::{Span, Time};

#[cfg(target_os = "linux")]
use super::consent;
use super::run::RESULTS;
use super::{page, printed};
use crate::args::{self, Detail, Sensitivity};
use crate::output;

/// The file of a results folder that has the experiment whose settings are searched.
pub(super) const EXPERIMENT: &str = "experiment.toml";

/// How often a line is printed where no terminal is.
const PLAIN_INTERVAL: Span = Span::from_secs(10);

/// The interval of objects for a program.
const PROGRAM_INTERVAL: Span = Span::from_millis(100);

/// The number of steps of a full bar.
const WHOLE: u64 = 1000;

pub(crate) fn run(args: &Sensitivity) -> Result<()> {
    let budget = budget(args)?;
    let study = study(args)?;
    let shard = args.shard.as_deref().map(str::parse).transpose()?;
    #[cfg(target_os = "linux")]
    consent::ask(study.experiment(), study.plan(), None, args.allow_commands)?;
    let facts = facts::here(study.plan().backend)?;
    // Privileges first: where they are rejected, nothing has been written.
    let how = RunOptions {
        threads: args.threads,
        shard,
        retry: false,
        named: None,
    };
    let mut bench = ReadyBackend::ready(study.plan(), how)?;
    if args.resume.is_none() {
        let warnings = bench.check_rates(study.plan())?;
        warnings.iter().for_each(|warning| output::warn(warning));
    }
    let mut folder = Folder::open(&Opening {
        base: Path::new(RESULTS),
        explicit: args.output.as_deref(),
        plan: study.plan(),
        facts: &facts,
        resume: match args.resume {
            None => Resume::No,
            Some(args::Resume::Same) => Resume::Same,
            Some(args::Resume::Force) => Resume::Force,
        },
        shard,
        // There may always be a larger limit.
        complete: |_, _| false,
    })?;
    let path = folder.path().to_owned();
    page::write(folder.files(), EXPERIMENT, &study.written())?;
    if !args.detail.quiet {
        output::info_folder("results go to", &path);
    }
    let kept = format!(
        "what was measured is in {}; add --resume to go on",
        path.display()
    );
    let mut progress = Progress::new(args.detail.quiet);
    let end = sensitivity::run(
        &study,
        &mut bench,
        &mut folder,
        shard,
        budget,
        &mut progress,
    );
    progress.end();
    let end = match end {
        Err(error) if error.is::<Lost>() => return Err(folder.rescued(study.plan(), error)),
        end => end.context(kept)?,
    };
    let runs = folder.trials().len();
    output::info(&match end {
        End::Complete => format!("all is searched, with {runs} trials"),
        End::Spent => format!(
            "the limit is reached; --max-trials {runs} does the same again, --resume with a larger limit continues"
        ),
        End::Waiting => "this part of the round is done; run the others in this folder, then each of them again with --resume".to_owned(),
    });
    if shard.is_some() && end != End::Complete {
        // Findings need the other parts.
        return match args.json {
            true => Ok(()),
            false => output::print(&format!(
                "{runs} trials are in {path}; `jumbolab report {path}` reports what is there\n",
                path = path.display()
            )),
        };
    }
    print(
        &study,
        folder.trials(),
        folder.files(),
        (args.json, args.detail),
    )
    .and_then(|()| folder.check())
    .map_err(|error| match folder.check() {
        Err(lost) => folder.rescued(study.plan(), lost),
        Ok(()) => error,
    })
}

/// Prints what a search says, as JSON or for people, and writes its page.
pub(super) fn print(
    study: &Study,
    trials: &[Trial],
    files: &Files,
    (json, detail): (bool, Detail),
) -> Result<()> {
    let path = files.path();
    let found = study.findings(trials);
    let document = report::of_sensitivity(&found, path);
    let page = page::write(files, report::PAGE, &report::html(&document));
    if json {
        output::print_lines(report::sensitivity_json(&found))?;
    } else {
        let files = Places {
            folder: Some(path),
            page: page.as_deref().ok(),
        };
        printed::other(&document, files, detail)?;
    }
    page.and_then(|_| results::trials::write(files, trials))
        .with_context(|| {
            format!(
                "all is measured and kept: see `jumbolab report {}`",
                path.display()
            )
        })
}

/// The time of a search without a limit of its own.
const USUAL_TIME: Span = Span::from_secs(600);

/// The limit of the search.
fn budget(args: &Sensitivity) -> Result<Budget> {
    let Some(text) = &args.max_time else {
        let trials = args
            .max_trials
            .map(|trials| Budget::Trials(trials as usize));
        return Ok(trials.unwrap_or(Budget::Time(USUAL_TIME)));
    };
    let time: Span = text
        .parse()
        .map_err(|why| anyhow!("--max-time {text}: {why}"))?;
    ensure!(
        time > Span::ZERO,
        "--max-time {text}: write a time above 0, for instance 10min"
    );
    Ok(Budget::Time(time))
}

/// The experiment with everything that was said on the command line.
fn study(args: &Sensitivity) -> Result<Study> {
    let mut experiment = Experiment::load(&args.experiment)?;
    for assignment in &args.set {
        experiment.set(assignment)?;
    }
    if let Some(seed) = args.seed {
        experiment.set(&format!("trials.seed={seed}"))?;
    }
    let backend = match &args.on {
        Some(named) => named.parse()?,
        None => experiment.backend()?.unwrap_or_default(),
    };
    backends::backend::require(backend)?;
    if backend.profile().predicts {
        bail!(
            "--on {backend}: a search separates chance from the effect of settings, and predictions have no chance; write --on sim or netns"
        );
    }
    if backend.profile().depends_on_machine && experiment.has_auto_rate() {
        bail!(
            "rate = \"auto\": all parts of a search have one rate; add for instance --set network.rate=1gbit"
        );
    }
    Study::new(experiment, backend)
}

/// Says how far a search has come: a bar on a terminal, lines elsewhere.
struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
    said: Time,
}

impl Progress {
    fn new(quiet: bool) -> Self {
        let style =
            ProgressStyle::with_template("{bar:32} {elapsed} elapsed, {eta} left  {wide_msg}");
        let bar = || {
            ProgressBar::new(WHOLE)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        };
        Self {
            quiet,
            bar: (!quiet && !output::is_for_programs() && io::stderr().is_terminal()).then(bar),
            said: clock::monotonic(),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl sensitivity::Progress for Progress {
    fn made(&mut self, trials: usize, points: usize, part: f64) {
        let words = format!("{trials} trials at {points} settings");
        if let Some(bar) = &self.bar {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and the whole"
            )]
            bar.set_position((part.clamp(0.0, 1.0) * WHOLE as f64) as u64);
            bar.set_message(words);
        } else if !self.quiet && output::is_for_programs() {
            let is_due = clock::monotonic().since(self.said) >= Some(PROGRAM_INTERVAL);
            if is_due || part >= 1.0 {
                self.said = clock::monotonic();
                output::emit_json(&json!({
                    "kind": "progress",
                    "trials": trials,
                    "settings": points,
                    "part": part,
                }));
            }
        } else if !self.quiet && clock::monotonic().since(self.said) >= Some(PLAIN_INTERVAL) {
            self.said = clock::monotonic();
            output::info(&format!(
                "{words}, {:.0} % of the limit",
                100.0 * part.min(1.0)
            ));
        }
    }

    fn failed(&mut self, trial: &Trial) {
        let failure = trial.failure.as_deref().unwrap_or_default();
        let line = format!("trial {} ({}) failed: {failure}", trial.id, trial.factors);
        let line = output::one_line(&line);
        match &self.bar {
            Some(bar) => bar.println(line),
            None => output::info(&line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, examples_of};

    #[test]
    fn every_example_has_something_to_search() {
        for example in examples_of("sensitivity") {
            let Command::Sensitivity(args) = example.parse().command else {
                panic!("{} searches nothing", example.line)
            };
            budget(&args).unwrap();
            study(&args).unwrap_or_else(|error| panic!("{}: {error:#}", example.line));
        }
    }
}
