//! The tables of the page: those of the terminal, with the reasons.

use maud::{Markup, html};

use crate::figure;
use crate::grid::{NOT_PRINTED, factor_names, find, framing_note, is_unprinted, models};
use crate::rows::{heading, other_metrics, rows_in_order, study_metrics, study_rows};
use crate::summary;
use analysis::compare::{Comparison, Difference};
use analysis::verdict::Verdict;
use plan::Trial;
use plan::metric::Metric;
use plan::{Factors, Level, Plan};

/// A table for each metric of the study, and one for the others.
pub(super) fn tables(plan: &Plan, comparisons: &[Comparison]) -> Markup {
    html! {
        section #tables {
            h2 { "Tables" }
            @for (table, metric) in study_metrics(plan, comparisons) {
                h3 { (heading(plan, table, metric)) }
                (study_table(plan, comparisons, metric))
            }
            (other_table(plan, comparisons))
        }
    }
}

/// Trials that failed or carry a flag, a row each.
pub(super) fn remarkable(trials: &[&Trial]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "trial" } th { "cell" } th { "repeat" } th { "what" } } }
            tbody { @for trial in trials { tr {
                td { (trial.id) }
                td { (trial.factors) }
                td.figure { (trial.repeat) }
                td.words {
                    @if let Some(failure) = &trial.failure { b { "failed: " } (failure) " " }
                    (trial.flags.join(", "))
                }
            } } }
        } }
    }
}

/// One metric, a row a cell: measured, changed, published, judged. Where the
/// metric is one end of an attribution interval, the other end has a row below.
fn study_table(plan: &Plan, comparisons: &[Comparison], metric: &Metric) -> Markup {
    let rows = study_rows(plan, comparisons, metric);
    let names = factor_names(plan);
    let values = rows.iter().any(|row| row.published.value.is_some());
    let claims = rows.iter().any(|row| row.published.claim.is_some());
    let high = |row: &Comparison| {
        let high = find(comparisons, metric.attribution()?, row.cell)?;
        (high.n > 0).then_some(high)
    };
    let lines: Vec<&Comparison> = rows
        .iter()
        .flat_map(|&row| [Some(row), high(row)])
        .flatten()
        .collect();
    let means = aligned(&lines, figure::mean);
    let changes = aligned(&lines, figure::change);
    let papers: Vec<Option<f64>> = lines.iter().map(|line| line.published.value).collect();
    let papers = figure::published(&papers);
    let models = models(plan, &lines);
    html! {
        div.scroll { table {
            thead { tr {
                @for name in &names { th { (name) } }
                th { "measured, " (metric.unit) }
                @if models.is_some() { th.right { "model" } }
                th { "% against " (plan.compare.baseline) }
                @if values { th.right { "paper" } }
                @if claims { th.right { "paper %" } }
                th { @if claims { "verdict" } }
            } }
            tbody {
                @for (position, (((line, mean), change), paper)) in lines.iter().zip(&means).zip(&changes).zip(&papers).enumerate() {
                    tr {
                        @if line.metric == metric { (factor_cells(&names, &line.factors)) }
                        @else { td colspan=(names.len()) {} }
                        td.figure { (mean) }
                        @if let Some(models) = &models { td.figure.right { (models[position]) } }
                        td.figure { (change) }
                        @if values { td.figure.right { (paper) } }
                        @if claims {
                            td.figure.right {
                                @if let Some(claim) = line.published.claim { (figure::signed(claim.percent, 2)) }
                            }
                        }
                        td.words {
                            @if line.metric == metric { (remark(plan, line, is_unprinted(plan, &rows, line))) } @else { "with all softirq" }
                        }
                    }
                }
            }
        } }
    }
}

/// The metrics without a table of their own, a row a cell that was measured.
fn other_table(plan: &Plan, comparisons: &[Comparison]) -> Markup {
    let metrics = other_metrics(plan, comparisons);
    let names = factor_names(plan);
    let at = |cell: usize| {
        metrics
            .iter()
            .filter_map(move |metric| find(comparisons, metric, cell))
    };
    let rows: Vec<usize> = rows_in_order(plan)
        .into_iter()
        .filter(|&cell| at(cell).any(|row| row.n > 0))
        .collect();
    let columns: Vec<Vec<String>> = metrics
        .iter()
        .map(|metric| {
            let column: Vec<&Comparison> = rows
                .iter()
                .filter_map(|&cell| find(comparisons, metric, cell))
                .collect();
            aligned(&column, figure::mean)
        })
        .collect();
    html! {
        @if !rows.is_empty() {
            h3 { "Other metrics" }
            div.scroll { table {
                thead { tr {
                    @for name in &names { th { (name) } }
                    @for metric in &metrics { th { (metric.title) br; span.note { (metric.unit) } } }
                } }
                tbody { @for (position, &cell) in rows.iter().enumerate() { tr {
                    (factor_cells(&names, &plan.cells[cell].factors))
                    @for column in &columns { td.figure { @if let Some(text) = column.get(position) { (text) } } }
                } } }
            } }
        }
    }
}

fn factor_cells(names: &[String], factors: &Factors) -> Markup {
    html! {
        @for name in names {
            td { (factors.level(name).map_or_else(String::new, Level::to_string)) }
        }
    }
}

/// Figures of a column with their decimal points in line.
fn aligned(rows: &[&Comparison], print: impl Fn(&Comparison) -> String) -> Vec<String> {
    let mut figures: Vec<String> = rows.iter().map(|row| print(row)).collect();
    figure::align(&mut figures);
    figures
}

/// The verdict on a row, its reason, and what else is to be said of it.
fn remark(plan: &Plan, row: &Comparison, is_unprinted: bool) -> Markup {
    let judgement = row.judgement.as_ref().map(|judgement| {
        let verdict = judgement.verdict;
        html! {
            // Where nothing was measured the reason says it all.
            @if verdict != Verdict::NotMeasured { b.verdict class=[class(verdict)] { (verdict) } ": " }
            span.note { (judgement.reason) }
        }
    });
    let difference = match row.difference {
        Some(Difference::NotFound) => Some(html! { b { (figure::none_found(row)) } }),
        Some(Difference::Unknown) => Some(html! { b { "too few trials" } }),
        Some(Difference::Found) | None => None,
    };
    let framing = framing_note(plan, row).map(|words| html! { span.note { (words) } });
    let split = summary::parts(row);
    let split = (!split.is_empty()).then(|| html! { span.note { "made of " (split.join(", ")) } });
    let unprinted = is_unprinted.then(|| html! { span.note { (NOT_PRINTED) } });
    let parts = [judgement, unprinted, difference, split, framing]
        .into_iter()
        .flatten();
    html! {
        @for (position, part) in parts.enumerate() {
            @if position > 0 { "; " }
            (part)
        }
    }
}

fn class(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Reproduced => Some("reproduced"),
        Verdict::NotReproduced => Some("not-reproduced"),
        Verdict::NotMeasured | Verdict::BelowResolution | Verdict::DirectionOnly => None,
    }
}
