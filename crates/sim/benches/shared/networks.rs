//! The networks of the benchmarks.

use jumbolab_sim::{Datagrams, Flow, Host, Link, Node, Role, Scenario, Tcp, Traffic};
use link::Settings;
use meter::departures::Distribution;
use queue::law::{Profile, Spread};
use queue::{Limit, RedSettings, Spec};
use tcp::Recovery;
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

/// Packets per run.
pub(crate) const PACKETS: u64 = 200_000;
/// Bytes per packet, headers included.
pub(crate) const SIZE: u64 = 1_000;
/// Two hosts and `routers` routers in a line. `flows` flows with Poisson arrivals share
/// a load of 0.95 of each link, and end after `packets` packets together.
pub(crate) fn line(queue: &Spec, routers: usize, flows: u32, packets: u64) -> Scenario {
    let direction = perfect(100_000_000, 1, queue.clone());
    let role = |number: usize| match number {
        0 => Role::Host(Host::default()),
        number if number == routers + 1 => Role::Host(Host::default()),
        _ => Role::Router,
    };
    let gap = 80e6 / 0.95 * f64::from(flows);
    let flow = |number: u32| {
        let datagrams = Datagrams {
            limit: Some(packets / u64::from(flows)),
            ..Datagrams::new(
                Distribution::Exponential(gap),
                Distribution::Constant(972.0),
            )
        };
        flow(
            number,
            [0, routers + 1],
            Time::ZERO,
            Traffic::Datagrams(datagrams),
        )
    };
    Scenario {
        nodes: (0..routers + 2)
            .map(|number| node(format!("{number}"), role(number)))
            .collect(),
        links: (0..=routers)
            .map(|number| link(format!("{number}"), [number, number + 1], &direction))
            .collect(),
        flows: (0..flows).map(flow).collect(),
        ..scenario(Span::from_secs(86_400))
    }
}

/// Twenty connections between two hosts.
pub(crate) fn closed_loop(queue: &Spec, lasts: Span) -> Scenario {
    let mut closed_loop = line(queue, 0, 20, PACKETS);
    for Flow { traffic, .. } in &mut closed_loop.flows {
        *traffic = Traffic::Tcp(Tcp::new(tcp::Settings::new(960)));
    }
    closed_loop.end = Time::ZERO + lasts;
    closed_loop
}

/// `flows` connections, each over its own access links, through one queue for a second.
/// Each flow's share of the rate is 5 Mb/s.
pub(crate) fn dumbbell(flows: u32) -> Scenario {
    let red = Spec::Red(RedSettings::new(
        Limit::Packets(10 * flows),
        Bytes::new(SIZE),
    ));
    let tcp = Tcp::new(tcp::Settings::new(960));
    let connection = |number| {
        let place = 2 * usize::try_from(number).unwrap_or(usize::MAX);
        flow(
            number,
            [place, place + 1],
            Time::ZERO,
            Traffic::Tcp(tcp.clone()),
        )
    };
    Scenario {
        flows: (1..=flows).map(connection).collect(),
        ..around(5_000_000 * u64::from(flows), red, flows, Span::from_secs(1))
    }
}

/// A dumbbell of the comparison with other simulators (docs/evidence/benchmarks.md): the agent Sack1
/// of ns-2 [Ns2] in packets of `bytes`, through a bottleneck with RED.
pub(crate) fn compared(megabits: u32, flows: u32, bytes: u32, lasts: Span) -> Scenario {
    let limit = (megabits * 20_000 / (8 * bytes)).max(100);
    let min = limit / 10;
    let settings = RedSettings {
        weight: 0.002,
        spread: Spread::Wait,
        profile: Profile::Ns2,
        ..RedSettings::new(Limit::Packets(limit), Bytes::new(bytes.into()))
    };
    let red = Spec::Red(RedSettings {
        curve: queue::law::Curve {
            min: f64::from(min),
            max: f64::from(3 * min),
            ..settings.curve
        },
        ..settings
    });
    let connection = |number| {
        let place = 2 * usize::try_from(number).unwrap_or(usize::MAX);
        let start = Time::ZERO + Span::from_micros(u64::from(200_000 / flows * (number - 1)));
        let settings = tcp::Settings::ns2(Recovery::Sack, bytes - 40, 1_000);
        flow(
            number,
            [place, place + 1],
            start,
            Traffic::Tcp(Tcp::new(settings)),
        )
    };
    Scenario {
        flows: (1..=flows).map(connection).collect(),
        ..around(u64::from(megabits) * 1_000_000, red, flows, lasts)
    }
}

/// Two routers, a pair of hosts for each of `flows` flows, and links of `rate`: access
/// links of 2 ms, between the routers one of 10 ms with `queue`.
fn around(rate: u64, queue: Spec, flows: u32, lasts: Span) -> Scenario {
    let limit = Limit::Packets(1_000);
    let access = perfect(rate, 2, Spec::DropTail { limit });
    let mut around = scenario(lasts);
    around.nodes = ["left", "right"]
        .map(|name| node(name.into(), Role::Router))
        .into();
    around.links = vec![link("0".into(), [0, 1], &perfect(rate, 10, queue))];
    for number in 1..=usize::try_from(flows).unwrap_or(usize::MAX) {
        for (host, side) in [(2 * number, 0), (2 * number + 1, 1)] {
            around
                .nodes
                .push(node(format!("{host}"), Role::Host(Host::default())));
            around
                .links
                .push(link(format!("to {host}"), [host, side], &access));
        }
    }
    around
}

/// Nothing, until `lasts`.
fn scenario(lasts: Span) -> Scenario {
    Scenario {
        nodes: Vec::new(),
        links: Vec::new(),
        flows: Vec::new(),
        end: Time::ZERO + lasts,
        seed: Seed::new(1),
        budget: Scenario::BUDGET,
        // A long run uses a histogram; many short flows keep every arrival.
        max_recorded_messages: PACKETS / 10,
    }
}

fn perfect(rate: u64, millis: u64, queue: Spec) -> Settings {
    Settings {
        ethernet: false,
        delay: Span::from_millis(millis),
        ..Settings::perfect(Rate::from_bits_per_second(rate), queue)
    }
}

fn node(name: String, role: Role) -> Node {
    Node { name, role }
}

fn link(name: String, ends: [usize; 2], direction: &Settings) -> Link {
    Link {
        name,
        ends,
        directions: [direction.clone(), direction.clone()],
    }
}

fn flow(number: u32, [from, to]: [usize; 2], start: Time, traffic: Traffic) -> Flow {
    Flow {
        name: format!("{number}"),
        from,
        to,
        ip: IpVersion::V4,
        start,
        stop: None,
        traffic,
    }
}
