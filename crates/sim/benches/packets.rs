//! Simulated packets per second of processor time.
//!
//!     cargo bench -p jumbolab-sim

use divan::Bencher;
use divan::counter::ItemsCount;
use jumbolab_sim::{Datagrams, Flow, Host, Link, Node, Role, Scenario, Tcp, Traffic};
use proto::link::Settings;
use proto::traffic::Law;
use queue::{Limit, RedSettings, Spec};
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

/// Packets per run.
const PACKETS: u64 = 200_000;
/// Octets per packet, headers included.
const SIZE: u64 = 1_000;

fn main() {
    divan::main();
}

fn queues() -> [(&'static str, Spec); 2] {
    let limit = Limit::Packets(100);
    [
        ("drop-tail", Spec::DropTail { limit }),
        ("red", Spec::Red(RedSettings::new(limit, Bytes::new(SIZE)))),
    ]
}

/// Poisson arrivals with a load of 0.95 at one queue.
#[divan::bench(args = ["drop-tail", "red"])]
fn one_queue(bencher: Bencher<'_, '_>, queue: &str) {
    measure(bencher, PACKETS, || network(queue, 0, 1));
}

/// The same load over ten routers.
#[divan::bench(args = ["drop-tail", "red"])]
fn ten_routers(bencher: Bencher<'_, '_>, queue: &str) {
    measure(bencher, PACKETS / 10, || network(queue, 10, 1));
}

/// A thousand flows through one queue: a long event queue.
#[divan::bench(args = ["drop-tail", "red"])]
fn a_thousand_flows(bencher: Bencher<'_, '_>, queue: &str) {
    measure(bencher, PACKETS, || network(queue, 0, 1_000));
}

/// Twenty TCP connections through one queue for ten seconds; acknowledgements count.
#[divan::bench(args = ["drop-tail", "red"])]
fn closed_loop(bencher: Bencher<'_, '_>, queue: &str) {
    let build = || {
        let mut scenario = network(queue, 0, 20);
        let settings = proto::tcp::Settings::new(960);
        for Flow { traffic, .. } in &mut scenario.flows {
            *traffic = Traffic::Tcp(Tcp::new(settings.clone()));
        }
        scenario.end = Time::ZERO + Span::from_secs(10);
        scenario.check().expect("the scenario is sound")
    };
    let directions = build().run().links.remove(0).directions;
    let packets: u64 = directions
        .iter()
        .map(|direction| direction.counters.arrived)
        .sum();
    bencher
        .counter(ItemsCount::new(packets))
        .with_inputs(build)
        .bench_values(jumbolab_sim::Simulation::run);
}

/// `flows` connections, each over its own access links, through one queue for a second:
/// many links and a long event queue. Only data packets count.
#[divan::bench(args = [100, 2_000])]
fn a_dumbbell(bencher: Bencher<'_, '_>, flows: u32) {
    let build = || dumbbell(flows).check().expect("the scenario is sound");
    let directions = build().run().links.remove(0).directions;
    bencher
        .counter(ItemsCount::new(directions[0].counters.arrived))
        .with_inputs(build)
        .bench_values(jumbolab_sim::Simulation::run);
}

fn measure(bencher: Bencher<'_, '_>, packets: u64, build: impl Fn() -> Scenario + Sync) {
    bencher
        .counter(ItemsCount::new(packets))
        .with_inputs(|| {
            let mut scenario = build();
            let flows = u64::try_from(scenario.flows.len()).expect("few");
            for Flow { traffic, .. } in &mut scenario.flows {
                if let Traffic::Datagrams(datagrams) = traffic {
                    datagrams.limit = Some(packets / flows);
                }
            }
            scenario.check().expect("the scenario is sound")
        })
        .bench_values(jumbolab_sim::Simulation::run);
}

/// Two routers, and a pair of hosts for each flow. Each flow's share of the rate is 5
/// Mb/s.
fn dumbbell(flows: u32) -> Scenario {
    let rate = Rate::from_bits_per_second(5_000_000 * u64::from(flows));
    let direction = |millis, queue| Settings {
        ethernet: false,
        delay: Span::from_millis(millis),
        ..Settings::perfect(rate, queue)
    };
    let link = |name: String, ends, direction: Settings| Link {
        name,
        ends,
        directions: [direction.clone(), direction],
    };
    let node = |name: String, role| Node { name, role };
    let host = Role::Host(Host::default());
    let limit = Limit::Packets(10 * flows);
    let red = Spec::Red(RedSettings::new(limit, Bytes::new(SIZE)));
    let mut dumbbell = network("drop-tail", 0, flows);
    dumbbell.nodes = ["left", "right"]
        .map(|name| node(name.into(), Role::Router))
        .into();
    dumbbell.links = vec![link("0".into(), [0, 1], direction(10, red))];
    for (flow, number) in dumbbell.flows.iter_mut().zip(1usize..) {
        (flow.from, flow.to) = (2 * number, 2 * number + 1);
        let settings = proto::tcp::Settings::new(960);
        flow.traffic = Traffic::Tcp(Tcp::new(settings));
        for (host_at, side) in [(flow.from, 0), (flow.to, 1)] {
            dumbbell.nodes.push(node(format!("{host_at}"), host));
            let tail = Spec::DropTail {
                limit: Limit::Packets(1_000),
            };
            let access = link(format!("to {host_at}"), [host_at, side], direction(2, tail));
            dumbbell.links.push(access);
        }
    }
    dumbbell.end = Time::ZERO + Span::from_secs(1);
    dumbbell
}

/// Two hosts and `routers` routers in a line.
fn network(queue: &str, routers: usize, flows: u32) -> Scenario {
    let queues = queues();
    let (_, queue) = queues
        .iter()
        .find(|(name, _)| *name == queue)
        .expect("listed above");
    let rate = Rate::from_bits_per_second(100_000_000);
    let direction = Settings {
        ethernet: false,
        delay: Span::from_millis(1),
        ..Settings::perfect(rate, queue.clone())
    };
    let node = |number: usize| Node {
        name: format!("{number}"),
        role: match number {
            0 => Role::Host(Host::default()),
            number if number == routers + 1 => Role::Host(Host::default()),
            _ => Role::Router,
        },
    };
    let link = |number: usize| Link {
        name: format!("{number}"),
        ends: [number, number + 1],
        directions: [direction.clone(), direction.clone()],
    };
    let gap = 80e6 / 0.95 * f64::from(flows);
    let flow = |number: u32| Flow {
        name: format!("{number}"),
        from: 0,
        to: routers + 1,
        ip: IpVersion::V4,
        start: Time::ZERO,
        stop: None,
        traffic: Traffic::Datagrams(Datagrams::new(Law::Exponential(gap), Law::Constant(972.0))),
    };
    Scenario {
        nodes: (0..routers + 2).map(node).collect(),
        links: (0..=routers).map(link).collect(),
        flows: (0..flows).map(flow).collect(),
        end: Time::ZERO + Span::from_secs(86_400),
        seed: Seed::new(1),
        budget: Scenario::BUDGET,
        // A long run uses a histogram; many short flows keep every arrival.
        max_recorded_messages: PACKETS / 10,
    }
}
