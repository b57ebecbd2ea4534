//! The lines of an investigation; docs/formats.md is their schema.

use std::net::IpAddr;

use proto::Direction;
use proto::probe::{
    DirectionResult, Evidence, FindingKind, Hop, Loss, PathReport, Place, ProtocolResult, Verdict,
};
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
    interface_mtu: Bytes,
    asked: Bytes,
    verdict: Verdict,
    sentence: String,
    forward: DirectionResult,
    backward: DirectionResult,
    round_trip_us: Option<f64>,
    loss: Option<Loss>,
    probes: u64,
    octets: Bytes,
    seconds: f64,
}

#[derive(Serialize)]
struct HopLine {
    kind: &'static str,
    far_end: IpAddr,
    hop: u8,
    address: Option<IpAddr>,
    round_trip_us: Option<f64>,
    largest: Option<Bytes>,
}

#[derive(Serialize)]
struct ProtocolLine<'a> {
    kind: &'static str,
    far_end: IpAddr,
    #[serde(flatten)]
    result: &'a ProtocolResult,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    kind: &'static str,
    far_end: IpAddr,
    finding: &'static str,
    text: String,
    #[serde(flatten)]
    values: Values,
    evidence: &'a [Evidence],
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
    before_forward: Option<Bytes>,
    before_backward: Option<Bytes>,
    forward: DirectionResult,
    backward: DirectionResult,
    verdict: Verdict,
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
        before_forward: before.forward.mtu,
        before_backward: before.backward.mtu,
        forward: report.forward,
        backward: report.backward,
        verdict: report.verdict,
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
        interface_mtu: probed.interface_mtu,
        asked: report.asked,
        verdict: report.verdict,
        sentence: path_sentence(probed),
        forward: report.forward,
        backward: report.backward,
        round_trip_us: report.round_trip.map(micros),
        loss: report.loss,
        probes: report.probes,
        octets: report.octets,
        seconds: report.took.as_secs_f64(),
    })];
    lines.extend(report.hops.iter().map(|hop| {
        json_line(&HopLine {
            kind: "hop",
            far_end,
            hop: hop.number,
            address: hop.address,
            round_trip_us: hop.round_trip.map(micros),
            largest: hop.largest,
        })
    }));
    lines.extend(report.protocols.iter().map(|result| {
        json_line(&ProtocolLine {
            kind: "protocol",
            far_end,
            result,
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
            evidence: &finding.evidence,
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

/// The share of packets that were lost, and its interval.
const fn share(loss: &Loss) -> [f64; 3] {
    [loss.share, loss.low, loss.high]
}

/// The direction of a black hole; `None`: the probes do not tell.
fn direction(direction: Option<Direction>) -> &'static str {
    direction.map_or("either", Direction::name)
}

fn micros(span: Span) -> f64 {
    1e3 * span.as_millis_f64()
}
