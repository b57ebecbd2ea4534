//! The first screen: the question, the answer, and its reliability.

use analysis::Findings;
use plan::{HostFacts, RunFacts};

use crate::document::{Badge, Block, Style};
use crate::section::{answer, rivals, summary};

/// The blocks above every section.
pub(crate) fn blocks(found: &Findings<'_>) -> Vec<Block> {
    let (plan, certificate) = (found.plan, &found.certificate);
    let word = match certificate.passed {
        true => "✓ certificate passed",
        false => "✗ certificate FAILED",
    };
    let certified = Badge {
        words: word.to_owned(),
        passed: Some(certificate.passed),
        is_link: true,
    };
    let failed = match found.failed() {
        0 => String::new(),
        failed => format!(", {failed} failed and left out"),
    };
    let (done, all) = (found.trials.len() - found.failed(), plan.expected_trials());
    let finished = Badge::plain(format!("{done} of {all} trials finished{failed}"));
    let mut blocks = vec![
        Block::Title {
            name: plan.name.clone(),
            title: plan.title.clone(),
            badges: vec![certified, finished, Badge::plain(machine(found.facts))],
        },
        Block::Terminal(vec![Block::paragraph(Style::Plain, counts(found))]),
        Block::Page(opening(found)),
    ];
    let mut sentences = summary::sentences(plan, &found.comparisons);
    sentences.extend(rivals::answers(found));
    if !sentences.is_empty() {
        blocks.push(Block::Paragraphs(Style::Answer, sentences));
    }
    blocks.push(Block::Page(answer::blocks(found)));
    blocks
}

/// A sentence about the completeness of the run.
fn counts(found: &Findings<'_>) -> String {
    let (plan, trials) = (found.plan, found.trials);
    let failed = found.failed();
    let (done, all) = (trials.len() - failed, plan.expected_trials());
    let certified = match found.certificate.passed {
        true => "certificate passed".to_owned(),
        false => "certificate FAILED: do not rely on these results, see below".to_owned(),
    };
    let certified = match &found.certificate.warning {
        Some(warning) => format!("{certified}, but {warning}"),
        None => certified,
    };
    let incomplete = match (found.complete, plan.until) {
        (false, _) => " The run is incomplete: continue with --resume.".to_owned(),
        (true, Some(until)) if trials.len() < all => format!(" Stopped early, as asked: {until}."),
        (true, _) => String::new(),
    };
    format!(
        "{done} of {all} trials finished, {failed} failed and left out; {certified}.{incomplete}"
    )
}

/// Warnings about the results, and a note on the compared factor.
fn opening(found: &Findings<'_>) -> Vec<Block> {
    let certificate = &found.certificate;
    let faults = (!certificate.passed).then(|| {
        let faults = certificate.faults.join("; ");
        format!("Do not rely on these results: {faults}.")
    });
    let warning = certificate.warning.as_ref();
    let warning = warning.map(|warning| format!("Note that {warning}."));
    let incomplete = "The run is incomplete: continue with --resume.".to_owned();
    let incomplete = (!found.complete).then_some(incomplete);
    let alarms: Vec<String> = [faults, warning, incomplete]
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
    blocks.extend(lead.map(|lead| Block::paragraph(Style::Plain, lead)));
    blocks
}

fn machine(facts: &RunFacts) -> String {
    let Some(host) = &facts.host else {
        return "simulated, the same on every machine".to_owned();
    };
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
    format!("{kernel}, {cpus} × {cpu_model}, run by {user}")
}
