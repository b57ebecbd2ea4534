//! Finds out which cells of a plan can be measured between two machines.

use std::collections::BTreeMap;

use anyhow::Result;
use os::interfaces::Interface;
use plan::setting::{MtuMethod, Scenario, System};
use plan::{HostRole, Plan, Setting};
use units::{Bytes, IpVersion};

use super::machine::Machine;
use super::nic_change;
use super::path::{Limit, limit};
use crate::host_agent::Description;

/// The positions of cells of `plan` that cannot be measured between `ends`, with the
/// reason: the ends have other systems, an interface cannot have the MTU or the offloads, or
/// packets of this size do not pass. Where the plan wants interfaces changed, the machines are locked, and for the
/// probes of the path they get the largest MTU. `allow` holds for management interfaces.
///
/// # Errors
/// A machine is lost or locked by another run, or the path carries nothing at all.
pub(super) fn left_out(
    plan: &Plan,
    ends: &mut [Machine; 2],
    allow: bool,
) -> Result<Vec<(usize, String)>> {
    let interfaces = [ends[0].interface()?, ends[1].interface()?];
    let states_offloads = [ends[0].states_offloads(), ends[1].states_offloads()];
    let mut left_out = Vec::new();
    let mut measured = Vec::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        let Ok(setting) = &cell.setting else { continue };
        let found = [&ends[0].description, &ends[1].description];
        if let Some(why) = { setting.host.scenario }.and_then(|wanted| unlike(wanted, found)) {
            left_out.push((position, why));
            continue;
        }
        let by_segments = setting.network.mtu_method == MtuMethod::Segment;
        if by_segments && !ends.iter().any(Machine::is_linux) {
            let why = "neither end limits segments; --set network.mtu_method=interface";
            left_out.push((position, why.to_owned()));
            continue;
        }
        let mut both = ends.iter().zip(&interfaces);
        match both.find_map(|(end, interface)| unfit(setting, end, interface)) {
            Some(why) => left_out.push((position, why)),
            None => measured.push((position, setting)),
        }
    }
    let changed = |setting: &&Setting| {
        let mut interfaces = interfaces.iter().zip(states_offloads);
        interfaces.any(|(interface, states)| changes(setting, interface, states))
    };
    let settings: Vec<&Setting> = measured.iter().map(|(_, setting)| *setting).collect();
    if let Some(first) = settings.iter().copied().find(changed) {
        let mtu = settings
            .iter()
            .filter_map(|setting| interface_mtu(setting))
            .max();
        let changes_nic = settings.iter().any(|setting| asks_nic(setting));
        for end in ends.iter_mut() {
            end.begin_changes(&format!("{}-{}", plan.name, plan.hash), changes_nic)?;
            end.change(mtu, &first.host, allow)?;
        }
    }
    let ends = &*ends;
    let mut limits: BTreeMap<IpVersion, Vec<Limit>> = BTreeMap::new();
    for (position, setting) in measured {
        let ip = setting.network.ip;
        if let std::collections::btree_map::Entry::Vacant(entry) = limits.entry(ip) {
            let largest = largest(plan, ip);
            entry.insert(limit(ends, ip, largest)?);
        }
        let mtu = bytes(setting);
        let why = limits[&ip].iter().find(|limit| mtu > limit.passes);
        left_out.extend(why.map(|limit| (position, format!("does not pass: {}", limit.why))));
    }
    left_out.sort();
    Ok(left_out)
}

/// Which system of sender and receiver a scenario needs that the host does not have.
fn unlike(wanted: Scenario, found: [&Description; 2]) -> Option<String> {
    let wanted = [
        (HostRole::Sender, wanted.sender),
        (HostRole::Receiver, wanted.receiver),
    ];
    let mut ends = wanted.into_iter().zip(found);
    ends.find_map(|((role, system), host)| {
        let is_other = System::called(&host.system) != Some(system);
        is_other.then(|| {
            format!(
                "needs a {} {}, and {} has {}",
                system.name(),
                role.name(),
                host.name,
                host.system
            )
        })
    })
}

