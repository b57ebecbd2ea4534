//! `jumbolab run replay`: sends recorded arrivals through their link again.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use lab::recording::{Decision, Recorded};
use lab::replay::{self, Agreement, Difference, Summary};
use proto::link::Fate;
use queue::Reason;
use serde_json::{Value, json};
use units::Time;

use crate::args::Run;
use crate::output;

/// The name of the experiment.
pub(crate) const EXPERIMENT: &str = "replay";

pub(crate) fn run(args: &Run) -> Result<()> {
    let Some(path) = &args.trace else {
        bail!(
            "replay: needs a recording; write for instance `jumbolab run replay --trace frames.csv`"
        );
    };
    if args.experiment.as_deref() != Some(EXPERIMENT) {
        bail!("--trace: works with `jumbolab run replay` only");
    }
    if let Some(world) = args.on.as_deref().filter(|&world| world != "sim") {
        bail!("--on {world}: a replay is always simulated; leave it out");
    }
    let recorded = Recorded::read(path)?;
    if !recorded.is_whole {
        let packets = recorded
            .directions
            .iter()
            .map(|traced| traced.packets.len());
        output::say(&format!(
            "warning: {}: the recording was cut; its first {} packets are replayed",
            path.display(),
            packets.sum::<usize>()
        ));
    }
    let variants = replay::variants(&recorded, &args.set)?;
    let mut rows = Vec::new();
    for direction in 0..recorded.directions.len() {
        let was = replay::recorded(&recorded.directions[direction]);
        let agreement = replay::reproduce(&recorded, direction)?;
        rows.push(Row {
            direction,
            name: "recorded",
            summary: was,
            agreement: Some(agreement),
        });
        for variant in &variants {
            rows.push(Row {
                direction,
                name: &variant.name,
                summary: replay::replay_with(&recorded, direction, &variant.directions[direction])?,
                agreement: None,
            });
        }
    }
    match args.json {
        true => output::print_lines(rows.iter().map(|row| row.json().to_string())),
        false => output::print(&format!("{}{}\n", table(&rows), verdict(&rows))),
    }
}

/// The fates of the packets of one direction: recorded, or under other
/// settings.
struct Row<'a> {
    direction: usize,
    name: &'a str,
    summary: Summary,
    /// For the recorded settings: the agreement of the replay with the
    /// recording.
    agreement: Option<Agreement>,
}

impl Row<'_> {
    fn json(&self) -> Value {
        let fates = |fate| self.summary.of_fate(fate);
        let dropped = |reason| self.summary.dropped_for(reason);
        let waits = self.summary.waits;
        let mut object = json!({
            "way": self.direction,
            "settings": self.name,
            "delivered": fates(Fate::Delivered),
            "duplicated": fates(Fate::Duplicated),
            "dropped": fates(Fate::Dropped),
            "dropped_full": dropped(Reason::Full),
            "dropped_early": dropped(Reason::Early),
            "dropped_forced": dropped(Reason::Forced),
            "dropped_late": dropped(Reason::Late),
            "lost": fates(Fate::Lost),
            "damaged": fates(Fate::Damaged),
            "too_big": fates(Fate::TooBig),
            "marked": self.summary.marked,
            "wait_mean_ms": waits.mean * 1e3,
            "wait_median_ms": waits.median * 1e3,
            "wait_p99_ms": waits.p99 * 1e3,
            "wait_longest_ms": waits.longest * 1e3,
        });
        if let Some(agreement) = &self.agreement {
            object["compared"] = agreement.compared.into();
            object["agreed"] = agreement.agreed.into();
            object["first_difference"] = agreement
                .first
                .as_ref()
                .map_or(Value::Null, |first| first.number.into());
        }
        object
    }
}

fn table(rows: &[Row<'_>]) -> String {
    let widest = rows.iter().map(|row| row.name.chars().count()).max();
    let width = widest.unwrap_or_default().max(8);
    let mut text = format!(
        "way  {:width$} {:>9} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>10} {:>10} {:>10}\n",
        "settings",
        "forwarded",
        "dropped",
        "full",
        "early",
        "forced",
        "late",
        "marked",
        "lost",
        "wait ms",
        "median ms",
        "p99 ms",
    );
    for row in rows {
        let summary = &row.summary;
        let fates = |fate| summary.of_fate(fate);
        let [full, early, forced, late] = summary.dropped;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:3}  {:width$} {:>9} {:>8} {full:>7} {early:>7} {forced:>7} {late:>7} {:>7} {:>8} {:>10.4} {:>10.4} {:>10.4}",
            row.direction,
            row.name,
            fates(Fate::Delivered) + fates(Fate::Duplicated),
            fates(Fate::Dropped),
            summary.marked,
            fates(Fate::Lost) + fates(Fate::Damaged),
            summary.waits.mean * 1e3,
            summary.waits.median * 1e3,
            summary.waits.p99 * 1e3,
        );
    }
    text
}

/// Whether the link repeated its decisions, in one line.
fn verdict(rows: &[Row<'_>]) -> String {
    let directions = || {
        let of_record = rows.iter();
        of_record.filter_map(|row| Some((row.direction, row.agreement.as_ref()?)))
    };
    let compared: usize = directions().map(|(_, agreement)| agreement.compared).sum();
    let agreed: usize = directions().map(|(_, agreement)| agreement.agreed).sum();
    let first = directions().find_map(|(direction, agreement)| Some((direction, agreement.first?)));
    match first {
        None => {
            format!("reproduced: all {compared} decisions are as recorded, each at the same time")
        }
        Some((direction, first)) => format!(
            "not reproduced: {agreed} of {compared} decisions are as recorded; first difference: {}",
            difference(direction, &first)
        ),
    }
}

fn difference(direction: usize, first: &Difference) -> String {
    format!(
        "packet {} of direction {direction}, arrived at {:.9} s, was {} and is now {}",
        first.number,
        seconds(first.arrival),
        decision(&first.recorded),
        decision(&first.replayed)
    )
}

fn decision(decision: &Decision) -> String {
    let fate = match decision.fate {
        Fate::Delivered => "delivered",
        Fate::Duplicated => "duplicated",
        Fate::Dropped => "dropped",
        Fate::Lost => "lost",
        Fate::Damaged => "damaged",
        Fate::TooBig => "too big",
    };
    let reason = match decision.reason {
        None => "",
        Some(Reason::Full) => " (full)",
        Some(Reason::Early) => " (early)",
        Some(Reason::Forced) => " (forced)",
        Some(Reason::Late) => " (late)",
    };
    let marked = if decision.marked { " with a mark" } else { "" };
    format!("{fate}{reason}{marked} at {:.9} s", seconds(decision.at))
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).unwrap_or_default().as_secs_f64()
}
