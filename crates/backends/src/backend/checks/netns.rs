//! Settings that this backend cannot build or measure as they are written.

use experiment::Rejection;
use meter::departures::Distribution;
use plan::Setting;
use plan::setting::{Destination, Domain, Flow, Generator, Graph, Role, Sends, Traffic};
use queue::Trigger;
use units::{Bytes, Transport};

use super::segment_limit;
use crate::{HAS_GATEWAY, NO_GATEWAY};

/// The most nodes and links of a network that is no path: each node is a namespace, and
/// each end of a link an interface that the emulator looks at.
const MOST_NODES: usize = 64;

/// Rejects what no key alone decides.
pub(in crate::backend) fn check(setting: &Setting) -> Result<(), Rejection> {
    if let Some(graph) = &setting.network.graph {
        check_network(setting, graph)?;
    }
    check_first_window(setting)?;
    segment_limit::check(setting)
}

/// The window of a SYN is not scaled [RFC7323 s2.2]: what it allows limits the first
/// flight.
fn check_first_window(setting: &Setting) -> Result<(), Rejection> {
    let Some(asked) = setting.host.tcp.initial_window else {
        return Ok(());
    };
    let network = &setting.network;
    let Some(mtu) = network.path_mtu() else {
        return Ok(());
    };
    let payload = model::payload_per_packet(mtu, network.ip, Transport::Tcp);
    let segment = payload.unwrap_or(Bytes::new(1)).get().max(1);
    let most = u64::from(u16::MAX) / segment;
    match u64::from(asked) <= most {
        true => Ok(()),
        false => reject(
            vec![("tcp", Some("initial_window".to_owned()))],
            format!(
                "tcp.initial_window = {asked}: a kernel's first window has at most 65535 bytes, here {most} segments; write fewer, or --on sim"
            ),
        ),
    }
}

/// Rejects what no network between kernels has.
fn check_network(setting: &Setting, graph: &Graph) -> Result<(), Rejection> {
    check_nodes(graph)?;
    check_links(setting)?;
    if let Some(domain) = &setting.network.domain {
        check_domain(domain)?;
    }
    check_traffic(setting)
}

fn check_nodes(graph: &Graph) -> Result<(), Rejection> {
    if let Some(switch) = graph.nodes.iter().find(|node| node.role == Role::Switch) {
        let why = format!(
            "nodes.{}.role = \"switch\": between kernels the nodes of a network are hosts and routers; write \"router\", or --on sim",
            switch.name
        );
        return reject(vec![("nodes", Some(switch.name.clone()))], why);
    }
    if graph.nodes.len().max(graph.wires.len()) > MOST_NODES {
        let why = format!(
            "between kernels a network has at most {MOST_NODES} nodes and links; this one has {} and {}; write fewer, or --on sim",
            graph.nodes.len(),
            graph.wires.len()
        );
        return reject(
            vec![("network", Some("pairs".to_owned())), ("nodes", None)],
            why,
        );
    }
    Ok(())
}

fn check_links(setting: &Setting) -> Result<(), Rejection> {
    let mut links = setting.network.links.iter();
    match links.find(|link| link.cross.is_some()) {
        None => Ok(()),
        Some(link) => reject(
            vec![("links", Some(link.name.clone())), ("network", None)],
            format!(
                "links.{}.cross: only links of a path have cross traffic; write a flow of [flows] instead",
                link.name
            ),
        ),
    }
}

/// Rejects what live gateways do not do.
fn check_domain(domain: &Domain) -> Result<(), Rejection> {
    check_gateway(domain, HAS_GATEWAY)?;
    let busy = { domain.aggregate.as_ref() }
        .is_some_and(|aggregate| matches!(aggregate.trigger, Trigger::EgressBusy(_)));
    let (key, why) = match domain.destination {
        Destination::FirstPacket => (
            "destination",
            "a live gateway addresses its peer; write \"egress\"",
        ),
        Destination::Label => (
            "encapsulation",
            "the routers of a test network switch no labels; write \"ip\" or \"udp\"",
        ),
        Destination::Egress if busy => (
            "trigger",
            "an emulated link does not report to a gateway when it is free; write \"timer\" or \"full\"",
        ),
        Destination::Egress => return Ok(()),
    };
    reject(
        vec![("domain", Some(key.to_owned())), ("domain", None)],
        format!("domain.{key}: {why}, or --on sim"),
    )
}

