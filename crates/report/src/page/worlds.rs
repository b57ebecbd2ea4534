//! The page of several runs side by side.

use anyhow::Result;
use maud::{Markup, html};

use super::{Frame, document, figure_card, plots};
use crate::between::Run;
use crate::worlds::{agreement, answers, laid, left_out, reading, shown, table, title};
use analysis::beside::Beside;

/// The page's name in the results folder of the first run.
pub const FILE: &str = "worlds.html";

/// The page of `runs`: what each found, plots with all of them and what was
/// published, the tables, certificates and plans. HTML that loads nothing.
///
/// # Errors
/// When the runs are not of one experiment.
pub fn worlds_page(runs: &[Run<'_>]) -> Result<String> {
    let all = laid(runs)?;
    let figures = plots::of_metrics(&Frame::of(&all.plan, &all.trials, &all.comparisons));
    let title = format!(
        "{}: {}, in {} worlds",
        all.plan.name,
        all.plan.title,
        runs.len()
    );
    let body = html! {
        (head(&all, runs))
        section #plots-section {
            h2 { "Plots" }
            p.note {
                "Large symbols are means with their 95 % intervals, small ones single trials, open diamonds published figures. "
                "A click on a name in the legend hides or shows it."
            }
            noscript { p.alarm { "The plots need JavaScript; the tables below hold the same figures." } }
            @for figure in figures.iter().filter(|figure| shown(&all).contains(&figure.metric)) {
                (figure_card(&all.plan, figure))
            }
        }
        (tables(&all))
        section.reading {
            h2 { "How to read this" }
            @for line in left_out(&all) { p { (line) } }
            p { (reading(&all)) }
        }
        (certificates(&all, runs))
        (plans(&all, runs))
    };
    Ok(document(&title, &body, &figures, std::iter::empty()))
}

fn head(all: &Beside, runs: &[Run<'_>]) -> Markup {
    html! {
        header {
            p.over { "Jumbolab · " (all.plan.name) " · " (all.names.join(", ")) }
            h1 { (all.plan.title) }
            p.badges {
                @for (name, run) in all.names.iter().zip(runs) {
                    @let passed = run.found.certificate.passed;
                    a class=(badge(passed)) href="#certificate" { (name) @if passed { ": ✓ passed" } @else { ": ✗ FAILED" } }
                }
            }
            ul.answers {
                @for run in 0..runs.len() { @for sentence in answers(all, runs, run) { li { (sentence) } } }
                @for sentence in agreement(all) { li { (sentence) } }
            }
        }
    }
}

fn tables(all: &Beside) -> Markup {
    html! {
        section #tables {
            h2 { "Tables" }
            @for metric in shown(all) {
                @let table = table(all, metric);
                h3 { (title(all, metric)) }
                div.scroll { table {
                    thead { tr { @for name in &table.header { th { (name) } } } }
                    tbody { @for row in &table.rows { tr {
                        @if let Some((words, figures)) = row.split_last() {
                            @for figure in figures { td.figure { (figure) } }
                            td.words { (words) }
                        }
                    } } }
                } }
            }
        }
    }
}

fn certificates(all: &Beside, runs: &[Run<'_>]) -> Markup {
    html! {
        section #certificate {
            h2 { "Certificates" }
            @for (name, run) in all.names.iter().zip(runs) {
                @let certificate = &run.found.certificate;
                h3 { (name) " " span class=(badge(certificate.passed)) { @if certificate.passed { "passed" } @else { "FAILED" } } }
                p.note { (run.folder.display()) }
                ul.certificate {
                    @for fault in &certificate.faults { li.fault { b { "fault: " } (fault) } }
                    @for note in &certificate.notes { li { b { "note: " } (note) } }
                }
                ul.facts { @for fact in &certificate.facts { li { (fact) } } }
            }
        }
    }
}

fn plans(all: &Beside, runs: &[Run<'_>]) -> Markup {
    html! {
        section {
            h2 { "Plans" }
            @for (name, run) in all.names.iter().zip(runs) {
                details {
                    summary { "As it was run in " (name) ", every default written out (hash " (run.found.plan.hash) ")" }
                    pre { (run.found.plan.text) }
                }
            }
        }
    }
}

fn badge(passed: bool) -> &'static str {
    match passed {
        true => "badge passed",
        false => "badge failed",
    }
}
