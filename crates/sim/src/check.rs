//! Validation of a scenario before it runs.

mod load;

use std::collections::BTreeMap;

use link::Link as Machine;
use meter::departures::{BadDistribution, Bursts};
use queue::Limit;
use tcp::{Profile, Recovery};
use units::{Bytes, Seed, Span};

use crate::direction::{framing, mtu};
use crate::fragments::{UDP_HEADER, header, ip_header, largest_payload};
use crate::packet::Packet;
use crate::routes::Routes;
use crate::simulation::{Places, Simulation};
use crate::{BadScenario, Datagrams, Flow, Role, Scenario, Traffic};

impl Scenario {
    /// Checks the scenario completely; a simulation cannot fail afterwards.
    ///
    /// # Errors
    /// See [`BadScenario`].
    pub fn check(self) -> Result<Simulation, BadScenario> {
        self.names()?;
        self.ends()?;
        let (scenario, places) = self.sorted();
        scenario.shape()?;
        for flow in &scenario.flows {
            scenario.flow(flow)?;
            scenario.answers(flow)?;
        }
        load::table_fits(&scenario)?;
        let routes = Routes::of(&scenario);
        let mut paths = Vec::new();
        for flow in &scenario.flows {
            let path = scenario.path(flow, &routes)?;
            scenario.fits(flow, &path)?;
            scenario.bounded(flow, &path)?;
            paths.push(path);
        }
        let exact = load::bearable(&scenario, &paths)?;
        Ok(Simulation::new(scenario, places, routes, exact))
    }

    /// Names are unique.
    fn names(&self) -> Result<(), BadScenario> {
        let nodes = self.nodes.iter().map(|node| node.name.as_str());
        once("node", nodes)?;
        once("link", self.links.iter().map(|link| link.name.as_str()))?;
        once("flow", self.flows.iter().map(|flow| flow.name.as_str()))
    }

    /// The ends of links and flows exist.
    fn ends(&self) -> Result<(), BadScenario> {
        let nodes = self.nodes.len();
        let links = self
            .links
            .iter()
            .map(|link| ("link", &link.name, link.ends));
        let flows = self.flows.iter();
        let flows = flows.map(|flow| ("flow", &flow.name, [flow.from, flow.to]));
        for (kind, name, ends) in links.chain(flows) {
            if let Some(index) = ends.into_iter().find(|end| *end >= nodes) {
                let name = name.clone();
                return Err(BadScenario::NoSuchNode {
                    kind,
                    name,
                    index,
                    nodes,
                });
            }
        }
        for flow in &self.flows {
            if let Traffic::Tcp(tcp) = &flow.traffic
                && let Some(answered) = tcp.messages.and_then(|messages| messages.answers)
                && answered >= self.flows.len()
            {
                return Err(BadScenario::Tcp {
                    flow: flow.name.clone(),
                    why: "answers a flow that does not exist; name one of the scenario's",
                });
            }
        }
        Ok(())
    }

    /// The elements sorted by name, so that their order in the scenario does not
    /// matter.
    fn sorted(self) -> (Self, Places) {
        let (nodes, node_places) = by_name(self.nodes, |node| &node.name);
        let (mut links, link_places) = by_name(self.links, |link| &link.name);
        let (mut flows, flow_places) = by_name(self.flows, |flow| &flow.name);
        let mut now_at = vec![0; nodes.len()];
        for (now, before) in node_places.iter().enumerate() {
            now_at[*before] = now;
        }
        for link in &mut links {
            link.ends = link.ends.map(|end| now_at[end]);
        }
        let mut flow_at = vec![0; flows.len()];
        for (now, before) in flow_places.iter().enumerate() {
            flow_at[*before] = now;
        }
        for flow in &mut flows {
            flow.from = now_at[flow.from];
            flow.to = now_at[flow.to];
            if let Traffic::Tcp(tcp) = &mut flow.traffic
                && let Some(messages) = &mut tcp.messages
            {
                messages.answers = messages.answers.map(|answered| flow_at[answered]);
            }
        }
        let places = Places {
            nodes: node_places,
            links: link_places,
            flows: flow_places,
        };
        let scenario = Self {
            nodes,
            links,
            flows,
            ..self
        };
        (scenario, places)
    }

