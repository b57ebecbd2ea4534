//! Tables of a page.

use super::axis;
use document::{Cell, Column, Emphasis, Fit, Remark, Table};
use maud::{Markup, html};

/// The length in characters from which the text of a cell may be broken.
const LONG: usize = 40;

/// A table whose exports are called `id`, in an element that scrolls where the
/// page is too narrow.
pub(super) fn table(table: &Table, id: &str, name: &str) -> Markup {
    let is_glance = table.fit == Fit::Glance;
    let label = table.caption.as_deref().unwrap_or(name);
    let label = if label.is_empty() { "Table" } else { label };
    html! {
        @if let Some(caption) = &table.caption { p.caption { (caption) } }
        div.scroll data-export=(id) role="region" aria-label=(label) tabindex="0" {
            table class=[is_glance.then_some("answer")] {
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
            }
        }
    }
}

fn cell(cell: &Cell, column: &Column, names_row: bool) -> Markup {
    match cell {
        Cell::Text(text) if names_row => html! { th scope="row" { (text) } },
        Cell::Text(text) => {
            let is_long = text.chars().count() > LONG;
            html! { td class=[is_long.then_some("words")] { (text) } }
        }
        Cell::Figure(text, _) if text.trim().is_empty() => html! { td {} },
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
        Cell::Range(None) => html! { td {} },
        Cell::Range(Some(range)) => html! { td class=(class(range.tone)) { (axis::range(range)) } },
        Cell::Axis(ticks) => html! { td { (axis::ticks(ticks)) } },
        Cell::Change {
            percent,
            interval,
            words,
            tone,
        } => {
            let class = class(*tone);
            html! { td class=(class) { b { (percent) } " " span.interval { (interval) } " " span.word { (words) } } }
        }
    }
}

/// The class of a change of this tone.
const fn class(tone: Emphasis) -> &'static str {
    match tone {
        Emphasis::Good => "better",
        Emphasis::Bad => "worse",
        Emphasis::Neutral | Emphasis::Aside => "none",
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
            Emphasis::Aside => span.note { (words) },
            Emphasis::Neutral => b { (words) },
            Emphasis::Good => b.verdict.reproduced { (words) },
            Emphasis::Bad => b.verdict.not-reproduced { (words) },
        }
        @if !detail.is_empty() {
            @if !words.is_empty() { ": " }
            span.note { (detail) }
        }
    }
}
