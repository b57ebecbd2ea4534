//! Invalid scenarios, and the error for each.

use jumbolab_sim::{Role, Scenario, Tcp, Traffic};
use link::Settings;
use meter::departures::{Bursts, Distribution};
use queue::{Limit, Spec};
use tcp::Recovery;
use units::{Bytes, IpVersion, Rate, Span, Time};

use crate::network::{bare, constant, flow, host, line, link, node, pair, scenario};

fn sound() -> Scenario {
    line(
        Role::Router,
        [&bare(1_000_000, 10), &bare(1_000_000, 10)],
        constant(0.01, 1_000, 10),
    )
}

#[track_caller]
fn rejected(change: impl FnOnce(&mut Scenario), words: &str) {
    let mut scenario = sound();
    change(&mut scenario);
    let error = scenario
        .check()
        .err()
        .expect("that makes no sense")
        .to_string();
    assert!(error.contains(words), "{error}");
    assert!(!error.contains('\n'));
}

fn datagrams(scenario: &mut Scenario) -> &mut jumbolab_sim::Datagrams {
    match &mut scenario.flows[0].traffic {
        jumbolab_sim::Traffic::Datagrams(datagrams) => datagrams,
        jumbolab_sim::Traffic::Tcp(_) => panic!("the sound scenario has datagrams"),
    }
}

#[test]
fn names_and_ends_must_be_there_once() {
    assert!(sound().check().is_ok());
    rejected(|s| s.nodes[2].name = "a".into(), "two nodes are called `a`");
    rejected(
        |s| s.links[1].name = "ar".into(),
        "two links are called `ar`",
    );
    rejected(
        |s| s.flows.push(s.flows[0].clone()),
        "two flows are called `f`",
    );
    rejected(
        |s| s.links[1].ends[1] = 3,
        "link `rb` refers to node number 3, but there are only 3",
    );
    rejected(|s| s.flows[0].from = 7, "flow `f` refers to node number 7");
}

#[test]
fn links_must_connect_two_nodes_once_and_switches_without_a_loop() {
    rejected(
        |s| s.links[1].ends = [1, 1],
        "link `rb` leads from node `r` to itself",
    );
    rejected(
        |s| s.links.push(link("again", [1, 0], &bare(1, 1))),
        "links `again` and `ar` connect the same nodes",
    );
    let switch = |name| node(name, Role::Switch);
    let ring = [[0, 1], [1, 2], [2, 0]];
    let links = ring.iter().zip(["p", "q", "r"]);
    let links = links.map(|(ends, name)| link(name, *ends, &bare(1, 1)));
    let mut loop_of_switches = scenario(
        vec![switch("a"), switch("b"), switch("c")],
        links.collect(),
        vec![],
    );
    let error = loop_of_switches.clone().check().err().unwrap().to_string();
    assert!(
        error.contains("link `r` closes a loop of switches"),
        "{error}"
    );
    loop_of_switches.nodes[1].role = Role::Router;
    assert!(loop_of_switches.check().is_ok());
}

#[test]
fn links_must_be_possible_and_carry_the_protocols_on_them() {
    rejected(
        |s| s.links[0].directions[1].loss = 2.0,
        "link `ar`: loss is a probability",
    );
    let empty = Spec::DropTail {
        limit: Limit::Packets(0),
    };
    rejected(
        |s| s.links[0].directions[0].queue = empty,
        "link `ar`: a queue that holds nothing",
    );
    rejected(
        |s| {
            s.flows[0].ip = IpVersion::V6;
            s.links[1].directions[0].largest_packet = Some(Bytes::new(1_279));
        },
        "link `rb` supports packets of 1279 bytes at most, IPv6 of flow `f` needs 1280",
    );
    let small = Spec::DropTail {
        limit: Limit::Bytes(Bytes::new(1_027)),
    };
    rejected(
        |s| s.links[1].directions[0].queue = small,
        "link `rb`: its queue holds 1027 bytes and a packet of flow `f` takes 1028",
    );
    rejected(
        |s| {
            let Role::Host(host) = &mut s.nodes[2].role else {
                panic!("b is a host")
            };
            host.receive_buffer = Some(Bytes::new(1_000));
        },
        "node `b`: its receive buffer holds 1000 bytes and a packet of flow `f` takes 1028",
    );
}

#[test]
fn flows_must_lead_from_one_host_to_another_that_can_be_reached() {
    rejected(
        |s| s.flows[0].to = 1,
        "flow `f` ends at node `r`, which is not a host",
    );
    rejected(
        |s| s.flows[0].from = 1,
        "flow `f` begins at node `r`, which is not a host",
    );
    rejected(
        |s| s.flows[0].to = 0,
        "flow `f` leads from node `a` to itself",
    );
    rejected(
        |s| {
            s.links.pop();
        },
        "flow `f` finds no path from `a` to `b`",
    );
    // Hosts forward nothing.
    rejected(
        |s| s.nodes[1] = host("r"),
        "flow `f` finds no path from `a` to `b`",
    );
}

