//! JSON lines of cells: all means of a cell in one object.

use analysis::Findings;
use analysis::compare::Comparison;
use document::json_line;
use plan::{Factors, Trial, cell_id};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::line::fails;

/// One line: all metrics of one cell, as fields of their own.
struct Line<'a> {
    cell: String,
    factors: &'a Factors,
    n: usize,
    failed: usize,
    flagged: usize,
    metrics: Vec<&'a Comparison>,
}

/// One object per cell, without line ends, in the plan's order.
pub(super) fn lines(found: &Findings<'_>) -> Vec<String> {
    let line = |(number, cell): (usize, &plan::Cell)| {
        let of_cell = &found.by_cell[number];
        let count = |is: fn(&&&Trial) -> bool| of_cell.iter().filter(is).count();
        json_line(&Line {
            cell: cell_id(number),
            factors: &cell.factors,
            n: count(|trial| trial.failure.is_none()),
            failed: count(|trial| trial.failure.is_some()),
            flagged: count(|trial| fails(trial)),
            metrics: found
                .comparisons
                .iter()
                .filter(|one| one.cell == number)
                .collect(),
        })
    };
    found.plan.cells.iter().enumerate().map(line).collect()
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", "cell")?;
        map.serialize_entry("cell", &self.cell)?;
        map.serialize_entry("factors", self.factors)?;
        map.serialize_entry("n", &self.n)?;
        map.serialize_entry("failed", &self.failed)?;
        map.serialize_entry("flagged", &self.flagged)?;
        for one in &self.metrics {
            let interval = one.mean.and_then(|mean| mean.ci95);
            map.serialize_entry(one.metric.name, &one.mean.map(|mean| mean.mean))?;
            map.serialize_entry(&format!("{}_ci95", one.metric.name), &interval)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};
    use serde_json::Value;

    #[test]
    fn each_cell_has_a_line_with_all_its_means() {
        let (plan, trials) = study();
        let facts = facts();
        let found = Findings::of(&plan, &trials, &facts);
        let lines = lines(&found);
        assert_eq!(lines.len(), plan.cells.len());
        for (line, cell) in lines.iter().zip(&plan.cells) {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                line["factors"],
                serde_json::to_value(&cell.factors).unwrap()
            );
            assert_eq!(line["kind"], "cell");
            for one in found
                .comparisons
                .iter()
                .filter(|one| one.factors == cell.factors)
            {
                let mean = one.mean.map(|mean| mean.mean);
                assert_eq!(line[one.metric.name], serde_json::json!(mean));
                let interval = &line[format!("{}_ci95", one.metric.name)];
                let of_two = one.mean.is_some_and(|mean| mean.n > 1);
                assert_eq!(interval.is_array(), of_two, "{line}");
            }
        }
    }
}
