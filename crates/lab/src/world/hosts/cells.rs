//! Finds out which cells of a plan can be measured between two machines.

use std::collections::BTreeMap;

use anyhow::Result;
use live::interfaces::Interface;
use plan::setting::MtuBy;
use plan::{Plan, Setting};
use units::{Bytes, IpVersion};

use super::machine::Machine;
use super::path::{Limit, limit};

/// The positions of cells of `plan` that cannot be measured between `ends`, with the
/// reason: an interface does not have the MTU or the offloads, or packets of this size do
/// not pass.
///
/// # Errors
/// A machine is lost, or the path carries nothing at all.
pub(super) fn left_out(plan: &Plan, ends: &[Machine; 2]) -> Result<Vec<(usize, String)>> {
    let interfaces = [ends[0].interface()?, ends[1].interface()?];
    let mut left_out = Vec::new();
    let mut measured = Vec::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let Ok(setting) = &cell.setting else { continue };
        let mut both = ends.iter().zip(&interfaces);
        match both.find_map(|(end, interface)| unfit(setting, end, interface)) {
            Some(why) => left_out.push((position, why)),
            None => measured.push((position, setting)),
        }
    }
    let mut limits: BTreeMap<bool, Vec<Limit>> = BTreeMap::new();
    for (position, setting) in measured {
        let ip = setting.network.ip;
        let is_four = ip == IpVersion::V4;
        if let std::collections::btree_map::Entry::Vacant(entry) = limits.entry(is_four) {
            let largest = largest(plan, ip);
            entry.insert(limit(ends, ip, largest)?);
        }
        let mtu = octets(setting);
        let why = limits[&is_four].iter().find(|limit| mtu > limit.passes);
        left_out.extend(why.map(|limit| (position, format!("does not pass: {}", limit.why))));
    }
    left_out.sort();
    Ok(left_out)
}

/// Why a setting cannot be measured through an interface.
fn unfit(setting: &Setting, end: &Machine, interface: &Interface) -> Option<String> {
    let mtu = octets(setting);
    let has = Bytes::new(interface.mtu.into());
    let (host, name) = (end.agent.host(), &interface.name);
    match setting.network.mtu_by {
        MtuBy::Interface if mtu != has => {
            return Some(format!(
                "{name} of {host} has MTU {}; set it, or add --set network.mtu_by=mss",
                has.get()
            ));
        }
        MtuBy::Segment if mtu > has => {
            return Some(format!("{name} of {host} has MTU {}", has.get()));
        }
        MtuBy::Interface | MtuBy::Segment => {}
    }
    match (setting.host.offloads, interface.offloads.is_empty()) {
        (true, true) => Some(format!("{name} of {host} has its offloads off")),
        (false, false) => Some(format!("{name} of {host} has its offloads on")),
        _ => None,
    }
}

/// The largest packet of a setting.
fn octets(setting: &Setting) -> Bytes {
    let mtu = setting.network.path_mtu();
    mtu.map_or(Bytes::ZERO, units::IpMtu::bytes)
}

/// The largest packet of the plan by this version of IP.
fn largest(plan: &Plan, ip: IpVersion) -> Bytes {
    let settings = super::settings(plan).filter(|setting| setting.network.ip == ip);
    settings.map(octets).max().unwrap_or_default()
}
