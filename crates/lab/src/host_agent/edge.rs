//! The edge of a network between hosts: on the machine of a gateway, the emulator of the
//! direction of the core links that leaves it, and the gateway itself where packets are gathered.
//!
//! Both are children of the agent and end with it, and with them all that they made in the
//! machine's network ([`live::core_link`]).

use anyhow::{Context, Result};
use live::core_link::{self, CoreLink, Toward};
use live::emulator::{EmulatedLink, Report};
use proto::link::Settings;
use serde::{Deserialize, Serialize};
use units::{Seed, Span};

use crate::edge_gateway::{EdgeGateway, EdgeGateways, INSIDE};
use crate::emulation::{Emulation, Observed};

/// An edge to begin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EdgeOrder {
    /// Where the core links lead.
    pub(crate) toward: Toward,
    /// The settings of each in this direction, the nearest first.
    pub(crate) links: Vec<Settings>,
    /// The seed of their random streams.
    pub(crate) seed: u64,
    /// The gateway; `None`: packets cross as they are.
    pub(crate) gateway: Option<EdgeGateway>,
}

/// A request about an edge that has begun.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum EdgeRequest {
    /// Restart the random streams of the links with this seed.
    Reseed(u64),
    /// Report the counters.
    Report,
    /// Keep observations of these links from now on, by their places, with the headers of
    /// packets where that is said.
    Observe(Vec<(usize, bool)>),
    /// Report the next ones of a link, and where CLOCK_MONOTONIC of this machine showed this many
    /// nanoseconds on their clock.
    Observations(usize, u64),
    /// Report the processor time of the gateway.
    Used,
}

/// A reply about an edge.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum EdgeReply {
    Done,
    Reported(Box<Report>),
    Observed(Observed),
    Used(Span),
}

/// A running edge.
pub(super) struct Edge {
    // The interface goes last.
    gateways: EdgeGateways,
    emulation: Emulation,
    _link: CoreLink,
}

impl Edge {
    pub(super) fn begin(order: EdgeOrder) -> Result<Self> {
        let link = CoreLink::open(&order.toward)?;
        let emulated = link.ends().into_iter().zip(order.links);
        let emulated = emulated.map(|(ends, settings)| EmulatedLink {
            ends,
            // Nothing enters the other direction here.
            directions: [settings.clone(), settings],
            rules: Vec::new(),
        });
        let seed = Seed::new(order.seed);
        let emulation = Emulation::start_outward(&link.namespace, emulated.collect(), seed)?;
        let mut gateways = EdgeGateways::default();
        let hosts = &order.toward.hosts;
        let inside = match order.gateway {
            Some(mut gateway) => {
                gateway.way_out = Some(link.name().to_owned());
                link.route_bundles(order.toward.gateway)?;
                gateways.start_in(None, &gateway)?;
                INSIDE.to_owned()
            }
            None => {
                link.route(hosts)?;
                link.name().to_owned()
            }
        };
        core_link::check_routes(hosts, &inside)?;
        Ok(Self {
            gateways,
            emulation,
            _link: link,
        })
    }

    pub(super) fn answer(&mut self, request: &EdgeRequest) -> Result<EdgeReply> {
        let answered = match request {
            EdgeRequest::Reseed(seed) => {
                let reseeded = self.emulation.reseed(Seed::new(*seed));
                reseeded.map(|()| EdgeReply::Done)
            }
            EdgeRequest::Report => {
                let report = self.emulation.report();
                report.map(|report| EdgeReply::Reported(Box::new(report)))
            }
            EdgeRequest::Observe(links) => {
                let observed = self.emulation.observe(links.clone());
                observed.map(|()| EdgeReply::Done)
            }
            EdgeRequest::Observations(link, begin) => {
                let some = self.emulation.next_observations(*link, *begin);
                some.map(EdgeReply::Observed)
            }
            EdgeRequest::Used => self.gateways.used().map(EdgeReply::Used),
        };
        answered.context("the core links")
    }
}
