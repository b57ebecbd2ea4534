//! The local host: sentences about what limits its packets, and the report of
//! `jumbolab probe --self`.

mod json;
#[cfg(test)]
mod tests;

use document::{Block, Cell, Column, Document, Section, Style, Table};
use units::{Bytes, Span};

use super::sentence::{bytes, capitalised};
use crate::machine::{LocalFinding, LocalHost, LocalInterface, LocalProblem, LocalRoute, Syns};
pub use json::local_json;

/// A problem as the rest of a sentence.
pub(super) fn phrase(problem: &LocalProblem) -> String {
    match problem {
        LocalProblem::RouteMtu {
            route, mtu, locked, ..
        } => format!(
            "the route `{route}` of this host limits packets to {}{}",
            bytes(*mtu),
            if *locked { " (locked)" } else { "" }
        ),
        LocalProblem::RouteMtuTooLarge {
            route,
            interface,
            mtu,
            interface_mtu,
        } => format!(
            "the route `{route}` of this host has MTU {}, more than {} of its interface {interface}",
            mtu.get(),
            bytes(*interface_mtu)
        ),
        LocalProblem::CachedPathMtu {
            address,
            mtu,
            expires,
            ..
        } => format!(
            "this host caches a path MTU of {} to {address}{}",
            bytes(*mtu),
            expires.map_or_else(String::new, |left| format!(
                ", which expires in {}",
                seconds(left)
            ))
        ),
        LocalProblem::Ipv6Mtu {
            interface,
            mtu,
            interface_mtu,
        } => format!(
            "IPv6 on {interface} has MTU {}, less than {} of the interface",
            mtu.get(),
            bytes(*interface_mtu)
        ),
        LocalProblem::SmallBelow {
            interface,
            mtu,
            below,
            below_mtu,
            fits,
        } => format!(
            "the interface {interface} has MTU {}, but only packets of {} fit MTU {} of {below} below it",
            mtu.get(),
            bytes(*fits),
            below_mtu.get()
        ),
        LocalProblem::SmallPort {
            interface,
            mtu,
            port,
            port_mtu,
        } => format!(
            "the interface {interface} has MTU {}, but its port {port} has MTU {}",
            mtu.get(),
            port_mtu.get()
        ),
        LocalProblem::SmallPeer {
            interface,
            mtu,
            peer,
            peer_mtu,
        } => format!(
            "the interface {interface} has MTU {}, but its other end {peer} has MTU {}",
            mtu.get(),
            peer_mtu.get()
        ),
        LocalProblem::MssClamp {
            table,
            chain,
            rule,
            syns,
            mss,
            interface,
            conditional,
            ..
        } => format!(
            "rule {rule} of the chain {chain} of the nftables table {table} clamps the MSS to {} in{} SYNs that {}{}",
            bytes(*mss),
            if *conditional { " some" } else { "" },
            match syns {
                Syns::Arriving => "enter this host",
                Syns::Forwarded => "this host forwards",
                Syns::Leaving => "leave this host",
            },
            interface
                .as_ref()
                .map_or_else(String::new, |name| format!(" through {name}"))
        ),
        LocalProblem::TcpMtuProbing { value: 0, .. } => {
            "TCP of this host does not look for black holes (tcp_mtu_probing is 0)".to_owned()
        }
        LocalProblem::TcpMtuProbing { value, base_mss } => format!(
            "TCP of this host begins{} and searches the path MTU itself (tcp_mtu_probing is {value})",
            base_mss.map_or_else(String::new, |mss| format!(" with an MSS of {mss} bytes"))
        ),
        LocalProblem::NoPathMtuDiscovery { value } => {
            format!("this host does not discover path MTUs over IPv4 (ip_no_pmtu_disc is {value})")
        }
    }
}

/// What a problem means for packets of this host.
pub(super) const fn effect(problem: &LocalProblem) -> Option<&'static str> {
    match problem {
        LocalProblem::RouteMtu { .. } | LocalProblem::Ipv6Mtu { .. } => {
            Some("Probes ignore it; connections of this host obey it.")
        }
        LocalProblem::CachedPathMtu { .. } => Some(
            "An ICMP error reported it. Probes ignore it; connections of this host obey it until it expires.",
        ),
        LocalProblem::RouteMtuTooLarge { .. } => {
            Some("The kernel sends packets that the interface does not take, and they are lost.")
        }
        LocalProblem::SmallBelow { .. } => {
            Some("Larger packets leave in fragments, or are dropped.")
        }
        LocalProblem::SmallPort { .. } | LocalProblem::SmallPeer { .. } => {
            Some("Larger packets are dropped there, and no ICMP error is sent.")
        }
        LocalProblem::NoPathMtuDiscovery { .. } => {
            Some("Packets leave without DF, so that routers fragment them.")
        }
        LocalProblem::MssClamp { syns, .. } => Some(match syns {
            Syns::Arriving => "This host sends no larger TCP segments.",
            Syns::Forwarded => "It concerns connections of other hosts, and none of this host.",
            Syns::Leaving => "Far ends send no larger TCP segments to this host.",
        }),
        LocalProblem::TcpMtuProbing { .. } => None,
    }
}

