//! The lines of an investigation; docs/formats.md is their schema.

use std::net::IpAddr;

use proto::Direction;
use proto::probe::{Evidence, FindingKind, Hop, Limit, Loss, PathReport, Place, Verdict};
use serde::Serialize;
use units::{Bytes, Span};

use super::{Probed, advice, path_change_sentence, path_sentence, words};
use crate::json::json_line;

#[derive(Serialize)]
struct PathLine<'a> {
    kind: &'static str,
    host: &'a str,
    far_end: IpAddr,
    interface: &'a str,
    interface_mtu: u64,
    asked: u64,
    verdict: &'static str,
    sentence: String,
    passed_forward: Option<u64>,
    limit_forward: &'static str,
    passed_backward: Option<u64>,
    limit_backward: &'static str,
    loss_forward: Option<[f64; 3]>,
    loss_backward: Option<[f64; 3]>,
    round_trip_us: Option<f64>,
    loss: Option<f64>,
    probes: u64,
    octets: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct HopLine {
    kind: &'static str,
    far_end: IpAddr,
    hop: u8,
    address: Option<IpAddr>,
    round_trip_us: Option<f64>,
    largest: Option<u64>,
}

#[derive(Serialize)]
struct ProtocolLine {
    kind: &'static str,
    far_end: IpAddr,
    protocol: &'static str,
    answers: bool,
    largest: Option<u64>,
    fails_from: Option<u64>,
    mss: Option<u16>,
}

#[derive(Serialize)]
struct FindingLine {
    kind: &'static str,
    far_end: IpAddr,
    finding: &'static str,
    text: String,
    #[serde(flatten)]
    values: Values,
    evidence: Vec<EvidenceLine>,
}

/// The values of a finding; a finding has those that its kind needs.
#[derive(Default, Serialize)]
struct Values {
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    router: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    announced: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flows: Option<Vec<u16>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of_flows: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind_hop: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_hop: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mss: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mss_expected: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<u32>,
}

#[derive(Serialize)]
struct EvidenceLine {
    protocol: &'static str,
    size: u64,
    hop_limit: Option<u8>,
    router: Option<IpAddr>,
    flow: u16,
    fragments: bool,
    sent: u32,
    answered: u32,
    refused: u32,
}

#[derive(Serialize)]
struct TextLine {
    kind: &'static str,
    far_end: IpAddr,
    text: String,
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    kind: &'static str,
    time: &'a str,
    host: &'a str,
    far_end: IpAddr,
    before_forward: Option<u64>,
    before_backward: Option<u64>,
    passed_forward: Option<u64>,
    passed_backward: Option<u64>,
    loss_forward: Option<[f64; 3]>,
    loss_backward: Option<[f64; 3]>,
    verdict: &'static str,
    sentence: String,
}

/// An object for a change since `before`, noticed at `time`; without a line end.
pub fn path_change_json(probed: &Probed<'_>, before: &PathReport, time: &str) -> String {
    let report = probed.report;
    json_line(&ChangeLine {
        kind: "change",
        time,
        host: probed.host,
        far_end: report.far_end,
        before_forward: before.forward.mtu.map(Bytes::get),
        before_backward: before.backward.mtu.map(Bytes::get),
        passed_forward: report.forward.mtu.map(Bytes::get),
        passed_backward: report.backward.mtu.map(Bytes::get),
        loss_forward: report.forward.loss.as_ref().map(share),
        loss_backward: report.backward.loss.as_ref().map(share),
        verdict: verdict_word(report.verdict),
        sentence: path_change_sentence(probed, before),
    })
}

/// One object for the path, then one for each hop, protocol, finding, piece of advice,
/// and thing that was not seen; without line ends.
pub fn path_json(probed: &Probed<'_>) -> Vec<String> {
    let report = probed.report;
    let far_end = report.far_end;
    let mut lines = vec![json_line(&PathLine {
        kind: "path",
        host: probed.host,
        far_end,
        interface: probed.interface,
        interface_mtu: probed.interface_mtu.get(),
        asked: report.asked.get(),
        verdict: verdict_word(report.verdict),
        sentence: path_sentence(probed),
        passed_forward: report.forward.mtu.map(Bytes::get),
        limit_forward: limit_word(report.forward.limit),
        passed_backward: report.backward.mtu.map(Bytes::get),
        limit_backward: limit_word(report.backward.limit),
        loss_forward: report.forward.loss.as_ref().map(share),
        loss_backward: report.backward.loss.as_ref().map(share),
        round_trip_us: report.round_trip.map(micros),
        loss: report.loss.map(|loss| loss.share),
        probes: report.probes,
        octets: report.octets.get(),
        seconds: report.took.as_secs_f64(),
    })];
    lines.extend(report.hops.iter().map(|hop| {
        json_line(&HopLine {
            kind: "hop",
            far_end,
            hop: hop.number,
            address: hop.address,
            round_trip_us: hop.round_trip.map(micros),
            largest: hop.largest.map(Bytes::get),
        })
    }));
    lines.extend(report.protocols.iter().map(|result| {
        json_line(&ProtocolLine {
            kind: "protocol",
            far_end,
            protocol: result.protocol.name(),
            answers: result.answers,
            largest: result.largest.map(Bytes::get),
            fails_from: result.fails_from.map(Bytes::get),
            mss: result.mss,
        })
    }));
    lines.extend(report.findings.iter().map(|finding| {
        let (name, values) = values(&finding.kind);
        json_line(&FindingLine {
            kind: "finding",
            far_end,
            finding: name,
            text: words::phrase(&finding.kind, probed),
            values,
            evidence: finding.evidence.iter().map(evidence).collect(),
        })
    }));
    let text = |kind, text| {
        json_line(&TextLine {
            kind,
            far_end,
            text,
        })
    };
    lines.extend(
        report
            .advice
            .iter()
            .map(|one| text("advice", advice::line(one, probed))),
    );
    lines.extend(
        report
            .not_seen
            .iter()
            .map(|one| text("not-seen", advice::missing(*one, report.asked))),
    );
    lines
}

