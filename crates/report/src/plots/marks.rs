//! How series are told apart: colours, symbols and dashes, chosen in one place.
//!
//! The page's script has the colours, since it knows the colour scheme: it gives
//! the trace with the role `series N` the colour N modulo [`COLOURS`].

/// The number of colours of the page's script.
const COLOURS: usize = 6;

/// The maximum number of series in one plot; more are drawn as small multiples.
pub(super) const MOST_SERIES: usize = COLOURS;

const SYMBOLS: [&str; COLOURS] = [
    "circle",
    "square",
    "triangle-up",
    "star",
    "triangle-down",
    "hexagon",
];

/// Symbols of published values that no single series belongs to.
const PUBLISHED: [&str; COLOURS] = [
    "diamond-open",
    "diamond-open-dot",
    "circle-open",
    "square-open",
    "triangle-up-open",
    "star-open",
];

/// The symbol of a series. No other one of the first 36 has the same colour and
/// the same symbol.
pub(super) const fn symbol(series: usize) -> &'static str {
    SYMBOLS[(series + series / COLOURS) % COLOURS]
}

/// The open form of the symbol of a series, for what was printed of it.
pub(super) fn open(series: usize) -> String {
    format!("{}-open", symbol(series))
}

/// The symbol of the published values with this number among those of no series.
pub(super) const fn published(number: usize) -> &'static str {
    PUBLISHED[number % COLOURS]
}

/// The dash of a series without symbols: it tells those of one colour apart.
pub(super) const fn dash(series: usize) -> &'static str {
    match series / COLOURS % 4 {
        0 => "solid",
        1 => "dash",
        2 => "dot",
        _ => "dashdot",
    }
}

/// The dash of a line that may lie on another one, which then shows in its gaps. The
/// first [`MOST_DASHED`] lines differ in colour or dash.
pub(super) const fn overlaid(series: usize) -> &'static str {
    dash(series * COLOURS)
}

/// The number of lines that [`overlaid`] tells apart.
pub(super) const MOST_DASHED: usize = 12;

/// The role of the traces of a series, and the group of its legend entry.
pub(super) fn role(series: usize) -> String {
    format!("series {series}")
}

/// The role of the band around a series.
pub(super) fn band(series: usize) -> String {
    format!("band {series}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_of_36_series_have_the_same_colour_and_symbol() {
        let look = |series: usize| (series % COLOURS, symbol(series));
        let looks: BTreeSet<_> = (0..COLOURS * COLOURS).map(look).collect();
        assert_eq!(looks.len(), COLOURS * COLOURS);
    }

    #[test]
    fn no_two_of_24_lines_have_the_same_colour_and_dash() {
        let look = |series: usize| (series % COLOURS, dash(series));
        let looks: BTreeSet<_> = (0..COLOURS * 4).map(look).collect();
        assert_eq!(looks.len(), COLOURS * 4);
    }

    #[test]
    fn no_two_overlaid_lines_have_the_same_colour_and_dash() {
        let look = |series: usize| (series % COLOURS, overlaid(series));
        let looks: BTreeSet<_> = (0..MOST_DASHED).map(look).collect();
        assert_eq!(looks.len(), MOST_DASHED);
        assert_ne!(look(0).1, look(1).1);
    }

    #[test]
    fn the_pages_script_has_as_many_colours() {
        let script = include_str!("../page/paint.js");
        let lists: Vec<&str> = script.split("series: [").skip(1).collect();
        assert_eq!(lists.len(), 2, "a light and a dark palette");
        for list in lists {
            let colours = list.split(']').next().unwrap().matches('#').count();
            assert_eq!(colours, COLOURS);
        }
    }
}
