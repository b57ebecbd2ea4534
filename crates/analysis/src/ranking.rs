//! Which settings come nearest to figures that a study prints without telling
//! all of its settings, and what changes in them.
//!
//! The cells that have the baseline of the compared factor are settings, each in
//! every counting. All of them run with the same seeds [Fisher1935], so
//! what another level changes, and which of two settings is nearer, is judged
//! run by run.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use plan::metric::Metric;
use plan::{Factors, Level, Plan, Ranking, Trial};
use serde::Serialize;

use crate::compare::{baseline, by_cell};
use crate::paired::differences;
use crate::statistics::{self, Interval, Jackknife, Mean, Separation};

/// A setting in a counting, and how far it is from the printed figures.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// The cell's position in the plan.
    pub cell: usize,
    /// Its factors, but for the compared one.
    pub factors: Factors,
    /// The countings, as positions in [`Ranking::countings`]: all those that
    /// give the same figures here.
    pub countings: Vec<usize>,
    /// Trials that finished and have all figures.
    pub n: usize,
    /// The root of the mean square, over the printed figures, of how far the
    /// measured mean is from each, in gaps.
    pub distance: f64,
    /// Its 95 % interval over the seeds; a single trial has none.
    pub interval: Option<Interval>,
    /// Whether the nearest setting may be no nearer than this one, for all that
    /// 95 % of chance say; `None` where that is unknown.
    pub is_tied: Option<bool>,
    /// For each printed figure what was measured.
    pub figures: Vec<Measured>,
    /// What the other levels of the compared factor change, in the plan's order.
    pub others: Vec<Other>,
}

/// A printed figure, measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// By this counting.
    pub metric: &'static Metric,
    /// Its mean.
    pub mean: Mean,
    /// How probable it is that two runs of this setting differ by the printed
    /// gap or more, though nothing but the seed does.
    pub separation: Option<Separation>,
}

/// Another level of the compared factor, in the same setting.
#[derive(Clone, Debug, Serialize)]
pub struct Other {
    /// The level.
    pub level: Level,
    /// For each printed figure by how much it is above that of the ranked cell,
    /// on average over the seeds that both were run with.
    pub changes: Vec<Option<Mean>>,
}

/// Settings by their countings, the nearest first; empty where the plan
/// ranks nothing or nothing was measured.
pub fn ranked(plan: &Plan, trials: &[Trial]) -> Vec<Ranked> {
    let Some(ranking) = &plan.ranking else {
        return Vec::new();
    };
    let by_cell = by_cell(plan, trials);
    let families = families(plan);
    let mut found: Vec<(Ranked, Vec<u32>, Jackknife)> = families
        .iter()
        .flat_map(|(&base, others)| of_setting(plan, ranking, &by_cell, base, others))
        .collect();
    // A stable order: settings that are as far apart stay in the plan's.
    found.sort_by(|(a, ..), (b, ..)| a.distance.total_cmp(&b.distance));
    let nearest = found.first().cloned();
    let ranked = found.into_iter().map(|(mut ranked, repeats, distance)| {
        ranked.is_tied = nearest
            .as_ref()
            .filter(|(_, of_nearest, _)| *of_nearest == repeats)
            .and_then(|(.., nearest)| distance.above(nearest)?.ci95)
            .map(|above| above.low <= 0.0);
        ranked
    });
    ranked.collect()
}

/// For each cell that is ranked, those that differ from it in the compared
/// factor alone.
fn families(plan: &Plan) -> BTreeMap<usize, Vec<usize>> {
    let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut bases: BTreeMap<String, Option<usize>> = BTreeMap::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let setting = without(&plan.compare.factor, &cell.factors).to_string();
        let base = bases
            .entry(setting)
            .or_insert_with(|| baseline(plan, &cell.factors));
        let Some(base) = *base else { continue };
        let family = families.entry(base).or_default();
        if base != position {
            family.push(position);
        }
    }
    families
}

fn without(factor: &str, Factors(factors): &Factors) -> Factors {
    let others = factors.iter().filter(|(name, _)| name != factor);
    Factors(others.cloned().collect())
}