/// Rejects to aggregate in a build that has no gateway.
fn check_gateway(domain: &Domain, has_gateway: bool) -> Result<(), Rejection> {
    if has_gateway || domain.aggregate.is_none() {
        return Ok(());
    }
    reject(
        vec![("domain", Some("aggregate".to_owned())), ("domain", None)],
        format!("domain.aggregate = on: {NO_GATEWAY}, write \"off\", or --on sim"),
    )
}

fn check_traffic(setting: &Setting) -> Result<(), Rejection> {
    let Traffic::Flows(flows) = &setting.traffic else {
        return reject(
            vec![("traffic", Some("kind".to_owned())), ("traffic", None)],
            "traffic.kind: a network that is no path needs traffic of flows; write kind = \"flows\"".to_owned(),
        );
    };
    let sockets = flows.sockets.clone().unwrap_or_default();
    for (key, is_asked) in [
        ("log", sockets.log),
        ("generator", sockets.generator != Generator::Own),
        ("nagle", sockets.nagle),
    ] {
        if is_asked {
            let why = format!(
                "traffic.{key}: flows of a network that is no path have neither logs nor other generators; leave it out"
            );
            return reject(vec![("traffic", Some(key.to_owned()))], why);
        }
    }
    flows.flows.iter().try_for_each(check_flow)
}

fn check_flow(flow: &Flow) -> Result<(), Rejection> {
    let is_carried = match &flow.sends {
        Sends::Messages {
            gaps,
            bursts,
            packets,
            ..
        } => *gaps == Distribution::Constant(0.0) && bursts.is_none() && packets.is_none(),
        Sends::Datagrams { .. } => true,
        Sends::Bytes { .. } => false,
    };
    match is_carried && !flow.round_trip {
        true => Ok(()),
        false => reject(
            vec![("flows", Some(flow.name.clone()))],
            format!(
                "flows.{}: between kernels the flows of a network that is no path go one way, and those of TCP send as they may; leave out the schedule and round trips, or --on sim",
                flow.name
            ),
        ),
    }
}

fn reject(places: Vec<(&'static str, Option<String>)>, why: String) -> Result<(), Rejection> {
    Err(Rejection { places, why })
}

#[cfg(test)]
mod tests {
    use experiment::Experiment;
    use plan::Backend;

    use super::*;

    /// The plan of an experiment with and without aggregation.
    fn planned(backend: Backend) -> anyhow::Result<plan::Plan> {
        let mut experiment = Experiment::load("jumbogen-scaling").unwrap();
        for set in ["traffic=voip2k", "frame=9000", "aggregation=off,t10ms"] {
            experiment.set(set).unwrap();
        }
        crate::backend::plan(experiment, backend)
    }

    #[test]
    fn a_build_without_a_gateway_rejects_to_aggregate_between_kernels() {
        let line = format!("domain.aggregate = on: {NO_GATEWAY}, write \"off\", or --on sim");
        let cells = planned(Backend::Sim).unwrap().cells;
        let domains = cells
            .iter()
            .map(|cell| cell.setting.as_ref().unwrap().network.domain.as_ref());
        let rejected = domains.map(|domain| check_gateway(domain.unwrap(), false).err());
        let rejected: Vec<_> = rejected.map(|rejection| Some(rejection?.why)).collect();
        assert_eq!(rejected, [None, Some(line.clone())]);
        let error = planned(Backend::Netns).err().map(|error| error.to_string());
        assert_eq!(error.is_none(), HAS_GATEWAY, "{error:?}");
        if let Some(error) = error {
            assert!(
                error.starts_with("experiments/jumbogen-scaling.toml:"),
                "{error}"
            );
            assert!(error.ends_with(&line), "{error}");
        }
    }
}
