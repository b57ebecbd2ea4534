//! The records of the points of a search.

use std::collections::BTreeMap;

use analysis::sensitivity::Point;
use analysis::sensitivity::findings::EvaluatedPoint;
use analysis::sensitivity::nearest::{Measured, near};
use analysis::sensitivity::questions::answers;
use analysis::sensitivity::search::{Known, Task, first_seeds, is_fresh};
use plan::{Plan, Trial, cell_id};

use super::Study;

/// All points that were planned, in order.
#[derive(Default)]
pub(super) struct Records {
    records: Vec<Record>,
    numbers: BTreeMap<Point, usize>,
    known: BTreeMap<Point, Known>,
    /// The position of each trial that was seen, by its name.
    index: BTreeMap<String, usize>,
    seen: usize,
}

/// One point.
struct Record {
    point: Point,
    /// Its plan; none where no backend can run it.
    plan: Option<Plan>,
    /// Its trials, as those of its plan.
    trials: Vec<Trial>,
    /// Those with fresh seeds.
    fresh: Vec<Trial>,
}

impl Records {
    /// The results of the points that were run.
    pub(super) const fn known(&self) -> &BTreeMap<Point, Known> {
        &self.known
    }

    /// How many points were planned.
    pub(super) fn points(&self) -> usize {
        self.records.len()
    }

    /// How many of them cannot be run.
    pub(super) fn rejected(&self) -> usize {
        let rejected = self.records.iter().filter(|record| record.plan.is_none());
        rejected.count()
    }

    /// The number and the plan of a point, if it can be run.
    pub(super) fn at(&self, point: &Point) -> Option<(usize, &Plan)> {
        let number = *self.numbers.get(point)?;
        Some((number, self.records[number].plan.as_ref()?))
    }

    /// Takes in the points of a round.
    pub(super) fn plan(&mut self, study: &Study, tasks: &[Task]) {
        for Task { point, .. } in tasks {
            if self.numbers.contains_key(point) {
                continue;
            }
            self.numbers.insert(point.clone(), self.records.len());
            self.records.push(Record {
                point: point.clone(),
                // Its text is that of the default, and long.
                plan: study.plan_at(point).ok().map(|plan| Plan {
                    text: String::new(),
                    ..plan
                }),
                trials: Vec::new(),
                fresh: Vec::new(),
            });
        }
    }

    /// Takes in what `trials` hold of a round; of all that were given before they
    /// are the first ones.
    pub(super) fn take(&mut self, study: &Study, tasks: &[Task], trials: &[Trial]) {
        for (position, trial) in trials.iter().enumerate().skip(self.seen) {
            self.index.insert(trial.id.to_string(), position);
        }
        self.seen = trials.len();
        for task in tasks {
            let number = self.numbers[&task.point];
            for (cell, repeat) in names(study, task) {
                let Some(&position) = self.index.get(&id(number, cell, repeat)) else {
                    continue;
                };
                let trial = Trial {
                    factors: study.plan.cells[cell].factors.clone().into(),
                    ..trials[position].clone()
                };
                let record = &mut self.records[number];
                match is_fresh(repeat) {
                    true => record.fresh.push(trial),
                    false => record.trials.push(trial),
                }
            }
            let record = &self.records[number];
            if let Some(plan) = record.plan.as_ref().filter(|_| record.is_begun(study)) {
                let measured = study.interpretations.measured(plan, &record.trials);
                let nearest = near(study.interpretations.interpretations(), &measured);
                let known = Known {
                    answers: answers(plan, &study.questions, &record.trials),
                    distance: nearest.map(|near| near.distance),
                };
                self.known.insert(task.point.clone(), known);
            }
        }
    }

    /// Whether all trials of a round were seen.
    pub(super) fn has(&self, study: &Study, tasks: &[Task]) -> bool {
        let mut can_run = tasks.iter().filter(|task| self.at(&task.point).is_some());
        can_run.all(|task| {
            let number = self.numbers[&task.point];
            let mut names = names(study, task);
            names.all(|(cell, repeat)| self.index.contains_key(&id(number, cell, repeat)))
        })
    }

    /// The points with enough trials for answers.
    pub(super) fn ran(
        &self,
        study: &Study,
        is_sampled: impl Fn(&Point) -> bool,
    ) -> Vec<EvaluatedPoint> {
        let ran = |record: &Record| -> Option<EvaluatedPoint> {
            let known = self.known.get(&record.point)?;
            let plan = record.plan.as_ref()?;
            let measured =
                |trials: &[Trial]| -> Measured { study.interpretations.measured(plan, trials) };
            Some(EvaluatedPoint {
                point: record.point.clone(),
                is_sampled: is_sampled(&record.point),
                seeds: record.trials.len() / study.cells.len(),
                answers: known.answers.clone(),
                measured: measured(&record.trials),
                fresh: (!record.fresh.is_empty()).then(|| measured(&record.fresh)),
            })
        };
        self.records.iter().filter_map(ran).collect()
    }
}

impl Record {
    /// Whether all cells have their first seeds.
    fn is_begun(&self, study: &Study) -> bool {
        let first = first_seeds(study.plan.repeat);
        let firsts = self.trials.iter().filter(|trial| trial.repeat <= first);
        firsts.count() == study.cells.len() * first as usize
    }
}

/// The cells and seeds of a task.
fn names<'a>(study: &'a Study, task: &'a Task) -> impl Iterator<Item = (usize, u32)> + 'a {
    let cells = study.cells.iter();
    cells.flat_map(|&cell| task.repeats.clone().map(move |repeat| (cell, repeat)))
}

/// The name of a trial at the point of this number.
pub(super) fn id(number: usize, cell: usize, repeat: u32) -> String {
    format!("p{number:04}-{}-r{repeat:02}", cell_id(cell))
}
