//! Traffic of others on links. It has hosts of its own at the ends of each such
//! link, on wires that take no time, and the ends of the path where these are
//! the link's: it meets no other link and no router's queue but that one.

use proto::link;
use proto::traffic::{Law, mean_gap};
use sim::{Datagrams, Flow, Host, Link, Node, Role, Scenario};
use units::Time;

use super::{octets, way};
use crate::experiment::{Cross, Gaps, Graph, Role as Part, Setting, Wiring};

/// How the names of its nodes, links and flows begin; no other may have a stroke.
pub(in crate::sim) const OTHERS: &str = "others/";

/// Adds it to `scenario`, behind all that is in there.
pub(super) fn join(setting: &Setting, graph: &Graph, scenario: &mut Scenario) {
    for wire in &graph.wires {
        let Some(cross) = setting.network.links[wire.link].cross else {
            continue;
        };
        for &direction in cross.heading.ways() {
            let ends =
                [direction, 1 - direction].map(|end| host_at(setting, graph, wire, end, scenario));
            let flow = flow(setting, wire, &cross, ends, direction);
            scenario.flows.push(flow);
        }
    }
}

/// The number of the way in the name of one of its flows, and the link's name.
pub(in crate::sim) fn place_of(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(OTHERS)?.rsplit_once('/')
}

/// The host where such traffic enters or leaves `wire` at its end `end`.
fn host_at(
    setting: &Setting,
    graph: &Graph,
    wire: &Wiring,
    end: usize,
    scenario: &mut Scenario,
) -> usize {
    let node = wire.ends[end];
    if graph.nodes[node].role == Part::Host {
        return node;
    }
    let name = format!("{OTHERS}{}/{end}", wire.name);
    if let Some(there) = scenario.nodes.iter().position(|node| node.name == name) {
        return there;
    }
    let host = scenario.nodes.len();
    scenario.nodes.push(Node {
        name: name.clone(),
        role: Role::Host(Host::default()),
    });
    let network = &setting.network;
    let shared = way(network, &network.links[wire.link]);
    let swift = link::Settings {
        largest_packet: shared.largest_packet,
        ethernet: shared.ethernet,
        ..link::Settings::perfect(None, shared.queue)
    };
    scenario.links.push(Link {
        name,
        ends: [host, node],
        ways: [swift.clone(), swift],
    });
    host
}

fn flow(
    setting: &Setting,
    wire: &Wiring,
    cross: &Cross,
    [from, to]: [usize; 2],
    direction: usize,
) -> Flow {
    let link = &setting.network.links[wire.link];
    let mean = mean_gap(link.framing.wire_size(cross.packet), cross.rate);
    let gaps = match cross.gaps {
        Gaps::Exponential => Law::Exponential(mean),
        Gaps::Constant => Law::Constant(mean),
        Gaps::Uniform => Law::Uniform(0.0, 2.0 * mean),
    };
    let ip = setting.network.ip;
    let headers = ip.header() + model::Transport::Udp.header();
    let payload = units::Bytes::new(cross.packet.get().saturating_sub(headers.get()));
    Flow {
        name: format!("{OTHERS}{}/{direction}", wire.name),
        from,
        to,
        ip,
        start: Time::ZERO,
        stop: None,
        traffic: sim::Traffic::Datagrams(Datagrams::new(gaps, Law::Constant(octets(payload)))),
    }
}
