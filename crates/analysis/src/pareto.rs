//! Pareto fronts: for two conflicting metrics, the settings to which no other
//! one is preferable [Pareto1906].
//!
//! One setting is preferable to another if it is no worse in either metric and
//! better in one of them. The means are compared; "better" requires the entire
//! 95 % interval of the difference if there are enough trials.
//! Indistinguishable settings share the front.

use plan::metric::{Better, Metric};
use plan::{Factors, Plan, Tradeoff};

use crate::compare::Comparison;
use crate::statistics::{Mean, difference};

/// The cells that compete in one trade-off.
#[derive(Clone, Debug)]
pub struct Front<'a> {
    /// The trade-off.
    pub tradeoff: &'a Tradeoff,
    /// The metrics: horizontal axis, vertical axis.
    pub metrics: [&'static Metric; 2],
    /// The common factors of the cells.
    pub within: Factors,
    /// Each cell with both metrics, ordered by the first metric, best first.
    pub points: Vec<Point>,
}

/// A cell with its means.
#[derive(Clone, Debug)]
pub struct Point {
    /// The cell.
    pub factors: Factors,
    /// The means of both metrics.
    pub means: [Mean; 2],
    /// Whether no other cell is preferable.
    pub is_front: bool,
}

/// The fronts of all trade-offs of the plan that were measured.
pub fn fronts<'a>(plan: &'a Plan, comparisons: &[Comparison]) -> Vec<Front<'a>> {
    let each = plan.tradeoffs.iter();
    each.flat_map(|tradeoff| of(tradeoff, comparisons))
        .collect()
}

impl Front<'_> {
    /// The cells to which no other one is preferable.
    pub fn front(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.is_front)
    }
}

/// A front for each combination of levels within which cells compete.
fn of<'a>(tradeoff: &'a Tradeoff, comparisons: &[Comparison]) -> Vec<Front<'a>> {
    let Some(metrics) = both(&tradeoff.metrics) else {
        return Vec::new();
    };
    let mut fronts: Vec<Front<'a>> = Vec::new();
    let rows = comparisons.iter().filter(|row| row.metric == metrics[0]);
    for row in rows {
        let is_other = |other: &&Comparison| other.metric == metrics[1] && other.cell == row.cell;
        let other = comparisons.iter().find(is_other);
        let Some(means) = row.mean.zip(other.and_then(|other| other.mean)) else {
            continue;
        };
        let named = tradeoff.within.iter();
        let within =
            named.filter_map(|name| Some((name.clone(), row.factors.level(name)?.clone())));
        let within = Factors(within.collect());
        let point = Point {
            factors: row.factors.clone(),
            means: means.into(),
            is_front: false,
        };
        match fronts.iter_mut().find(|front| front.within == within) {
            Some(front) => front.points.push(point),
            None => fronts.push(Front {
                tradeoff,
                metrics,
                within,
                points: vec![point],
            }),
        }
    }
    for front in &mut fronts {
        front.decide();
    }
    fronts
}

fn both(names: &[String; 2]) -> Option<[&'static Metric; 2]> {
    let [first, second] = names.each_ref().map(|name| Metric::named(name));
    Some([first?, second?])
}

impl Front<'_> {
    fn decide(&mut self) {
        let better = self.metrics.map(|metric| metric.better);
        let points = &self.points;
        let is_front = |point: &Point| {
            let mut others = points.iter();
            !others.any(|other| is_preferable(&other.means, &point.means, better))
        };
        let decided: Vec<bool> = points.iter().map(is_front).collect();
        for (point, is_front) in self.points.iter_mut().zip(decided) {
            point.is_front = is_front;
        }
        let first = |point: &Point| match better[0] {
            Better::Lower => point.means[0].mean,
            Better::Higher => -point.means[0].mean,
        };
        self.points.sort_by(|a, b| first(a).total_cmp(&first(b)));
    }
}

fn is_preferable(one: &[Mean; 2], other: &[Mean; 2], better: [Better; 2]) -> bool {
    let both = || one.iter().zip(other).zip(better);
    let no_worse = |((one, other), better): ((&Mean, &Mean), Better)| match better {
        Better::Lower => one.mean <= other.mean,
        Better::Higher => one.mean >= other.mean,
    };
    let is_better = |((one, other), better): ((&Mean, &Mean), Better)| {
        let apart = difference(one, other);
        let [low, high] = apart.map_or([one.mean - other.mean; 2], |apart| [apart.low, apart.high]);
        match better {
            Better::Lower => high < 0.0,
            Better::Higher => low > 0.0,
        }
    };
    both().all(no_worse) && both().any(is_better)
}

#[cfg(test)]
mod tests;
