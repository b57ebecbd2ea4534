//! The lines of a mesh; docs/reference/json.md is their schema.

use std::net::IpAddr;

use document::json_line;
use serde::Serialize;
use units::with_unit::seconds;
use units::{Bytes, Span};

use super::words::{self, Effect};
use crate::machine::{HostWay, Limit, Loss, MeshFault, MeshOutcome, MeshPlace, Verdict};

#[derive(Serialize)]
struct MeshLine {
    kind: &'static str,
    requested_bytes: Bytes,
    hosts: usize,
    paths: usize,
    verdict: Verdict,
    summary: Vec<String>,
    stopped: bool,
}

#[derive(Serialize)]
struct HostLine<'a> {
    kind: &'static str,
    host: &'a str,
    address: IpAddr,
    probes: bool,
    interface: Option<&'a str>,
    interface_mtu: Option<Bytes>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct EntryLine<'a> {
    kind: &'static str,
    from: &'a str,
    to: &'a str,
    passed_bytes: Option<Bytes>,
    limit: Limit,
}

#[derive(Serialize)]
struct ProblemLine<'a> {
    kind: &'static str,
    place: &'static str,
    direction: Option<&'static str>,
    groups: Vec<Vec<&'a str>>,
    passes_bytes: Option<Bytes>,
    text: String,
}

#[derive(Serialize)]
struct PathLine<'a> {
    kind: &'static str,
    from: &'a str,
    to: &'a str,
    verdict: Option<Verdict>,
    summary: String,
    #[serde(serialize_with = "seconds::serialize")]
    round_trip_s: Option<Span>,
    loss: Option<Loss>,
    probes: Option<u64>,
}

/// One object for the mesh, then one for each host, pair of sender and receiver, fault,
/// and investigated path; without line ends.
pub fn mesh_json(outcome: &MeshOutcome) -> Vec<String> {
    let mesh = outcome.mesh();
    let mut lines = vec![json_line(&MeshLine {
        kind: "mesh",
        requested_bytes: outcome.asked,
        hosts: outcome.hosts.len(),
        paths: outcome.paths.len(),
        verdict: outcome.verdict(),
        summary: words::answer(outcome, &mesh),
        stopped: outcome.is_stopped,
    })];
    lines.extend(outcome.hosts.iter().map(|host| {
        json_line(&HostLine {
            kind: "mesh_host",
            host: &host.name,
            address: host.address,
            probes: host.probes,
            interface: host.interface.as_ref().map(|(name, _)| name.as_str()),
            interface_mtu: host.interface.as_ref().map(|(_, mtu)| *mtu),
            error: host.lost.as_deref(),
        })
    }));
    lines.extend(outcome.pairs().map(|(from, to)| {
        let entry = mesh.entry(from, to);
        json_line(&EntryLine {
            kind: "mesh_entry",
            from: outcome.name(from),
            to: outcome.name(to),
            passed_bytes: entry.map(|entry| entry.carried),
            limit: entry.map_or(Limit::NotSeen, |entry| entry.limit),
        })
    }));
    for effect in [Effect::Size, Effect::Loss] {
        let faults = effect.found(outcome).faults;
        let problems = faults.iter();
        lines.extend(problems.map(|one| json_line(&fault(outcome, effect, one))));
    }
    lines.extend(outcome.paths.iter().map(|path| {
        let report = path.result.as_ref().ok();
        json_line(&PathLine {
            kind: "mesh_path",
            from: outcome.name(path.from),
            to: outcome.name(path.to),
            verdict: report.map(|report| report.verdict),
            summary: words::sentence(outcome, path),
            round_trip_s: report.and_then(|report| report.round_trip),
            loss: report.and_then(|report| report.loss),
            probes: report.map(|report| report.probes),
        })
    }));
    lines
}

fn fault<'a>(outcome: &'a MeshOutcome, effect: Effect, one: &MeshFault) -> ProblemLine<'a> {
    let names = |hosts: &[usize]| {
        hosts
            .iter()
            .map(|host| outcome.name(*host))
            .collect::<Vec<_>>()
    };
    let (place, direction, groups) = match &one.place {
        MeshPlace::Everywhere => ("everywhere", None, Vec::new()),
        MeshPlace::Host(host, way) => {
            let direction = match way {
                HostWay::Both => Some("both"),
                HostWay::From => Some("from"),
                HostWay::To => Some("to"),
                HostWay::Either => None,
            };
            ("host", direction, vec![names(&[*host])])
        }
        MeshPlace::Groups(groups) => (
            "groups",
            Some("both"),
            groups.iter().map(|one| names(one)).collect(),
        ),
        MeshPlace::OneWay(from, to) => ("groups", Some("from"), vec![names(from), names(to)]),
        MeshPlace::Pair(one, other) => {
            ("pair", Some("both"), vec![names(&[*one]), names(&[*other])])
        }
        MeshPlace::Path(from, to) => ("pair", Some("from"), vec![names(&[*from]), names(&[*to])]),
    };
    ProblemLine {
        kind: "mesh_problem",
        place,
        direction,
        groups,
        passes_bytes: (effect == Effect::Size).then_some(one.carries),
        text: words::fault(outcome, effect, one),
    }
}
