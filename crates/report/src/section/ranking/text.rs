//! Text and numbers of a ranking.

use std::collections::BTreeSet;

use analysis::ranking::{Measured, Ranked};
use analysis::statistics::{Interval, Mean, Separation};
use plan::{Level, Plan, Ranking, Target};

use crate::document::Column;
use crate::figure::signed;

/// The number format of values: about a hundredth of their gaps.
pub(crate) struct PrintedFigures<'a> {
    targets: &'a [Target],
    places: Vec<usize>,
}

impl<'a> PrintedFigures<'a> {
    pub(crate) fn of(ranking: &'a Ranking) -> Self {
        let targets = &ranking.figures;
        Self {
            targets,
            places: targets.iter().map(|target| places(target.gap)).collect(),
        }
    }

    /// A column for each printed value; a terminal shows the value alone.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Column> {
        let figures = self.targets.iter().zip(&self.places);
        figures.map(|(target, &places)| {
            let printed = format!("{:.places$} {}", target.value, target.unit);
            Column {
                unit: format!("printed {printed}"),
                brief: Some(printed),
                ..Column::right(name(target))
            }
        })
    }

    /// A mean without an interval.
    pub(crate) fn bare(&self, place: usize, figure: &Measured) -> String {
        format!("{:.*}", self.places[place], figure.mean.mean)
    }

    /// A column for each printed gap.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = Column> {
        let gaps = self.targets.iter().zip(&self.places);
        gaps.map(|(target, &places)| Column {
            unit: format!("printed {} {}", signed(target.gap, places), target.unit),
            ..Column::new(name(target))
        })
    }

    /// A mean with its interval.
    pub(crate) fn mean(&self, place: usize, figure: &Measured) -> String {
        let places = self.places[place];
        let interval = figure.mean.ci95.map(|wide| interval(wide, places));
        let interval = interval.map_or_else(String::new, |text| format!(" {text}"));
        format!("{:.places$}{interval}", figure.mean.mean)
    }

    /// The change by another level, with its interval.
    pub(crate) fn change(&self, place: usize, change: Option<&Mean>) -> String {
        let Some(change) = change else {
            return String::new();
        };
        let places = self.places[place];
        let interval = change.ci95.map(|wide| interval(wide, places));
        let interval = interval.map_or_else(String::new, |text| format!(" {text}"));
        format!("{}{interval}", signed(change.mean, places))
    }
}

/// The name of a value's metric; with several counting methods, the name of the
/// first one.
fn name(target: &Target) -> &str {
    target.metrics.first().map_or("", String::as_str)
}

/// The subject of the ranking, the smallest distance, and the number of
/// settings tied with it.
pub(crate) fn answer(plan: &Plan, ranking: &Ranking, ranked: &[Ranked]) -> Vec<String> {
    let settings = settings(ranked);
    let counted = match ranking.countings.len() {
        0 | 1 => String::new(),
        countings => format!(", counted in {countings} ways (+ where others give the same)"),
    };
    let printed: Vec<String> = ranking
        .figures
        .iter()
        .map(|target| format!("{} {} {}", name(target), target.value, target.unit))
        .collect();
    let mut lines = vec![format!(
        "{} {}: {}. {settings} settings with {} {}{counted}, nearest first. A distance is the root of the mean square over these figures of how far the mean is from each, in printed gaps.",
        ranking.text,
        ranking.source,
        printed.join(", "),
        plan.compare.factor,
        plan.compare.baseline,
    )];
    let tied = ranked
        .iter()
        .filter(|one| one.is_tied == Some(true))
        .count();
    let within = ranked.iter().filter(|one| one.distance <= 1.0).count();
    if ranked.iter().any(|one| one.is_tied.is_some()) {
        lines.push(format!(
            "Within one gap: {within} of {}. As near as the nearest, for all that chance allows: {tied}, that one included.",
            ranked.len()
        ));
    }
    lines
}

/// The nearest setting, how many are as near, and what the other levels of the
/// compared factor change there, beside the printed changes.
pub(crate) fn nearest(
    plan: &Plan,
    ranking: &Ranking,
    first: &Ranked,
    ranked: &[Ranked],
) -> Vec<String> {
    let names = varied(plan);
    let setting = (first.factors.0.iter())
        .filter(|(name, _)| names.contains(name))
        .map(|(name, level)| format!("{name} {}", plan.label(name, level)));
    let counting = match first_counting(ranking, first) {
        counting if counting.is_empty() => counting,
        counting => format!(", counted as {counting}"),
    };
    let tied = ranked.iter().filter(|one| one.is_tied == Some(true));
    let mut sentences = vec![format!(
        "{}: nearest of {} settings is {}{counting}, at a distance of {:.2} printed gaps; {} of {} are as near within chance.",
        ranking.text,
        settings(ranked),
        setting.collect::<Vec<_>>().join(", "),
        first.distance,
        tied.count(),
        ranked.len()
    )];
    let printed = PrintedFigures::of(ranking);
    sentences.extend(first.others.iter().map(|other| {
        let changes = ranking.figures.iter().zip(&other.changes).enumerate();
        let changes = changes.map(|(place, (target, change))| {
            let gap = signed(target.gap, printed.places[place]);
            let own = printed.change(place, change.as_ref());
            format!("{} {own} (printed {gap})", name(target))
        });
        format!(
            "There {} {} changes {}.",
            plan.compare.factor,
            plan.label(&plan.compare.factor, &other.level),
            changes.collect::<Vec<_>>().join(", ")
        )
    }));
    sentences
}