/// A setting by all countings that differ, with the repeats
/// that were counted and the jackknife of its distance.
fn of_setting(
    plan: &Plan,
    ranking: &Ranking,
    by_cell: &[Vec<&Trial>],
    base: usize,
    others: &[usize],
) -> Vec<(Ranked, Vec<u32>, Jackknife)> {
    let mut found: Vec<(Ranked, Vec<Row>, Jackknife)> = Vec::new();
    for counting in 0..ranking.countings.len().max(1) {
        let rows = rows(ranking, counting, &by_cell[base]);
        if rows.is_empty() {
            continue;
        }
        // A packet that travels alone is counted alike in frames and in packets.
        if let Some((same, ..)) = found.iter_mut().find(|(_, other, _)| *other == rows) {
            same.countings.push(counting);
            continue;
        }
        let Some(figures) = measured(ranking, counting, &rows) else {
            continue;
        };
        let distance = Jackknife::of(rows.len(), |left| distance(ranking, &rows, left));
        let change = |&cell: &usize| {
            let other = self::rows(ranking, counting, &by_cell[cell]);
            Some(Other {
                level: plan.cells[cell]
                    .factors
                    .level(&plan.compare.factor)?
                    .clone(),
                changes: changes(ranking.figures.len(), &rows, &other),
            })
        };
        let ranked = Ranked {
            cell: base,
            factors: without(&plan.compare.factor, &plan.cells[base].factors),
            countings: vec![counting],
            n: rows.len(),
            distance: distance.estimate,
            interval: distance.interval().map(|wide| Interval {
                low: wide.low.max(0.0),
                ..wide
            }),
            is_tied: None,
            figures,
            others: others.iter().filter_map(change).collect(),
        };
        found.push((ranked, rows, distance));
    }
    let repeats = |rows: Vec<Row>| rows.into_iter().map(|(repeat, _)| repeat).collect();
    let kept = found.into_iter();
    kept.map(|(ranked, rows, distance)| (ranked, repeats(rows), distance))
        .collect()
}

/// Of a trial the repeat and the figures in the order of the ranking.
type Row = (u32, Vec<f64>);

/// The trials that finished and have all figures, by repeat.
fn rows(ranking: &Ranking, counting: usize, trials: &[&Trial]) -> Vec<Row> {
    let row = |trial: &&Trial| {
        let metric = |target: &plan::Target| {
            let name = target.metrics.get(counting)?;
            trial.metrics.get(name).copied()
        };
        let figures: Option<Vec<f64>> = ranking.figures.iter().map(metric).collect();
        Some((trial.repeat, figures?))
    };
    let finished = trials.iter().filter(|trial| trial.failure.is_none());
    let mut rows: Vec<Row> = finished.filter_map(row).collect();
    rows.sort_by_key(|(repeat, _)| *repeat);
    rows
}

fn measured(ranking: &Ranking, counting: usize, rows: &[Row]) -> Option<Vec<Measured>> {
    let one = |(place, target): (usize, &plan::Target)| {
        let values: Vec<f64> = rows.iter().map(|(_, figures)| figures[place]).collect();
        Some(Measured {
            metric: Metric::named(target.metrics.get(counting)?)?,
            mean: statistics::mean(&values)?,
            separation: statistics::separation(&values, target.gap.abs()),
        })
    };
    ranking.figures.iter().enumerate().map(one).collect()
}

/// How far the means of all rows, or of all but one, are from what is printed.
fn distance(ranking: &Ranking, rows: &[Row], left: Option<usize>) -> f64 {
    let kept = || {
        let rows = rows.iter().enumerate();
        rows.filter(|(place, _)| Some(*place) != left)
    };
    let (n, figures) = (kept().count() as f64, ranking.figures.len() as f64);
    let squares = ranking.figures.iter().enumerate().map(|(place, target)| {
        let mean = kept().map(|(_, (_, row))| row[place]).sum::<f64>() / n;
        ((mean - target.value) / target.gap).powi(2)
    });
    (squares.sum::<f64>() / figures).sqrt()
}

/// What `other` has above `base`, figure by figure, in the repeats of both.
fn changes(figures: usize, base: &[Row], other: &[Row]) -> Vec<Option<Mean>> {
    let figure = |rows: &[Row], place: usize| {
        let rows = rows.iter();
        rows.map(|(repeat, row)| (*repeat, row[place])).collect()
    };
    let change =
        |place: usize| statistics::mean(&differences(&figure(base, place), &figure(other, place)));
    (0..figures).map(change).collect()
}
