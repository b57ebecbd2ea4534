//! Converts settings to the terms of the simulator.

mod connections;
mod cross_traffic;
mod domain;
mod elements;
mod request_response;

use std::collections::BTreeMap;

use experiment::MESSAGE_HEADER;
use meter::departures::Distribution;
use plan::setting::{Costs, Traffic};
use plan::{Setting, setting as spec};

use sim::{
    BadScenario, Datagrams, Flow, Host, Link, Node, Notices, Role, Scenario, Simulation, Tcp, Work,
};
use units::{Bytes, Seed, Span, Time};

pub(super) use cross_traffic::{CROSS_TRAFFIC, at_first, of_message, outlast, place_of};
pub(super) use elements::{ECHO, TRANSFER};
use elements::{bytes, place, places, slowest_gap, whole};
pub(super) use request_response::settling;

/// A margin on the duration of a transfer, so that rounding never stops its
/// source.
const SPARE: Span = Span::from_millis(1);

/// The scenario of one trial of `setting`, with `budget` bytes of memory.
pub(crate) fn scenario_of(setting: &Setting, seed: Seed, budget: Bytes) -> Scenario {
    shared_until(setting, seed, budget, cross_traffic::at_first(setting))
}

/// The same scenario with cross traffic until a given time instead of until
/// the sources stop.
pub(super) fn shared_until(
    setting: &Setting,
    seed: Seed,
    budget: Bytes,
    until: Option<Time>,
) -> Scenario {
    let graph = setting.network.as_graph();
    let flows = flows(setting, &graph, seed);
    let mut scenario = alone(setting, &graph, flows, seed, budget);
    cross_traffic::join(setting, &graph, until, &mut scenario);
    scenario
}

/// The scenario of one request and its response, with cross traffic until a
/// given time.
pub(super) fn scenario_of_size(
    setting: &Setting,
    request_response: &spec::RequestResponse,
    size: u32,
    seed: Seed,
    (budget, until): (Bytes, Option<Time>),
) -> Scenario {
    let graph = setting.network.as_graph();
    let flows = request_response::of(setting, &graph, request_response, size);
    let mut scenario = alone(setting, &graph, flows, seed, budget);
    cross_traffic::join(setting, &graph, until, &mut scenario);
    scenario
}

/// The network, and flows until their sources stop.
fn alone(
    setting: &Setting,
    graph: &spec::Graph,
    (flows, end): (Vec<Flow>, Time),
    seed: Seed,
    budget: Bytes,
) -> Scenario {
    let network = &setting.network;
    let host = host(&setting.host.costs);
    let nodes = graph.nodes.iter().map(|node| Node {
        name: node.name.clone(),
        role: match node.role {
            spec::Role::Host => Role::Host(host),
            spec::Role::Router => Role::Router,
            spec::Role::Switch => Role::Switch,
        },
    });
    let links = graph.wires.iter().map(|wire| {
        let direction = network.emulated(&network.links[wire.link]);
        // A host waits for the whole of a frame.
        let toward = |node: usize| link::Settings {
            cut_through: direction.cut_through
                && !matches!(graph.nodes[node].role, spec::Role::Host),
            ..direction.clone()
        };
        let [from, to] = wire.ends;
        Link {
            name: wire.name.clone(),
            ends: wire.ends,
            directions: [toward(to), toward(from)],
        }
    });
    Scenario {
        nodes: nodes.collect(),
        links: links.collect(),
        flows,
        end,
        seed,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
        budget,
    }
}

/// The validated scenario, with the domain of `setting` if it has one.
///
/// # Errors
/// The simulator rejects the scenario.
pub(crate) fn simulation_of(
    setting: &Setting,
    scenario: Scenario,
) -> Result<Simulation, BadScenario> {
    let simulation = scenario.check()?;
    let simulation = simulation.with_notices(notices(&setting.network))?;
    match &setting.network.domain {
        None => Ok(simulation),
        Some(domain) => simulation.with_domain(domain::of(domain)),
    }
}

/// Both directions of each link whose queue sends drop notifications.
fn notices(network: &spec::Network) -> Vec<Notices> {
    let wires = network.as_graph().wires;
    let wires = wires.iter().enumerate();
    let notifying =
        wires.filter_map(|(at, wire)| Some((at, network.links[wire.link].impairments.notices?)));
    let each = notifying.flat_map(|(at, react)| {
        [0, 1].map(|direction| Notices {
            direction: (at, direction),
            react,
        })
    });
    each.collect()
}

fn host(costs: &Costs) -> Host {
    Host {
        send: Work {
            per_packet: costs.send_per_packet,
            per_byte: costs.send_per_byte,
        },
        receive: Work {
            per_packet: costs.receive_per_packet,
            per_byte: costs.receive_per_byte,
        },
        receive_buffer: costs.receive_buffer,
    }
}