/// The heading of the changes by other levels.
pub(crate) fn changes_heading(plan: &Plan) -> String {
    let (factor, baseline) = (&plan.compare.factor, &plan.compare.baseline);
    format!(
        "What {factor} changes there against {baseline}, run by run with the same seeds; and how probable it is that two runs with {baseline} that differ in the seed alone differ by the printed change or more"
    )
}

/// Over all settings, each with its best counting method: the number of
/// decreases and increases for each other level and value.
pub(crate) fn totals(plan: &Plan, ranked: &[Ranked]) -> Vec<String> {
    let mut cells = BTreeSet::new();
    let settings = ranked.iter().filter(|one| cells.insert(one.cell));
    let settings: Vec<&Ranked> = settings.collect();
    let mut levels: Vec<&Level> = Vec::new();
    for other in settings.iter().flat_map(|one| &one.others) {
        if !levels.contains(&&other.level) {
            levels.push(&other.level);
        }
    }
    let Some(ranking) = &plan.ranking else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for level in levels {
        let parts = ranking.figures.iter().enumerate().map(|(place, target)| {
            let changes: Vec<Interval> = settings
                .iter()
                .flat_map(|one| one.others.iter().filter(|other| other.level == *level))
                .filter_map(|other| other.changes.get(place)?.as_ref()?.ci95)
                .collect();
            let lower = changes.iter().filter(|wide| wide.high < 0.0).count();
            let higher = changes.iter().filter(|wide| wide.low > 0.0).count();
            format!(
                "{} lower in {lower}, higher in {higher} of {}",
                name(target),
                changes.len()
            )
        });
        let parts: Vec<String> = parts.collect();
        lines.push(format!(
            "Over all settings, each as it is counted when nearest, {} {level} against {}: {}.",
            plan.compare.factor,
            plan.compare.baseline,
            parts.join("; ")
        ));
    }
    lines
}

/// For each factor, the smallest distance at each level.
pub(crate) fn levels(names: &[String], ranked: &[Ranked]) -> Vec<String> {
    let line = |name: &String| {
        // The nearest settings come first, so a level first occurs at its best.
        let mut best: Vec<(&Level, f64)> = Vec::new();
        for one in ranked {
            if let Some(level) = one.factors.level(name)
                && !best.iter().any(|(known, _)| *known == level)
            {
                best.push((level, one.distance));
            }
        }
        let best: Vec<String> = best
            .iter()
            .map(|(level, distance)| format!("{level} {distance:.2}"))
            .collect();
        format!("{name}: {}", best.join(", "))
    };
    names.iter().map(line).collect()
}

/// The counting methods that yield these values of a setting.
pub(crate) fn countings(ranking: &Ranking, one: &Ranked) -> String {
    let names: Vec<&str> = one
        .countings
        .iter()
        .filter_map(|&counting| ranking.countings.get(counting))
        .map(String::as_str)
        .collect();
    names.join(", ")
}

/// The first of these counting methods, and the number of others.
pub(crate) fn first_counting(ranking: &Ranking, one: &Ranked) -> String {
    let first = one
        .countings
        .first()
        .and_then(|&counting| ranking.countings.get(counting));
    let first = first.map_or("", String::as_str);
    match one.countings.len() {
        0 | 1 => first.to_owned(),
        countings => format!("{first} +{}", countings - 1),
    }
}

/// A distance with its interval, marked if it may be the smallest.
pub(crate) fn distance(one: &Ranked) -> String {
    let interval = one.interval.map(|wide| interval(wide, 2));
    let interval = interval.map_or_else(String::new, |text| format!(" {text}"));
    let tied = if one.is_tied == Some(true) { " =" } else { "" };
    format!("{:.2}{interval}{tied}", one.distance)
}

/// A probability with its interval.
pub(crate) fn separation(chance: Option<&Separation>) -> String {
    let Some(Separation { share, ci95 }) = chance else {
        return String::new();
    };
    let interval = ci95.map(|wide| interval(wide, 2));
    let interval = interval.map_or_else(String::new, |text| format!(" {text}"));
    format!("p {share:.2}{interval}")
}

/// The factors with more than one level, except for the compared one.
pub(crate) fn varied(plan: &Plan) -> Vec<String> {
    let mut names = crate::rows::factor_names(plan);
    names.retain(|name| {
        let mut levels = plan.cells.iter().map(|cell| cell.factors.level(name));
        let first = levels.next();
        *name != plan.compare.factor && levels.any(|level| Some(level) != first)
    });
    names
}

/// The number of ranked settings, with all their counting methods.
fn settings(ranked: &[Ranked]) -> usize {
    let cells: BTreeSet<usize> = ranked.iter().map(|one| one.cell).collect();
    cells.len()
}

fn interval(Interval { low, high }: Interval, places: usize) -> String {
    format!("[{low:.places$}, {high:.places$}]")
}

/// The decimal places that show a tenth of `gap`, at most 9.
fn places(gap: f64) -> usize {
    let mut places = 0;
    let mut step = 10.0;
    while gap.abs() < step && places < 9 {
        places += 1;
        step /= 10.0;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_so_finely_that_a_tenth_of_a_gap_shows() {
        for (gap, digits) in [(0.26, 2), (-0.21, 2), (1.5, 1), (15.0, 0), (0.013, 3)] {
            assert_eq!(places(gap), digits, "{gap}");
        }
    }
}
