//! The findings of a run, computed once and shared by all reports.

use std::sync::OnceLock;

use plan::metric::Metric;
use plan::{Cell, Plan, RunFacts, Trial};

use crate::answer::Answer;
use crate::claims;
use crate::compare::{Comparison, baselines, by_cell, compare};
use crate::completion::complete;
use crate::details::Details;
use crate::disturbances::Disturbances;
use crate::latency_breakdown::{Group, groups};
use crate::outliers::{Outlier, outliers};
use crate::paired::{Paired, paired};
use crate::prober_accuracy::{Score, scores};
use crate::quality_check::{QualityCheck, Reason, State, Warning, check_quality};
use crate::sizes::{self, Curve, curves};

/// A plan, its trials, and all findings.
pub struct Findings<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its trials.
    pub trials: &'a [Trial],
    /// Program and machine.
    pub facts: &'a RunFacts,
    /// The trials of each cell of the plan.
    pub by_cell: Vec<Vec<&'a Trial>>,
    /// Every metric in every cell: by metric in the catalogue's order, then by
    /// cell in the plan's.
    pub comparisons: Vec<Comparison>,
    /// The baseline of each cell: itself, if it is one.
    pub baselines: Vec<Option<usize>>,
    /// The answer to the question of the experiment.
    pub answer: Answer<'a>,
    /// The quality check of the run.
    pub quality_check: QualityCheck,
    /// The trials that other work on the machine disturbed.
    pub disturbances: Disturbances,
    /// Whether no trial of the plan is left to run.
    pub complete: bool,
    /// The claims of the plan with their verdicts.
    pub claims: Vec<claims::ClaimResult<'a>>,
    /// Paired changes of cells against their baseline.
    pub paired: Vec<Paired<'a>>,
    /// Times of messages by their size.
    pub curves: Vec<Curve<'a>>,
    /// Assertions of steps in these curves, with verdicts.
    pub steps: Vec<sizes::StepResult<'a>>,
    /// How often a prober was right, in the cells that know the faults of their paths.
    pub scores: Vec<Score>,
    /// Round trips that were taken apart, by the size of their messages.
    pub latency_breakdown: Vec<Group>,
    /// Outliers among the trials of each cell.
    pub outliers: Vec<Outlier<'a>>,
    /// The details of each cell, once they were asked for.
    details: OnceLock<Vec<Details>>,
}

impl<'a> Findings<'a> {
    /// The findings of `trials` of `plan`.
    pub fn of(plan: &'a Plan, trials: &'a [Trial], facts: &'a RunFacts) -> Self {
        let by_cell = by_cell(plan, trials);
        let curves = curves(plan, trials);
        let mut comparisons = compare(plan, trials);
        let mut claims = claims::judged(plan, &comparisons);
        let mut steps = sizes::judged(plan, &curves);
        if let Some(why) = facts.judges_nothing() {
            comparisons
                .iter_mut()
                .for_each(|row| row.leave_unjudged(why));
            claims
                .iter_mut()
                .for_each(|claim| claim.leave_unjudged(why));
            steps.iter_mut().for_each(sizes::StepResult::leave_unjudged);
        }
        let baselines = baselines(plan);
        Self {
            plan,
            trials,
            facts,
            answer: Answer::of(plan, &by_cell, &comparisons, &baselines),
            baselines,
            quality_check: check_quality(facts, trials),
            disturbances: Disturbances::of(trials),
            complete: complete(plan, trials),
            claims,
            paired: paired(plan, trials),
            steps,
            latency_breakdown: groups(plan, &comparisons),
            outliers: outliers(plan, &by_cell),
            scores: scores(&by_cell),
            by_cell,
            comparisons,
            curves,
            details: OnceLock::new(),
        }
    }

    /// Time series and distributions of a cell's finished trials. The first call reads
    /// the evidence of all trials.
    ///
    /// # Panics
    /// The plan has no such cell.
    pub fn details(&self, cell: usize) -> &Details {
        &self
            .details
            .get_or_init(|| Details::of_cells(&self.by_cell))[cell]
    }

    /// One metric in one cell.
    pub fn find(&self, metric: &Metric, cell: usize) -> Option<&Comparison> {
        crate::compare::find(&self.comparisons, metric, cell)
    }

    /// The number of failed trials; no result includes them.
    pub fn failed(&self) -> usize {
        let failed = |trial: &&Trial| trial.failure.is_some();
        self.trials.iter().filter(failed).count()
    }

