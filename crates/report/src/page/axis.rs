//! Intervals on an axis, as small drawings in the cells of a column.

use document::Range;
use maud::{Markup, html};

/// The size of a drawing in pixels, and the room beside the axis for half a label.
const WIDTH: f64 = 140.0;
const HEIGHT: f64 = 16.0;
const MARGIN: f64 = 14.0;

fn x(place: f64) -> String {
    format!(
        "{:.1}",
        MARGIN + place.clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN)
    )
}

fn drawing(label: &str, elements: &Markup) -> Markup {
    html! {
        svg.axis role="img" aria-label=(label) width=(WIDTH) height=(HEIGHT) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) { (elements) }
    }
}

/// A dot at the value, a line over the interval, and the place of no change. The numbers
/// stand beside it.
pub(super) fn range(range: &Range) -> Markup {
    let middle = HEIGHT / 2.0;
    drawing(
        "",
        &html! {
            line.zero x1=(x(range.zero)) x2=(x(range.zero)) y1="0" y2=(HEIGHT) {}
            line.span x1=(x(range.low)) x2=(x(range.high)) y1=(middle) y2=(middle) {}
            circle cx=(x(range.value)) cy=(middle) r="3.5" {}
        },
    )
}

/// The labels of the axis.
pub(super) fn ticks(ticks: &[(f64, String)]) -> Markup {
    drawing(
        "logarithmic axis of the changes",
        &html! {
            @for (place, label) in ticks {
                text x=(x(*place)) y="12" text-anchor="middle" { (label) }
            }
        },
    )
}
