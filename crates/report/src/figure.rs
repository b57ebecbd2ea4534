//! Formats numbers for readers, with no more digits than are significant.

use std::fmt;

use analysis::compare::{Comparison, NotFound};
use analysis::decomposition::Part;
use analysis::passes::Passes;
use analysis::statistics::Interval;
use plan::{Factors, Level, Plan};
use units::Rate;

/// The whole to which a change in per cent refers.
const WHOLE: f64 = 100.0;

/// The maximum number of decimal places.
const MOST_PLACES: usize = 6;

/// The words behind a figure of trials without spread, and in place of an
/// interval of a change that is no result.
const EXACT: &str = "exact";
const TOO_WIDE: &str = "[too wide]";

/// The words for a change that is no result.
const NO_RESULT: &str = "no result: the interval is wider than the baseline";

/// The marks of a trimmed mean and of an approximate result; [`notes`] explains them.
const TRIMMED: &str = "†";
const APPROXIMATE: &str = "≈";

/// A mean with half its interval, such as `749 ± 2`; `749 ± 2 †` if it is a trimmed one,
/// `749 ± 2 ≈` if it is approximate.
pub(super) fn mean(comparison: &Comparison) -> String {
    let Some(mean) = comparison.mean else {
        return String::new();
    };
    let mark = match (mean.is_approximate, mean.trimmed) {
        (true, _) => format!(" {APPROXIMATE}"),
        (false, Some(_)) => format!(" {TRIMMED}"),
        (false, None) => String::new(),
    };
    if mean.trimmed.is_none()
        && mean
            .ci95
            .is_some_and(|interval| interval.is_exact(mean.mean))
    {
        return format!("{}{mark}", exact(mean.mean, comparison.resolution));
    }
    let half = mean.ci95.map(Interval::half);
    let places = places(comparison.resolution, half, mean.mean);
    match half {
        Some(half) => format!("{:.places$} ± {}{mark}", mean.mean, up(half, places)),
        None => format!("{:.places$}{mark}", mean.mean),
    }
}

/// As [`mean`], without a mark.
pub(super) fn unmarked_mean(comparison: &Comparison) -> String {
    let text = mean(comparison);
    let bare = [TRIMMED, APPROXIMATE]
        .iter()
        .find_map(|mark| text.strip_suffix(mark));
    bare.map_or(&*text, str::trim_end).to_owned()
}