/// Why a setting cannot be measured through an interface.
fn unfit(setting: &Setting, end: &Machine, interface: &Interface) -> Option<String> {
    let (mtu, has) = (bytes(setting), Bytes::new(interface.mtu.into()));
    let (host, name) = (end.agent.host(), &interface.name);
    let remedy = "add become=sudo to --host";
    match setting.network.mtu_method {
        MtuMethod::Interface if mtu == has => {}
        MtuMethod::Interface if !end.is_linux() => {
            let wanted = setting.network.path_mtu().map_or(0, units::IpMtu::get);
            return Some(format!(
                "{name} of {host} has MTU {}; type there {}, or --set network.mtu_method=mss",
                has.get(),
                end.mtu_command(wanted)
            ));
        }
        MtuMethod::Interface if !end.can_change() => {
            return Some(format!(
                "{name} of {host} has MTU {}; {remedy}, or --set network.mtu_method=mss",
                has.get()
            ));
        }
        MtuMethod::Interface => {
            let most = interface
                .largest_mtu
                .filter(|most| mtu.get() > u64::from(*most));
            if let Some(most) = most {
                return Some(format!("{name} of {host} takes at most MTU {most}"));
            }
        }
        MtuMethod::Segment if mtu > has => {
            return Some(format!("{name} of {host} has MTU {}", has.get()));
        }
        MtuMethod::Segment => {}
    }
    match (setting.host.offloads, interface.offloads.is_empty()) {
        (false, _) if !end.states_offloads() => Some(format!(
            "the system of {host} does not state whether the offloads of {name} are off; --set host.offloads=on"
        )),
        (true, true) if end.states_offloads() => {
            let remedy = match end.is_linux() {
                true => String::new(),
                false => format!("; {}", end.remedy_of_offloads(true)),
            };
            Some(format!("{name} of {host} has its offloads off{remedy}"))
        }
        (false, false) if !end.can_change() => Some(format!(
            "{name} of {host} has its offloads on; {}",
            end.remedy_of_offloads(false)
        )),
        _ => {
            let (nic, asked) = (end.nic_before()?, &setting.host.nic);
            let changed = || format!("{name} of {host} keeps its rings and coalescing; {remedy}");
            nic_change::unfit(asked, nic, host)
                .or_else(|| (asks_nic(setting) && !end.can_change()).then(changed))
        }
    }
}

/// Whether a setting needs an interface to be changed, whose system states its offloads or not.
fn changes(setting: &Setting, interface: &Interface, states_offloads: bool) -> bool {
    let is_other = |mtu: u32| mtu != interface.mtu;
    interface_mtu(setting).is_some_and(is_other)
        || states_offloads && setting.host.offloads == interface.offloads.is_empty()
        || asks_nic(setting)
}

/// Whether a setting asks for rings or coalescing.
fn asks_nic(setting: &Setting) -> bool {
    setting.host.nic.has_rings() || setting.host.nic.has_coalescing()
}

/// The MTU that a setting gives the interfaces, if it does.
pub(super) fn interface_mtu(setting: &Setting) -> Option<u32> {
    match setting.network.mtu_method {
        MtuMethod::Interface => setting.network.path_mtu().map(units::IpMtu::get),
        MtuMethod::Segment => None,
    }
}

/// The largest packet of a setting.
fn bytes(setting: &Setting) -> Bytes {
    let mtu = setting.network.path_mtu();
    mtu.map_or(Bytes::ZERO, units::IpMtu::bytes)
}

/// The largest packet of the plan by this version of IP.
fn largest(plan: &Plan, ip: IpVersion) -> Bytes {
    let settings = super::settings(plan).filter(|setting| setting.network.ip == ip);
    settings.map(bytes).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plan::HostFacts;

    use super::*;

    fn host(name: &str, system: &str) -> Description {
        Description {
            version: String::new(),
            name: name.into(),
            absent: Vec::new(),
            states_offloads: true,
            system: system.into(),
            facts: HostFacts {
                kernel: String::new(),
                cpu_model: String::new(),
                cpus: 1,
                root: false,
                machine: BTreeMap::new(),
            },
            clock: [0; 8],
            ssh_address: None,
            interfaces: Vec::new(),
        }
    }

    #[test]
    fn a_scenario_is_measured_between_hosts_that_have_its_systems_alone() {
        let of = |sender, receiver| Scenario { sender, receiver };
        let (lu, ws) = (System::Linux, System::Windows);
        let (linux, windows) = (host("a", "Linux"), host("b", "Windows Server 2022"));
        let wine = host("c", "Windows (Wine)");
        let other = host("d", "FreeBSD");
        assert_eq!(unlike(of(lu, ws), [&linux, &windows]), None);
        assert_eq!(unlike(of(ws, ws), [&wine, &windows]), None);
        for (wanted, found, why) in [
            (
                of(ws, ws),
                [&linux, &windows],
                "needs a Windows sender, and a has Linux",
            ),
            (
                of(lu, lu),
                [&linux, &wine],
                "needs a Linux receiver, and c has Windows (Wine)",
            ),
            (
                of(lu, lu),
                [&other, &linux],
                "needs a Linux sender, and d has FreeBSD",
            ),
        ] {
            assert_eq!(unlike(wanted, found).as_deref(), Some(why));
        }
    }
}
