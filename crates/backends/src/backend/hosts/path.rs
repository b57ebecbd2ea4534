//! Probes the path between two machines in both directions.

use std::net::SocketAddr;

use anyhow::{Result, bail};
use probe::machine::{FindingKind, Limit as Reason, PathReport};
use units::{Bytes, IpVersion};

use super::machine::Machine;
use crate::host_agent::{BeginReflecting, EndReflecting, Investigation, ProbePath};

/// The limit of one direction of a path.
pub(super) struct Limit {
    /// The largest packet that passes.
    pub(super) passes: Bytes,
    /// Why larger ones do not, with the place.
    pub(super) why: String,
}

/// The limits of the path between `ends` below `largest`: none, or one for each direction.
///
/// # Errors
/// A machine is lost, or nothing that one of them sends is answered by the other.
pub(super) fn limit(ends: &[Machine; 2], ip: IpVersion, largest: Bytes) -> Result<Vec<Limit>> {
    let [sender, receiver] = ends;
    let ways = [(sender, receiver), (receiver, sender)];
    let mut limits = Vec::new();
    for (from, to) in ways {
        let mtu = [from, to].map(Machine::interface);
        let [one, other] = mtu.map(|interface| interface.map(|found| found.mtu));
        let widest = Bytes::new(one?.min(other?).into());
        let (own, address) = (from.address(ip)?, to.address(ip)?);
        let port = to.agent.call(&BeginReflecting(address))?;
        let report = from.agent.call(&ProbePath(Investigation {
            to: SocketAddr::new(address, port),
            from: own,
            up_to: largest.min(widest),
        }));
        to.agent.call(&EndReflecting())?;
        let report = report?;
        let names = [from.agent.host(), to.agent.host()];
        limits.extend(judged(&report, names)?);
    }
    Ok(limits)
}

/// The limit of the way from the first to the second of `names`, if `report` shows one.
fn judged(report: &PathReport, [from, to]: [&str; 2]) -> Result<Option<Limit>> {
    let Some(passes) = report.forward.mtu else {
        match report.is_unanswered() {
            true => bail!(
                "no packet from {from} to {} of {to} is answered; look at its firewall, or name another interface or address: --host ROLE=..,address=..",
                report.far_end
            ),
            false => return Ok(None),
        }
    };
    let bytes = passes.get();
    let why = match report.forward.limit {
        Reason::Asked | Reason::SegmentSize | Reason::Unstated | Reason::NotSeen => {
            return Ok(None);
        }
        Reason::Interface => {
            format!("the interface of {from} sends at most {bytes} bytes to {to}")
        }
        Reason::Rejected => match rejecting(report) {
            Some(router) => {
                format!("{router} between {from} and {to} forwards at most {bytes} bytes")
            }
            None => format!("a router between {from} and {to} forwards at most {bytes} bytes"),
        },
        Reason::Fragmented => {
            format!("packets above {bytes} bytes arrive in fragments between {from} and {to}")
        }
        Reason::Vanish => format!(
            "packets above {bytes} bytes are dropped silently between {from} and {to}: {}",
            place(report, to)
        ),
    };
    Ok(Some(Limit { passes, why }))
}

/// The router that rejects packets, if the probes show which one it is.
fn rejecting(report: &PathReport) -> Option<std::net::IpAddr> {
    report
        .findings
        .iter()
        .find_map(|finding| match &finding.kind {
            FindingKind::Rejected { router, .. } if !router.is_unspecified() => Some(*router),
            _ => None,
        })
}

/// Where packets vanish.
fn place(report: &PathReport, to: &str) -> String {
    let found = report
        .findings
        .iter()
        .find_map(|finding| match &finding.kind {
            FindingKind::BlackHole { place, .. } if place.is_known => Some(*place),
            _ => None,
        });
    let address = |hop: Option<probe::machine::Hop>| hop.and_then(|hop| hop.address);
    let routers = report
        .hops
        .iter()
        .filter(|hop| hop.address != Some(report.far_end));
    match found.and_then(|place| address(place.behind)) {
        Some(router) => format!("behind {router}"),
        // A system without probes of hops: the path may have any number of them.
        None if report.hops.is_empty() => "the probes do not show where".to_owned(),
        None if routers.count() == 0 => format!("a switch between them, or the port of {to}"),
        None => "behind the first interface".to_owned(),
    }
}