/// The name and the values of a finding.
fn values(kind: &FindingKind) -> (&'static str, Values) {
    let none = Values::default();
    let size = |size: &Bytes| Some(size.get());
    match kind {
        FindingKind::NoAnswer => ("no-answer", none),
        FindingKind::Interface { mtu } => (
            "interface",
            Values {
                passes: size(mtu),
                ..none
            },
        ),
        FindingKind::FirstLink { from, first } => (
            "first-link",
            Values {
                fails_from: size(from),
                before_hop: Some(first.number),
                before: first.address,
                ..none
            },
        ),
        FindingKind::BlackHole {
            direction: found,
            from,
            place,
        } => (
            "black-hole",
            Values {
                direction: Some(direction(*found)),
                fails_from: size(from),
                ..at(place)
            },
        ),
        FindingKind::Refused { mtu, router, hop } => (
            "refused",
            Values {
                passes: size(mtu),
                router: Some(*router),
                behind_hop: *hop,
                ..none
            },
        ),
        FindingKind::OuterFragments { fits, .. } => (
            "outer-fragments",
            Values {
                passes: Some(fits.get()),
                ..Values::default()
            },
        ),
        FindingKind::BackwardLimit { mtu } => (
            "backward-limit",
            Values {
                direction: Some(Direction::Backward.name()),
                passes: size(mtu),
                ..none
            },
        ),
        FindingKind::AnnouncedTooSmall {
            router,
            announced,
            passes,
        } => (
            "announced-too-small",
            Values {
                router: Some(*router),
                announced: size(announced),
                passes: size(passes),
                ..none
            },
        ),
        FindingKind::AnnouncedTooLarge {
            router,
            announced,
            fails_from,
        } => (
            "announced-too-large",
            Values {
                router: Some(*router),
                announced: size(announced),
                fails_from: size(fails_from),
                ..none
            },
        ),
        FindingKind::AnswersLimited {
            router,
            sent,
            answered,
        } => (
            "answers-limited",
            Values {
                router: Some(*router),
                sent: Some(*sent),
                answered: Some(*answered),
                ..none
            },
        ),
        FindingKind::OneProtocol {
            protocol: one,
            from,
            others,
            place,
        } => (
            "one-protocol",
            Values {
                protocol: Some(one.name()),
                fails_from: size(from),
                others: size(others),
                ..place.as_ref().map_or(none, at)
            },
        ),
        FindingKind::Branches {
            flows,
            of,
            small,
            large,
            place,
        } => (
            "branches",
            Values {
                flows: Some(flows.clone()),
                of_flows: Some(*of),
                passes: size(small),
                others: size(large),
                ..place.as_ref().map_or(none, at)
            },
        ),
        FindingKind::MssClamped { seen, expected } => (
            "mss-clamped",
            Values {
                mss: Some(*seen),
                mss_expected: Some(*expected),
                ..none
            },
        ),
        FindingKind::FragmentsDropped => ("fragments-dropped", none),
        FindingKind::MtuChanged { before, after } => (
            "mtu-changed",
            Values {
                others: size(before),
                passes: size(after),
                ..none
            },
        ),
        FindingKind::Tunnel(tunnel) => (
            "tunnel",
            Values {
                passes: size(&tunnel.mtu),
                others: size(&tunnel.below),
                names: Some(tunnel.names.clone()),
                ..none
            },
        ),
        FindingKind::Loss(loss) => (
            "loss",
            Values {
                share: Some(share(loss)),
                sent: Some(loss.sent),
                answered: Some(loss.sent.saturating_sub(loss.lost)),
                ..none
            },
        ),
    }
}

/// The hops around a place.
fn at(place: &Place) -> Values {
    let number = |hop: &Option<Hop>| hop.as_ref().map(|hop| hop.number);
    let address = |hop: &Option<Hop>| hop.as_ref().and_then(|hop| hop.address);
    Values {
        behind_hop: number(&place.behind).or_else(|| place.is_known.then_some(0)),
        behind: address(&place.behind),
        before_hop: number(&place.before),
        before: address(&place.before),
        ..Values::default()
    }
}

fn evidence(evidence: &Evidence) -> EvidenceLine {
    EvidenceLine {
        protocol: evidence.protocol.name(),
        size: evidence.size.get(),
        hop_limit: evidence.hop_limit,
        router: evidence.router,
        flow: evidence.flow,
        fragments: evidence.fragments,
        sent: evidence.sent,
        answered: evidence.answered,
        refused: evidence.refused,
    }
}

pub(crate) const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Problem => "problem",
        Verdict::Unclear => "unclear",
    }
}

/// The share of packets that were lost, and its interval.
const fn share(loss: &Loss) -> [f64; 3] {
    [loss.share, loss.low, loss.high]
}

pub(crate) const fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Asked => "asked",
        Limit::Interface => "interface",
        Limit::Refused => "refused",
        Limit::Vanish => "vanish",
        Limit::Fragmented => "fragmented",
        Limit::NotSeen => "not-seen",
    }
}

/// The direction of a black hole; `None`: the probes do not tell.
fn direction(direction: Option<Direction>) -> &'static str {
    direction.map_or("either", Direction::name)
}

fn micros(span: Span) -> f64 {
    1e3 * span.as_millis_f64()
}
