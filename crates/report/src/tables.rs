//! The report for a terminal.

use std::fmt::{self, Write as _};
use std::path::Path;

use crate::crosstab::{MOST_ROWS, crosstab};
use crate::grid::{other_tables, study_table};
use crate::rows::{heading, other_metrics, rows_in_order, study_metrics, study_rows};
use crate::section::Place;
use crate::sections::SECTIONS;
use crate::{notes, summary};
use analysis::Findings;

/// The tables of the study with what was measured, the other metrics, the
/// certificate, and where the folder is: colourless, and so many columns wide.
/// A narrow terminal gets more lines, not less.
pub fn tables(found: &Findings<'_>, folder: Option<&Path>, width: u16) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, found, folder, width);
    text
}

fn write_all(
    text: &mut String,
    found: &Findings<'_>,
    folder: Option<&Path>,
    width: u16,
) -> fmt::Result {
    let (plan, trials, comparisons) = (found.plan, found.trials, &found.comparisons);
    let (failed, certificate) = (found.failed(), &found.certificate);
    writeln!(text, "{}: {}", plan.name, plan.title)?;
    let (done, all) = (trials.len() - failed, plan.expected_trials());
    let certified = match certificate.passed {
        true => "certificate passed".to_owned(),
        false => "certificate FAILED: do not rely on these figures, see below".to_owned(),
    };
    let certified = match &certificate.warning {
        Some(warning) => format!("{certified}, but {warning}"),
        None => certified,
    };
    let incomplete = match (found.complete, plan.until) {
        (false, _) => " The run is incomplete: go on with --resume.".to_owned(),
        (true, Some(until)) if trials.len() < all => format!(" Stopped early, as asked: {until}."),
        (true, _) => String::new(),
    };
    let counts = format!(
        "{done} of {all} trials finished, {failed} failed and left out; {certified}.{incomplete}"
    );
    writeln!(text, "{}", notes::wrapped(&[counts], width))?;
    let sentences = summary::sentences(plan, comparisons);
    if !sentences.is_empty() {
        writeln!(text, "\n{}", notes::wrapped(&sentences, width))?;
    }
    let sections: Vec<(Place, String)> = SECTIONS
        .iter()
        .map(|section| section.text(found, width))
        .filter(|(_, section)| !section.is_empty())
        .collect();
    let at = |place: Place| sections.iter().filter(move |(at, _)| *at == place);
    for (_, section) in at(Place::Answer) {
        writeln!(text, "\n{section}")?;
    }
    for (table, metric) in study_metrics(plan, comparisons) {
        let rows = study_rows(plan, comparisons, metric);
        let published = rows.iter().any(|row| row.published.value.is_some());
        let folded = rows.len() > MOST_ROWS && !published;
        let by = match folded {
            true => format!(", by {}", plan.compare.factor),
            false => String::new(),
        };
        let heading = heading(plan, table, metric) + &by;
        writeln!(text, "\n{}", notes::wrapped(&[heading], width))?;
        let grids = match folded {
            true => crosstab(plan, comparisons, metric, width),
            false => vec![study_table(plan, comparisons, metric, &rows, width)],
        };
        for grid in grids {
            writeln!(text, "{}", grid.trim_fmt())?;
        }
    }
    let below = [Place::Plots, Place::Tables, Place::Lists];
    for (_, section) in below.into_iter().flat_map(at) {
        writeln!(text, "\n{section}")?;
    }
    let (others, order) = (other_metrics(plan, comparisons), rows_in_order(plan));
    if order.len() > MOST_ROWS {
        let names: Vec<&str> = others.iter().map(|metric| metric.name).collect();
        let names = names.join(", ");
        let line = format!(
            "  {names}: the page has them, in a table of {} rows",
            order.len()
        );
        writeln!(text, "\nOther metrics\n{}", notes::wrapped(&[line], width))?;
    } else {
        for grid in other_tables(plan, comparisons, &others, &order, width) {
            writeln!(text, "\nOther metrics\n{}", grid.trim_fmt())?;
        }
    }
    writeln!(text, "\n{}", notes::explanation(plan, comparisons, width))?;
    writeln!(text, "\n{}", notes::certificate(certificate, width))?;
    if let Some(folder) = folder {
        writeln!(text, "\nResults: {}", folder.display())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
