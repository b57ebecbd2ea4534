//! Many connections, each over access links of its own, through one bottleneck.

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use jumbolab_sim::{Flow, Host, Link, Node, Role, Scenario, Tcp, Traffic};
use proto::link::Settings;
use proto::tcp;
use queue::{Limit, RedSettings, Spec};
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

fn main() {
    let mut words = std::env::args()
        .skip(1)
        .map(|word| word.parse::<u64>().unwrap());
    let mut next = || words.next().unwrap();
    let (mbits, flows, millis, size) = (next(), next(), next(), u32::try_from(next()).unwrap());
    let ns2 = next() == 1;
    let started = std::time::Instant::now();
    let scenario = scenario(mbits, flows, millis, size, ns2);
    let simulation = scenario.check().expect("sound");
    println!("set-up {:?}", started.elapsed());
    let outcome = simulation.run();
    let way = &outcome
        .links
        .iter()
        .find(|link| link.name == "bottleneck")
        .unwrap()
        .ways[0];
    let text = format!("{outcome:?}");
    let hash = text.bytes().fold(0xcbf29ce484222325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
    });
    println!(
        "{:?} {} arrived {} events util {:.4} queue {:.1} {:x} in {:?}",
        way.counters,
        way.counters.arrived,
        outcome.events,
        way.utilisation,
        way.mean_queue,
        hash,
        started.elapsed()
    );
}

fn scenario(mbits: u64, flows: u64, millis: u64, size: u32, ns2: bool) -> Scenario {
    let bits = mbits * 1_000_000;
    let mut nodes = vec![node("r1", Role::Router), node("r2", Role::Router)];
    let bdp = f64::from(u32::try_from(bits / 8 / u64::from(size) / 50).unwrap());
    let limit = bdp.max(100.0) as u32;
    let mut red = if ns2 {
        RedSettings::ns2(limit, Bytes::new(size.into()))
    } else {
        RedSettings::new(Limit::Packets(limit), Bytes::new(size.into()))
    };
    red.curve.min = (f64::from(limit) / 10.0).max(5.0);
    red.curve.max = red.curve.min * 3.0;
    let mut links = vec![link("bottleneck", [0, 1], bits, 10_000, Spec::Red(red))];
    let mut all = Vec::new();
    for flow in 0..flows {
        let host = Role::Host(Host::default());
        let at = nodes.len();
        nodes.push(node(&format!("s{flow:04}"), host));
        nodes.push(node(&format!("t{flow:04}"), host));
        let access = |name: String, ends| {
            link(
                &name,
                ends,
                bits,
                2_000 + 10 * (flow % 100),
                Spec::DropTail {
                    limit: Limit::Packets(1_000),
                },
            )
        };
        links.push(access(format!("a{flow:04}"), [at, 0]));
        links.push(access(format!("b{flow:04}"), [1, at + 1]));
        let settings = match ns2 {
            true => tcp::Settings::ns2(tcp::Recovery::Sack, size - 40, 1_000),
            false => tcp::Settings::new(size - 52),
        };
        all.push(Flow {
            name: format!("f{flow:04}"),
            from: at,
            to: at + 1,
            ip: IpVersion::V4,
            start: Time::ZERO + Span::from_micros(flow * 1_000_000 / flows),
            stop: None,
            traffic: Traffic::Tcp(Tcp::new(settings)),
        });
    }
    Scenario {
        nodes,
        links,
        flows: all,
        end: Time::ZERO + Span::from_millis(millis),
        seed: Seed::new(1),
        budget: Bytes::new(8 << 30),
        longest_tally: 0,
    }
}

fn node(name: &str, role: Role) -> Node {
    Node {
        name: name.to_owned(),
        role,
    }
}

fn link(name: &str, ends: [usize; 2], bits: u64, micros: u64, queue: Spec) -> Link {
    let way = Settings {
        ethernet: false,
        delay: Span::from_micros(micros),
        ..Settings::perfect(Rate::from_bits_per_second(bits), queue)
    };
    Link {
        name: name.to_owned(),
        ends,
        ways: [way.clone(), way],
    }
}
