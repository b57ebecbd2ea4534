//! Converts settings to the terms of this backend.

use crate::testbed::{Addresses, Forwarder, Graph, Link, Medium, Path, Tcp, Vertex};
use emulator::Cross;
use meter::departures::{Distribution, mean_gap};
use plan::Setting;
use plan::setting::{self as spec, LinkKind, Traffic};
use units::{Framing, IpMtu, Span};

/// The largest packet of Ethernet [IEEE802.3].
const ETHERNET: u64 = 1500;

use super::gateways;
use crate::pace::Paced;

impl Paced {
    /// The kinds of links for bulk data and for single messages.
    pub(super) fn of(kind: LinkKind) -> [Self; 2] {
        match kind {
            LinkKind::Kernel => [Self::Kernel; 2],
            LinkKind::Emulated => [Self::Emulator; 2],
            LinkKind::Mixed => [Self::Kernel, Self::Emulator],
        }
    }

    /// The kind of links of each test network that a trial of `setting` uses, bulk
    /// first.
    pub(super) fn of_trial(setting: &Setting) -> Vec<Self> {
        let kind = setting.network.link;
        let [bulk, single] = Self::of(kind);
        match setting.traffic {
            Traffic::Transfer(_) => Self::beds(kind).collect(),
            Traffic::Command(_) => vec![bulk],
            Traffic::Flows(_)
            | Traffic::LatencyBreakdown(_)
            | Traffic::RequestResponse(_)
            | Traffic::Probe(_) => {
                vec![single]
            }
        }
    }

    /// The kind of links of each test network that a setting needs, bulk first.
    pub(super) fn beds(kind: LinkKind) -> impl Iterator<Item = Self> {
        let [bulk, single] = Self::of(kind);
        std::iter::once(bulk).chain((single != bulk).then_some(single))
    }
}

/// The test network of a setting.
pub(super) fn path_of(setting: &Setting, paced: Paced) -> Path {
    let network = &setting.network;
    Path {
        middle: match network.shape {
            spec::Shape::Pair
            | spec::Shape::Routed
            | spec::Shape::Chain
            | spec::Shape::Dumbbell
            | spec::Shape::Explicit => Forwarder::Router,
            spec::Shape::Switched => Forwarder::Switch,
        },
        ip: network.ip,
        addresses: match network.addresses {
            spec::Addresses::Static => Addresses::Static,
            spec::Addresses::Router => Addresses::Router,
        },
        offloads: setting.host.offloads,
        segments_per_packet: setting.host.segments_per_packet,
        tcp: tcp_of(&setting.host.tcp),
        graph: network.graph.as_ref().map(|graph| graph_of(network, graph)),
        links: links_of(network)
            .enumerate()
            .map(|(number, link)| Link {
                mtu: interface_mtu(network, link),
                medium: match paced {
                    Paced::Kernel => Medium::Kernel {
                        rate: link.rate,
                        burst: link.burst,
                        buffer: link.buffer,
                    },
                    Paced::Emulator => {
                        let back = network.emulated(link);
                        let mut there = back.clone();
                        if number == 0 {
                            there.delay += injected(setting);
                        }
                        Medium::Emulated {
                            directions: Box::new([there, back]),
                            rules: link.impairments.faults.clone(),
                        }
                    }
                },
            })
            .collect(),
    }
}

/// The settings of the hosts' TCP.
const fn tcp_of(tcp: &spec::KernelTcp) -> Tcp {
    let &spec::KernelTcp {
        initial_window,
        min_rto,
        acknowledges_each,
        sack,
        rack,
        tail_loss_probe,
    } = tcp;
    Tcp {
        initial_window,
        min_rto,
        acknowledges_each,
        sack,
        rack,
        tail_loss_probe,
    }
}

/// The links to build, in order: with a graph one for each wire.
fn links_of(network: &spec::Network) -> impl Iterator<Item = &spec::Link> {
    let wires = network.as_graph().wires.into_iter();
    wires.map(|wire| &network.links[wire.link])
}

/// The nodes of a network that is no path. Hosts of a domain have addresses of their own.
fn graph_of(network: &spec::Network, graph: &spec::Graph) -> Graph {
    let domain = network.domain.iter();
    let addresses: Vec<_> = domain.flat_map(|domain| &domain.addresses).collect();
    let vertex = |(place, node): (usize, &spec::Vertex)| Vertex {
        name: node.name.clone(),
        is_router: node.role != spec::Role::Host,
        address: { addresses.iter() }
            .find(|(node, _)| *node == place)
            .map(|(_, own)| *own),
    };
    Graph {
        nodes: graph.nodes.iter().enumerate().map(vertex).collect(),
        ends: graph.wires.iter().map(|wire| wire.ends).collect(),
        unrouted: { network.domain.iter() }
            .flat_map(gateways::unrouted)
            .collect(),
    }
}

/// The MTU of a link's interfaces: Ethernet's where segments limit packets, unless
/// packets are larger [IEEE802.3].
fn interface_mtu(network: &spec::Network, link: &spec::Link) -> IpMtu {
    let ethernet = IpMtu::new(ETHERNET, network.ip).unwrap_or(link.mtu);
    match network.mtu_method {
        spec::MtuMethod::Interface => link.mtu,
        spec::MtuMethod::Segment => link.mtu.max(ethernet),
    }
}

/// The delay injected in the forward direction.
fn injected(setting: &Setting) -> Span {
    match &setting.traffic {
        Traffic::LatencyBreakdown(trips) => trips.on_the_wire(),
        _ => Span::ZERO,
    }
}

/// The cross traffic of a setting.
pub(super) fn cross_of(setting: &Setting) -> Vec<Cross> {
    let links = setting.network.links.iter().enumerate();
    links
        .flat_map(|(number, link)| Some((number, link.cross?)))
        .flat_map(|(number, cross)| {
            let mean = mean_gap(Framing::Ethernet.wire_size(cross.packet), cross.rate);
            let gaps = match cross.gaps {
                spec::Gaps::Exponential => Distribution::Exponential(mean),
                spec::Gaps::Constant => Distribution::Constant(mean),
                spec::Gaps::Uniform => Distribution::Uniform(0.0, 2.0 * mean),
            };
            let frame = Framing::Ethernet.frame_size(cross.packet);
            let sizes = Distribution::Constant(frame.get() as f64);
            cross
                .heading
                .directions()
                .iter()
                .map(move |&direction| Cross {
                    link: number,
                    direction,
                    gaps: gaps.clone(),
                    sizes: sizes.clone(),
                })
        })
        .collect()
}

/// The recorded links: numbers and names.
pub(super) fn recorded_of(setting: &Setting) -> Vec<(usize, String)> {
    let network = &setting.network;
    let wires = network.as_graph().wires.into_iter().enumerate();
    wires
        .filter(|(_, wire)| network.links[wire.link].recorded)
        .map(|(number, wire)| (number, wire.name))
        .collect()
}
