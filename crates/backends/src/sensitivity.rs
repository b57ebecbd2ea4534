//! Searches the settings that a study does not state.
//!
//! [`Study`] is what is searched; [`run`] makes the trials that
//! `analysis::sensitivity::search` plans, round by round, and keeps each in the
//! journal of a results folder; [`Study::findings`] reads trials from there. A
//! round follows from the results of those before it, so that a search that was
//! stopped anywhere is gone on with by planning it again: trials that the folder
//! holds are not run twice.

mod budget;
mod record;

use std::collections::BTreeSet;

use analysis::sensitivity::findings::{Asked, Findings};
use analysis::sensitivity::questions::{
    self, Interpretations, Question, cells, interpretations, metrics,
};
use analysis::sensitivity::search::{Search, Task};
use analysis::sensitivity::{Point, Space};
use anyhow::{Result, bail};
use experiment::Experiment;
use os::clock;
use plan::{Backend, Factors, Plan, SideEffect, Trial, evidence};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use results::folder::{Folder, Shard};

use crate::backend;
use crate::run::{Job, ReadyBackend, first_of};
pub use budget::Budget;
use record::{Records, id};

/// The end of the name of a plan that is searched.
const SUFFIX: &str = "-sensitivity";

/// Receives the progress of a search.
pub trait Progress {
    /// Reports the trials made, the points they were made at, and the part of the
    /// budget that is used.
    fn made(&mut self, trials: usize, points: usize, part: f64);
    /// A trial failed.
    fn failed(&mut self, trial: &Trial);
}

/// A study with settings that it does not state.
pub struct Study {
    experiment: Experiment,
    plan: Plan,
    questions: Vec<Question>,
    interpretations: Interpretations,
    /// The cells that are run at each point.
    cells: Vec<usize>,
    /// The metrics that are kept.
    metrics: BTreeSet<String>,
}

/// Whether `trials` are those of a search, not of a run of `plan`: they say which
/// value each unstated setting had.
pub fn is_search(plan: &Plan, trials: &[Trial]) -> bool {
    let searched = |trial: &Trial| {
        let mut settings = plan.unstated.iter();
        settings.all(|setting| trial.factors.level(&setting.name).is_some())
    };
    !plan.unstated.is_empty() && trials.first().is_some_and(searched)
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is left to run.
    Complete,
    /// The budget is used up.
    Spent,
    /// This shard's part of a round is done, and the other parts are not there.
    Waiting,
}

impl Study {
    /// The study of an experiment in one backend.
    ///
    /// # Errors
    /// One line where it states everything or claims nothing, or as
    /// [`Experiment::plan`].
    pub fn new(mut experiment: Experiment, backend: Backend) -> Result<Self> {
        let name = backend::plan(experiment.clone(), backend)?.name;
        if !name.ends_with(SUFFIX) {
            experiment.set(&format!("name={name}{SUFFIX}"))?;
        }
        let plan = backend::plan(experiment.clone(), backend)?;
        if plan.unstated.is_empty() {
            bail!(
                "{name} has no [[unstated]] settings to search; add some as docs/reference/experiments.md describes"
            );
        }
        let study = Self {
            questions: questions::questions(&plan),
            interpretations: interpretations(&plan),
            cells: cells(&plan),
            metrics: metrics(&plan),
            experiment,
            plan,
        };
        if study.cells.is_empty() {
            bail!(
                "{name} has neither [[claim]], [[jump]] nor [[published]] figures that could turn over"
            );
        }
        Ok(study)
    }

    /// The plan of the default point, which a results folder keeps.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The experiment that is searched.
    pub const fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The experiment that is searched, as TOML: reads back to the same study.
    pub fn written(&self) -> String {
        self.experiment.written()
    }

    fn space(&self) -> Space {
        let settings = self.plan.unstated.iter();
        Space::new(settings.map(|setting| setting.values.len()).collect())
    }

    fn search(&self) -> Search {
        Search::new(&self.space(), self.plan.seed, self.plan.repeat)
    }

    /// The factors of a trial: the values at its point, then those of its cell.
    fn factors(&self, point: &Point, cell: usize) -> Factors {
        let Factors(own) = &self.plan.cells[cell].factors;
        let levels = questions::levels(&self.plan, point).into_iter();
        Factors(levels.chain(own.iter().cloned()).collect())
    }

    /// The plan at a point, or why no backend can run it.
    fn plan_at(&self, point: &Point) -> Result<Plan> {
        backend::plan(
            self.experiment.with_unstated(&self.plan.unstated, point)?,
            self.plan.backend,
        )
    }
}