    /// Links are valid, and switches form no loop.
    fn shape(&self) -> Result<(), BadScenario> {
        let mut pairs = BTreeMap::new();
        let mut trees: Vec<usize> = (0..self.nodes.len()).collect();
        for link in &self.links {
            let [one, other] = link.ends;
            if one == other {
                return Err(BadScenario::ToItself {
                    link: link.name.clone(),
                    node: self.nodes[one].name.clone(),
                });
            }
            if let Some(before) = pairs.insert((one.min(other), one.max(other)), link) {
                return Err(BadScenario::Parallel {
                    one: before.name.clone(),
                    other: link.name.clone(),
                });
            }
            let is_switch = |node: usize| self.nodes[node].role == Role::Switch;
            if is_switch(one) && is_switch(other) {
                let (one, other) = (root(&mut trees, one), root(&mut trees, other));
                if one == other {
                    let link = link.name.clone();
                    return Err(BadScenario::SwitchLoop { link });
                }
                trees[one] = other;
            }
            for settings in &link.directions {
                let built = Machine::<Packet>::new(settings.clone(), Seed::new(0));
                built.map_err(|why| BadScenario::Link {
                    link: link.name.clone(),
                    why,
                })?;
            }
        }
        Ok(())
    }

    /// A flow leads from one host to another, and its distributions are valid.
    fn flow(&self, flow: &Flow) -> Result<(), BadScenario> {
        for (end, node) in [("begins", flow.from), ("ends", flow.to)] {
            let node = &self.nodes[node];
            if !matches!(node.role, Role::Host(_)) {
                return Err(BadScenario::NoHost {
                    flow: flow.name.clone(),
                    end,
                    node: node.name.clone(),
                });
            }
        }
        if flow.from == flow.to {
            return Err(BadScenario::FlowToItself {
                flow: flow.name.clone(),
                node: self.nodes[flow.from].name.clone(),
            });
        }
        let Traffic::Datagrams(datagrams) = &flow.traffic else {
            return Ok(());
        };
        let reject = |distribution, why| {
            let flow = flow.name.clone();
            Err(BadScenario::Distribution {
                flow,
                distribution,
                why,
            })
        };
        for (name, distribution) in [("gaps", &datagrams.gaps), ("payloads", &datagrams.payloads)] {
            if let Err(why) = distribution.check() {
                return reject(name, why);
            }
        }
        if let Some(Err(why)) = datagrams.bursts.as_ref().map(Bursts::check) {
            return reject("bursts", why);
        }
        match datagrams.gaps.mean() < 1.0 {
            true => reject("gaps", BadDistribution::Gaps),
            false => Ok(()),
        }
    }

    /// Responses travel from the receiver of the requests to their sender.
    fn answers(&self, flow: &Flow) -> Result<(), BadScenario> {
        let Traffic::Tcp(tcp) = &flow.traffic else {
            return Ok(());
        };
        let Some(answered) = tcp.messages.and_then(|messages| messages.answers) else {
            return Ok(());
        };
        let answered = &self.flows[answered];
        let sound = match &answered.traffic {
            Traffic::Datagrams(_) => false,
            Traffic::Tcp(other) => other.messages.is_some() && other.answers().is_none(),
        };
        if sound && answered.from == flow.to && answered.to == flow.from && tcp.bytes.is_none() {
            return Ok(());
        }
        Err(BadScenario::Tcp {
            flow: flow.name.clone(),
            why: "can answer only messages of TCP in the opposite direction, and sends nothing else",
        })
    }

    /// The directions of links that a flow takes, in order.
    fn path(&self, flow: &Flow, routes: &Routes) -> Result<Vec<usize>, BadScenario> {
        let mut path = Vec::new();
        let mut node = flow.from;
        while node != flow.to {
            let direction = routes.next(node, flow.to);
            let direction = direction.ok_or_else(|| BadScenario::Unreachable {
                flow: flow.name.clone(),
                from: self.nodes[flow.from].name.clone(),
                to: self.nodes[flow.to].name.clone(),
            })?;
            path.push(direction);
            node = self.links[direction / 2].ends[1 - direction % 2];
        }
        Ok(path)
    }

