//! Reads `[[report.figure]]`: figures of studies that reports redraw.

use anyhow::Result;
use keyfile::quantity::{float, line};
use keyfile::{Node, Parsed, Table, Value, rejection};
use plan::{PrintedPoint, ReportFigure, Shows};

use super::{cells, tables};
use crate::aliases::Aliases;
use crate::reader::Reader;
use crate::sweep::{self, Factor};

/// The key in `[report]`.
pub(super) const KEY: &str = "figure";

/// The tables.
const ROOT: &str = "report.figure";
const POINTS: &str = "report.figure.points";

/// The figures of an experiment, in order.
pub(super) fn figures(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<ReportFigure>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let read = |(table, node): (&Table, &Node)| figure(table, node, factors, aliases);
    tables(node, ROOT)?.into_iter().map(read).collect()
}

fn figure(
    table: &Table,
    node: &Node,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<ReportFigure> {
    let mut reader = Reader::new(table, ROOT, node.origin.clone());
    let title = reader.required("title", "title = \"Figure 2\"", line)?;
    let shows = shows(&mut reader, factors, aliases)?;
    let cells = match reader.table("cells")? {
        Some((table, _)) => cells(table, "report.figure.cells", factors, aliases)?,
        None => Vec::new(),
    };
    let points = match reader.find("points")? {
        Some(node) => tables(node, POINTS)?
            .into_iter()
            .map(|(table, node)| point(table, node))
            .collect::<Result<_>>()?,
        None => Vec::new(),
    };
    reader.finish()?;
    Ok(ReportFigure {
        title: title.value,
        shows,
        cells,
        points,
    })
}

fn shows(reader: &mut Reader<'_>, factors: &[Factor], aliases: &Aliases) -> Result<Shows> {
    let metrics = sweep::metrics(reader, "metrics")?;
    let over_time = reader.optional("over_time", line)?;
    let sizes = match reader.find("sizes")? {
        Some(node) => {
            let reject = |why| rejection(&node.origin, "report.figure.sizes", &node.value, why);
            Some(sizes(&node.value).map_err(reject)?)
        }
        None => None,
    };
    let x = reader.optional("x", line)?;
    let event = reader.optional("event", number)?;
    let text = reader.optional("event_text", line)?;
    match (metrics, over_time, sizes) {
        (Some(metrics), None, None) => {
            let factor = |name: &str| {
                let path = aliases.resolve_factor(name)?;
                let factor = factors.iter().find(|factor| factor.path == path);
                let why = "it is not swept; [sweep] lists the factors";
                factor.map_or_else(|| Err(why.to_owned()), |factor| Ok(factor.name.clone()))
            };
            let x = x.map(|x| factor(&x.value).map_err(|why| x.reject(why)));
            Ok(Shows::Metrics {
                metrics: metrics.value,
                x: x.transpose()?,
            })
        }
        (None, Some(link), None) => Ok(Shows::OverTime {
            link: link.value,
            event: event.map(|at| {
                let text = text.map_or_else(|| format!("{} s", at.value), |text| text.value);
                (at.value, text)
            }),
        }),
        (None, None, Some([from, to])) => Ok(Shows::Sizes { from, to }),
        _ => Err(reader.missing(
            "metrics",
            "one of metrics = [\"rtt\"], over_time = \"LINK\" and sizes = [1000, 15000]",
        )),
    }
}

fn point(table: &Table, node: &Node) -> Result<PrintedPoint> {
    let mut reader = Reader::new(table, POINTS, node.origin.clone());
    let name = reader.required("name", "name = \"MTU 9000\"", line)?;
    let x = reader.required("x", "x = 11000", number)?;
    let y = reader.required("y", "y = 178.2", number)?;
    reader.finish()?;
    Ok(PrintedPoint {
        name: name.value,
        x: x.value,
        y: y.value,
    })
}

fn number(value: &Value) -> Parsed<f64> {
    match float(value).filter(|number| number.is_finite()) {
        Some(number) => Ok((number, value.clone())),
        None => Err("write a number".into()),
    }
}

/// Two sizes in bytes, the smaller one first.
fn sizes(value: &Value) -> Result<[u32; 2], String> {
    let why = || "write two numbers of bytes, the smaller one first: [1000, 15000]".to_owned();
    let Value::List(nodes) = value else {
        return Err(why());
    };
    let number = |node: &Node| match node.value {
        Value::Integer(number) => u32::try_from(number).ok(),
        _ => None,
    };
    match nodes.as_slice() {
        [from, to] => match (number(from), number(to)) {
            (Some(from), Some(to)) if from < to => Ok([from, to]),
            _ => Err(why()),
        },
        _ => Err(why()),
    }
}
