//! Simulations: valid scenarios, ready to run.

mod outcome;

use link::edge::{self, Addressing};
use tcp::React;
use units::Seed;

use crate::connection::Connection;
use crate::direction::{Direction, mtu};
use crate::domain::exits;
use crate::engine::{DomainEdge, DomainEdges, Endpoints, Engine, Flow, Kind, Node};
use crate::labels::labels;
use crate::link_stats::TraceDepth;
use crate::lookahead;
use crate::packet::{Congestion, Header};
use crate::processor::Processor;
use crate::routes::Routes;
use crate::shortcuts::Shortcuts;
use crate::sink::Sink;
use crate::source::Source;
use crate::{
    BadDomain, BadScenario, Destination, Domain, Host, NodeOutcome, Notices, Outcome, Role,
    Scenario, Tracer, Traffic,
};

/// The events between two questions whether to stop: they take less than a millisecond.
const EVENTS_UNASKED: u32 = 1_024;

/// Why a simulation that nobody may stop has an outcome.
const RUNS_ON: &str = "nobody stops it before its end";

/// A valid scenario. It runs to its end and cannot fail.
pub struct Simulation {
    /// Sorted by name, so that the order of its tables does not matter.
    scenario: Scenario,
    /// For each element its index in the original scenario.
    places: Places,
    routes: Routes,
    /// The flows that keep every arrival.
    exact: Vec<bool>,
    domain: Option<Domain>,
    notices: Vec<Notices>,
}

/// The indices of elements before they were sorted.
pub(crate) struct Places {
    pub(crate) nodes: Vec<usize>,
    pub(crate) links: Vec<usize>,
    pub(crate) flows: Vec<usize>,
}

impl Simulation {
    pub(crate) fn new(
        scenario: Scenario,
        places: Places,
        routes: Routes,
        exact: Vec<bool>,
    ) -> Self {
        Self {
            scenario,
            places,
            routes,
            exact,
            domain: None,
            notices: Vec::new(),
        }
    }

    /// Adds queues that notify TCP sources of drops.
    ///
    /// # Errors
    /// If a link or a direction does not exist.
    pub fn with_notices(mut self, notices: Vec<Notices>) -> Result<Self, BadScenario> {
        let links = self.scenario.links.len();
        let mut directions = notices.iter().map(|notices| notices.direction);
        if let Some((link, direction)) =
            directions.find(|(link, direction)| *link >= links || *direction > 1)
        {
            return Err(BadDomain::NoSuchDirection(link, direction).into());
        }
        self.notices = notices;
        Ok(self)
    }

    /// The reaction of sources to drops, by the number of the direction.
    fn notifies(&self) -> Vec<Option<React>> {
        let Self {
            notices, places, ..
        } = self;
        if notices.is_empty() {
            return Vec::new();
        }
        let of = |direction| {
            notices
                .iter()
                .find(|notices| notices.direction == direction)
        };
        let links = places.links.iter();
        let directions = links.flat_map(|place| [(*place, 0), (*place, 1)]);
        directions
            .map(|direction| Some(of(direction)?.react))
            .collect()
    }

    /// Adds a domain that aggregates packets at its edges. It refers to nodes by their
    /// indices in the original scenario.
    ///
    /// # Errors
    /// If the domain is invalid in this network.
    pub fn with_domain(mut self, domain: Domain) -> Result<Self, BadScenario> {
        let numbers = &self.places.nodes;
        if let Some(node) = domain.named().find(|node| *node >= numbers.len()) {
            return Err(BadDomain::NoSuchNode(node).into());
        }
        let number = |place| numbers.iter().position(|other| *other == place);
        let domain = domain.renumbered(|place| number(place).unwrap_or(place));
        for node in domain.targets() {
            self.routes.add(&self.scenario, node);
        }
        domain.check(&self.scenario, &self.routes)?;
        self.domain = Some(domain);
        Ok(self)
    }