/// The note below a table of `rows` of one metric: the marks of its means, and trials that
/// do not count.
pub(super) fn notes<'a>(rows: impl IntoIterator<Item = &'a Comparison>) -> Option<String> {
    let rows: Vec<&Comparison> = rows.into_iter().filter(|row| row.mean.is_some()).collect();
    let (approximate, others): (Vec<&Comparison>, Vec<&Comparison>) =
        rows.iter().partition(|row| row.is_approximate());
    let together = |rows: &[&Comparison]| {
        let passes = rows.iter().map(|row| row.passes);
        passes.fold(Passes::default(), Passes::and)
    };
    let notes = [
        trimmed(others.iter().copied()),
        approximately(together(&approximate), !approximate.is_empty())
            .map(|note| format!("{APPROXIMATE} {note}")),
        counting(together(&others)),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The trials behind the changes of `rows`, in words; `None`: all of them count, and none is
/// disturbed.
pub(super) fn passes<'a>(rows: impl IntoIterator<Item = &'a Comparison>) -> Option<String> {
    let (approximate, others): (Vec<&Comparison>, Vec<&Comparison>) =
        rows.into_iter().partition(|row| row.is_approximate());
    let together = |rows: &[&Comparison]| {
        let passes = rows.iter().map(|row| row.compared);
        passes.fold(Passes::default(), Passes::and)
    };
    approximately(together(&approximate), !approximate.is_empty())
        .or_else(|| counting(together(&others)))
}

/// What [`marked`] means, and whether other rows leave trials out. A trial may have figures
/// of several rows, so it states no numbers.
pub(super) fn marked_passes<'a>(rows: impl IntoIterator<Item = &'a Comparison>) -> Option<String> {
    let (approximate, others): (Vec<&Comparison>, Vec<&Comparison>) =
        rows.into_iter().partition(|row| row.is_approximate());
    let mark = (!approximate.is_empty()).then(|| {
        format!(
            "{APPROXIMATE} approximate: other work disturbed so many trials of the row that all of them count."
        )
    });
    let rest = passes(others).map(|_| match mark {
        Some(_) => "Other rows use their undisturbed trials alone.".to_owned(),
        None => "Rows use their undisturbed trials alone.".to_owned(),
    });
    let notes: Vec<String> = mark.into_iter().chain(rest).collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// A word about a change, with the mark of an approximate one.
pub(super) fn marked(word: &impl fmt::Display, comparison: &Comparison) -> String {
    match comparison.is_approximate() {
        true => format!("{word} {APPROXIMATE}"),
        false => word.to_string(),
    }
}

fn approximately(passes: Passes, is_approximate: bool) -> Option<String> {
    let (disturbed, all) = (passes.disturbed, passes.all());
    is_approximate.then(|| match disturbed {
        0 => "approximate, as cells that it is compared with".to_owned(),
        _ => format!("approximate: other work disturbed {disturbed} of {all} trials"),
    })
}

fn counting(passes: Passes) -> Option<String> {
    let (used, all) = (passes.used, passes.all());
    let text = || format!("{used} of {all} trials; other work disturbed the rest");
    (used < all).then(text)
}

/// The explanation of the mark of trimmed means, if some of `rows` are such: how many of
/// their trials are outliers.
pub(super) fn trimmed<'a>(rows: impl IntoIterator<Item = &'a Comparison>) -> Option<String> {
    let means = rows.into_iter().filter_map(|row| row.mean);
    let means = means.filter(|mean| !mean.is_approximate);
    let trimmed = means.filter_map(|mean| Some((mean.n, mean.trimmed?.outliers)));
    let (trials, outliers) = trimmed.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))?;
    let are = if outliers == 1 {
        "is an outlier"
    } else {
        "are outliers"
    };
    Some(format!(
        "{TRIMMED} trimmed: {outliers} of {trials} trials {are}"
    ))
}

/// One value, rounded to the instrument's resolution, such as `749`.
pub(super) fn single(value: f64, resolution: Option<f64>) -> String {
    format!("{value:.*}", places(resolution, None, value))
}

/// A prediction with two or three digits, since it is accurate to some per cent
/// only.
pub(super) fn predicted(value: f64) -> String {
    let places = if value < 10.0 { 1 } else { 0 };
    format!("{value:.places$}")
}

/// A change and its interval in per cent, e.g. `+6.4 [6.1, 6.7]`.
pub(super) fn change(comparison: &Comparison) -> String {
    let Some(change) = comparison.change else {
        return String::new();
    };
    let Some(percent) = change.percent else {
        return "none: from 0".into();
    };
    let half = change.ci95.map(Interval::half);
    let places = places(comparison.resolution_percent, half, percent);
    match change.ci95 {
        Some(interval) if interval.is_exact(WHOLE) => {
            let text = exact(percent, comparison.resolution_percent);
            with_sign(percent, text)
        }
        Some(interval) if interval.is_no_result() => {
            format!("{} {TOO_WIDE}", with_sign(percent, rough(percent)))
        }
        Some(Interval { low, high }) => format!(
            "{} [{}, {}]",
            signed(percent, places),
            plain(-ceiling(-low, places), places),
            plain(ceiling(high, places), places)
        ),
        None => signed(percent, places),
    }
}

/// As [`change`], with the unit behind the figure: `+6.4 % [6.1, 6.7]`.
pub(super) fn change_percent(comparison: &Comparison) -> String {
    let text = change(comparison);
    match text.split_once(' ') {
        Some((figure, interval)) if interval.starts_with('[') || interval == EXACT => {
            format!("{figure} % {interval}")
        }
        _ => format!("{text} %"),
    }
}

/// One factor of a change with its interval, e.g. `+0.9 % [0.7, 1.1]`.
pub(super) fn part(part: &Part) -> String {
    percent_in(part.percent, part.ci95)
}