    /// The warnings about figures of the cells at these positions: whether their own trials
    /// measured the host, and whether they stayed far below what the path allows.
    pub fn warnings(&self, cells: &[usize]) -> Vec<Warning> {
        let of_cells = || cells.iter().flat_map(|&cell| &self.by_cell[cell]).copied();
        let warnings = [
            Warning::of(Reason::HostBound, of_cells()),
            Warning::of(Reason::BelowLimit, of_cells()),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// The cells that this backend can measure and that have no finished trial.
    pub fn unmeasured(&self) -> impl Iterator<Item = &'a Cell> {
        let plan = self.plan;
        let cells = plan.cells.iter().zip(&self.by_cell);
        cells.filter_map(|(cell, trials)| {
            let finished = trials.iter().any(|trial| trial.failure.is_none());
            (cell.setting.is_ok() && !finished).then_some(cell)
        })
    }

    /// Whether the headline compares something, and none of its changes is a result.
    pub fn is_without_result(&self) -> bool {
        let report = &self.plan.report;
        let leads = |metric: &Metric| match report.metrics.is_empty() {
            true => self.plan.leads(metric),
            false => report.metrics.iter().any(|name| name == metric.name),
        };
        let changes = self.comparisons.iter();
        let mut changes = changes
            .filter(|row| row.change.is_some() && leads(row.metric))
            .filter(|row| report.includes(&row.factors))
            .peekable();
        changes.peek().is_some() && changes.all(Comparison::is_no_result)
    }

    /// How far the run can be relied on: as its quality check says, and not at all
    /// if a cell of the comparison has no finished trial, or if no change is a result.
    pub fn state(&self) -> State {
        match self.unmeasured().next().is_some() || self.is_without_result() {
            true => State::Failed,
            false => self.quality_check.state(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::verdict::Verdict;

    #[test]
    fn failed_trials_are_counted() {
        let (plan, trials) = plan::synthetic::study();
        let facts = plan::synthetic::facts();
        assert_eq!(Findings::of(&plan, &trials, &facts).failed(), 1);
    }

    #[test]
    fn a_run_fails_where_no_change_of_its_headline_is_a_result() {
        let (mut plan, mut trials) = plan::synthetic::study();
        trials.retain(|trial| trial.failure.is_none());
        let facts = plan::synthetic::facts();
        let state = |plan: &Plan, trials: &[Trial]| Findings::of(plan, trials, &facts).state();
        assert_eq!(state(&plan, &trials), State::Passed);
        for trial in &mut trials {
            let value = if trial.repeat == 1 { 10.0 } else { 900.0 };
            trial.metrics.insert("throughput", value);
        }
        assert_eq!(state(&plan, &trials), State::Passed, "CPU has a result");
        plan.report.metrics = vec!["throughput".into()];
        assert_eq!(state(&plan, &trials), State::Failed);
    }

    #[test]
    fn a_run_under_wine_has_figures_and_judges_no_claim() {
        let (mut plan, trials) = plan::synthetic::study();
        plan.claims = vec![plan::Assertion {
            text: "it carries something".into(),
            source: "[Mathis1997]".into(),
            metric: "throughput".into(),
            cells: Vec::new(),
            alternatives: plan::Alternatives::default(),
            expected: plan::Expected::AtLeast(1.0),
            tolerance: None,
        }];
        let mut facts = plan::synthetic::facts();
        let mut host = |system: &str| {
            facts.hosts = vec![plan::RoleFacts {
                role: "sender".into(),
                name: "a".into(),
                interface: "eth0".into(),
                system: system.into(),
                interfaces: std::collections::BTreeMap::new(),
                host: facts.host.clone().unwrap(),
            }];
            let found = Findings::of(&plan, &trials, &facts);
            let of = |row: &&Comparison| row.metric.name == "throughput" && row.change.is_some();
            let row = found.comparisons.iter().find(of).unwrap();
            assert!(row.mean.is_some());
            let judgement = row.judgement.clone().unwrap();
            let claim = &found.claims[0];
            (judgement, claim.verdict, claim.not_measured.clone())
        };
        let (judgement, verdict, why) = host("Linux");
        assert_ne!(judgement.verdict, Verdict::NotMeasured);
        assert_eq!((verdict, why), (Verdict::Reproduced, None));
        let (judgement, verdict, why) = host("Windows (Wine)");
        assert_eq!(judgement.verdict, Verdict::NotMeasured);
        assert_eq!(judgement.reason, "Wine, not Windows");
        assert_eq!(verdict, Verdict::NotMeasured);
        assert_eq!(why.as_deref(), Some("Wine, not Windows"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn any_figures_of_trials_have_findings(
            exponents in prop::collection::vec(-320..=308_i32, 8),
            signs in prop::collection::vec(prop::sample::select(vec![-1.0, 1.0, 1.0, 1.0]), 8),
        ) {
            let (plan, mut trials) = plan::synthetic::study();
            let figures = exponents.iter().zip(&signs);
            for (trial, (exponent, sign)) in trials.iter_mut().zip(figures) {
                let figure = sign * 10_f64.powi(*exponent);
                for value in trial.metrics.values_mut() {
                    *value = figure;
                }
            }
            let facts = plan::synthetic::facts();
            let found = Findings::of(&plan, &trials, &facts);
            prop_assert!(!found.comparisons.is_empty());
        }
    }
}