    /// The path or its sender limits the rate of a connection; otherwise its window would
    /// grow without bound. Its acknowledgements must fit the links as packets of any flow
    /// do.
    fn bounded(&self, flow: &Flow, path: &[usize]) -> Result<(), BadScenario> {
        let Traffic::Tcp(tcp) = &flow.traffic else {
            return Ok(());
        };
        let reject = |why| {
            let flow = flow.name.clone();
            Err(BadScenario::Tcp { flow, why })
        };
        let settings = &tcp.settings;
        let rated = |direction: &usize| {
            self.links[direction / 2].directions[direction % 2]
                .rate
                .is_some()
        };
        let takes_time = match self.nodes[flow.from].role {
            Role::Host(host) => !host.send.is_free(),
            Role::Router | Role::Switch => false,
        };
        if !takes_time && !path.iter().any(rated) {
            return reject("crosses no link that has a rate; give one of them a rate");
        }
        if settings.initial_window == 0 || settings.window == 0 {
            return reject("may have nothing in flight; give it windows of at least a segment");
        }
        if (settings.profile, settings.recovery) == (Profile::Standard, Recovery::Tahoe) {
            return reject("repairs losses as Tahoe, which the profile ns-2 alone has");
        }
        if settings.max_rto == Span::ZERO || settings.tick == Span::ZERO {
            return reject(
                "has a clock that stands still; make `clock_granularity` and time-outs longer than 0",
            );
        }
        Ok(())
    }

    /// Every link of the path carries the protocol, and the largest packet fits each
    /// queue and the receiver's buffer.
    fn fits(&self, flow: &Flow, path: &[usize]) -> Result<(), BadScenario> {
        let direction = |direction: usize| &self.links[direction / 2].directions[direction % 2];
        let mut packet = match &flow.traffic {
            Traffic::Datagrams(datagrams) => {
                largest_datagram(flow, datagrams, mtu(direction(path[0])))?
            }
            Traffic::Tcp(tcp) => {
                let headers = ip_header(flow.ip) + tcp::HEADER + tcp.settings.options;
                headers + tcp.segment(flow.ip, mtu(direction(path[0])))
            }
        };
        let mut frame = 0;
        for &number in path {
            let (link, settings) = (&self.links[number / 2], direction(number));
            let smallest = flow.ip.smallest_mtu();
            if mtu(settings) < smallest {
                return Err(BadScenario::SmallMtu {
                    link: link.name.clone(),
                    mtu: mtu(settings).into(),
                    flow: flow.name.clone(),
                    ip: flow.ip,
                    smallest,
                });
            }
            packet = packet.min(mtu(settings));
            frame = framing(settings)
                .frame_size(Bytes::new(packet.into()))
                .get();
            if let Limit::Bytes(room) = settings.queue.limit()
                && room.get() < frame
            {
                return Err(BadScenario::SmallQueue {
                    link: link.name.clone(),
                    flow: flow.name.clone(),
                    room: room.get(),
                    frame,
                });
            }
        }
        if let Role::Host(host) = self.nodes[flow.to].role
            && let Some(room) = host.receive_buffer
            && room.get() < frame
        {
            return Err(BadScenario::SmallBuffer {
                node: self.nodes[flow.to].name.clone(),
                flow: flow.name.clone(),
                room: room.get(),
                frame,
            });
        }
        Ok(())
    }
}

/// The largest packet of a source of datagrams.
fn largest_datagram(flow: &Flow, datagrams: &Datagrams, first: u32) -> Result<u32, BadScenario> {
    let payloads = &datagrams.payloads;
    let largest = f64::from(largest_payload(flow.ip, first));
    let (_, high) = payloads.range();
    if high.is_finite() && high > largest {
        return Err(BadScenario::Distribution {
            flow: flow.name.clone(),
            distribution: "payloads",
            why: BadDistribution::Large,
        });
    }
    let payload = if high.is_finite() {
        high
    } else {
        payloads.mean()
    };
    let packet = bytes(payload.min(largest)) + UDP_HEADER;
    Ok(packet.saturating_add(header(flow.ip, packet)))
}

/// A non-negative number of bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, as it should"
)]
const fn bytes(number: f64) -> u32 {
    number as u32
}

fn once<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), BadScenario> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(BadScenario::Twice {
            kind,
            name: pair[0].to_owned(),
        }),
    }
}

/// The items sorted by name, and the former index of each.
fn by_name<T>(items: Vec<T>, name: impl Fn(&T) -> &String) -> (Vec<T>, Vec<usize>) {
    let mut placed: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    placed.sort_by(|one, other| name(&one.1).cmp(name(&other.1)));
    let places = placed.iter().map(|item| item.0).collect();
    (placed.into_iter().map(|item| item.1).collect(), places)
}

/// The root of a node's tree; the search halves the path for the next call.
fn root(trees: &mut [usize], mut node: usize) -> usize {
    while trees[node] != node {
        trees[node] = trees[trees[node]];
        node = trees[node];
    }
    node
}
