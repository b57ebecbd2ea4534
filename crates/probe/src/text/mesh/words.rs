//! A mesh in words.

use units::Bytes;

use crate::machine::{
    HostWay, Mesh, MeshFault, MeshFindings, MeshOutcome, MeshPath, MeshPlace, Verdict,
};
use crate::text::path::{Probed, path_sentence};
use crate::text::sentence::bytes;

/// The most paths or hosts that a sentence lists.
const MOST_NAMED: usize = 6;

/// The number of paths that deliver the size asked for, then a sentence for each fault.
pub(super) fn answer(outcome: &MeshOutcome, mesh: &Mesh) -> Vec<String> {
    let hosts = outcome.hosts.len();
    let all = outcome.pairs().count();
    let entries = || {
        outcome
            .pairs()
            .filter_map(|(from, to)| mesh.entry(from, to))
    };
    let seen = entries().count();
    let asked = bytes(outcome.asked);
    let whole = entries()
        .filter(|entry| entry.carried >= outcome.asked)
        .count();
    let unseen = match all - seen {
        0 => String::new(),
        some => format!("; {some} were not seen"),
    };
    let mut sentences = vec![match whole {
        whole if whole == all && all > 0 => {
            format!("All {all} paths between {hosts} hosts deliver packets of {asked}.")
        }
        _ if seen == 0 => format!("None of the {all} paths between {hosts} hosts was seen."),
        whole => format!(
            "{whole} of {all} paths between {hosts} hosts deliver packets of {asked}{unseen}."
        ),
    }];
    for effect in [Effect::Size, Effect::Loss] {
        let findings = effect.found(outcome);
        let faults = findings.faults.iter();
        sentences.extend(faults.map(|one| fault(outcome, effect, one)));
        sentences.extend(unexplained(outcome, effect, &findings));
    }
    if outcome.is_stopped {
        sentences.push("It was stopped before all paths were seen.".to_owned());
    }
    sentences
}

/// What a fault does to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Larger ones do not pass.
    Size,
    /// Larger ones are lost more often.
    Loss,
}

impl Effect {
    /// The places of faults: a host that dropped out says nothing.
    pub(super) fn found(self, outcome: &MeshOutcome) -> MeshFindings {
        let mut mesh = match self {
            Self::Size => outcome.mesh(),
            Self::Loss => outcome.losses(),
        };
        let lost = (0..outcome.hosts.len()).filter(|host| outcome.hosts[*host].lost.is_some());
        lost.for_each(|host| mesh.forget(host));
        mesh.findings()
    }

    /// What one path does, several do, and those without the fault do.
    fn words(self, outcome: &MeshOutcome, fault: &MeshFault) -> [String; 3] {
        let size = match (self, fault.carries) {
            (Self::Loss, _) => {
                let lost = format!(
                    "packets of {} more often than small ones",
                    bytes(outcome.asked)
                );
                return [
                    format!("loses {lost}"),
                    format!("lose {lost}"),
                    "do not".to_owned(),
                ];
            }
            (Self::Size, Bytes::ZERO) => "nothing".to_owned(),
            (Self::Size, size) => format!("at most {}", bytes(size)),
        };
        [
            format!("delivers {size}"),
            format!("deliver {size}"),
            "deliver more".to_owned(),
        ]
    }
}

/// A fault in one sentence: where it is, and which paths show it.
pub(super) fn fault(outcome: &MeshOutcome, effect: Effect, fault: &MeshFault) -> String {
    let name = |host: usize| outcome.name(host);
    let group = |hosts: &[usize]| {
        let names: Vec<&str> = hosts.iter().map(|host| name(*host)).collect();
        names.join(", ")
    };
    let [one_does, many_do, others_do] = effect.words(outcome, fault);
    match &fault.place {
        MeshPlace::Everywhere => format!(
            "Every path that was seen {one_does}: no host differs from the others{}.",
            common_cause(outcome, effect, fault.carries)
        ),
        MeshPlace::Host(host, way) => {
            let here = name(*host);
            let (paths, others) = match way {
                HostWay::Both => (
                    format!("from and to {here}"),
                    "the paths between the other hosts",
                ),
                HostWay::From => (format!("from {here}"), "those to it"),
                HostWay::To => (format!("to {here}"), "those from it"),
                HostWay::Either => (
                    format!("that was seen between {here} and another host"),
                    "the paths between the other hosts",
                ),
            };
            let shown = match effect {
                Effect::Size => None,
                Effect::Loss => lossy_of(outcome, *host, *way),
            };
            let shown = shown.map_or_else(
                || format!("every path {paths} {one_does}"),
                |[lossy, all]| format!("{lossy} of {all} paths {paths} {many_do}"),
            );
            format!(
                "{here}: {}; {shown}, and {others} {others_do}.",
                port(outcome, effect, *host, fault.carries)
            )
        }
        MeshPlace::Groups(groups) => {
            let groups: Vec<String> = groups
                .iter()
                .map(|one| format!("{{{}}}", group(one)))
                .collect();
            format!(
                "{}: a link between switches; every path between these groups {one_does}, and those \
                 within a group {others_do}.",
                groups.join(" and ")
            )
        }
        MeshPlace::OneWay(from, to) => format!(
            "{{{}}} to {{{}}}: a link between switches, in one direction; every path from the first \
             group to the second {one_does}, and the reverse paths {others_do}.",
            group(from),
            group(to)
        ),
        MeshPlace::Pair(one, other) => format!(
            "{} and {}: a link or route that only this pair uses; the paths between them {many_do}, and \
             their other paths {others_do}.",
            name(*one),
            name(*other)
        ),
        MeshPlace::Path(from, to) => format!(
            "{} to {}: a link or route that only this path uses; it {one_does}, and the reverse path and the \
             other paths of both {others_do}.",
            name(*from),
            name(*to)
        ),
    }
}