/// A change in per cent with its interval, to two places at most.
pub(super) fn percent_in(percent: f64, interval: Interval) -> String {
    if interval.is_exact(WHOLE) {
        let places = places(None, None, percent).min(2);
        return format!("{} % {EXACT}", signed(percent, places));
    }
    if interval.is_no_result() {
        return format!("{} % {TOO_WIDE}", with_sign(percent, rough(percent)));
    }
    let Interval { low, high } = interval;
    let half = interval.half();
    let places = places(None, Some(half), percent).min(2);
    format!(
        "{} % [{}, {}]",
        signed(percent, places),
        plain(-ceiling(-low, places), places),
        plain(ceiling(high, places), places)
    )
}

/// The text if no difference was found, with the reason.
pub(super) fn none_found(comparison: &Comparison) -> String {
    match comparison.not_found() {
        Some(NotFound::Above(margin)) => {
            format!("no difference found above {} %", two_digits(margin))
        }
        Some(NotFound::Resolution(_)) => {
            "no difference found: within the resolution of the instrument".into()
        }
        Some(NotFound::Together(comparisons)) => {
            format!("no difference found: {}", beyond_chance(comparisons))
        }
        Some(NotFound::NoResult) => NO_RESULT.into(),
        Some(NotFound::Chance) | None => "no difference found".into(),
    }
}

/// The reason why a difference does not count that alone would.
pub(super) fn beyond_chance(comparisons: usize) -> String {
    format!("not beyond chance over {comparisons} comparisons")
}

/// A figure of trials without spread: as fine as the instrument tells, or with
/// four digits.
fn exact(figure: f64, resolution: Option<f64>) -> String {
    match resolution.filter(|&resolution| resolution > 0.0) {
        Some(_) => format!("{:.*} {EXACT}", places(resolution, None, figure), figure),
        None => format!("{} {EXACT}", four_digits(figure)),
    }
}

/// A figure that its trials hardly determine, with two digits.
fn rough(figure: f64) -> String {
    let places = order(figure).map_or(0, |order| 1 - order);
    let places = usize::try_from(places).unwrap_or(0).min(MOST_PLACES);
    format!("{figure:.places$}")
}

/// The text of a change, with its sign also if it is positive.
fn with_sign(percent: f64, text: String) -> String {
    match percent > 0.0 {
        true => format!("+{text}"),
        false => text,
    }
}

/// The factors that distinguish a cell from other measured cells, and the
/// compared factor: `offloads=off mtu=9000`.
pub(super) fn cell(plan: &Plan, factors: &Factors) -> String {
    let measured = || plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let shown = factors.0.iter().filter(|(name, level)| {
        *name == plan.compare.factor
            || measured().any(|cell| cell.factors.level(name) != Some(level))
    });
    plan.labelled(&Factors(shown.cloned().collect()))
}

/// Factors as text, such as `offloads off, protocol udp`.
pub(super) fn words<'a>(factors: impl IntoIterator<Item = &'a (String, Level)>) -> String {
    let words = factors.into_iter();
    let words: Vec<String> = words
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    words.join(", ")
}

/// A number with four digits, for values without an interval.
pub(super) fn four_digits(figure: f64) -> String {
    let places = order(figure).map_or(0, |order| 3 - order);
    let places = usize::try_from(places).unwrap_or(0).min(MOST_PLACES);
    format!("{figure:.places$}")
}

/// A rate in its usual form: `1 Gbit/s`, `100 Mbit/s`.
pub(super) fn rate(rate: Rate) -> String {
    let megabits = rate.megabits_per_second();
    if megabits >= 1000.0 {
        format!("{} Gbit/s", megabits / 1000.0)
    } else {
        format!("{megabits} Mbit/s")
    }
}

/// A margin in per cent, rounded up to two digits.
pub(super) fn two_digits(margin: f64) -> String {
    let places = order(margin).map_or(0, |order| 1 - order);
    let places = usize::try_from(places).unwrap_or(0).min(MOST_PLACES);
    up(margin, places)
}

