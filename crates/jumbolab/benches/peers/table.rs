//! Prints the tables.

use crate::machine::load;
use crate::outcome::Outcome;
use crate::program::Program;
use crate::statistics::{median, sorted};
use crate::work::{Goal, Kind, Work};

/// The minimum confidence level of a median's interval.
const LEVEL: f64 = 0.95;

/// The smallest number of values whose extremes enclose the median at [`LEVEL`]
/// [Thompson1936].
const FEWEST: usize = 6;

/// The drift of departures over a run that counts as none, in microseconds: the
/// variation of the frames' transit time.
const DRIFT: f64 = 10.0;

/// Prints the table of a work; failed runs are absent. `floors` are the results
/// of [`crate::floor::watch`] of each round, in order.
pub(crate) fn print(
    work: &Work,
    programs: &[Program],
    runs: &[Vec<Option<Outcome>>],
    floors: &[f64],
) {
    println!("\n{}: {}; load {}\n", work.name, work.title(), load());
    let names = runs.iter().flatten().flatten().next();
    let Some(Outcome(names)) = names else {
        println!("no run succeeded");
        return;
    };
    let names: Vec<&str> = names.iter().map(|figure| figure.name).collect();
    println!(
        "| program | {} | range of the first | runs |",
        names.join(" | ")
    );
    println!("|{}", "---|".repeat(names.len() + 3));
    for (program, runs) in programs.iter().zip(runs) {
        row(*program, runs, names.len());
    }
    println!("{}", verdict(work, programs, runs));
    if let [least, .., most] = floors {
        println!(
            "A clock watched on that processor, nothing sent: p99 {:.1} us ({least:.1} to {most:.1}): \
             the machine's own, which no program gets below",
            median(floors)
        );
    }
}

fn row(program: Program, runs: &[Option<Outcome>], columns: usize) {
    let done: Vec<&Outcome> = runs.iter().flatten().collect();
    let digits = |column: usize| done.first().map_or(0, |run| run.0[column].digits);
    let written = |column: usize, value: f64| match value.is_finite() {
        true => format!("{value:.*}", digits(column)),
        false => "-".to_owned(),
    };
    let of = |column: usize| sorted(done.iter().map(|run| run.0[column].value));
    let medians: Vec<String> = (0..columns)
        .map(|column| written(column, median(&of(column))))
        .collect();
    let first = of(0);
    let range = match (first.first(), first.last()) {
        (Some(low), Some(high)) => format!("{} to {}", written(0, *low), written(0, *high)),
        _ => "-".to_owned(),
    };
    println!(
        "| {program} | {} | {range} | {} of {} |",
        medians.join(" | "),
        done.len(),
        runs.len()
    );
}

/// Compares Jumbolab with the best of the others and states whether the goal is
/// reached.
fn verdict(work: &Work, programs: &[Program], runs: &[Vec<Option<Outcome>>]) -> String {
    let first = |run: &Option<Outcome>| run.as_ref().map_or(f64::NAN, |run| run.0[0].value);
    let [ours, others @ ..] = runs else {
        return String::new();
    };
    if let Goal::Within(most) = work.goal {
        let of = |column: usize| {
            let values = ours.iter().flatten();
            sorted(values.map(|run| run.0[column].value.abs()))
        };
        let (late, drift) = (of(0), of(1));
        let reached = median(&late) <= most && median(&drift) <= DRIFT;
        return format!(
            "Jumbolab: p99 {:.1} us {}, drift {:.1} us {}; goal: at most {most} us, no drift: {}",
            median(&late),
            interval(&late),
            median(&drift),
            interval(&drift),
            reached_or_not(reached)
        );
    }
    let (more, goal) = match work.goal {
        Goal::AtLeast(goal) => (true, goal),
        Goal::AtMost(goal) | Goal::Within(goal) => (false, goal),
    };
    let middle = |runs: &Vec<Option<Outcome>>| {
        let done = runs.iter().flatten();
        median(&sorted(done.map(|run| run.0[0].value)))
    };
    let best = programs
        .iter()
        .skip(1)
        .zip(others)
        .filter(|(_, runs)| runs.iter().any(Option::is_some))
        .max_by(|a, b| {
            let order = middle(a.1).total_cmp(&middle(b.1));
            if more { order } else { order.reverse() }
        });
    let Some((peer, theirs)) = best else {
        return "there is nothing to compare with".to_owned();
    };
    let ratios = ours.iter().zip(theirs);
    let ratios = ratios.map(|(ours, theirs)| first(ours) / first(theirs));
    let ratios = sorted(ratios.filter(|ratio| ratio.is_finite()));
    let (low, high) = ends(&ratios);
    let holds = |ratio: f64| if more { ratio >= goal } else { ratio <= goal };
    let reached = match (holds(low) && holds(high), holds(median(&ratios))) {
        (true, _) => "reached, by the whole interval",
        (false, true) => "reached by the median alone",
        (false, false) => "NOT reached",
    };
    format!(
        "Jumbolab / {peer}: {:.3} {}; goal: at {} {goal}: {reached}{}",
        median(&ratios),
        interval(&ratios),
        if more { "least" } else { "most" },
        lost(work, ours),
    )
}

/// A remark on losses and frames of works that count datagrams.
fn lost(work: &Work, ours: &[Option<Outcome>]) -> String {
    if work.kind != Kind::Rate {
        return String::new();
    }
    let of = |name: &str| {
        let figures = ours.iter().flatten().flat_map(|run| &run.0);
        sorted(
            figures
                .filter(|figure| figure.name == name)
                .map(|figure| figure.value),
        )
    };
    let most = of("lost").last().copied().unwrap_or(f64::NAN);
    let least = |name: &str| of(name).first().copied().unwrap_or(f64::NAN);
    format!(
        "; lost in the worst run: {most:.0}: {}; a frame each in all runs: {}; all stamped: {}",
        reached_or_not(most <= 0.0),
        reached_or_not(least("frames/datagram") >= 1.0),
        reached_or_not(least("stamped %") >= 100.0),
    )
}

const fn reached_or_not(reached: bool) -> &'static str {
    if reached { "reached" } else { "NOT reached" }
}

fn interval(sorted: &[f64]) -> String {
    let (low, high) = ends(sorted);
    let few = if sorted.len() < FEWEST {
        ", too few for 95 %"
    } else {
        ""
    };
    format!("({low:.3} to {high:.3}{few})")
}

/// The confidence interval of the median: its ends are equally far from both
/// ends of the sorted values, as far as [`LEVEL`] permits for any distribution
/// [Thompson1936]. With fewer than [`FEWEST`] values it would exceed their
/// range.
fn ends(sorted: &[f64]) -> (f64, f64) {
    let number = sorted.len();
    let Some(last) = number.checked_sub(1) else {
        return (f64::NAN, f64::NAN);
    };
    // The probability that fewer than `place + 1` of all values lie below the
    // median.
    let mut term: f64 = std::iter::repeat_n(0.5, number).product();
    let mut outside = term;
    let mut place = 0;
    while place < last / 2 {
        let (below, of) = (place + 1, number - place);
        term = term * count(of) / count(below);
        if 2.0 * (outside + term) > 1.0 - LEVEL {
            break;
        }
        outside += term;
        place += 1;
    }
    (sorted[place], sorted[last - place])
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}
