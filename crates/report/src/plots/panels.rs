//! Small multiples: plots side by side with a few series each, instead of one
//! with many.

use std::collections::BTreeSet;

use plan::{Level, Plan};

use super::marks::MOST_SERIES;
use crate::series::{Series, labelled};

/// One of the plots of a metric.
#[derive(Debug, PartialEq)]
pub(super) struct Panel {
    /// The factors that its series share and others do not have; none if it is
    /// the only panel.
    pub(super) factors: Vec<(String, Level)>,
    pub(super) lines: Vec<Line>,
}

/// A series in a panel.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Its position among all series.
    pub(super) series: usize,
    /// A name that tells it from others of its panel; empty if it is alone.
    pub(super) name: String,
    /// The number of its colour and symbol, the same in every panel.
    pub(super) mark: usize,
}

/// The panels of `series`: as few as have no more than [`MOST_SERIES`] each.
pub(super) fn panels(plan: &Plan, series: &[Series]) -> Vec<Panel> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in series.iter().flat_map(|one| &one.factors) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    // A plan with many factors that vary is divided by all of them but the last.
    let sets = match names.len() {
        few @ 0..=8 => 1_usize << few,
        _ => 0,
    };
    let chosen = |set: usize| -> Vec<&str> {
        let numbered = names.iter().enumerate();
        let of_set = numbered.filter(|(bit, _)| set >> bit & 1 == 1);
        of_set.map(|(_, &name)| name).collect()
    };
    let fits = (0..sets).map(chosen).filter_map(|by| {
        let panels = divided(plan, series, &by);
        let fits = panels.iter().all(|panel| panel.lines.len() <= MOST_SERIES);
        fits.then_some(panels)
    });
    fits.min_by_key(Vec::len)
        .unwrap_or_else(|| divided(plan, series, &names))
}

/// The panels if each combination of levels of the factors `by` has its own.
fn divided(plan: &Plan, series: &[Series], by: &[&str]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    let mut own: Vec<Vec<(String, Level)>> = Vec::new();
    for (position, one) in series.iter().enumerate() {
        let (factors, rest): (Vec<_>, Vec<_>) =
            (one.factors.iter().cloned()).partition(|(name, _)| by.contains(&name.as_str()));
        let mark = own.iter().position(|other| *other == rest);
        let mark = mark.unwrap_or_else(|| {
            own.push(rest.clone());
            own.len() - 1
        });
        let line = Line {
            series: position,
            name: labelled(plan, &rest),
            mark,
        };
        match panels.iter_mut().find(|panel| panel.factors == factors) {
            Some(panel) => panel.lines.push(line),
            None => panels.push(Panel {
                factors,
                lines: vec![line],
            }),
        }
    }
    for panel in &mut panels {
        let marks: BTreeSet<usize> = panel.lines.iter().map(|line| line.mark).collect();
        // Too many for different looks over all panels: numbered in each.
        if marks.iter().any(|mark| *mark >= MOST_SERIES * MOST_SERIES) {
            for (number, line) in panel.lines.iter_mut().enumerate() {
                line.mark = number;
            }
        }
    }
    panels
}

#[cfg(test)]
mod tests {
    use plan::Factors;
    use plan::synthetic::{cell, plan};

    use super::*;
    use crate::series::series;

    /// The panels of a plan with as many levels of two factors, at two MTUs.
    fn of(first: i64, second: i64) -> Vec<Panel> {
        let mut cells = Vec::new();
        for one in 0..first {
            for other in 0..second {
                for mtu in [1500, 9000] {
                    let levels = [("one", one), ("other", other), ("mtu", mtu)];
                    let levels =
                        levels.map(|(name, level)| (name.to_owned(), Level::Integer(level)));
                    cells.push(cell(Factors(levels.to_vec())));
                }
            }
        }
        let plan = plan(cells, 1, Vec::new());
        let series = series(&plan);
        panels(&plan, &series)
    }

    #[test]
    fn six_series_have_one_plot_and_more_have_few_with_six_at_most() {
        assert_eq!(of(2, 3).len(), 1);
        let panels = of(2, 5);
        let shape: Vec<usize> = panels.iter().map(|panel| panel.lines.len()).collect();
        assert_eq!(shape, [5, 5]);
        assert_eq!(panels[0].factors, [("one".to_owned(), Level::Integer(0))]);
        assert_eq!(panels[1].lines[4].name, "other 4");
        let shape: Vec<usize> = of(8, 9).iter().map(|panel| panel.lines.len()).collect();
        assert_eq!(shape, [1; 72]);
    }

    #[test]
    fn each_series_is_drawn_once_and_looks_the_same_in_every_panel() {
        let panels = of(4, 6);
        let mut all: Vec<usize> = Vec::new();
        for panel in &panels {
            for line in &panel.lines {
                all.push(line.series);
                let first = &panels[0].lines[line.mark];
                assert_eq!(first.name, line.name);
            }
        }
        all.sort_unstable();
        assert_eq!(all, (0..24).collect::<Vec<_>>());
    }
}
