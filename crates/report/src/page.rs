//! Renders documents as HTML pages: one self-contained file with interactive
//! plots and no external requests.
//!
//! Text is escaped by `maud`; the plots' data is JSON in which no tag can
//! start. Content of a journal or plan therefore remains text.

mod library;
mod picture;

use std::collections::BTreeMap;

use analysis::certificate::State;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plotly::Plot;

use crate::document::{
    Badge, Block, Cell, Column, Document, Figure, Fit, List, ListKind, Remark, Section, Style,
    Table, Tone,
};
use crate::{replay, topology};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// The content security policy: inline scripts only, no external requests.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// Renders a document as an HTML page that loads nothing.
pub fn html(document: &Document) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Prevents the browser from requesting /favicon.ico.
                link rel="icon" href="data:,";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header { (blocks(&document.head)) }
                    @for section in &document.sections { (drawn(section)) }
                }
                script id="plots" type="application/json" { (PreEscaped(plots(document))) }
                script { (PreEscaped(library::script())) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn drawn(section: &Section) -> Markup {
    let is_shown = |block: &Block| !matches!(block, Block::Terminal(_));
    let id = Some(section.id).filter(|id| !id.is_empty());
    html! {
        @if section.blocks.iter().any(is_shown) {
            section id=[id] { (blocks(&section.blocks)) }
        }
    }
}

fn blocks(blocks: &[Block]) -> Markup {
    html! { @for one in blocks { (block(one)) } }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Title {
            name,
            title,
            badges,
        } => html! {
            p.over { "Jumbolab · " (name) }
            h1 { (title) }
            p.badges { @for one in badges { (badge(one)) } }
        },
        Block::Heading(words, own) => html! { h2 { (words) (behind(own.as_ref())) } },
        Block::Subheading(words, own) => html! { h3 { (words) (behind(own.as_ref())) } },
        Block::Paragraphs(style, lines) => paragraphs(*style, lines),
        Block::List(own) => list(own),
        Block::Table(own) => table(own),
        Block::Figure(own) => figure(own),
        Block::TestBeds(beds) => html! { @for bed in beds { (topology::svg::figure(bed)) } },
        Block::Replay(own) => replay::figure(own),
        Block::Picture(own) => picture::picture(own),
        Block::Fold {
            summary,
            blocks: own,
        } => html! { details { summary { (summary) } (blocks(own)) } },
        Block::Verbatim(text) => html! { pre { (text) } },
        Block::Page(own) => blocks(own),
        Block::Terminal(_) => html! {},
    }
}

fn behind(own: Option<&Badge>) -> Markup {
    html! { @if let Some(own) = own { " " (badge(own)) } }
}

fn badge(badge: &Badge) -> Markup {
    let class = badge.state.map(|state| match state {
        State::Passed => "badge passed",
        State::Doubtful => "badge doubtful",
        State::Failed => "badge failed",
    });
    html! {
        @if badge.is_link { a class=[class] href="#certificate" { (badge.words) } }
        @else { span class=[class] { (badge.words) } }
    }
}

fn paragraphs(style: Style, lines: &[String]) -> Markup {
    html! {
        @match style {
            Style::Plain => @for line in lines { p { (line) } },
            Style::Note => @for line in lines { p.note { (line) } },
            Style::Alarm => @for line in lines { p.alarm { (line) } },
            Style::Doubt => @for line in lines { p.doubt { (line) } },
            Style::NoScript => noscript { @for line in lines { p.alarm { (line) } } },
            Style::Answer => ul.answers { @for line in lines { li { (line) } } },
        }
    }
}

fn list(list: &List) -> Markup {
    let class = match list.kind {
        ListKind::Plain => None,
        ListKind::Certificate => Some("certificate"),
        ListKind::Facts => Some("facts"),
    };
    html! {
        ul class=[class] {
            @for item in &list.items {
                li class=[["fault", "doubt"].into_iter().find(|label| *label == item.label)] {
                    @if !item.label.is_empty() { b { (item.label) ": " } }
                    (item.text)
                }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let is_glance = table.fit == Fit::Glance;
    html! {
        @if let Some(caption) = &table.caption { p.caption { (caption) } }
        div.scroll { table class=[is_glance.then_some("answer")] {
            thead { tr {
                @for column in &table.columns {
                    th scope="col" class=[column.is_right.then_some("right")] {
                        (column.title)
                        @if !column.unit.is_empty() { br; span.note { (column.unit) } }
                    }
                }
            } }
            tbody { @for row in &table.rows { tr {
                @for (position, (own, column)) in row.iter().zip(&table.columns).enumerate() {
                    (cell(own, column, is_glance && position == 0))
                }
            } } }
        } }
    }
}

fn cell(cell: &Cell, column: &Column, names_row: bool) -> Markup {
    match cell {
        Cell::Text(text) if names_row => html! { th scope="row" { (text) } },
        Cell::Text(text) => html! { td { (text) } },
        Cell::Figure(text, _) => {
            html! { td.figure class=[column.is_right.then_some("right")] { (text) } }
        }
        Cell::Remarks(remarks) => html! {
            td.words {
                @for (position, one) in remarks.iter().enumerate() {
                    @if position > 0 { "; " }
                    (remark(one))
                }
            }
        },
        Cell::Change {
            percent,
            interval,
            words,
            tone,
        } => {
            let class = match tone {
                Tone::Good => "better",
                Tone::Bad => "worse",
                Tone::Neutral | Tone::Aside => "none",
            };
            html! { td class=(class) { b { (percent) } " " span.interval { (interval) } " " span.word { (words) } } }
        }
    }
}

fn remark(remark: &Remark) -> Markup {
    let Remark {
        tone,
        words,
        detail,
    } = remark;
    html! {
        @match tone {
            Tone::Aside => span.note { (words) },
            Tone::Neutral => b { (words) },
            Tone::Good => b.verdict.reproduced { (words) },
            Tone::Bad => b.verdict.not-reproduced { (words) },
        }
        @if !detail.is_empty() {
            @if !words.is_empty() { ": " }
            span.note { (detail) }
        }
    }
}

/// The elements of plots with their captions.
fn figure(figure: &Figure) -> Markup {
    html! {
        figure {
            figcaption { b { (figure.title) } " " span.note { (figure.note) } }
            div.plots {
                @for drawing in &figure.plots {
                    div.plot.change[drawing.is_change] #{(drawing.id)} role="img" aria-label=(drawing.label) {}
                }
            }
        }
    }
}

/// The plots by element id, as JSON that is safe inside a `script` element: no
/// tag begins or ends in it.
fn plots(document: &Document) -> String {
    let mut found: BTreeMap<&str, &Plot> = BTreeMap::new();
    gather(&document.head, &mut found);
    for section in &document.sections {
        gather(&section.blocks, &mut found);
    }
    let json =
        serde_json::to_string(&found).expect("a plot holds numbers, words and lists of them");
    // In JSON these characters occur in strings only, where the escape is
    // equivalent.
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn gather<'a>(blocks: &'a [Block], found: &mut BTreeMap<&'a str, &'a Plot>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => {
                let drawings = figure.plots.iter();
                found.extend(drawings.map(|drawing| (drawing.id.as_str(), &drawing.plot)));
            }
            Block::Page(own) | Block::Fold { blocks: own, .. } => gather(own, found),
            _ => {}
        }
    }
}
