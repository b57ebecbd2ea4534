//! The edges of a domain: packets are gathered where they enter, and let out
//! where they leave.

use std::collections::{BTreeMap, VecDeque};

use queue::{Bundle, Gather, Packet as _, Release};
use units::{Bytes, Time};

use super::Engine;
use crate::domain::Exit;
use crate::labels::Labels;
use crate::load::Load;
use crate::packet::{Body, Congestion, Content, Header, Packet};
use crate::{EdgeOutcome, Ingress, Watch};

/// The edges of the network's domain.
pub(crate) struct Edges {
    /// In the order of their nodes.
    pub(crate) all: Vec<Edge>,
    /// Where packets to each node leave.
    pub(crate) exits: Vec<Option<Exit>>,
    pub(crate) addressing: Addressing,
    pub(crate) shaping: bool,
    /// How many gatherings there are.
    pub(crate) origins: usize,
}

/// What bundles are forwarded by.
pub(crate) enum Addressing {
    /// The address of who unpacks them.
    Egress,
    /// That of their first packet.
    FirstPacket,
    /// Labels.
    Label(Labels),
}

/// A router at the border while the network runs.
pub(crate) struct Edge {
    pub(crate) node: usize,
    pub(crate) ingress: Option<Ingress>,
    /// What waits to be gathered, by where it leaves.
    gathers: BTreeMap<Exit, Gathering>,
    /// What waits to go on, by who gathered it.
    outlets: BTreeMap<usize, Outlet>,
    pub(crate) counts: EdgeOutcome,
}

struct Gathering {
    gather: Gather<Packet>,
    origin: usize,
    /// The next way of a bundle.
    way: usize,
    /// Bundles that were sent.
    sent: u64,
}

/// Packets of a gathering that wait for their turn to go on.
struct Outlet {
    release: Release,
    waiting: VecDeque<(Time, Packet)>,
}

impl Edge {
    /// An edge before anything has happened.
    pub(crate) fn new(node: usize, ingress: Option<Ingress>, name: String) -> Self {
        Self {
            node,
            ingress,
            gathers: BTreeMap::new(),
            outlets: BTreeMap::new(),
            counts: EdgeOutcome {
                name,
                ..EdgeOutcome::default()
            },
        }
    }
}