    /// Runs until sources have stopped and no packet is in flight.
    pub fn run(self) -> Outcome {
        self.run_unless(None, &|| false).expect(RUNS_ON)
    }

    /// Runs while `tracer` observes every packet; it does not influence the run.
    pub fn run_traced(self, tracer: &mut dyn Tracer) -> Outcome {
        self.run_unless(Some(tracer), &|| false).expect(RUNS_ON)
    }

    /// Runs, observed by `tracer` if there is one, and asks every few thousand events
    /// whether it is to stop; `None` where it was.
    pub fn run_unless(
        self,
        tracer: Option<&mut dyn Tracer>,
        stopped: &dyn Fn() -> bool,
    ) -> Option<Outcome> {
        match tracer {
            None => self.step_unless(self.engine::<false>(&mut (), Shortcuts::ALL), stopped),
            Some(tracer) => self.step_unless(self.engine::<true>(tracer, Shortcuts::ALL), stopped),
        }
    }

    fn step_unless<const TRACED: bool>(
        &self,
        mut engine: Engine<'_, TRACED>,
        stopped: &dyn Fn() -> bool,
    ) -> Option<Outcome> {
        loop {
            for _ in 0..EVENTS_UNASKED {
                if !engine.step() {
                    return Some(self.outcome(engine));
                }
            }
            if stopped() {
                return None;
            }
        }
    }