#[test]
fn distributions_must_be_possible() {
    for distribution in [
        Distribution::Constant(-1.0),
        Distribution::Constant(f64::NAN),
        Distribution::Exponential(f64::INFINITY),
        Distribution::Exponential(-5.0),
        Distribution::Uniform(5.0, 4.0),
        Distribution::Empirical(Vec::new().into()),
        Distribution::Empirical(vec![1.0, f64::NAN].into()),
        Distribution::Empirical(vec![1.0, -1.0].into()),
    ] {
        rejected(
            |s| datagrams(s).gaps = distribution.clone(),
            "flow `f`: its gaps must be numbers of 0 or more",
        );
        rejected(
            |s| datagrams(s).payloads = distribution,
            "flow `f`: its payloads must be numbers of 0 or more, at least one",
        );
    }
    rejected(
        |s| datagrams(s).gaps = Distribution::Constant(0.0),
        "its gaps are below a picosecond",
    );
    rejected(
        |s| datagrams(s).payloads = Distribution::Constant(65_508.0),
        "its payloads are larger than any message",
    );
    rejected(
        |s| datagrams(s).gaps = Distribution::Weibull(0.0, 1.0),
        "flow `f`: its gaps must have a shape from 0.05 to 1000; write another one",
    );
    rejected(
        |s| {
            datagrams(s).bursts = Some(Bursts {
                on: Distribution::Constant(1.0),
                off: Distribution::Constant(1.0),
            });
        },
        "flow `f`: its bursts must send for 1 us or more at a time",
    );
}

#[test]
fn tahoe_is_rejected_beside_the_tcp_of_the_standards() {
    rejected(
        |s| {
            s.flows[0].traffic = Traffic::Tcp(Tcp::new(tcp::Settings {
                recovery: Recovery::Tahoe,
                ..tcp::Settings::new(1_000)
            }));
        },
        "flow `f` repairs losses as Tahoe, which the profile ns-2 alone has",
    );
}

#[test]
fn what_would_fill_the_memory_or_outlast_the_clock_is_rejected() {
    // A gigabit over a second of delay in small packets, a buffer of millions, an
    // overloaded processor, and a transfer that keeps every arrival.
    let gigabit = |s: &mut Scenario| {
        datagrams(s).gaps = Distribution::Constant(500_000.0);
        datagrams(s).payloads = Distribution::Constant(18.0);
        datagrams(s).limit = None;
        s.max_recorded_messages = 0;
        s.budget = Bytes::new(10_000_000);
        for link in &mut s.links {
            link.directions[0].rate = Rate::from_bits_per_second(1_000_000_000);
        }
    };
    let mut light = sound();
    gigabit(&mut light);
    assert!(light.check().is_ok());
    rejected(
        |s| {
            gigabit(s);
            s.links[1].directions[0].delay = Span::from_secs(1);
        },
        "mostly for link `rb`",
    );
    rejected(
        |s| {
            gigabit(s);
            s.links[0].directions[0].queue = Spec::DropTail {
                limit: Limit::Packets(u32::MAX),
            };
        },
        "mostly for link `ar`",
    );
    rejected(
        |s| {
            gigabit(s);
            let Role::Host(host) = &mut s.nodes[2].role else {
                panic!("b is a host")
            };
            host.receive.per_packet = Span::from_micros(1);
        },
        "mostly for host `b`",
    );
    rejected(
        |s| {
            gigabit(s);
            s.max_recorded_messages = u64::MAX;
        },
        "mostly for the arrivals of flow `f`, and may use 10000000",
    );
    let crowd = (0..2_000).map(|number| host(&format!("{number}")));
    let mut crowd = scenario(crowd.collect(), vec![], vec![]);
    crowd.flows = (1..1_000)
        .map(|to| flow(&format!("{to}"), to, to + 1, constant(1.0, 1, 1)))
        .collect();
    crowd.budget = Bytes::new(1_000_000);
    let error = crowd.check().err().unwrap().to_string();
    assert!(error.contains("mostly for its routes"), "{error}");

    rejected(
        |s| s.end = Time::ZERO + Span::from_secs(201 * 86_400),
        "could last 201 days, and may last 200",
    );
    let day = Settings {
        delay: Span::from_secs(86_400 * 199),
        ..bare(1_000_000, 1)
    };
    assert!(pair(&day, constant(1.0, 1, 1)).check().is_err());
}
