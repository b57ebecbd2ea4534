//! Claims for the terminal.

use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use crate::arithmetic::Sum;
use crate::conclusion::Conclusion;
use crate::outcome::{FITTED, Outcome, Plausible};
use crate::record::Header;

/// The widths of place, verdict and sensitivity.
const PLACE: u16 = 10;
const VERDICT: u16 = 16;
const SENSITIVITY: u16 = 13;

/// For each paper its counts and a table, `width` columns wide, and the counts of all.
pub fn overview(outcomes: &[&Outcome<'_>], width: u16) -> String {
    let papers = outcomes.chunk_by(|one, other| one.paper.name == other.paper.name);
    let tables =
        papers.map(|of_paper| format!("{}\n{}\n", counts(of_paper), table(of_paper, width)));
    let papers: Vec<String> = tables.collect();
    let all = match papers.len() {
        0 | 1 => String::new(),
        _ => format!("\n{}\n", total(outcomes)),
    };
    papers.join("\n") + &all
}

/// How many claims all papers have, and with which conclusions.
pub(crate) fn total(outcomes: &[&Outcome<'_>]) -> String {
    counted("All papers", outcomes)
}

/// How many claims a paper has, and with which conclusions.
pub(crate) fn counts(outcomes: &[&Outcome<'_>]) -> String {
    let paper = outcomes
        .first()
        .map_or("", |first| first.paper.title.as_str());
    counted(paper, outcomes)
}

fn counted(what: &str, outcomes: &[&Outcome<'_>]) -> String {
    let counts = Conclusion::ALL.iter().filter_map(|verdict| {
        let with = outcomes.iter().filter(|one| one.verdict == *verdict);
        match with.count() {
            0 => None,
            count => Some(format!("{count} {verdict}")),
        }
    });
    let counts: Vec<String> = counts.collect();
    format!("{what}: {} claims: {}", outcomes.len(), counts.join(", "))
}

fn table(outcomes: &[&Outcome<'_>], width: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(["claim", "place", "figure", "verdict", "sensitivity"]);
    for outcome in outcomes {
        let claim = outcome.claim;
        table.add_row([
            format!("{}: {}", claim.id, claim.text),
            claim.place.clone(),
            outcome.figures(),
            outcome.verdicts(),
            outcome
                .sensitivity
                .as_ref()
                .map_or_else(|| "-".to_owned(), share),
        ]);
    }
    let fixed = PLACE + VERDICT + SENSITIVITY;
    let rest = width.saturating_sub(fixed).max(40);
    let widths = [
        rest * 3 / 5,
        PLACE,
        rest - rest * 3 / 5,
        VERDICT,
        SENSITIVITY,
    ];
    for (column, width) in table.column_iter_mut().zip(widths) {
        column.set_padding((0, 2));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    table.trim_fmt()
}

/// A figure with four digits, or all that stand before the point; none behind a whole
/// number.
fn exact(figure: f64) -> String {
    let places = match figure.abs() {
        size if size.fract().abs() < f64::EPSILON => 0,
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 5,
    };
    format!("{figure:.places$}")
}

/// The sums of the papers: what is printed, what is exact, and how it was computed,
/// `width` columns wide.
pub fn sums_table(sums: &[Sum<'_>], width: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(["claim", "printed", "exact", "verdict", "computation"]);
    for sum in sums {
        let exact = format!("{} {}", exact(sum.exact), sum.unit);
        table.add_row([
            sum.id.to_owned(),
            sum.printed.clone(),
            exact.trim_end().to_owned(),
            sum.verdict.to_string(),
            sum.how.to_owned(),
        ]);
    }
    let last = table.column_count().saturating_sub(1);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if place < last {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    format!("{}\n", table.trim_fmt())
}

/// In how many of the plausible settings it holds; of several cells from the fewest
/// to the most.
pub(crate) fn share(plausible: &Plausible<'_>) -> String {
    let lines = &plausible.lines;
    let mut shares: Vec<f64> = lines.iter().map(|line| line.holds.value.round()).collect();
    shares.sort_by(f64::total_cmp);
    let settings = lines.iter().map(|line| line.settings).min().unwrap_or(0);
    let share = match shares.as_slice() {
        [low, .., high] if low < high => format!("{low:.0} to {high:.0} % of {settings}"),
        [one, ..] => format!("{one:.0} % of {settings}"),
        [] => String::new(),
    };
    let share = match plausible.is_of_any() {
        true => format!("any {share}"),
        false => share,
    };
    match plausible.is_elsewhere {
        true => format!("{share} ({})", plausible.backend),
        false => share,
    }
}

/// All that is known of one claim.
pub fn whole(outcome: &Outcome<'_>) -> String {
    let claim = outcome.claim;
    let mut text = format!("{}: {}\n\n", claim.id, claim.text);
    let mut line = |label: &str, words: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{label:<11}{words}");
    };
    line(
        "paper",
        &format!("{}, {}", outcome.paper.title, claim.place),
    );
    line("done", &claim.done);
    line("figure", &outcome.figure);
    line("verdict", outcome.verdict.as_str());
    for one in &outcome.elsewhere {
        line(&one.backend, &format!("{}: {}", one.figure, one.verdict));
    }
    if let Some(one) = &outcome.fitted {
        line(
            "fitted",
            &format!("{FITTED}: {}: {}", one.figure, one.verdict),
        );
    }
    for one in &outcome.alternatives {
        let share = one
            .sensitivity
            .map_or_else(String::new, |(share, settings)| {
                format!(", {share:.0} % of {settings} settings")
            });
        line("", &format!("{}: {}{share}", one.name, one.verdict));
    }
    if let Some(sensitivity) = &outcome.sensitivity {
        line("sensitivity", &share(sensitivity));
    }
    line("why", &claim.why);
    if let Some(record) = outcome.record {
        line("run", &run(&record.run));
    }
    text
}

/// A recorded run in one line.
pub(crate) fn run(run: &Header) -> String {
    let variant = run.variant.as_ref().map(|variant| format!(" ({variant})"));
    let mut words = vec![
        format!(
            "{}{} in backend {}",
            run.experiment,
            variant.unwrap_or_default(),
            run.backend
        ),
        format!("plan {}", run.plan),
        match run.failed {
            0 => format!("{} trials", run.trials),
            failed => format!("{} trials, {failed} failed", run.trials),
        },
    ];
    if !run.complete {
        words.push("not complete".to_owned());
    }
    words.push(format!("quality check {}", run.quality_check));
    words.push(format!("jumbolab {}", run.version));
    let machine = run.kernel.iter().cloned();
    words.extend(machine.chain(run.processors.map(|count| format!("{count} processors"))));
    words.extend(run.date.clone());
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcomes, papers, recorded};

    #[test]
    fn tables_line_up_in_100_columns() {
        let (papers, records) = (papers().unwrap(), recorded().unwrap());
        let all = outcomes(&papers, &records).unwrap();
        let all: Vec<_> = all.iter().collect();
        let text = overview(&all, 100);
        for line in text.lines().filter(|line| !line.contains(" claims: ")) {
            assert!(line.chars().count() <= 100, "{line}");
        }
        for one in &all {
            assert!(text.contains(one.verdict.as_str()), "{}", one.claim.id);
        }
        assert_eq!(text.matches(" claims: ").count(), papers.len() + 1);
        let last = text.lines().last().unwrap();
        let begin = format!("All papers: {} claims: ", all.len());
        let counts = last.strip_prefix(&begin).unwrap().split(", ");
        let counts = counts.map(|count| count.split_once(' ').unwrap());
        let total: usize = counts
            .map(|(count, _)| count.parse::<usize>().unwrap())
            .sum();
        assert_eq!(total, all.len(), "{last}");
    }

    #[test]
    fn each_sum_has_a_row_with_the_printed_and_the_exact_figure() {
        let papers = papers().unwrap();
        let sums = crate::sums(&papers);
        let text = sums_table(&sums, 140);
        for line in text.lines() {
            assert!(line.chars().count() <= 140, "{line}");
        }
        for words in [
            "2019-frames-1500  3333  3502 frames  correct by calculation",
            "mred-saved-rate 4 31.29 Mbit/s slip in print",
            "mred-290 290 290 bytes correct by calculation",
            "2019-rtt-order 4 4 scenarios consistent with its tables",
            "mred-scenarios 4 2 contradicted by its tables",
        ] {
            let words: Vec<&str> = words.split_whitespace().collect();
            let has = |line: &str| {
                let line: Vec<&str> = line.split_whitespace().collect();
                line.starts_with(&words)
            };
            assert!(text.lines().any(has), "{words:?}: {text}");
        }
        assert_eq!(crate::sum_lines(&sums).unwrap().len(), sums.len());
    }

    #[test]
    fn one_claim_is_shown_in_full() {
        let papers = papers().unwrap();
        let all = outcomes(&papers, &[]).unwrap();
        let one = all.iter().find(|one| one.claim.id == "mred-drop").unwrap();
        let text = whole(one);
        assert!(
            text.contains("\nfigure     3.06 %; printed 26.0 ("),
            "{text}"
        );
        assert!(text.contains("\nverdict    slip in print\n"), "{text}");
        assert!(!text.contains("\nrun "), "{text}");
    }
}
