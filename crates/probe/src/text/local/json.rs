//! The lines of a check of the local host; docs/reference/json.md is their schema.

use std::net::IpAddr;

use document::json_line;
use serde::Serialize;
use units::with_unit::seconds;
use units::{Bytes, Span};

use super::{phrase, sentence};
use crate::machine::{LocalFinding, LocalHost, LocalInterface, LocalRoute, Verdict};

#[derive(Serialize)]
struct HostLine {
    kind: &'static str,
    verdict: Verdict,
    summary: String,
    interfaces: usize,
    routes: usize,
    cached_path_mtus: usize,
    tcp_mtu_probing: Option<u32>,
    tcp_base_mss: Option<u32>,
    ip_no_pmtu_disc: Option<u32>,
    mss_clamps: Option<usize>,
}

#[derive(Serialize)]
struct InterfaceLine<'a> {
    kind: &'static str,
    interface: &'a str,
    #[serde(rename = "type")]
    link_type: Option<&'a str>,
    up: bool,
    mtu: Bytes,
    ipv6_mtu: Option<Bytes>,
    below: Option<&'a str>,
    below_mtu: Option<Bytes>,
    fits_bytes: Option<Bytes>,
    controller: Option<&'a str>,
    peer: Option<&'a str>,
}

#[derive(Serialize)]
struct RouteLine<'a> {
    kind: &'static str,
    route: String,
    network: IpAddr,
    prefix_length: u8,
    router: Option<IpAddr>,
    interfaces: &'a [String],
    mtu: Option<Bytes>,
    locked: bool,
    advertised: bool,
    #[serde(serialize_with = "seconds::serialize")]
    expires_s: Option<Span>,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    kind: &'static str,
    problem: bool,
    text: String,
    #[serde(flatten)]
    finding: &'a LocalFinding,
}

/// One object for the host, then one for each interface, each route with an MTU, each
/// cached path MTU, and each finding; without line ends.
pub fn local_json(host: &LocalHost) -> Vec<String> {
    let findings = host.general_findings();
    let cached = host.routes.iter().filter(|one| one.expires.is_some());
    let cached = cached.count();
    let mut lines = vec![json_line(&HostLine {
        kind: "local_host",
        verdict: host.verdict(),
        summary: sentence(&findings),
        interfaces: host.interfaces.len(),
        routes: host.routes.len() - cached,
        cached_path_mtus: cached,
        tcp_mtu_probing: host.settings.tcp_mtu_probing,
        tcp_base_mss: host.settings.tcp_base_mss,
        ip_no_pmtu_disc: host.settings.ip_no_pmtu_disc,
        mss_clamps: host.mss_clamps.as_ref().map(Vec::len),
    })];
    lines.extend(host.interfaces.iter().map(interface));
    let with_mtu = host.routes.iter().filter(|one| one.mtu.is_some());
    lines.extend(with_mtu.map(route));
    lines.extend(findings.iter().map(|finding| {
        json_line(&FindingLine {
            kind: "local_finding",
            problem: finding.problem.is_fault(),
            text: phrase(&finding.problem),
            finding,
        })
    }));
    lines
}

fn interface(one: &LocalInterface) -> String {
    let below = one.below.as_ref();
    json_line(&InterfaceLine {
        kind: "local_interface",
        interface: &one.name,
        link_type: one.link_type.as_deref(),
        up: one.is_up,
        mtu: one.mtu,
        ipv6_mtu: one.ipv6_mtu,
        below: below.map(|below| below.name.as_str()),
        below_mtu: below.map(|below| below.mtu),
        fits_bytes: below.map(|below| below.fits),
        controller: one.controller.as_deref(),
        peer: one.peer.as_deref(),
    })
}

fn route(one: &LocalRoute) -> String {
    json_line(&RouteLine {
        kind: "local_route",
        route: one.title(),
        network: one.network,
        prefix_length: one.length,
        router: one.router,
        interfaces: &one.interfaces,
        mtu: one.mtu,
        locked: one.is_locked,
        advertised: one.is_advertised,
        expires_s: one.expires,
    })
}
