//! Findings about messages, MSS, fragments, changes, tunnels and loss.

use std::collections::BTreeSet;

use units::Bytes;

use super::super::asker::Outcome;
use super::super::history::AnswerLimit;
use super::super::history::Message;
use super::super::kind::{Kind, SMALL, bytes};
use super::super::{DirectionResult, Finding, FindingKind, Protocol, Target};
use super::{Facts, finding, sizes, tunnel};

pub(super) fn findings(facts: &Facts<'_>, forward: DirectionResult) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(no_answer(facts));
    findings.extend(announced(facts));
    findings.extend(answers_limited(facts));
    findings.extend(answer_rate(facts));
    findings.extend(mss(facts, forward));
    findings.extend(fragments(facts));
    findings.extend(changed(facts));
    let tunnel = forward.mtu.filter(|mtu| *mtu < facts.settings.asked);
    let tunnel = tunnel.and_then(|mtu| tunnel::guess(mtu, facts.settings.asked));
    findings.extend(tunnel.map(|tunnel| finding(FindingKind::Tunnel(tunnel), Vec::new())));
    let loss = facts.history.loss().filter(|loss| loss.lost > 0);
    findings.extend(loss.map(|loss| finding(FindingKind::Loss(loss), Vec::new())));
    findings
}

fn no_answer(facts: &Facts<'_>) -> Option<Finding> {
    let reach = &facts.walked.reach;
    let is_silent = reach.answers.is_empty() && !reach.tcp;
    let is_rejected = sizes::rejects_all(facts).is_some();
    (is_silent && !is_rejected).then(|| finding(FindingKind::NoAnswer, facts.evidence(|_| true)))
}

/// Announced sizes that are not the true ones.
fn announced(facts: &Facts<'_>) -> Vec<Finding> {
    let (Some(main), Some(found)) = (facts.walked.main, facts.walked.found) else {
        return Vec::new();
    };
    let mut known = BTreeSet::new();
    let mut findings = Vec::new();
    // A message about a size that passes is forged: no router sends it.
    let of_main = |one: &&Message| is_of(one, main.protocol) && one.size > found.mtu;
    for one in facts.history.messages().filter(of_main) {
        let kind = if one.announced < found.mtu {
            FindingKind::AnnouncedTooSmall {
                router: one.router,
                announced: bytes(one.announced),
                passes: bytes(found.mtu),
            }
        } else if one.announced >= one.size && one.announced > found.mtu {
            FindingKind::AnnouncedTooLarge {
                router: one.router,
                announced: bytes(one.announced),
                fails_from: bytes(found.fails.map_or(one.size, |(fails, _)| fails)),
            }
        } else {
            continue;
        };
        if known.insert((one.router, one.announced < found.mtu)) {
            let sizes = [one.size, found.mtu];
            findings.push(finding(kind, facts.sizes(main.protocol, &sizes)));
        }
    }
    findings
}

fn is_of(message: &Message, protocol: Protocol) -> bool {
    message.protocol == protocol && message.flow == 0
}

fn answers_limited(facts: &Facts<'_>) -> Option<Finding> {
    let rejections = facts.walked.rejections.filter(|one| one.is_limited)?;
    let (main, found) = (facts.walked.main?, facts.walked.found?);
    let kind = FindingKind::AnswersLimited {
        router: facts.rejecter(main.protocol, found.mtu)?,
        sent: rejections.sent,
        answered: rejections.answered,
    };
    Some(finding(
        kind,
        facts.sizes(main.protocol, &[rejections.size]),
    ))
}

fn answer_rate(facts: &Facts<'_>) -> Option<Finding> {
    let AnswerLimit { protocol, every } = facts.walked.limit?;
    let main = facts.walked.main.map(|main| main.protocol);
    let kind = FindingKind::AnswerRate {
        protocol,
        per_second: 1.0 / every.as_secs_f64(),
        instead: main.filter(|main| *main != protocol),
    };
    let is_small = |kind: &Kind| {
        let is_far = kind.to == Target::FarEnd && kind.hop_limit.is_none();
        is_far && kind.protocol == protocol && kind.size <= SMALL
    };
    Some(finding(kind, facts.evidence(is_small)))
}

/// The MSS against the size that passes: TCP does not use more than it allows.
fn mss(facts: &Facts<'_>, forward: DirectionResult) -> Option<Finding> {
    let seen = facts.history.mss()?;
    let largest = facts
        .carried(Protocol::Tcp)
        .and_then(|(largest, _)| largest);
    let expected = facts.mss(largest.map(bytes).or(forward.mtu)?);
    let kind = FindingKind::MssClamped { seen, expected };
    let evidence = || facts.evidence(|kind| kind.protocol == Protocol::Tcp && kind.flow == 0);
    (seen < expected).then(|| finding(kind, evidence()))
}

fn fragments(facts: &Facts<'_>) -> Option<Finding> {
    let evidence = || facts.evidence(|kind| kind.fragment_size.is_some());
    let dropped = facts.walked.fragments == Outcome::Vanishes;
    dropped.then(|| finding(FindingKind::FragmentsDropped, evidence()))
}

fn changed(facts: &Facts<'_>) -> Option<Finding> {
    // Where large packets are often lost, a search may end at any size.
    if facts.has_uneven_losses() {
        return None;
    }
    let after = facts.walked.found?.mtu;
    let before = facts.earlier.iter().rfind(|&&size| size != after)?;
    let (before, after): (Bytes, Bytes) = (bytes(*before), bytes(after));
    Some(finding(
        FindingKind::MtuChanged { before, after },
        Vec::new(),
    ))
}
