//! Drawings as inline SVG, and strips of coloured columns, one below the other.

use document::{Color, Picture, Svg};
use maud::{Markup, PreEscaped, html};

/// The height of a strip, in the units of its width: one for each column.
const HEIGHT: usize = 1;

/// A drawing with its title and the lines below it.
pub(super) fn svg(svg: &Svg) -> Markup {
    html! {
        figure.drawing {
            @if !svg.title.is_empty() { figcaption { b { (svg.title) } } }
            div role="img" aria-label=(svg.alternative) { (PreEscaped(&svg.elements)) }
            ul.note { @for line in &svg.notes { li { (line) } } }
        }
    }
}

/// A picture with its title.
pub(super) fn picture(picture: &Picture) -> Markup {
    html! {
        figure {
            figcaption { b { (picture.title) } " " span.note { (picture.note) } }
            div.strips {
                @for strip in &picture.strips {
                    div.note { (strip.label) }
                    svg viewBox={ "0 0 " (strip.shades.len()) " " (HEIGHT) }
                        preserveAspectRatio="none" role="img" aria-label=(strip.label) {
                        @for (from, many, shade) in runs(&strip.shades) {
                            rect x=(from) y="0" width=(many) height=(HEIGHT)
                                class=(class(shade)) fill-opacity=[opacity(shade)] {}
                        }
                    }
                }
            }
        }
    }
}

/// Columns side by side that look alike: where they begin, and how many they are.
fn runs(shades: &[Color]) -> Vec<(usize, usize, Color)> {
    let mut runs: Vec<(usize, usize, Color)> = Vec::new();
    for (at, &shade) in shades.iter().enumerate() {
        match runs.last_mut() {
            Some((_, many, last)) if *last == shade => *many += 1,
            _ => runs.push((at, 1, shade)),
        }
    }
    runs
}

const fn class(shade: Color) -> &'static str {
    match shade {
        Color::Good => "good",
        Color::Bad => "bad",
        Color::Open => "open",
        Color::Missing => "missing",
        Color::Value(..) => "value",
    }
}

/// The opacity of a shade: the higher its value, the darker.
fn opacity(shade: Color) -> Option<String> {
    match shade {
        Color::Value(at, many) => {
            let dark = 0.12 + 0.88 * at as f64 / (many.max(2) - 1) as f64;
            Some(format!("{dark:.2}"))
        }
        Color::Good | Color::Bad | Color::Open | Color::Missing => None,
    }
}
