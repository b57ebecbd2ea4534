//! The ranking on the page: all settings.

use maud::{Markup, html};

use super::words::{self, Figures};
use analysis::ranking::Ranked;
use plan::Plan;

/// Settings of which it is shown what other levels change; JSON has all.
const CHANGED: usize = 40;

/// The section of a ranking; nothing where a plan ranks nothing.
pub(super) fn section(heading: &str, plan: &Plan, ranked: &[Ranked]) -> Markup {
    let (Some(ranking), false) = (&plan.ranking, ranked.is_empty()) else {
        return html! {};
    };
    let figures = Figures::of(ranking);
    let names = words::varied(plan);
    html! {
        section #ranking {
            h2 { (heading) }
            @for line in words::answer(plan, ranking, ranked) { p { (line) } }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "#" }
                    @for name in &names { th scope="col" { (name) } }
                    @if !ranking.ways.is_empty() { th scope="col" { "counted" } }
                    th scope="col" { "distance" }
                    @for title in figures.titles() { th scope="col" { (title) } }
                } }
                tbody { @for (place, one) in ranked.iter().enumerate() { tr {
                    td.figure { (place + 1) }
                    @for name in &names { td { @if let Some(level) = one.factors.level(name) { (level) } } }
                    @if !ranking.ways.is_empty() { td { (words::ways(ranking, one)) } }
                    td.figure { (words::distance(one)) }
                    @for (place, figure) in one.figures.iter().enumerate() {
                        td.figure { (figures.mean(place, figure)) }
                    }
                } } }
            } }
            @if ranked.iter().any(|one| !one.others.is_empty()) {
                h3 { (plan.compare.factor) }
                p.note { (words::changes_heading(plan)) "." }
                (changes(plan, &figures, ranked))
                @for line in words::totals(plan, ranked) { p { (line) } }
            }
            ul { @for line in words::levels(&names, ranked) { li { (line) } } }
        }
    }
}

fn changes(plan: &Plan, figures: &Figures<'_>, ranked: &[Ranked]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr {
                th scope="col" { "#" }
                th scope="col" { (plan.compare.factor) }
                @for gap in figures.gaps() { th scope="col" { (gap) } }
            } }
            tbody { @for (place, one) in ranked.iter().take(CHANGED).enumerate() {
                tr {
                    td.figure { (place + 1) }
                    td { "two seeds" }
                    @for figure in &one.figures { td.figure { (words::apart(figure.apart.as_ref())) } }
                }
                @for other in &one.others { tr {
                    td {}
                    td { (other.level) }
                    @for (place, change) in other.changes.iter().enumerate() {
                        td.figure { (figures.change(place, change.as_ref())) }
                    }
                } }
            } }
        } }
    }
}