/// The flows, and the time at which the last source stops.
fn flows(setting: &Setting, graph: &spec::Graph, seed: Seed) -> (Vec<Flow>, Time) {
    match &setting.traffic {
        Traffic::Flows(flows) => {
            let end = Time::ZERO + flows.duration;
            let places = places(graph);
            let groups = flows.flows.iter();
            let all = groups.flat_map(|group| of_group(setting, &places, group, seed));
            (all.collect(), end)
        }
        Traffic::Transfer(transfer) => match &transfer.tcp {
            Some(settings) => connections::of(setting, graph, transfer, settings),
            None => of_datagrams(setting, graph, transfer),
        },
        Traffic::RequestResponse(request_response) => {
            request_response::of(setting, graph, request_response, request_response.sizes.to)
        }
        // Rejected when the experiment was read.
        Traffic::Command(_) | Traffic::LatencyBreakdown(_) | Traffic::Probe(_) => {
            (Vec::new(), Time::ZERO)
        }
    }
}

/// A transfer over UDP.
fn of_datagrams(
    setting: &Setting,
    graph: &spec::Graph,
    transfer: &spec::Transfer,
) -> (Vec<Flow>, Time) {
    let messages = transfer.size.get().div_ceil(transfer.message.get());
    let gap = slowest_gap(setting, transfer.message);
    let paced = |name, ends, message| Flow {
        name: String::from(name),
        ..of_transfer(setting, graph, ends, message, messages, gap)
    };
    let mut flows = vec![paced(TRANSFER, ["sender", "receiver"], transfer.message)];
    if transfer.echo != spec::Echo::Off {
        // Answers leave at the pace of the messages. They go in the opposite
        // direction, which is otherwise idle, so that the mean round-trip time
        // is the sum of both one-way times.
        flows.push(paced(ECHO, ["receiver", "sender"], MESSAGE_HEADER));
    }
    let all = Span::from_picos(whole(gap * bytes(Bytes::new(messages + 1))));
    (flows, Time::ZERO + all + SPARE)
}

/// The copies of a flow, each with its own random stream.
fn of_group(
    setting: &Setting,
    places: &BTreeMap<&str, usize>,
    group: &spec::Flow,
    seed: Seed,
) -> impl Iterator<Item = Flow> {
    let ip = setting.network.ip;
    // An unknown name is out of bounds and rejected by the simulator.
    let place = |name: &str| places.get(name).copied().unwrap_or(usize::MAX);
    (0u32..).zip(group.names()).map(move |(number, name)| {
        let [from, to] =
            [&group.from, &group.to].map(|name| place(&spec::Flow::end(name, number + 1)));
        // A part of `of`, drawn from a stream of the flow's own.
        let part = |what: &str, of: Span| {
            let drawn = seed.derive(&format!("{what}/{name}")).get();
            Span::from_picos(drawn.checked_rem(of.as_picos()).unwrap_or(0))
        };
        let later = group.start_interval * u64::from(number) + part("start", group.start_jitter);
        Flow {
            from,
            to,
            ip,
            start: Time::ZERO + group.start + later,
            stop: group.stop.map(|stop| Time::ZERO + stop),
            traffic: traffic(group, |settings| part("phase", settings.tick)),
            name,
        }
    })
}

/// The traffic of a flow; `phase` gives the offset of its sender's clock within
/// a tick.
fn traffic(group: &spec::Flow, phase: impl Fn(&tcp::Settings) -> Span) -> sim::Traffic {
    let (class, precedence) = (group.class, group.precedence);
    match &group.sends {
        spec::Sends::Datagrams {
            gaps,
            payloads,
            bursts,
            packets,
            bytes,
            dont_fragment,
        } => sim::Traffic::Datagrams(Datagrams {
            bursts: bursts.clone(),
            limit: *packets,
            bytes: bytes.map(Bytes::get),
            dont_fragment: *dont_fragment || group.path_mtu == spec::PathMtu::Do,
            discovers: group.path_mtu == spec::PathMtu::Want,
            class,
            precedence,
            ..Datagrams::new(gaps.clone(), payloads.clone())
        }),
        spec::Sends::Messages { .. } => {
            unreachable!("messages of streams are read for kernels alone")
        }
        spec::Sends::Bytes {
            settings, bytes, ..
        } => {
            let settings = tcp::Settings {
                phase: phase(settings),
                ..settings.clone()
            };
            sim::Traffic::Tcp(Tcp {
                bytes: bytes.map(Bytes::get),
                class,
                precedence,
                ..Tcp::new(settings)
            })
        }
    }
}

/// Back-to-back messages at the rate of the slowest link.
fn of_transfer(
    setting: &Setting,
    graph: &spec::Graph,
    [from, to]: [&str; 2],
    message: Bytes,
    messages: u64,
    gap: f64,
) -> Flow {
    Flow {
        name: String::new(),
        from: place(graph, from),
        to: place(graph, to),
        ip: setting.network.ip,
        start: Time::ZERO,
        stop: None,
        traffic: sim::Traffic::Datagrams(Datagrams {
            limit: Some(messages),
            ..Datagrams::new(
                Distribution::Constant(gap),
                Distribution::Constant(bytes(message)),
            )
        }),
    }
}
