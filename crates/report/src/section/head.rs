//! The first screen: the question, the answer, and its reliability.

use analysis::Findings;
use analysis::certificate::{Certificate, Doubt, State};
use document::{Badge, Block, Style};
use plan::{HostFacts, RunFacts};

use crate::section::auto_rate::auto_rate;
use crate::section::{answer, certificate, headline, rows};

/// What to do about trials that are left to run.
const INCOMPLETE: &str = "The run is incomplete: continue with --resume.";

/// The blocks above every section.
pub(crate) fn blocks(found: &Findings<'_>) -> Vec<Block> {
    let plan = found.plan;
    let certified = certificate::named_badge("certificate", found.certificate.state());
    let finished = Badge::plain(trials(found));
    let mut blocks = vec![
        Block::Title {
            name: plan.name.clone(),
            title: headline::question(found).to_owned(),
            badges: vec![certified, finished, Badge::plain(machine(found.facts))],
        },
        Block::Terminal(vec![Block::paragraph(Style::Plain, counts(found))]),
        Block::Page(opening(found)),
    ];
    if rows::are_declared(plan) {
        blocks.extend(rows::blocks(found));
        return blocks;
    }
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
    let certificate = &found.certificate;
    let state = certificate.state();
    let certified = match state {
        State::Passed => format!("certificate {state}"),
        State::Doubtful => format!("certificate {state}: {}", doubts(certificate)),
        State::Failed => format!("certificate {state}: do not rely on these results, see below"),
    };
    format!(
        "{}{failed}; {certified}.{}{}",
        trials(found),
        end(found),
        unmeasured(found).map_or_else(String::new, |missing| format!(" {missing}"))
    )
}

/// As [`counts`], in a few words: doubts and faults have lines of their own.
pub(crate) fn finished(found: &Findings<'_>) -> String {
    let notes = match found.certificate.notes.len() {
        0 => String::new(),
        1 => ", 1 note (-v)".to_owned(),
        notes => format!(", {notes} notes (-v)"),
    };
    format!(
        "{}; certificate {}{notes}.{}",
        trials(found),
        found.certificate.state(),
        end(found)
    )
}

/// Warnings about the results, and a note on the compared factor.
fn opening(found: &Findings<'_>) -> Vec<Block> {
    let incomplete = (!found.complete).then(|| INCOMPLETE.to_owned());
    let alarms: Vec<String> = [faults(found), incomplete, unmeasured(found)]
        .into_iter()
        .flatten()
        .collect();
    // 1500 octets: [IEEE802.3 s3.2.7].
    let lead = (found.plan.compare.factor == "mtu").then(|| {
        format!(
            "The MTU of a link is the largest packet that it carries. On Ethernet it is 1500 octets; frames with more are called jumbo frames. This run sent the same traffic at several MTUs over {}. What changed:",
            found.plan.world.profile().words.links
        )
    });
    let mut blocks = vec![Block::Paragraphs(Style::Alarm, alarms)];
    blocks.extend(doubtful(found).map(|doubts| Block::paragraph(Style::Doubt, doubts)));
    blocks.extend(lead.map(|lead| Block::paragraph(Style::Plain, lead)));
    blocks
}

/// Why not to rely on the answer.
pub(crate) fn faults(found: &Findings<'_>) -> Option<String> {
    let certificate = &found.certificate;
    (certificate.state() == State::Failed).then(|| {
        let faults = certificate.faults.join("; ");
        format!("Do not rely on these results: {faults}.")
    })
}

/// Why to doubt the answer.
pub(crate) fn doubtful(found: &Findings<'_>) -> Option<String> {
    let certificate = &found.certificate;
    (!certificate.doubts.is_empty()).then(|| format!("Doubtful: {}.", doubts(certificate)))
}

fn doubts(certificate: &Certificate) -> String {
    let doubts: Vec<String> = certificate.doubts.iter().map(Doubt::to_string).collect();
    doubts.join("; ")
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
