//! The configuration of end hosts and domain edges.

use plan::setting::{Domain, LinkKind, Scenario, Setting};
use plan::{Backend, Hosts};
use queue::Trigger;

use super::property::{Property, spaced};

/// The properties that end hosts have in common.
pub(super) fn properties(backend: Backend, setting: &Setting) -> Vec<Property> {
    let mut properties = vec![Property::one("", setting.network.ip.to_string())];
    let are_kernels = match backend.profile().hosts {
        Hosts::Kernels => true,
        Hosts::Simulated => false,
    };
    if setting.traffic.has_connections() || are_kernels {
        properties.push(Property::one(
            "congestion control",
            setting.host.congestion.clone(),
        ));
    }
    if are_kernels {
        let pair = setting.host.scenario.map(|Scenario { sender, receiver }| {
            format!("{} to {}", sender.name(), receiver.name())
        });
        let links = match setting.network.link {
            LinkKind::Kernel => "in the kernel",
            LinkKind::Emulated => "emulated",
            LinkKind::Mixed => "in the kernel for goodput, emulated for delay",
        };
        let offloads = if setting.host.offloads { "on" } else { "off" };
        properties.extend([
            Property::one("offloads", offloads),
            Property::unless("systems", "Linux to Linux", pair),
            Property::one("links", links),
        ]);
    }
    if setting.network.cut_through {
        properties.push(Property::one("switches", "cut-through"));
    }
    properties
}

/// The handling of packets at an edge of `domain`.
pub(super) fn edge(domain: &Domain) -> Vec<Property> {
    let aggregate = domain.aggregate.as_ref();
    let trigger = aggregate.map(|aggregate| match aggregate.trigger {
        Trigger::Timer(span) => format!("after {}", spaced(&span.to_string())),
        Trigger::EgressBusy(_) => "while the link is busy".to_owned(),
        Trigger::Full => "when full".to_owned(),
    });
    let frame = aggregate.map(|aggregate| format!("{} B", aggregate.mtu.get()));
    vec![
        Property::unless("aggregates", "off", frame),
        Property::unless("sends", "at once", trigger),
    ]
}