/// Pads numbers so that their decimal points align.
pub(super) fn align(figures: &mut [String]) {
    // Only the number itself has a point to align, not ` ± 2` or ` [..]`.
    let split = |text: &str| {
        let end = text.find(' ').unwrap_or(text.len());
        let point = text[..end].find('.').unwrap_or(end);
        (point, end)
    };
    let widest = |of: &dyn Fn(&str) -> usize| figures.iter().map(|text| of(text)).max();
    let whole = widest(&|text| split(text).0).unwrap_or(0);
    let fraction = widest(&|text| split(text).1 - split(text).0).unwrap_or(0);
    for figure in figures.iter_mut().filter(|figure| !figure.is_empty()) {
        let (point, end) = split(figure);
        let padded = format!(
            "{:>whole$}{:<fraction$}{}",
            &figure[..point],
            &figure[point..end],
            &figure[end..]
        );
        *figure = padded.trim_end().into();
    }
}

/// Published values of one table, all with the decimal places of the longest,
/// since TOML numbers lose trailing zeros.
pub(super) fn published(values: &[Option<f64>]) -> Vec<String> {
    let places = values.iter().flatten().map(|value| {
        let text = value.to_string();
        text.split_once('.').map_or(0, |(_, places)| places.len())
    });
    let places = places.max().unwrap_or(0).min(MOST_PLACES);
    let print = |value: &Option<f64>| value.map(|value| format!("{value:.places$}"));
    values
        .iter()
        .map(|value| print(value).unwrap_or_default())
        .collect()
}

/// A number with its sign; values that round to 0 have none.
pub(super) fn signed(number: f64, places: usize) -> String {
    let text = format!("{number:+.places$}");
    if text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        text
    } else {
        text[1..].into()
    }
}

/// A difference and its interval, with the decimal places that the interval justifies.
pub(super) fn with_interval(difference: f64, Interval { low, high }: Interval) -> String {
    let half = (high - low) / 2.0;
    let places = (0..6)
        .zip([10.0, 1.0, 0.1, 0.01, 0.001, 0.0001])
        .find(|(_, least)| half >= *least)
        .map_or(2, |(places, _)| places);
    let difference = signed(difference, places);
    format!("{difference} [{low:.places$}, {high:.places$}]")
}

/// A number with a sign if it is negative.
fn plain(number: f64, places: usize) -> String {
    signed(number, places).trim_start_matches('+').into()
}

/// The decimal places of a value. Its last digit has the order of the
/// instrument's resolution, or is the second digit that its interval
/// determines.
fn places(resolution: Option<f64>, half: Option<f64>, figure: f64) -> usize {
    let by_resolution = resolution.and_then(order);
    let by_spread = half.and_then(order).map(|order| order - 1);
    let last = match (by_resolution, by_spread) {
        (Some(a), Some(b)) => a.max(b),
        // Three digits if neither is known.
        (a, b) => a
            .or(b)
            .or_else(|| order(figure).map(|order| order - 2))
            .unwrap_or(0),
    };
    usize::try_from(-last).map_or(0, |places| places.min(MOST_PLACES))
}

/// The power of ten of a number's first digit; `None` for 0.
fn order(number: f64) -> Option<i32> {
    let order = number.abs().log10().floor();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the logarithm of a finite number is within 400"
    )]
    order.is_finite().then_some(order as i32)
}

/// A half-width, rounded up so that the printed interval contains the computed
/// one.
fn up(half: f64, places: usize) -> String {
    format!("{:.places$}", ceiling(half, places))
}

