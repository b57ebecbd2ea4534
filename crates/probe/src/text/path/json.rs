//! The lines of an investigation; docs/reference/json.md is their schema.

use std::net::IpAddr;

use document::json_line;
use serde::Serialize;
use units::with_unit::seconds;
use units::{Bytes, Span};

use super::{Probed, advice, path_change_sentence, path_sentence, words};
use crate::machine::{DirectionResult, Loss, PathReport, Verdict};

#[derive(Serialize)]
struct PathLine<'a> {
    kind: &'static str,
    host: &'a str,
    far_end: IpAddr,
    interface: &'a str,
    interface_mtu: Bytes,
    requested_bytes: Bytes,
    verdict: Verdict,
    summary: String,
    advised_mtu: Option<Bytes>,
    forward: DirectionResult,
    reverse: DirectionResult,
    #[serde(serialize_with = "seconds::serialize")]
    round_trip_s: Option<Span>,
    loss: Option<Loss>,
    probes: u64,
    sent_bytes: Bytes,
    #[serde(serialize_with = "seconds::serialize")]
    duration_s: Span,
}

/// A part of the report on a path.
#[derive(Serialize)]
struct PartLine<T> {
    kind: &'static str,
    far_end: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(flatten)]
    part: T,
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    kind: &'static str,
    time: &'a str,
    host: &'a str,
    far_end: IpAddr,
    forward_mtu_before: Option<Bytes>,
    reverse_mtu_before: Option<Bytes>,
    forward: DirectionResult,
    reverse: DirectionResult,
    verdict: Verdict,
    summary: String,
}

/// An object for a change since `before`, noticed at `time`; without a line end.
pub fn path_change_json(probed: &Probed<'_>, before: &PathReport, time: &str) -> String {
    let report = probed.report;
    json_line(&ChangeLine {
        kind: "change",
        time,
        host: probed.host,
        far_end: report.far_end,
        forward_mtu_before: before.forward.mtu,
        reverse_mtu_before: before.reverse.mtu,
        forward: report.forward,
        reverse: report.reverse,
        verdict: report.verdict,
        summary: path_change_sentence(probed, before),
    })
}

/// One object for the path, then one for each hop, size whose loss was counted, protocol, finding, piece of advice,
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
        requested_bytes: report.asked,
        verdict: report.verdict,
        summary: path_sentence(probed),
        advised_mtu: report.advised_mtu(),
        forward: report.forward,
        reverse: report.reverse,
        round_trip_s: report.round_trip,
        loss: report.loss,
        probes: report.probes,
        sent_bytes: report.bytes,
        duration_s: report.took,
    })];
    let hops = report.hops.iter();
    lines.extend(hops.map(|hop| part("hop", far_end, None, hop)));
    let losses = report.losses.iter();
    lines.extend(losses.map(|loss| part("loss", far_end, None, loss)));
    let protocols = report.protocols.iter();
    lines.extend(protocols.map(|result| part("protocol", far_end, None, result)));
    lines.extend(report.findings.iter().map(|finding| {
        let text = words::phrase(&finding.kind, probed);
        part("finding", far_end, Some(text), finding)
    }));
    lines.extend(report.advice.iter().map(|one| {
        let text = advice::line(one, probed);
        part("advice", far_end, Some(text), ())
    }));
    lines.extend(report.not_seen.iter().map(|one| {
        let text = advice::missing(*one, report.asked);
        part("not_seen", far_end, Some(text), ())
    }));
    lines
}

fn part(kind: &'static str, far_end: IpAddr, text: Option<String>, part: impl Serialize) -> String {
    json_line(&PartLine {
        kind,
        far_end,
        text,
        part,
    })
}
