//! Builders of small networks.

use jumbolab_sim::{Datagrams, Flow, Host, Link, Node, Outcome, Role, Scenario, Traffic};
use link::Settings;
use meter::departures::Distribution;
use queue::{Limit, Spec};
use units::{IpVersion, Rate, Seed, Span, Time};

/// Picoseconds in a second.
pub(crate) const SECOND: f64 = 1e12;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests ask for positive seconds"
)]
pub(crate) fn at(seconds: f64) -> Time {
    Time::from_picos((seconds * SECOND) as u64)
}

pub(crate) fn node(name: &str, role: Role) -> Node {
    let name = name.to_owned();
    Node { name, role }
}

pub(crate) fn host(name: &str) -> Node {
    node(name, Role::Host(Host::default()))
}

/// A link without framing, with room for `packets`, the same in both directions.
pub(crate) fn bare(bits: u64, packets: u32) -> Settings {
    let limit = Limit::Packets(packets);
    Settings {
        ethernet: false,
        ..Settings::perfect(Rate::from_bits_per_second(bits), Spec::DropTail { limit })
    }
}

pub(crate) fn link(name: &str, ends: [usize; 2], direction: &Settings) -> Link {
    Link {
        name: name.to_owned(),
        ends,
        directions: [direction.clone(), direction.clone()],
    }
}

/// A flow over IPv4 that begins at time zero.
pub(crate) fn flow(name: &str, from: usize, to: usize, datagrams: Datagrams) -> Flow {
    Flow {
        name: name.to_owned(),
        from,
        to,
        ip: IpVersion::V4,
        start: Time::ZERO,
        stop: None,
        traffic: Traffic::Datagrams(datagrams),
    }
}

/// `count` datagrams of `bytes` of payload, one every `gap` seconds.
pub(crate) fn constant(gap: f64, bytes: u32, count: u64) -> Datagrams {
    Datagrams {
        limit: Some(count),
        ..Datagrams::new(
            Distribution::Constant(gap * SECOND),
            Distribution::Constant(f64::from(bytes)),
        )
    }
}

pub(crate) fn scenario(nodes: Vec<Node>, links: Vec<Link>, flows: Vec<Flow>) -> Scenario {
    Scenario {
        nodes,
        links,
        flows,
        end: Time::ZERO + Span::from_secs(100_000),
        seed: Seed::new(1),
        budget: Scenario::BUDGET,
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    }
}

/// Hosts `a` and `b` and a link `wire` between them.
pub(crate) fn pair(direction: &Settings, datagrams: Datagrams) -> Scenario {
    scenario(
        vec![host("a"), host("b")],
        vec![link("wire", [0, 1], direction)],
        vec![flow("f", 0, 1, datagrams)],
    )
}

/// Hosts `a` and `b` with a node of `role`, `r`, between them.
pub(crate) fn line(role: Role, directions: [&Settings; 2], datagrams: Datagrams) -> Scenario {
    scenario(
        vec![host("a"), node("r", role), host("b")],
        vec![
            link("ar", [0, 1], directions[0]),
            link("rb", [1, 2], directions[1]),
        ],
        vec![flow("f", 0, 2, datagrams)],
    )
}

pub(crate) fn run(scenario: Scenario) -> Outcome {
    scenario.check().unwrap().run()
}
