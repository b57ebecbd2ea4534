//! A table of paired differences between cells.

use analysis::Findings;
use analysis::paired::{Paired, metrics};
use analysis::statistics::Mean;
use document::{Block, Cell, Column, Section, Table};
use plan::Plan;

use crate::figure::{four_digits, with_interval};
use crate::rows::{factor_cells, factor_names, metric_column};

/// The differences; `None` if the plan requests none.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let table = table(found.plan, &found.paired)?;
    Some(Section {
        id: "differences",
        blocks: vec![
            Block::Page(vec![Block::heading("Differences")]),
            Block::Table(table),
        ],
    })
}

fn table(plan: &Plan, pairs: &[Paired<'_>]) -> Option<Table> {
    if pairs.is_empty() {
        return None;
    }
    let names = factor_names(plan);
    let of_metrics = metrics(plan).into_iter();
    let row = |pair: &Paired<'_>| {
        let changes = pair.changes.iter();
        let changes = changes.map(|change| Cell::figure(written(change.as_ref())));
        factor_cells(plan, &names, pair.factors)
            .into_iter()
            .chain(changes)
            .collect()
    };
    Some(Table {
        caption: Some(format!(
            "Differences against {} {}, run by run with the same seeds, with their 95 % intervals, each for itself",
            plan.compare.factor, plan.compare.baseline
        )),
        columns: names
            .iter()
            .map(Column::new)
            .chain(of_metrics.map(metric_column))
            .collect(),
        rows: pairs.iter().map(row).collect(),
        ..Table::default()
    })
}

/// A difference, with the decimal places that its interval justifies.
fn written(change: Option<&Mean>) -> String {
    let Some(change) = change else {
        return String::new();
    };
    match change.ci95 {
        None => four_digits(change.mean),
        Some(interval) => with_interval(change.mean, interval),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{cell, factors, facts, plan, trial};

    #[test]
    fn differences_stand_in_a_table_and_in_lines() {
        let cells = vec![cell(factors(1500)), cell(factors(9000))];
        let mut plan = plan(cells, 2, Vec::new());
        plan.paired = vec!["loss".into()];
        let trials = [
            trial(factors(1500), 1, &[("loss", 4.0)]),
            trial(factors(9000), 1, &[("loss", 3.0)]),
            trial(factors(1500), 2, &[("loss", 8.0)]),
            trial(factors(9000), 2, &[("loss", 6.0)]),
        ];
        let facts = facts();
        let found = Findings::of(&plan, &trials, &facts);
        let text = document::text(&crate::of_run(&found, None), 100);
        // -1 and -2: the mean -1.5, and 12.706 times 0.5 to either side.
        assert!(text.contains("-1.5 [-7.9, 4.9]"), "{text}");
        let lines = crate::json_lines(&found);
        let begin = r#"{"kind":"paired_differences","factors":{"mtu":9000},"baseline":"mtu=1500","differences":[{"metric":"loss","unit":"%","n":2,"mean":-1.5,"#;
        assert!(
            lines.iter().any(|line| line.starts_with(begin)),
            "{lines:?}"
        );
        plan.paired.clear();
        assert!(section(&Findings::of(&plan, &trials, &facts)).is_none());
    }
}
