//! Checks that the simulator can run a setting, and locates errors in the
//! experiment.

use experiment::Rejection;
use plan::Setting;
use plan::setting::{Costs, Traffic};
use results::table::require_parquet;
use sim::{BadDomain, BadScenario};
use units::{Bytes, Seed};

use super::trace::is_watched;
use super::{probe, scenario_of, simulation_of};

/// Rejects settings that cannot be simulated on any machine.
///
/// # Errors
/// The first reason why the setting cannot be simulated.
pub(crate) fn check(setting: &Setting) -> Result<(), Rejection> {
    if is_watched(setting) {
        let places = vec![("links", None), ("flows", None)];
        require_parquet().map_err(|why| Rejection {
            places,
            why: format!("watch: {why}"),
        })?;
    }
    if setting
        .network
        .links
        .iter()
        .any(|link| link.cross.is_some())
    {
        cross_traffic(setting)?;
    }
    if let Traffic::Probe(investigated) = &setting.traffic {
        let places = vec![("traffic", Some("max_mtu".to_owned())), ("network", None)];
        let rejected = probe::check(setting, investigated);
        return rejected.map_err(|why| Rejection { places, why });
    }
    // The available memory is checked when the run begins.
    let unbounded = Bytes::new(u64::MAX);
    let scenario = scenario_of(setting, Seed::new(0), unbounded);
    let Err(bad) = simulation_of(setting, scenario) else {
        return Ok(());
    };
    let mut places = Vec::new();
    if let Some((table, name)) = culprit(&bad) {
        places.extend([(table, Some(name.to_owned())), (table, None)]);
    }
    places.push(("network", None));
    Err(Rejection {
        places,
        why: bad.to_string(),
    })
}

/// Rejects cross traffic where it would interact with measured traffic in ways
/// that the simulator does not model.
fn cross_traffic(setting: &Setting) -> Result<(), Rejection> {
    let why = if setting.network.graph.is_some() {
        "only a path, e.g. shape = \"chain\", can have simulated cross traffic; write a flow instead"
    } else if setting.host.costs != Costs::default() {
        "simulated hosts would process the packets of cross traffic, too; leave out their costs or the cross traffic"
    } else {
        return Ok(());
    };
    Err(Rejection {
        places: vec![("network", Some("load".to_owned())), ("links", None)],
        why: format!("cross traffic: {why}"),
    })
}

/// The table of the invalid element, and its name.
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
        | BadScenario::Distribution { flow, .. }
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

#[cfg(test)]
mod tests;
