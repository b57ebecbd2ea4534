//! Converts a domain to the terms of the simulator.

use plan::setting as spec;
use queue::AggregatorSettings;
use sim::{Destination, Domain, Edge, ExplicitRoute, Ingress, Prefix};

/// The domain of a network with the same node numbers.
pub(super) fn of(domain: &spec::Domain) -> Domain {
    let aggregate = domain.aggregate.as_ref().map(ingress);
    let edges = domain.edges.iter();
    let routes = domain.routes.iter();
    Domain {
        edges: edges.map(|&node| Edge { node, aggregate }).collect(),
        addresses: domain.addresses.clone(),
        table: routes
            .map(|route| Prefix {
                network: route.network,
                length: route.length,
                next_as: route.next_as,
                egress: route.egress,
            })
            .collect(),
        destination: match domain.destination {
            spec::Destination::Egress => Destination::Egress,
            spec::Destination::FirstPacket => Destination::FirstPacket,
            spec::Destination::Label => Destination::Label(detours(domain)),
        },
        shaping: domain.shaping,
    }
}

/// The paths that differ from the shortest ones.
fn detours(domain: &spec::Domain) -> Vec<ExplicitRoute> {
    let routes = domain.routes.iter();
    let winding = routes.filter(|route| !route.via.is_empty());
    let detour = |route: &spec::Route| ExplicitRoute {
        next_as: route.next_as,
        egress: route.egress,
        via: route.via.clone(),
    };
    winding.map(detour).collect()
}

const fn ingress(aggregate: &AggregatorSettings) -> Ingress {
    Ingress {
        mtu: aggregate.mtu,
        trigger: aggregate.trigger,
        header: aggregate.encapsulation.header,
        entry: aggregate.encapsulation.entry,
        tick: aggregate.tick,
        share: aggregate.share,
    }
}