/// How many of the seen paths of a host are found to lose large packets, and how many there
/// are; `None`: all are.
fn lossy_of(outcome: &MeshOutcome, host: usize, way: HostWay) -> Option<[usize; 2]> {
    let (losses, mesh) = (outcome.losses(), outcome.mesh());
    let is_of_host = |from: usize, to: usize| match way {
        HostWay::Both | HostWay::Either => from == host || to == host,
        HostWay::From => from == host,
        HostWay::To => to == host,
    };
    let paths = outcome.pairs().filter(|(from, to)| is_of_host(*from, *to));
    let paths = paths.filter(|(from, to)| mesh.entry(*from, *to).is_some());
    let is_lossy = |(from, to)| {
        let entry = losses.entry(from, to);
        entry.is_some_and(|entry| entry.carried == Bytes::ZERO)
    };
    let all = paths.clone().count();
    let lossy = paths.filter(|path| is_lossy(*path)).count();
    (lossy < all).then_some([lossy, all])
}

/// The part of a host that is at fault: its interface, if its MTU is known to be small.
fn port(outcome: &MeshOutcome, effect: Effect, host: usize, carried: Bytes) -> String {
    match &outcome.hosts[host].interface {
        _ if effect == Effect::Loss => {
            "its interface, its cable or its port of the switch".to_owned()
        }
        Some((interface, mtu)) if *mtu < outcome.asked && *mtu <= carried => format!(
            "its interface {interface} has MTU {} (ip link set {interface} mtu {})",
            mtu.get(),
            outcome.asked.get()
        ),
        _ if carried == Bytes::ZERO => {
            "its interface, its port of the switch, or a filter".to_owned()
        }
        _ => "its interface or its port of the switch".to_owned(),
    }
}

/// The cause, if all interfaces that are known have a small MTU.
fn common_cause(outcome: &MeshOutcome, effect: Effect, carried: Bytes) -> &'static str {
    let mut known = outcome
        .hosts
        .iter()
        .filter_map(|host| host.interface.as_ref())
        .peekable();
    let is_known = known.peek().is_some();
    let is_small = |mtu: Bytes| effect == Effect::Size && mtu < outcome.asked && mtu <= carried;
    match is_known && known.all(|(_, mtu)| is_small(*mtu)) {
        true => "; their interfaces have that MTU",
        false => "; see what they share, for instance a switch",
    }
}

/// Paths for which the pattern names no place.
fn unexplained(outcome: &MeshOutcome, effect: Effect, findings: &MeshFindings) -> Option<String> {
    let paths = &findings.unexplained;
    let named = paths.iter();
    let named = named.map(|(from, to)| format!("{} to {}", outcome.name(*from), outcome.name(*to)));
    (!paths.is_empty()).then(|| {
        format!(
            "The pattern names no place for {}{}: see the single paths (jumbolab probe), or let more hosts probe.",
            match effect {
                Effect::Size => "",
                Effect::Loss => "the loss of large packets on ",
            },
            listed(named)
        )
    })
}

/// The first names of a list, and the number of the others.
pub(super) fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut names: Vec<String> = names
        .into_iter()
        .map(|name| name.as_ref().to_owned())
        .collect();
    let others = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    if others > 0 {
        names.push(format!("{others} more"));
    }
    names.join(", ")
}

/// The result of a path in one sentence.
pub(super) fn sentence(outcome: &MeshOutcome, path: &MeshPath) -> String {
    let report = match &path.result {
        Ok(report) => report,
        Err(why) => return why.clone(),
    };
    let interface = outcome.hosts[path.from].interface.as_ref();
    path_sentence(&Probed {
        host: outcome.name(path.to),
        interface: interface.map_or("", |(name, _)| name),
        interface_mtu: interface.map_or(Bytes::ZERO, |(_, mtu)| *mtu),
        gateway: None,
        report,
    })
}

/// The hosts that dropped out, with the reasons.
pub(super) fn lost(outcome: &MeshOutcome) -> Vec<String> {
    let hosts = outcome.hosts.iter();
    hosts
        .filter_map(|host| Some(format!("{}: {}", host.name, host.lost.as_ref()?)))
        .collect()
}

/// Problems of paths that deliver the size asked for, and paths without a result.
pub(super) fn further(outcome: &MeshOutcome) -> Vec<String> {
    let is_further = |path: &&MeshPath| match &path.result {
        Ok(report) => {
            let delivers = |mtu: Option<Bytes>| mtu >= Some(outcome.asked);
            report.verdict == Verdict::Problem
                && delivers(report.forward.mtu)
                && delivers(report.reverse.mtu)
        }
        Err(_) => true,
    };
    let paths = outcome.paths.iter().filter(is_further);
    paths
        .map(|path| format!("{}: {}", outcome.name(path.from), sentence(outcome, path)))
        .collect()
}
