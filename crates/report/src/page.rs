//! The report as a page: one file with interactive plots that asks nobody for
//! anything.
//!
//! Text goes through `maud`, which escapes it; the plots' data is JSON in which
//! no tag can begin. So what a journal or a plan holds stays text.

mod answer;
mod library;
mod plots;
mod series;
mod tables;
mod worlds;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::section::{Part, Place};
use crate::sections::SECTIONS;
use crate::{notes, summary};
use analysis::Findings;
use analysis::certificate::Certificate;
use analysis::compare::Comparison;
use plan::Plan;
use plan::Trial;
use plan::{HostFacts, RunFacts};
use plots::{Figure, Frame};
pub(super) use plots::{Plotted, areas, courses, fronts, sizes};
pub use worlds::{FILE as WORLDS_FILE, worlds_page};

/// The page's name in a results folder.
pub const FILE: &str = "report.html";

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// What the page may do: run what it holds, and ask nobody for anything.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// The page of a run: the answer, a plot of every metric with every trial in
/// it, the tables, the certificate and the plan. HTML that loads nothing.
pub fn page(found: &Findings<'_>) -> String {
    let (plan, comparisons) = (found.plan, &found.comparisons);
    let figures = plots::of_metrics(&Frame::of(plan, found.trials, comparisons));
    let sections: Vec<Part> = SECTIONS
        .iter()
        .flat_map(|section| section.html(found))
        .collect();
    let at = |place: Place| sections.iter().filter(move |part| part.place == place);
    let title = format!("{}: {}", plan.name, plan.title);
    // Where settings are ranked, single metrics may have nothing to show.
    let is_bare = plan.ranking.is_some() && comparisons.is_empty();
    let body = html! {
        (head(found))
        @for part in at(Place::Answer) { (part.markup) }
        @if !is_bare { (plots(plan, &figures)) }
        @for part in at(Place::Plots) { (part.markup) }
        @if !is_bare { (tables::tables(plan, comparisons)) }
        @for part in at(Place::Tables).chain(at(Place::Lists)) { (part.markup) }
        (reading(plan, comparisons))
        (certificate_section(found.trials, &found.certificate))
        (plan_section(plan))
    };
    let plotted = sections.iter().flat_map(|part| &part.plots);
    document(&title, &body, &figures, plotted)
}

