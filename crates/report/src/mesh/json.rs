//! The lines of a mesh; docs/formats.md is their schema.

use std::net::IpAddr;

use document::json_line;
use probe::machine::{HostWay, Limit, Loss, MeshFault, MeshPlace, Verdict};
use serde::Serialize;
use units::with_unit::micros;
use units::{Bytes, Span};

use super::{MeshProbed, pairs, words};

#[derive(Serialize)]
struct MeshLine {
    kind: &'static str,
    asked: Bytes,
    hosts: usize,
    verdict: Verdict,
    sentences: Vec<String>,
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
    lost: Option<&'a str>,
}

#[derive(Serialize)]
struct EntryLine<'a> {
    kind: &'static str,
    from: &'a str,
    to: &'a str,
    passed: Option<Bytes>,
    limit: Limit,
}

#[derive(Serialize)]
struct FaultLine<'a> {
    kind: &'static str,
    place: &'static str,
    direction: Option<&'static str>,
    groups: Vec<Vec<&'a str>>,
    passes: Bytes,
    text: String,
}

#[derive(Serialize)]
struct PathLine<'a> {
    kind: &'static str,
    from: &'a str,
    to: &'a str,
    verdict: Option<Verdict>,
    sentence: String,
    #[serde(serialize_with = "micros::serialize")]
    round_trip_us: Option<Span>,
    loss: Option<Loss>,
    probes: Option<u64>,
}

/// One object for the mesh, then one for each host, pair of sender and receiver, fault,
/// and investigated path; without line ends.
pub fn mesh_json(probed: &MeshProbed<'_>) -> Vec<String> {
    let mesh = probed.mesh();
    let (_, findings) = words::found(probed);
    let mut lines = vec![json_line(&MeshLine {
        kind: "mesh",
        asked: probed.asked,
        hosts: probed.hosts.len(),
        verdict: probed.verdict(),
        sentences: words::answer(probed, &mesh),
        stopped: probed.is_stopped,
    })];
    lines.extend(probed.hosts.iter().map(|host| {
        json_line(&HostLine {
            kind: "mesh-host",
            host: host.name,
            address: host.address,
            probes: host.probes,
            interface: host.interface.map(|(name, _)| name),
            interface_mtu: host.interface.map(|(_, mtu)| mtu),
            lost: host.lost,
        })
    }));
    lines.extend(pairs(probed.hosts.len()).map(|(from, to)| {
        let entry = mesh.entry(from, to);
        json_line(&EntryLine {
            kind: "mesh-entry",
            from: probed.name(from),
            to: probed.name(to),
            passed: entry.map(|entry| entry.carried),
            limit: entry.map_or(Limit::NotSeen, |entry| entry.limit),
        })
    }));
    lines.extend(
        findings
            .faults
            .iter()
            .map(|one| json_line(&fault(probed, one))),
    );
    lines.extend(probed.paths.iter().map(|path| {
        let report = path.result.ok();
        json_line(&PathLine {
            kind: "mesh-path",
            from: probed.name(path.from),
            to: probed.name(path.to),
            verdict: report.map(|report| report.verdict),
            sentence: probed.sentence(path),
            round_trip_us: report.and_then(|report| report.round_trip),
            loss: report.and_then(|report| report.loss),
            probes: report.map(|report| report.probes),
        })
    }));
    lines
}

fn fault<'a>(probed: &MeshProbed<'a>, one: &MeshFault) -> FaultLine<'a> {
    let names = |hosts: &[usize]| {
        hosts
            .iter()
            .map(|host| probed.name(*host))
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
    FaultLine {
        kind: "mesh-fault",
        place,
        direction,
        groups,
        passes: one.carries,
        text: words::fault(probed, one),
    }
}