/// Runs what `folder` does not hold yet of a search, or of its shard, until the
/// budget is used up. Trials that the folder holds are in the budget of runs.
///
/// # Errors
/// When the journal cannot be written, the test network is lost, or someone asked to
/// stop; what was measured before is kept.
pub fn run(
    study: &Study,
    bench: &mut ReadyBackend,
    folder: &mut Folder,
    shard: Option<Shard>,
    budget: Budget,
    progress: &mut dyn Progress,
) -> Result<End> {
    let begun = clock::monotonic();
    let mut search = study.search();
    let mut records = Records::default();
    let is_spent = |runs: usize| budget.part(runs, begun, clock::monotonic()) >= 1.0;
    let result = loop {
        let tasks = search.next(records.known());
        if tasks.is_empty() {
            break Ok(End::Complete);
        }
        records.plan(study, &tasks);
        if let Some(effect) = unannounced(study, &records, &tasks) {
            bail!(
                "a value of [[unstated]] makes the search {effect}, which the experiment itself does not; write it as a factor of [sweep]"
            );
        }
        let jobs = jobs(study, &records, &tasks);
        let is_ours = |(position, job): &(usize, Job<'_>)| {
            shard.is_none_or(|shard| shard.has(*position))
                && !folder.holds(&job.factors, job.repeat)
        };
        let ours: Vec<Job<'_>> = jobs
            .into_iter()
            .enumerate()
            .filter(is_ours)
            .map(|(_, job)| job)
            .collect();
        let path = folder.path().to_owned();
        let points = records.points();
        let mut spent = is_spent(folder.trials().len());
        if !spent && !ours.is_empty() {
            let ran = bench.each(&study.plan, &ours, &path, |trial| {
                if trial.failure.is_some() {
                    progress.failed(&trial);
                }
                let trial = study.kept(trial);
                match study.plan.backend.profile().syncs_every_trial {
                    true => folder.append(trial)?,
                    false => folder.append_soon(trial, clock::monotonic())?,
                }
                let runs = folder.trials().len();
                let part = budget.part(runs, begun, clock::monotonic());
                progress.made(runs, points, part);
                Ok(part < 1.0)
            });
            if let Err(error) = ran {
                break Err(error);
            }
            spent = is_spent(folder.trials().len());
        }
        records.take(study, &tasks, folder.trials());
        if !records.has(study, &tasks) {
            break Ok(match spent {
                true => End::Spent,
                false => End::Waiting,
            });
        }
    };
    // Also what came before an error is to survive.
    let synced = folder.sync();
    first_of(result, synced)
}

/// What a point of a round does outside and the default point does not: the user has
/// consented to the latter alone.
fn unannounced<'a>(study: &Study, records: &'a Records, tasks: &[Task]) -> Option<&'a SideEffect> {
    let plans = tasks.iter().filter_map(|task| records.at(&task.point));
    let mut effects = plans.flat_map(|(_, plan)| &plan.side_effects);
    effects.find(|effect| !study.plan.side_effects.contains(effect))
}

/// The trials of a round, in their order: each point by itself, its cells in
/// random order for each seed.
fn jobs<'a>(study: &Study, records: &'a Records, tasks: &[Task]) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for task in tasks {
        let Some((number, plan)) = records.at(&task.point) else {
            continue;
        };
        for repeat in task.repeats.clone() {
            let stream = format!("robustness/order/{number}/{repeat}");
            let mut rng = ChaCha8Rng::seed_from_u64(study.plan.seed.derive(&stream).get());
            let mut cells = study.cells.clone();
            cells.shuffle(&mut rng);
            jobs.extend(cells.into_iter().filter_map(|cell| {
                Some(Job {
                    id: id(number, cell, repeat),
                    attempt: 1,
                    factors: study.factors(&task.point, cell),
                    repeat,
                    setting: plan.cells.get(cell)?.setting.as_ref().ok()?,
                })
            }));
        }
    }
    jobs
}

impl Study {
    /// The parts of a trial that the journal keeps: the metrics of the
    /// questions, and the evidence of their resolution.
    fn kept(&self, mut trial: Trial) -> Trial {
        trial.metrics.retain(|name| self.metrics.contains(name));
        let asked = questions::evidence(&self.plan);
        trial.evidence.retain(|name| {
            evidence::metric_of_resolution(name).is_some()
                || name == evidence::CPU_BYTES.name()
                || name == evidence::CPU_TICK_SECONDS.name()
                || asked == Some(name)
        });
        trial
    }

    /// The findings from the `trials` of a search.
    pub fn findings(&self, trials: &[Trial]) -> Findings<'_> {
        let mut search = self.search();
        let mut records = Records::default();
        let mut is_complete = false;
        loop {
            let tasks = search.next(records.known());
            if tasks.is_empty() {
                is_complete = true;
                break;
            }
            records.plan(self, &tasks);
            records.take(self, &tasks, trials);
            if !records.has(self, &tasks) {
                break;
            }
        }
        let asked = Asked {
            plan: &self.plan,
            questions: &self.questions,
            interpretations: self.interpretations.interpretations(),
            runs: trials.len(),
            rejected: records.rejected(),
            is_complete,
        };
        let points = records.ran(self, |point| search.is_sampled(point));
        Findings::of(asked, points)
    }
}