/// A page around `body`, with what its plots need.
fn document<'a>(
    title: &str,
    body: &Markup,
    figures: &[Figure],
    plotted: impl Iterator<Item = &'a Plotted>,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Without it a browser asks for /favicon.ico.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                script id="plots" type="application/json" { (PreEscaped(plots::json(figures, plotted))) }
                script { (PreEscaped(library::script())) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The first screen: what was asked, what came of it, and how sure that is.
fn head(found: &Findings<'_>) -> Markup {
    let (plan, trials, comparisons) = (found.plan, found.trials, &found.comparisons);
    let certificate = &found.certificate;
    let (failed, all) = (found.failed(), plan.expected_trials());
    let (badge, word) = match certificate.passed {
        true => ("badge passed", "✓ certificate passed"),
        false => ("badge failed", "✗ certificate FAILED"),
    };
    html! {
        header {
            p.over { "Jumbolab · " (plan.name) }
            h1 { (plan.title) }
            p.badges {
                a class=(badge) href="#certificate" { (word) }
                span { (trials.len() - failed) " of " (all) " trials finished"
                    @if failed > 0 { ", " (failed) " failed and left out" } }
                span { (machine(found.facts)) }
            }
            @if !certificate.passed {
                p.alarm { "Do not rely on these figures: " (certificate.faults.join("; ")) "." }
            }
            @if let Some(warning) = &certificate.warning {
                p.alarm { "Mind that " (warning) "." }
            }
            @if !found.complete {
                p.alarm { "The run is incomplete: go on with --resume." }
            }
            @if plan.compare.factor == "mtu" {
                // 1500 octets: [IEEE802.3 s3.2.7].
                p.lead {
                    "The MTU of a link is the largest packet that it carries. On Ethernet it is 1500 octets; frames with more are called "
                    em { "jumbo frames" } ". This run sent the same traffic at several MTUs over " (plan.world.profile().words.links) ". What changed:"
                }
            }
            ul.answers {
                @for sentence in summary::sentences(plan, comparisons) { li { (sentence) } }
            }
            (answer::table(plan, comparisons))
        }
    }
}

fn machine(facts: &RunFacts) -> String {
    let Some(host) = &facts.host else {
        return "simulated, the same on every machine".to_owned();
    };
    let user = match host.root {
        true => "root",
        false => "an ordinary user",
    };
    let HostFacts {
        kernel,
        cpus,
        cpu_model,
        ..
    } = host;
    format!("{kernel}, {cpus} × {cpu_model}, run by {user}")
}

fn plots(plan: &Plan, figures: &[Figure]) -> Markup {
    let (of_study, others): (Vec<&Figure>, Vec<&Figure>) = figures
        .iter()
        .partition(|figure| figure.metric.table().is_some());
    html! {
        section #plots-section {
            h2 { "Plots" }
            p.note {
                "Large symbols are means with their 95 % intervals, small ones single trials: an open cross carries a note, such as "
                "other work on the processors, an X a fault; of a cell's others the first 500 are shown. Open diamonds are published figures. A click on a name in the "
                "legend hides or shows it; a pointer on a symbol says what it is."
            }
            noscript { p.alarm { "The plots need JavaScript; the tables below hold the same figures." } }
            @for figure in of_study { (figure_card(plan, figure)) }
            @if !others.is_empty() {
                h3 { "Other metrics" }
                @for figure in others { (figure_card(plan, figure)) }
            }
        }
    }
}

fn figure_card(plan: &Plan, figure: &Figure) -> Markup {
    let metric = figure.metric;
    let label = format!("{} by {}", metric.title, plan.compare.factor);
    html! {
        figure {
            figcaption {
                b { (metric.title) }
                " " span.note { (metric.definition) "; " (figure.better()) " is better" }
            }
            div.plots {
                div.plot #{(figure.values_id())} role="img" aria-label=(label) {}
                @if figure.changes.is_some() {
                    div.plot.change #{(figure.changes_id())} role="img"
                        aria-label={ (label) ", change against " (plan.compare.baseline) } {}
                }
            }
        }
    }
}

/// How the tables are read.
fn reading(plan: &Plan, comparisons: &[Comparison]) -> Markup {
    let text = notes::explanation(plan, comparisons, u16::MAX);
    html! {
        section.reading {
            h2 { "How to read this" }
            @for line in text.lines() { p { (line) } }
        }
    }
}

fn certificate_section(trials: &[Trial], certificate: &Certificate) -> Markup {
    let (class, word) = match certificate.passed {
        true => ("badge passed", "passed"),
        false => ("badge failed", "FAILED"),
    };
    let remarkable = trials
        .iter()
        .filter(|trial| trial.failure.is_some() || !trial.flags.is_empty());
    let remarkable: Vec<&Trial> = remarkable.collect();
    html! {
        section #certificate {
            h2 { "Certificate " span class=(class) { (word) } }
            p.note { "Whether the instrument worked: clocks, kernel, processors, what was set and what was seen on packets." }
            ul.certificate {
                @for fault in &certificate.faults { li.fault { b { "fault: " } (fault) } }
                @for note in &certificate.notes { li { b { "note: " } (note) } }
            }
            @if !remarkable.is_empty() {
                details {
                    summary { (remarkable.len()) " trials that failed or carry a flag" }
                    (tables::remarkable(&remarkable))
                }
            }
            h3 { "Program and machine" }
            ul.facts { @for fact in &certificate.facts { li { (fact) } } }
        }
    }
}

fn plan_section(plan: &Plan) -> Markup {
    html! {
        section {
            h2 { "Plan" }
            details {
                summary { "The experiment as it was run, every default written out (hash " (plan.hash) ")" }
                pre { (plan.text) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
