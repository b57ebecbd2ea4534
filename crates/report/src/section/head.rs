//! The first screen: the question, the answer, and its reliability.

use analysis::Findings;
use analysis::quality_check::{QualityCheck, State, Warning};
use document::{Badge, Block, Style};
use plan::{HostFacts, RunFacts};

use crate::section::auto_rate::auto_rate;
use crate::section::{answer, headline, quality_check, rows};

/// What to do about trials that are left to run.
const INCOMPLETE: &str = "The run is incomplete: continue with --resume.";

/// The blocks above every section.
pub(crate) fn blocks(found: &Findings<'_>) -> Vec<Block> {
    let plan = found.plan;
    let checked = quality_check::named_badge("quality check", found.quality_check.state());
    let finished = Badge::plain(trials(found));
    let mut blocks = vec![
        Block::Title {
            name: plan.name.clone(),
            title: headline::question(found).to_owned(),
            badges: vec![checked, finished, Badge::plain(machine(found.facts))],
        },
        Block::Terminal(vec![Block::paragraph(Style::Plain, counts(found))]),
        Block::Page(reservations(found)),
    ];
    let lead = lead(found);
    if rows::are_declared(plan) {
        // The answer and its rows come first.
        blocks.extend(rows::blocks(found));
        blocks.extend(lead.map(|lead| Block::Page(vec![Block::paragraph(Style::Note, lead)])));
        return blocks;
    }
    blocks.extend(lead.map(|lead| {
        let lead = format!("{lead} What changed:");
        Block::Page(vec![Block::paragraph(Style::Plain, lead)])
    }));
    let mut sentences = headline::answer(found);
    sentences.extend(headline::counted(found));
    if !sentences.is_empty() {
        blocks.push(Block::Paragraphs(Style::Answer, sentences));
    }
    let not_measured = headline::not_measured(found);
    let rate = found.facts.auto_rate.as_ref().map(auto_rate);
    let notes = not_measured.into_iter().chain(rate);
    blocks.extend(notes.map(|line| Block::paragraph(Style::Note, line)));
    blocks.push(Block::Page(answer::blocks(found)));
    blocks
}

/// The number of trials that finished.
fn trials(found: &Findings<'_>) -> String {
    let failed = match found.failed() {
        0 => String::new(),
        failed => format!(", {failed} failed and left out"),
    };
    let (done, all) = (
        found.trials.len() - found.failed(),
        found.plan.expected_trials(),
    );
    format!("{done} of {all} trials finished{failed}")
}

/// Why the run has fewer trials than planned, as a further sentence.
fn end(found: &Findings<'_>) -> String {
    match (found.complete, found.plan.until) {
        (false, _) => format!(" {INCOMPLETE}"),
        (true, Some(until)) if found.trials.len() < found.plan.expected_trials() => {
            format!(" Stopped early, as asked: {until}.")
        }
        (true, _) => String::new(),
    }
}

/// A sentence about the completeness of the run.
fn counts(found: &Findings<'_>) -> String {
    let failed = match found.failed() {
        0 => ", 0 failed and left out",
        _ => "",
    };
    let quality_check = &found.quality_check;
    let state = quality_check.state();
    let checked = match state {
        State::Passed => format!("quality check {state}"),
        State::PassedWithWarnings => format!("quality check {state}: {}", warnings(quality_check)),
        State::Failed => format!("quality check {state}: do not rely on these results, see below"),
    };
    format!(
        "{}{failed}; {checked}.{}{}",
        trials(found),
        end(found),
        unmeasured(found).map_or_else(String::new, |missing| format!(" {missing}"))
    )
}

/// As [`counts`], in a few words: warnings and faults have lines of their own.
pub(crate) fn finished(found: &Findings<'_>) -> String {
    let notes = match found.quality_check.notes.len() {
        0 => String::new(),
        1 => ", 1 note (-v)".to_owned(),
        notes => format!(", {notes} notes (-v)"),
    };
    format!(
        "{}; quality check {}{notes}.{}",
        trials(found),
        found.quality_check.state(),
        end(found)
    )
}

/// Faults of the results and warnings about them.
fn reservations(found: &Findings<'_>) -> Vec<Block> {
    let incomplete = (!found.complete).then(|| INCOMPLETE.to_owned());
    let alarms: Vec<String> = [faults(found), incomplete, unmeasured(found)]
        .into_iter()
        .flatten()
        .collect();
    let mut blocks = vec![Block::Paragraphs(Style::Alarm, alarms)];
    blocks.extend(warned(found).map(|warnings| Block::paragraph(Style::Warning, warnings)));
    blocks
}

/// A note on the compared factor, if it is the MTU.
fn lead(found: &Findings<'_>) -> Option<String> {
    // 1500 bytes: [IEEE802.3 s3.2.7].
    (found.plan.compare.factor == "mtu").then(|| {
        format!(
            "The MTU of a link is the largest packet that it supports. On Ethernet it is 1500 bytes; frames with more are called jumbo frames. This run sent the same traffic at several MTUs over {}.",
            found.plan.backend.profile().words.links
        )
    })
}

/// Why not to rely on the answer.
pub(crate) fn faults(found: &Findings<'_>) -> Option<String> {
    let quality_check = &found.quality_check;
    (quality_check.state() == State::Failed).then(|| {
        let faults = quality_check.faults.join("; ");
        format!("Do not rely on these results: {faults}.")
    })
}

/// The warnings about the answer.
pub(crate) fn warned(found: &Findings<'_>) -> Option<String> {
    let quality_check = &found.quality_check;
    (!quality_check.warnings.is_empty()).then(|| format!("Warning: {}.", warnings(quality_check)))
}

fn warnings(quality_check: &QualityCheck) -> String {
    let warnings: Vec<String> = quality_check
        .warnings
        .iter()
        .map(Warning::to_string)
        .collect();
    warnings.join("; ")
}

/// A sentence about the cells that should have a trial and have none; for an
/// incomplete run there is nothing to say yet.
pub(crate) fn unmeasured(found: &Findings<'_>) -> Option<String> {
    let mut cells = found.unmeasured();
    let first = cells.next().filter(|_| found.complete)?;
    let more = match cells.count() {
        0 => String::new(),
        more => format!(" and {more} more settings"),
    };
    Some(format!(
        "No result for {}{more}: no trial finished. Run the failed trials again with --resume --retry.",
        first.factors
    ))
}

fn machine(facts: &RunFacts) -> String {
    let machines = facts.machines().map(|(name, host)| {
        let user = match host.root {
            true => "root",
            false => "an ordinary user",
        };
        let HostFacts {
            kernel,
            cpus,
            cpu_model,
            ..
        } = host;
        let whole = format!("{kernel}, {cpus} × {cpu_model}, run by {user}");
        match name.as_str() {
            "" => whole,
            name => format!("{name}: {whole}"),
        }
    });
    let machines: Vec<String> = machines.collect();
    match machines.is_empty() {
        true => "simulated, the same on every machine".to_owned(),
        false => machines.join("; "),
    }
}
