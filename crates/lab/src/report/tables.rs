//! The report for a terminal.

use std::fmt::{self, Write as _};
use std::path::Path;

use crate::certificate::certify;
use crate::compare::{Comparison, compare};
use crate::folder::{RunFacts, complete, expected};
use crate::plan::Plan;
use crate::report::grid::{other_tables, study_table};
use crate::report::rows::{heading, other_metrics, rows_in_order, study_metrics, study_rows};
use crate::report::{claims, mechanisms, notes, paired, pareto, ranking, sizes, summary, verdicts};
use crate::trial::Trial;

/// The tables of the study with what was measured, the other metrics, the
/// certificate, and where the folder is: colourless, and so many columns wide.
/// A narrow terminal gets more lines, not less.
pub fn tables(
    plan: &Plan,
    trials: &[Trial],
    facts: &RunFacts,
    folder: Option<&Path>,
    width: u16,
) -> String {
    let comparisons = compare(plan, trials);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(&mut text, plan, trials, facts, &comparisons, folder, width);
    text
}

fn write_all(
    text: &mut String,
    plan: &Plan,
    trials: &[Trial],
    facts: &RunFacts,
    comparisons: &[Comparison],
    folder: Option<&Path>,
    width: u16,
) -> fmt::Result {
    let failed = trials
        .iter()
        .filter(|trial| trial.failure.is_some())
        .count();
    writeln!(text, "{}: {}", plan.name, plan.title)?;
    let (done, all) = (trials.len() - failed, expected(plan));
    let certificate = certify(facts, trials);
    let certified = match certificate.passed {
        true => "certificate passed".to_owned(),
        false => "certificate FAILED: do not rely on these figures, see below".to_owned(),
    };
    let certified = match &certificate.warning {
        Some(warning) => format!("{certified}, but {warning}"),
        None => certified,
    };
    let incomplete = match (complete(plan, trials), plan.until) {
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
    ranking::write(text, plan, trials, width)?;
    for (table, metric) in study_metrics(plan, comparisons) {
        let rows = study_rows(plan, comparisons, metric);
        let heading = heading(plan, table, metric);
        writeln!(text, "\n{}", notes::wrapped(&[heading], width))?;
        let grid = study_table(plan, comparisons, metric, &rows, width);
        writeln!(text, "{}", grid.trim_fmt())?;
    }
    if let Some(table) = paired::table(plan, trials) {
        let heading = notes::wrapped(std::slice::from_ref(&table.heading), width);
        writeln!(text, "\n{heading}\n{}", table.grid(width).trim_fmt())?;
    }
    let verdicts_given = ("Verdicts", verdicts::lines(plan, comparisons));
    let of_claims = (claims::HEADING, claims::lines(plan, comparisons));
    let of_fronts = (pareto::HEADING, pareto::lines(plan, comparisons));
    let of_sizes = (sizes::HEADING, sizes::lines(plan, trials));
    let of_parts = (mechanisms::HEADING, mechanisms::lines(plan, comparisons));
    let lists = verdicts::lists(plan, trials, comparisons);
    let given = [verdicts_given, of_claims, of_fronts, of_sizes, of_parts];
    for (heading, lines) in given.into_iter().chain(lists) {
        if !lines.is_empty() {
            let indented: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
            writeln!(text, "\n{heading}\n{}", notes::wrapped(&indented, width))?;
        }
    }
    let (others, order) = (other_metrics(plan, comparisons), rows_in_order(plan));
    for grid in other_tables(plan, comparisons, &others, &order, width) {
        writeln!(text, "\nOther metrics\n{}", grid.trim_fmt())?;
    }
    writeln!(text, "\n{}", notes::explanation(plan, comparisons, width))?;
    writeln!(text, "\n{}", notes::certificate(&certificate, width))?;
    if let Some(folder) = folder {
        writeln!(text, "\nResults: {}", folder.display())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