    /// The network before the first event. Whether it is `TRACED` is known when this is
    /// compiled, so that an untraced simulation does not ask at every event.
    pub(crate) fn engine<'a, const TRACED: bool>(
        &'a self,
        tracer: &'a mut dyn Tracer,
        shortcuts: Shortcuts,
    ) -> Engine<'a, TRACED> {
        let looks = |direction| match TRACED && tracer.wants(direction) {
            false => TraceDepth::Off,
            true if tracer.opens(direction) => TraceDepth::Inner,
            true => TraceDepth::Packets,
        };
        let mut engine = Engine::new(
            self.directions(looks, shortcuts.fast_links),
            self.nodes(),
            self.flows(),
            self.edges(),
            &self.routes,
            shortcuts,
            tracer,
        );
        engine.notifies = self.notifies();
        engine.mark_directions();
        if shortcuts.lookahead && self.domain.is_none() && self.notices.is_empty() {
            let deliveries = !TRACED || !engine.tracer.wants_deliveries();
            lookahead::look(
                &self.scenario,
                &self.routes,
                &mut engine.directions,
                &engine.nodes,
                deliveries,
                shortcuts.senders && !TRACED,
            );
        }
        engine
    }

    /// The directions of links; `looks` returns the depth of the tracer for each. `fast`:
    /// they may be fast links.
    fn directions(
        &self,
        looks: impl Fn((usize, usize)) -> TraceDepth,
        fast: bool,
    ) -> Vec<Direction> {
        let mut directions = Vec::new();
        for (link, place) in self.scenario.links.iter().zip(&self.places.links) {
            for (settings, direction) in link.directions.iter().zip(0..) {
                let name = format!("link/{}/{direction}", link.name);
                let seed = self.scenario.seed.derive(&name);
                let looks = looks((*place, direction));
                let to = link.ends[1 - direction];
                let end = self.scenario.end;
                directions.push(Direction::new(
                    settings,
                    seed,
                    end,
                    looks,
                    to,
                    (*place, direction),
                    fast,
                ));
            }
        }
        directions
    }

    fn nodes(&self) -> Vec<Node> {
        let nodes = self.scenario.nodes.iter().zip(&self.places.nodes);
        let is_edge = |place: usize| {
            let mut edges = self.domain.iter().flat_map(|domain| &domain.edges);
            edges.any(|edge| self.places.nodes[edge.node] == place)
        };
        let build = |(node, place): (&crate::Node, &usize)| {
            let (kind, host) = match node.role {
                Role::Host(host) => (Kind::Host, host),
                Role::Router if is_edge(*place) => (Kind::Edge, Host::default()),
                Role::Router => (Kind::Router, Host::default()),
                Role::Switch => (Kind::Switch, Host::default()),
            };
            Node {
                kind,
                receive: Processor::new(host.receive, host.receive_buffer),
                send: Processor::new(host.send, None),
                counts: NodeOutcome {
                    name: node.name.clone(),
                    ..NodeOutcome::default()
                },
                place: *place,
            }
        };
        nodes.map(build).collect()
    }

    fn edges(&self) -> DomainEdges {
        let Some(domain) = &self.domain else {
            return DomainEdges::default();
        };
        let labels = match domain.destination {
            Destination::Egress | Destination::FirstPacket => None,
            Destination::Label(_) => Some(labels(domain, &self.scenario, &self.routes)),
        };
        let edge = |edge: &crate::Edge| {
            let settings = edge::Settings {
                number: edge.node,
                aggregate: edge.aggregate.map(|ingress| ingress.settings()),
                addressing: match (&domain.destination, &labels) {
                    (Destination::FirstPacket, _) => Addressing::FirstPacket,
                    (_, Some(labels)) => Addressing::Label(labels.of_edge(edge.node)),
                    (_, None) => Addressing::Egress,
                },
                shaping: domain.shaping,
            };
            let machine = edge::Edge::new(settings).expect("checked with the domain");
            DomainEdge::new(edge.node, machine)
        };
        DomainEdges {
            all: domain.edges.iter().map(edge).collect(),
            exits: exits(domain, self.scenario.nodes.len()),
            labels,
            origins: 0,
        }
    }

    fn flows(&self) -> Vec<Flow> {
        let scenario = &self.scenario;
        let mut directions = scenario.links.iter().flat_map(|link| &link.directions);
        let repeats = directions.any(|direction| direction.duplicate > 0.0);
        let mut flows = Vec::new();
        for (number, flow) in (0u32..).zip(&scenario.flows) {
            let at = number as usize;
            let first = self
                .routes
                .next(flow.from, flow.to)
                .map_or(u32::MAX, |direction| {
                    mtu(&scenario.links[direction / 2].directions[direction % 2])
                });
            let seed = scenario.seed.derive(&format!("flow/{}", flow.name));
            let template = template(flow, number, seed);
            let endpoints = match &flow.traffic {
                Traffic::Datagrams(datagrams) => Endpoints::Datagrams(Box::new((
                    Source::new(flow, datagrams, template, first, scenario.end, seed),
                    Sink::new(repeats, self.exact[at]),
                ))),
                Traffic::Tcp(tcp) => {
                    let connection =
                        Connection::new(flow, tcp, template, first, scenario.end, self.exact[at]);
                    Endpoints::Tcp(Box::new(connection))
                }
            };
            flows.push(Flow {
                from: flow.from,
                to: flow.to,
                endpoints,
                answered_by: None,
                place: self.places.flows[at],
            });
        }
        for (number, flow) in scenario.flows.iter().enumerate() {
            if let Traffic::Tcp(tcp) = &flow.traffic
                && let Some(answered) = tcp.messages.and_then(|messages| messages.answers)
            {
                flows[answered].answered_by = Some(number);
            }
        }
        flows
    }
}

/// The common header fields of the packets of a flow.
fn template(flow: &crate::Flow, number: u32, seed: Seed) -> Header {
    let (class, precedence) = match &flow.traffic {
        Traffic::Datagrams(datagrams) => (datagrams.class, datagrams.precedence),
        Traffic::Tcp(tcp) => (tcp.class, tcp.precedence),
    };
    Header {
        flow: number,
        to: u32::try_from(flow.to).expect("a scenario has fewer nodes than that"),
        key: seed.derive("key").get(),
        size: 0,
        frame: 0,
        ip: flow.ip,
        class,
        precedence,
        content: u32::MAX,
        congestion: Congestion::Unable,
    }
}
