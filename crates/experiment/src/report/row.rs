//! Reads `[[report.row]]`: the rows of the answer.

use anyhow::Result;
use keyfile::quantity::line;
use keyfile::{Node, Table, did_you_mean};
use plan::ReportRow;
use plan::metric::{METRICS, Metric};

use super::{cells, tables};
use crate::aliases::Aliases;
use crate::reader::Reader;
use crate::sweep::Factor;

/// The key in `[report]`.
pub(super) const KEY: &str = "row";

/// The tables.
const ROOT: &str = "report.row";

/// The rows of an experiment, in order, without those whose cells `--set` removed.
pub(super) fn rows(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<ReportRow>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let read = |(table, node): (&Table, &Node)| row(table, node, factors, aliases);
    let rows = tables(node, ROOT)?.into_iter().map(read);
    rows.filter_map(Result::transpose).collect()
}

fn row(
    table: &Table,
    node: &Node,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Option<ReportRow>> {
    let mut reader = Reader::new(table, ROOT, node.origin.clone());
    let title = reader.required("title", "title = \"Full link\"", line)?;
    let metric = reader.required("metric", "metric = \"throughput\"", line)?;
    if Metric::named(&metric.value).is_none() {
        let hint = did_you_mean(&metric.value, METRICS.iter().map(|metric| metric.name));
        return Err(metric.reject(format!(
            "unknown metric{hint}; docs/reference/metrics.md lists them"
        )));
    }
    let called = reader.optional("called", line)?;
    let place = reader.optional("where", line)?;
    let (written, cells) = match reader.table("cells")? {
        Some((table, _)) => (
            table.iter().count(),
            cells(table, "report.row.cells", factors, aliases)?,
        ),
        None => (0, Vec::new()),
    };
    reader.finish()?;
    let is_there = cells.len() == written;
    Ok(is_there.then(|| ReportRow {
        title: title.value,
        metric: metric.value,
        called: called.map(|found| found.value),
        cells,
        place: place.map(|found| found.value),
    }))
}