/// The report of a host: the answer, its findings with their commands, its interfaces, and
/// the routes that set an MTU.
pub fn of_local(host: &LocalHost) -> Document {
    let findings = host.general_findings();
    let title = sentence(&findings);
    let (faults, limits): (Vec<_>, Vec<_>) =
        findings.iter().partition(|one| one.problem.is_fault());
    let sections = [
        Section::listed("findings", "Problems", lines(&faults)),
        Section::listed("limits", "Limits that may be intended", lines(&limits)),
        interfaces(host),
        routes(host),
        Some(settings(host)),
    ];
    Document {
        head: vec![Block::paragraph(Style::Answer, title.clone())],
        title,
        sections: sections.into_iter().flatten().collect(),
    }
}

/// The answer in one sentence.
fn sentence(findings: &[LocalFinding]) -> String {
    let faults = findings.iter().filter(|one| one.problem.is_fault()).count();
    let limits = findings.len() - faults;
    let further = match limits {
        0 => String::new(),
        1 => "; 1 limit may be intended".to_owned(),
        limits => format!("; {limits} limits may be intended"),
    };
    match faults {
        0 => format!("The interfaces and routes of this host are consistent{further}."),
        1 => format!("The MTUs of this host contradict each other in 1 place{further}."),
        faults => {
            format!("The MTUs of this host contradict each other in {faults} places{further}.")
        }
    }
}

/// Findings with their effects and commands, a line each.
fn lines(findings: &[&LocalFinding]) -> Vec<String> {
    let each = findings.iter().flat_map(|one| {
        let effect = effect(&one.problem).map(|effect| format!("  {effect}"));
        let first = capitalised(&phrase(&one.problem));
        let command = format!("  {}", one.command);
        [Some(format!("{first}.")), effect, Some(command)]
    });
    each.flatten().collect()
}

fn interfaces(host: &LocalHost) -> Option<Section> {
    let row = |one: &LocalInterface| {
        let below = one.below.as_ref();
        let on = [
            below.map(|below| format!("{} ({})", below.name, below.mtu.get())),
            (one.controller.as_ref()).map(|controller| format!("port of {controller}")),
            one.peer.as_ref().map(|peer| format!("other end {peer}")),
            (!one.is_up).then(|| "down".to_owned()),
        ];
        let on: Vec<String> = on.into_iter().flatten().collect();
        vec![
            Cell::Text(one.name.clone()),
            Cell::Text(one.link_type.clone().unwrap_or_default()),
            Cell::figure(one.mtu.get().to_string()),
            size(one.ipv6_mtu),
            size(below.map(|below| below.fits)),
            Cell::Text(on.join(", ")),
        ]
    };
    let columns = vec![
        Column::new("interface"),
        Column::new("type"),
        Column::right("MTU"),
        Column::right("IPv6 MTU"),
        Column::right("fits below"),
        Column::new("on"),
    ];
    table(
        "interfaces",
        columns,
        host.interfaces.iter().map(row).collect(),
    )
}

fn routes(host: &LocalHost) -> Option<Section> {
    let row = |one: &LocalRoute| {
        let source = match (one.expires, one.is_locked) {
            (Some(left), _) => format!("cached, expires in {}", seconds(left)),
            (None, true) => "locked".to_owned(),
            (None, false) if one.is_advertised => "router advertisement".to_owned(),
            (None, false) => String::new(),
        };
        vec![Cell::Text(one.title()), size(one.mtu), Cell::Text(source)]
    };
    let columns = vec![
        Column::new("route"),
        Column::right("MTU"),
        Column::new("set by"),
    ];
    let with_mtu = host.routes.iter().filter(|one| one.mtu.is_some());
    table("routes", columns, with_mtu.map(row).collect())
}

fn table(id: &'static str, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Option<Section> {
    let table = Table {
        columns,
        rows,
        ..Table::default()
    };
    (!table.rows.is_empty()).then(|| Section {
        id,
        blocks: vec![Block::Table(table)],
    })
}

/// The numbers of what was looked at, and the kernel's settings.
fn settings(host: &LocalHost) -> Section {
    let cached = host.routes.iter().filter(|one| one.expires.is_some());
    let cached = cached.count();
    let mut line = format!(
        "interfaces: {}, routes: {}, cached path MTUs: {cached}",
        host.interfaces.len(),
        host.routes.len() - cached
    );
    for (name, value) in [
        ("tcp_mtu_probing", host.settings.tcp_mtu_probing),
        ("ip_no_pmtu_disc", host.settings.ip_no_pmtu_disc),
    ] {
        line += &value.map_or_else(String::new, |value| format!(", {name}: {value}"));
    }
    line += &match &host.mss_clamps {
        Some(clamps) => format!(", MSS clamps in nftables: {}", clamps.len()),
        None => ", MSS clamps in nftables: not seen (needs CAP_NET_ADMIN)".to_owned(),
    };
    Section {
        id: "settings",
        blocks: vec![Block::paragraph(Style::Note, line)],
    }
}

fn size(size: Option<Bytes>) -> Cell {
    Cell::figure(size.map_or_else(String::new, |size| size.get().to_string()))
}

fn seconds(span: Span) -> String {
    format!("{:.0} s", span.as_secs_f64())
}