impl<W: Watch> Engine<'_, W> {
    /// A packet has come to an edge.
    pub(super) fn arrive_at_edge(&mut self, node: usize, mut packet: Packet) {
        if let Some(load) = packet.load.take_if(|load| load.egress == node) {
            self.contents.let_go(&packet);
            self.unpack(node, *load);
            return;
        }
        if packet.is_bundle() {
            self.route(node, packet);
            return;
        }
        let number = self.edge_at(node);
        let exit =
            self.edges.exits[packet.header.to as usize].filter(|(_, egress)| *egress != node);
        match (exit, self.edges.all[number].ingress) {
            (Some(exit), Some(ingress)) => self.gather(number, exit, ingress, packet),
            _ => self.route(node, packet),
        }
    }

    /// The turn of an edge has come. A look at a link that is not idle yet is no
    /// event: how often it takes one depends on how the link is driven.
    pub(super) fn visit_edge(&mut self, number: usize) {
        let due = self.next_of_edge(number);
        self.events -= u64::from(due.is_none_or(|due| due > self.now));
        self.serve_edge(number);
    }

    /// Lets an edge do what is due.
    pub(super) fn serve_edge(&mut self, number: usize) {
        let exits: Vec<Exit> = self.edges.all[number].gathers.keys().copied().collect();
        for exit in exits {
            self.serve_gathering(number, exit);
        }
        let now = self.now;
        let node = self.edges.all[number].node;
        let mut ripe = Vec::new();
        for outlet in self.edges.all[number].outlets.values_mut() {
            while let Some((_, packet)) = outlet.waiting.pop_front_if(|first| first.0 <= now) {
                ripe.push(packet);
            }
        }
        for packet in ripe {
            self.route(node, packet);
        }
        self.arm_edge(number);
    }

    fn edge_at(&self, node: usize) -> usize {
        let edges = &self.edges.all;
        edges.partition_point(|edge| edge.node < node)
    }

    fn gather(&mut self, number: usize, exit: Exit, ingress: Ingress, mut packet: Packet) {
        // Whatever link it came from, its octets of IP are what counts.
        packet.header.frame = packet.header.size;
        let node = self.edges.all[number].node;
        let (to, origins) = (packet.header.to as usize, self.edges.origins);
        let way = match &self.edges.addressing {
            Addressing::Egress => self.routes.next(node, exit.1),
            Addressing::FirstPacket => self.routes.next(node, to),
            Addressing::Label(labels) => {
                let label = labels.first(node, exit);
                label.and_then(|label| Some(labels.of_label(label)?.way))
            }
        };
        let gathers = &mut self.edges.all[number].gathers;
        let gathering = gathers.entry(exit).or_insert_with(|| {
            self.edges.origins += 1;
            Gathering {
                gather: Gather::new(ingress.settings()).expect("checked with the domain"),
                origin: origins,
                way: way.expect("checked with the domain"),
                sent: 0,
            }
        });
        let gone = gathering.gather.push(self.now, packet);
        self.edges.all[number].counts.gathered += 1;
        if let Some(bundle) = gone {
            self.send_bundle(number, exit, bundle);
        }
        self.serve_gathering(number, exit);
        self.arm_edge(number);
    }

    /// Lets go what must go, or may because the link is idle.
    fn serve_gathering(&mut self, number: usize, exit: Exit) {
        while self.due(number, exit).is_some_and(|due| due <= self.now) {
            let gathering = self.edges.all[number].gathers.get_mut(&exit);
            let Some(bundle) = gathering.and_then(|one| one.gather.flush(self.now)) else {
                return;
            };
            self.send_bundle(number, exit, bundle);
        }
    }

    /// When a gathering is to be looked at next: when its bundle must go, or
    /// the link may be idle.
    fn due(&mut self, number: usize, exit: Exit) -> Option<Time> {
        let Gathering { gather, way, .. } = self.edges.all[number].gathers.get(&exit)?;
        let (must, may) = (gather.due(), gather.due_on_idle_link());
        if must == may {
            return must;
        }
        // While others wait in front of it the wire is taken beyond now.
        let free = self.ways[*way].free_at(self.now);
        let may = may.map(|may| may.max(free));
        match (must, may) {
            (Some(must), Some(may)) => Some(must.min(may)),
            (must, may) => must.or(may),
        }
    }

    fn send_bundle(&mut self, number: usize, exit: Exit, bundle: Bundle<Packet>) {
        let edge = &mut self.edges.all[number];
        let (node, packets) = (edge.node, u64::from(bundle.live()));
        if bundle.is_bare() {
            edge.counts.bare += 1;
            for (packet, _) in bundle.unpack() {
                self.route(node, packet);
            }
            return;
        }
        let entries = bundle.entries().iter();
        let first = entries.filter_map(|entry| entry.packet()).next();
        let Some(first) = first.map(|packet| packet.header) else {
            return;
        };
        edge.counts.bundles += 1;
        edge.counts.bundled += packets;
        let gathering = edge.gathers.get_mut(&exit);
        let (origin, number) = gathering.map_or((0, 0), |one| {
            one.sent += 1;
            (one.origin, one.sent - 1)
        });
        let content = Content {
            body: Body::Bundle,
            ..*self.contents.of(&first)
        };
        let content = self.contents.put(content);
        let egress = u32::try_from(exit.1).expect("a scenario has fewer nodes than that");
        let to = match &self.edges.addressing {
            Addressing::Egress => Some(egress),
            Addressing::FirstPacket => None,
            Addressing::Label(labels) => labels.first(node, exit),
        };
        let outer = match to {
            Some(to) => Header {
                to,
                // A flow of its own, as far as queues are concerned.
                key: units::Seed::new(0).with(origin as u64).get(),
                ..first
            },
            None => first,
        };
        let packet = Packet {
            header: Header {
                size: octets(bundle.view().size),
                content,
                congestion: Congestion::Unable,
                ..outer
            },
            load: Some(Box::new(Load {
                bundle,
                origin,
                number,
                ingress: node,
                egress: exit.1,
            })),
        };
        self.nodes[node].counts.forwarded += 1;
        self.depart(node, packet);
    }

    fn unpack(&mut self, node: usize, load: Load) {
        let (now, shaping, number) = (self.now, self.edges.shaping, self.edge_at(node));
        let edge = &mut self.edges.all[number];
        edge.counts.unpacked += 1;
        edge.counts.survivors += u64::from(load.bundle.live());
        let outlets = edge.outlets.entry(load.origin);
        let outlet = outlets.or_insert_with(|| Outlet {
            release: Release::new(shaping),
            waiting: VecDeque::new(),
        });
        let packets = outlet.release.unpack(now, load.bundle);
        outlet.waiting.extend(packets);
        self.serve_edge(number);
    }

    fn arm_edge(&mut self, number: usize) {
        let next = self.next_of_edge(number);
        self.agenda.set(self.elements.edges + number, next);
    }

    /// When an edge acts next, or looks whether it may.
    fn next_of_edge(&mut self, number: usize) -> Option<Time> {
        let exits: Vec<Exit> = self.edges.all[number].gathers.keys().copied().collect();
        let gathers = exits.into_iter().filter_map(|exit| self.due(number, exit));
        let gathers = gathers.min();
        let outlets = self.edges.all[number].outlets.values();
        let outlets = outlets.filter_map(|outlet| Some(outlet.waiting.front()?.0));
        [gathers, outlets.min()].into_iter().flatten().min()
    }
}

fn octets(size: Bytes) -> u32 {
    u32::try_from(size.get()).unwrap_or(u32::MAX)
}