/// `number` rounded up to `places` digits, tolerating rounding errors of f64.
fn ceiling(number: f64, places: usize) -> f64 {
    let scale = 10f64.powi(i32::try_from(places).unwrap_or(0));
    // Adding 0 turns -0 into 0.
    (number * scale - 1e-6).ceil() / scale + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::compare::{Difference, compare};
    use plan::Trial;
    use plan::synthetic::{cell, factors, plan, trial};

    #[test]
    fn the_last_place_is_no_finer_than_resolution_or_spread() {
        for (resolution, half, figure, expected) in [
            (Some(1.9), Some(0.3), 949.3, 0),
            (Some(0.19), Some(0.3), 94.93, 1),
            (Some(0.001), Some(0.312), 7.66, 2),
            (Some(0.001), Some(12.3), 766.0, 0),
            (Some(0.2), None, 6.4, 1),
            (None, Some(0.05), 6.4, 3),
            (None, None, 6.412, 2),
            (None, None, 0.0, 0),
            (None, Some(0.0), 4.0, 2),
            (Some(1e-9), Some(1e-9), 4.0, MOST_PLACES),
        ] {
            assert_eq!(
                places(resolution, half, figure),
                expected,
                "{resolution:?} {half:?} {figure}"
            );
        }
    }

    /// A comparison of goodput in a cell with its baseline, which have these
    /// values.
    fn compared(baseline: &[f64], values: &[f64]) -> Comparison {
        let cells = [1500, 9000].map(|mtu| cell(factors(mtu))).to_vec();
        let plan = plan(cells, 2, Vec::new());
        let trials = |mtu, values: &[f64]| -> Vec<Trial> {
            let trials = (1..).zip(values);
            trials
                .map(|(repeat, &value)| trial(factors(mtu), repeat, &[("delay", value)]))
                .collect()
        };
        let trials = [trials(1500, baseline), trials(9000, values)].concat();
        compare(&plan, &trials).remove(1)
    }

    #[test]
    fn what_is_no_result_and_what_is_exact_says_so() {
        let wide = compared(&[1.0, 60.0], &[2.0, 50.0]);
        assert_eq!(change(&wide), "-15 [too wide]");
        assert_eq!(change_percent(&wide), "-15 % [too wide]");
        assert_eq!(none_found(&wide), NO_RESULT);
        let same = compared(&[10.0, 10.0], &[12.564_606, 12.564_606]);
        assert_eq!(mean(&same), "12.565 exact");
        assert_eq!(change(&same), "+25.65 exact");
        assert_eq!(change_percent(&same), "+25.65 % exact");
        let at = |low, high| Interval { low, high };
        assert_eq!(percent_in(79.2, at(-100.0, 163_064.0)), "+79 % [too wide]");
        assert_eq!(percent_in(79.0, at(26.0, 155.0)), "+79 % [26, 155]");
        assert_eq!(percent_in(6.412, at(6.412, 6.412)), "+6.41 % exact");
        let narrow = compared(&[10.0, 10.2, 9.9], &[10.1, 10.0, 9.9]);
        assert_eq!(none_found(&narrow), "no difference found above 2.7 %");
    }

    #[test]
    fn a_difference_that_alone_would_count_says_over_how_many_it_does_not() {
        let mut one = compared(&[10.0, 10.2, 9.9], &[10.4, 10.6, 10.3]);
        assert_eq!(one.difference, Some(Difference::Found));
        // As Holm's procedure decides among twelve.
        (one.difference, one.together) = (Some(Difference::NotFound), 12);
        assert_eq!(
            none_found(&one),
            "no difference found: not beyond chance over 12 comparisons"
        );
    }

    #[test]
    fn intervals_are_rounded_outwards_and_zero_has_no_sign() {
        assert_eq!(up(0.41, 1), "0.5");
        assert_eq!(up(0.4, 1), "0.4");
        assert_eq!(up(0.0, 1), "0.0");
        assert_eq!(signed(-0.04, 1), "0.0");
        assert_eq!(signed(0.06, 1), "+0.1");
        assert_eq!(signed(-3.0, 0), "-3");
        assert_eq!(plain(ceiling(6.68, 1), 1), "6.7");
    }

    #[test]
    fn published_figures_have_their_trailing_zeros_again() {
        assert_eq!(
            published(&[Some(894.5), None, Some(750.94)]),
            ["894.50", "", "750.94"]
        );
    }

    #[test]
    fn decimal_points_line_up() {
        let mut figures = ["949 ± 2", "94.9 ± 0.3", "7.662", "", "none: from 0"].map(String::from);
        align(&mut figures);
        assert_eq!(
            figures,
            [
                "  949     ± 2",
                "   94.9   ± 0.3",
                "    7.662",
                "",
                "none:     from 0"
            ]
        );
    }
}
