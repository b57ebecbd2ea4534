//! Round trips that were taken apart, by the size of their messages.

use analysis::Findings;
use maud::html;

use crate::figure;
use crate::grid::find;
use crate::page::areas::plots;
use crate::section::{Part, Place, Section};
use analysis::compare::Comparison;
use plan::Setting;
use plan::metric::Metric;
use plan::setting::Traffic;
use plan::{Level, Plan};
use units::Bytes;

/// The share of the peak that is enough.
const ENOUGH: f64 = 0.95;

/// Where the time of round trips goes, by the size of their messages.
pub(super) struct Mechanisms;

impl Section for Mechanisms {
    fn heading(&self) -> &'static str {
        "Smallest messages that reach 95 % of the peak goodput"
    }

    fn lines(&self, found: &Findings<'_>) -> Vec<String> {
        lines(found.plan, &found.comparisons)
    }

    fn html(&self, found: &Findings<'_>) -> Vec<Part> {
        let plots = plots(found);
        let markup = html! {
            @if !plots.is_empty() {
                section #mechanisms {
                    h2 { "Where the time goes" }
                    p.note {
                        "Means over the trials, one part of the round trip upon the other in the order of time; all together are the round trip. "
                        "A click on a name hides or shows a part."
                    }
                    ul { @for line in self.lines(found) { li { (line) } } }
                    @for plot in &plots { (plot.html()) }
                }
            }
        };
        vec![Part {
            place: Place::Answer,
            markup,
            plots,
        }]
    }
}

/// Cells that differ in nothing but the size of their messages.
pub(super) struct Group {
    /// What tells it from the others; empty if there is no other.
    pub(super) name: String,
    /// Octets of a message, and the cell's position in the plan; the smallest first.
    pub(super) cells: Vec<(u64, usize)>,
}

/// The groups of a plan that takes round trips apart, in its order.
pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let mut found: Vec<(Setting, Vec<(u64, usize)>)> = Vec::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let Ok(setting) = &cell.setting else { continue };
        let mut setting = setting.clone();
        let Traffic::Mechanisms(trips) = &mut setting.traffic else {
            continue;
        };
        let size = trips.message.get();
        trips.message = Bytes::ZERO;
        let copy = cell.factors.level("copy").is_some();
        match found.iter_mut().find(|(other, _)| *other == setting) {
            _ if copy => {}
            Some((_, cells)) => cells.push((size, position)),
            None => found.push((setting, vec![(size, position)])),
        }
    }
    let named = found.into_iter().map(|(_, mut cells)| {
        cells.sort_unstable();
        let name = name(plan, &cells);
        Group { name, cells }
    });
    named.collect()
}

/// For each group where its goodput ends to grow.
fn lines(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let groups = groups(plan);
    let of = |group: &Group| line(group, comparisons);
    groups.iter().filter_map(of).collect()
}

fn line(group: &Group, comparisons: &[Comparison]) -> Option<String> {
    let metric = Metric::named("goodput_echoed")?;
    let goodput = |cell: usize| Some(find(comparisons, metric, cell)?.mean?.mean);
    let points = group.cells.iter();
    let points = points.filter_map(|(size, cell)| Some((*size, goodput(*cell)?)));
    let points: Vec<(u64, f64)> = points.collect();
    let (enough, peak) = knee(&points)?;
    let place = match group.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let largest = match points.last() {
        Some((last, _)) if *last == enough && points.len() > 1 => {
            ", the largest that was tried: it may grow on"
        }
        _ => "",
    };
    Some(format!(
        "{place}{enough} B{largest}; the peak is {} Mbit/s there and back, at {} B",
        figure::four_digits(peak.1),
        peak.0
    ))
}

/// The smallest size that reaches enough of the peak, and the peak; goodput need
/// not grow with every size.
fn knee(points: &[(u64, f64)]) -> Option<(u64, (u64, f64))> {
    let peak = { points.iter().copied() }.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let enough = points
        .iter()
        .find(|(_, goodput)| *goodput >= ENOUGH * peak.1)?;
    Some((enough.0, peak))
}

/// The factors that all cells of a group share and not all of the plan's do.
fn name(plan: &Plan, cells: &[(u64, usize)]) -> String {
    let Some((_, first)) = cells.first() else {
        return String::new();
    };
    let shared = |(factor, level): &&(String, Level)| {
        let has = |cell: usize| plan.cells[cell].factors.level(factor) == Some(level);
        let told = !(0..plan.cells.len()).all(has);
        told && cells.iter().all(|(_, cell)| has(*cell))
    };
    let words = plan.cells[*first].factors.0.iter().filter(shared);
    let words = words.map(|(factor, level)| format!("{factor} {level}"));
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_the_smallest_size_with_enough_of_the_peak() {
        let points = [
            (64, 10.0),
            (1_000, 96.0),
            (1_500, 90.0),
            (9_000, 100.0),
            (60_000, 97.0),
        ];
        assert_eq!(knee(&points), Some((1_000, (9_000, 100.0))));
        assert_eq!(knee(&points[..1]), Some((64, (64, 10.0))));
        assert_eq!(knee(&[]), None);
    }
}
