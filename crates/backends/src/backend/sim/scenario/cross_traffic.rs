//! Cross traffic on links. It has its own hosts at the ends of each such link,
//! connected by links that take no time, or uses the ends of the path if they
//! are the link's ends. It crosses no other link and no other router queue.

use plan::Setting;
use plan::setting::{Cross, Gaps, Graph, Role as Part, Wiring};

use meter::departures::{Distribution, mean_gap};
use sim::{Datagrams, Flow, Host, Link, Node, Outcome, Role, Scenario};
use units::{Bytes, Span, Time};

use super::elements::{bytes, slowest_gap, whole};
use super::request_response::settling;

/// The prefix of the names of its nodes, links and flows; other names must not
/// contain a slash.
pub(in crate::backend::sim) const CROSS_TRAFFIC: &str = "others/";

/// The initial duration of cross traffic for a transfer of unknown length, as a
/// multiple of its time on an idle path, and the additional margin.
const AT_FIRST: f64 = 4.0;
const LONGER: Span = Span::from_secs(2);

/// The time that cross traffic must last after the last arrival of a transfer;
/// later repairs do not affect the result.
const BEYOND: Span = Span::from_secs(1);

/// The initial end of cross traffic beside a request and its response: the lead
/// time plus twice the maximum time in flight.
pub(in crate::backend::sim) fn of_message(setting: &Setting, size: u32) -> Option<Time> {
    let settling = settling(setting, Bytes::new(u64::from(size)))?;
    Some(Time::ZERO + settling * 4)
}

/// The initial end of cross traffic if a connection determines the length of a
/// trial; [`outlast`] checks whether it was sufficient.
pub(in crate::backend::sim) fn at_first(setting: &Setting) -> Option<Time> {
    let crossed = setting
        .network
        .links
        .iter()
        .any(|link| link.cross.is_some());
    if let Some(request_response) = setting.traffic.request_response().filter(|_| crossed) {
        return of_message(setting, request_response.sizes.to);
    }
    let transfer = setting.traffic.transfer().filter(|_| crossed)?;
    transfer.tcp.as_ref()?;
    let all = transfer.warmup + transfer.size;
    let messages = all.get().div_ceil(transfer.message.get());
    let idle = slowest_gap(setting, transfer.message) * bytes(Bytes::new(messages));
    Some(Time::ZERO + Span::from_picos(whole(AT_FIRST * idle)) + LONGER)
}

/// Whether cross traffic until `until` lasted as long as the trial's
/// connections needed.
pub(in crate::backend::sim) fn outlast(outcome: &Outcome, until: Time) -> bool {
    let connections = outcome.flows.iter().filter_map(|flow| flow.tcp.as_ref());
    let latest = connections.filter_map(|tcp| tcp.last_arrival).max();
    latest.is_none_or(|latest| latest + BEYOND <= until)
}

/// Appends the cross traffic to `scenario`.
pub(super) fn join(setting: &Setting, graph: &Graph, until: Option<Time>, scenario: &mut Scenario) {
    for wire in &graph.wires {
        let Some(cross) = setting.network.links[wire.link].cross else {
            continue;
        };
        for &direction in cross.heading.directions() {
            let ends =
                [direction, 1 - direction].map(|end| host_at(setting, graph, wire, end, scenario));
            scenario.flows.push(Flow {
                stop: until,
                ..flow(setting, wire, &cross, ends, direction)
            });
        }
    }
}

/// The link's name and the direction in the name of a flow of cross traffic.
pub(in crate::backend::sim) fn place_of(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(CROSS_TRAFFIC)?.rsplit_once('/')
}

/// The host at which cross traffic enters or leaves `wire` at its end `end`.
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
    let name = format!("{CROSS_TRAFFIC}{}/{end}", wire.name);
    if let Some(there) = scenario.nodes.iter().position(|node| node.name == name) {
        return there;
    }
    let host = scenario.nodes.len();
    scenario.nodes.push(Node {
        name: name.clone(),
        role: Role::Host(Host::default()),
    });
    let network = &setting.network;
    let shared = network.emulated(&network.links[wire.link]);
    let swift = link::Settings {
        largest_packet: shared.largest_packet,
        ethernet: shared.ethernet,
        ..link::Settings::perfect(None, shared.queue)
    };
    scenario.links.push(Link {
        name,
        ends: [host, node],
        directions: [swift.clone(), swift],
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
        Gaps::Exponential => Distribution::Exponential(mean),
        Gaps::Constant => Distribution::Constant(mean),
        Gaps::Uniform => Distribution::Uniform(0.0, 2.0 * mean),
    };
    let ip = setting.network.ip;
    let headers = ip.header() + units::Transport::Udp.header();
    let payload = Bytes::new(cross.packet.get().saturating_sub(headers.get()));
    Flow {
        name: format!("{CROSS_TRAFFIC}{}/{direction}", wire.name),
        from,
        to,
        ip,
        start: Time::ZERO,
        stop: None,
        traffic: sim::Traffic::Datagrams(Datagrams::new(
            gaps,
            Distribution::Constant(bytes(payload)),
        )),
    }
}
