//! Ranks settings by their distance from values that a study prints without
//! stating all of its settings, and determines the changes in them.
//!
//! The cells with the baseline of the compared factor are settings, each
//! evaluated with every counting method. All run with the same seeds
//! [Fisher1935], so the changes by other levels and the differences in distance
//! are judged by paired differences.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use plan::metric::Metric;
use plan::{Factors, Level, Plan, Ranking, Trial};
use serde::Serialize;

use crate::compare::{baseline, by_cell};
use crate::paired::differences;
use crate::statistics::{self, Interval, Jackknife, Mean, Separation};

/// A setting with a counting method, and its distance from the printed values.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// The cell's position in the plan.
    pub cell: usize,
    /// Its factors, except for the compared one.
    pub factors: Factors,
    /// The counting methods, as positions in [`Ranking::countings`]: all those
    /// that yield the same values here.
    pub countings: Vec<usize>,
    /// Finished trials with all values.
    pub n: usize,
    /// The distance: root mean square, over the printed values, of the
    /// difference between measured mean and printed value, in gaps.
    pub distance: f64,
    /// Its 95 % interval over the seeds; `None` for a single trial.
    pub interval: Option<Interval>,
    /// Whether this setting may be as near as the nearest one, at 95 %
    /// confidence; `None` if unknown.
    pub is_tied: Option<bool>,
    /// The measured value of each printed one.
    pub figures: Vec<Measured>,
    /// The changes by the other levels of the compared factor, in the plan's
    /// order.
    pub others: Vec<Other>,
}

/// The measurement of a printed value.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The metric of the counting method.
    pub metric: &'static Metric,
    pub mean: Mean,
    /// The probability that two runs of this setting with different seeds
    /// differ by the printed gap or more.
    pub separation: Option<Separation>,
}

/// Another level of the compared factor, in the same setting.
#[derive(Clone, Debug, Serialize)]
pub struct Other {
    pub level: Level,
    /// For each printed value the mean difference from the ranked cell, over
    /// the seeds of both.
    pub changes: Vec<Option<Mean>>,
}

/// Settings with their counting methods, nearest first; empty if the plan ranks
/// nothing or nothing was measured.
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
    // The sort is stable: settings with equal distances stay in the plan's
    // order.
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

/// For each ranked cell, those that differ from it only in the compared factor.
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

/// A setting with all distinct counting methods, with the repeats used and the
/// jackknife of its distance.
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
        // Single packets count alike as frames and as packets.
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

/// The repeat of a trial, and its values in the order of the ranking.
type Row = (u32, Vec<f64>);

/// The finished trials with all values, by repeat.
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

/// The distance of the means of all rows, or of all but one, from the printed
/// values.
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

/// The mean differences of `other` from `base`, value by value, in the repeats
/// of both.
fn changes(figures: usize, base: &[Row], other: &[Row]) -> Vec<Option<Mean>> {
    let figure = |rows: &[Row], place: usize| {
        let rows = rows.iter();
        rows.map(|(repeat, row)| (*repeat, row[place])).collect()
    };
    let change =
        |place: usize| statistics::mean(&differences(&figure(base, place), &figure(other, place)));
    (0..figures).map(change).collect()
}
