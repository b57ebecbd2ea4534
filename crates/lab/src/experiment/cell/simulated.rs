//! What the simulator refuses of a setting, said with the place it was written at.

use anyhow::Result;
use sim::{BadDomain, BadScenario};
use units::{Bytes, Seed};

use crate::experiment::tree::{Node, Origin, Table, fault};
use crate::sim::{scenario_of, simulation_of};
use plan::Setting;
use plan::setting::Costs;

/// Refuses what cannot be simulated on any machine; `place` is where the file begins.
pub(super) fn check(tree: &Table, place: &Origin, setting: &Setting) -> Result<()> {
    if setting
        .network
        .links
        .iter()
        .any(|link| link.cross.is_some())
    {
        others(tree, place, setting)?;
    }
    // How much memory there is shows when the run begins.
    let unbounded = Bytes::new(u64::MAX);
    let scenario = scenario_of(setting, Seed::new(0), unbounded);
    let Err(bad) = simulation_of(setting, scenario) else {
        return Ok(());
    };
    let origin = culprit(&bad).and_then(|(table, name)| {
        let Node { origin, .. } = tree.table(table)?.get(name).or_else(|| tree.get(table))?;
        Some(origin)
    });
    let origin = origin.or_else(|| tree.get("network").map(|node| &node.origin));
    Err(fault(origin.unwrap_or(place), bad))
}

/// Refuses traffic of others where the simulator would have to make it of what
/// is measured.
fn others(tree: &Table, place: &Origin, setting: &Setting) -> Result<()> {
    let why = if setting.network.graph.is_some() {
        "only a path, e.g. shape = \"chain\", has links that simulated others share; write a flow instead"
    } else if setting.host.costs != Costs::default() {
        "simulated hosts would work on packets of others too; leave their costs out, or the others"
    } else {
        return Ok(());
    };
    let network = tree.table("network");
    let load = network.and_then(|network| network.get("load"));
    let node = load.or_else(|| tree.get("links"));
    let origin = node.map_or(place, |node| &node.origin);
    Err(fault(origin, format!("cross traffic: {why}")))
}

/// The table of the element that is at fault, and its name.
fn culprit(bad: &BadScenario) -> Option<(&'static str, &str)> {
    match bad {
        BadScenario::ToItself { link, .. }
        | BadScenario::Parallel { other: link, .. }
        | BadScenario::SwitchLoop { link }
        | BadScenario::Link { link, .. }
        | BadScenario::SmallMtu { link, .. }
        | BadScenario::SmallQueue { link, .. } => Some(("links", link)),
        BadScenario::SmallBuffer { .. } => Some(("host", "receive_buffer")),
        BadScenario::NoHost { flow, .. }
        | BadScenario::FlowToItself { flow, .. }
        | BadScenario::Unreachable { flow, .. }
        | BadScenario::Law { flow, .. }
        | BadScenario::Tcp { flow, .. } => Some(("flows", flow)),
        BadScenario::Domain(bad) => match bad {
            BadDomain::TooBig { link, .. } | BadDomain::Duplicates(link) => Some(("links", link)),
            BadDomain::Astray { flow, .. } => Some(("flows", flow)),
            _ => Some(("domain", "edges")),
        },
        BadScenario::TooLong { .. } => Some(("traffic", "duration")),
        _ => None,
    }
}
