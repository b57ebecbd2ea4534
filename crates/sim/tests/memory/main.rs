//! The estimate of the memory of a run, compared with what the run allocates.

use std::sync::Mutex;

use jumbolab_sim::{
    BadScenario, Datagrams, Flow, Host, Link, Messages, Node, Role, Scenario, Tcp, Traffic, Work,
};
use link::Settings;
use peak_alloc::PeakAlloc;

use meter::departures::Distribution;
use queue::{Limit, Spec};
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

#[path = "../../benches/shared/networks.rs"]
#[allow(dead_code)]
mod networks;
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// An estimate is at most this multiple of the memory that the run takes.
const MOST: f64 = 20.0;
/// Bytes that are estimated besides, however small the scenario is.
const BESIDES: f64 = 400_000.0;

/// One test runs at a time, because the allocations of the whole process are counted.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_run_takes_no_more_memory_than_estimated_and_not_much_less() {
    let _alone = ALONE.lock().unwrap();
    let fast = || Host::default();
    for (name, scenario) in [
        ("a thousand datagrams", small(1)),
        ("500 flows of datagrams", small(500)),
        ("5 connections", dumbbell(5)),
        ("400 connections", dumbbell(400)),
        (
            "c",
            networks::compared(10_000, 2_000, 1_500, Span::from_secs(1)),
        ),
        ("a", networks::compared(100, 100, 1_500, Span::from_secs(1))),
        (
            "b",
            networks::compared(1000, 200, 1_500, Span::from_secs(1)),
        ),
        (
            "d",
            networks::compared(10000, 10000, 1_500, Span::from_millis(300)),
        ),
        (
            "a long transfer",
            transfer(1_000_000_000, fast(), 10_000_000),
        ),
        (
            "a slow sender",
            transfer(100_000_000, slow(1, 0), 100_000_000),
        ),
        (
            "a slow receiver",
            transfer(100_000_000, slow(0, 1), 100_000_000),
        ),
        ("responses", echo(host_of(20), 50_000_000)),
        ("responses of a slow host", echo(slow(1, 0), 50_000_000)),
    ] {
        let estimate = estimate(&scenario);
        let taken = taken(scenario);
        assert!(taken <= estimate, "{name}: {taken} of {estimate}");
        let most = MOST * taken + BESIDES;
        assert!(estimate <= most, "{name}: {taken} of {estimate}");
    }
}

#[test]
fn of_a_dumbbell_at_most_ten_times_as_much_is_expected_as_it_takes() {
    let _alone = ALONE.lock().unwrap();
    let lasts = Span::from_secs(1);
    for (megabits, flows) in [(100, 100), (1_000, 200), (10_000, 2_000)] {
        let scenario = networks::compared(megabits, flows, 1_500, lasts);
        let (estimate, taken) = (estimate(&scenario), taken(scenario));
        assert!(taken <= estimate, "{flows} flows: {taken} of {estimate}");
        assert!(
            estimate <= 10.0 * taken,
            "{flows} flows: {taken} of {estimate}"
        );
    }
}

#[test]
fn of_a_transfer_that_piles_up_no_more_than_half_is_expected_to_wait() {
    let _alone = ALONE.lock().unwrap();
    for (bytes, host) in [
        (100_000_000, slow(1, 0)),
        (100_000_000, slow(0, 1)),
        (400_000_000, slow(1, 0)),
    ] {
        for scenario in [transfer(bytes, host, 100_000_000), echo(host, bytes)] {
            let (estimate, taken) = (estimate(&scenario), taken(scenario));
            assert!(taken <= estimate, "{taken} of {estimate}");
            assert!(estimate <= 3.0 * taken, "{taken} of {estimate}");
        }
    }
}

#[test]
fn neither_the_length_of_a_transfer_nor_the_number_of_connections_is_a_reason_to_reject() {
    let _alone = ALONE.lock().unwrap();
    let long = transfer(5_000_000_000_000, Host::default(), 1_000_000_000);
    for scenario in [long, dumbbell(2_000)] {
        let budget = Scenario::BUDGET;
        assert!(Scenario { budget, ..scenario }.check().is_ok());
    }
}

#[test]
fn a_transfer_that_piles_up_at_a_slow_host_is_rejected_in_one_line() {
    let _alone = ALONE.lock().unwrap();
    let huge = Scenario {
        budget: Scenario::BUDGET,
        ..transfer(50_000_000_000, slow(1, 0), 100_000_000)
    };
    let error = huge.check().err().unwrap().to_string();
    assert!(error.contains("mostly for host `a`"), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

/// The bytes of memory that a run of `scenario` takes.
fn taken(scenario: Scenario) -> f64 {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let outcome = scenario.check().unwrap().run();
    let taken = (ALLOCATED.peak_usage() - before) as f64;
    drop(outcome);
    taken
}

/// The bytes of memory that the check of `scenario` expects: the least budget with
/// which it is accepted.
fn estimate(scenario: &Scenario) -> f64 {
    let mut scenario = scenario.clone();
    scenario.budget = Bytes::ZERO;
    while let Err(bad) = scenario.clone().check() {
        match bad {
            BadScenario::Memory { needed, .. } if needed > scenario.budget => {
                scenario.budget = needed;
            }
            bad => panic!("{bad}"),
        }
    }
    scenario.budget.get() as f64
}

fn settings(rate: u64, delay: Span, packets: u32) -> Settings {
    let limit = Limit::Packets(packets);
    Settings {
        delay,
        ..Settings::perfect(Rate::from_bits_per_second(rate), Spec::DropTail { limit })
    }
}

fn node(name: &str, role: Role) -> Node {
    Node {
        name: name.to_owned(),
        role,
    }
}

fn link(name: &str, ends: [usize; 2], direction: &Settings) -> Link {
    Link {
        name: name.to_owned(),
        ends,
        directions: [direction.clone(), direction.clone()],
    }
}

fn flow(name: &str, [from, to]: [usize; 2], traffic: Traffic) -> Flow {
    Flow {
        name: name.to_owned(),
        from,
        to,
        ip: IpVersion::V4,
        start: Time::ZERO,
        stop: None,
        traffic,
    }
}

fn scenario(nodes: Vec<Node>, links: Vec<Link>, flows: Vec<Flow>, end: Span) -> Scenario {
    Scenario {
        nodes,
        links,
        flows,
        end: Time::ZERO + end,
        seed: Seed::new(1),
        budget: Bytes::new(u64::MAX),
        max_recorded_messages: Scenario::MAX_RECORDED_MESSAGES,
    }
}

/// Flows of datagrams between two hosts, at most a thousand in each.
fn small(flows: u32) -> Scenario {
    let direction = settings(10_000_000, Span::from_millis(1), 100);
    let gap = 1e9 * f64::from(flows);
    let mut datagrams = Datagrams::new(
        Distribution::Exponential(gap),
        Distribution::Constant(1_000.0),
    );
    datagrams.limit = Some(1_000);
    let flow = |number: u32| {
        let traffic = Traffic::Datagrams(datagrams.clone());
        flow(&format!("{number}"), [0, 1], traffic)
    };
    let nodes = ["a", "b"].map(|name| node(name, Role::Host(Host::default())));
    let links = vec![link("ab", [0, 1], &direction)];
    let flows = (0..flows).map(flow).collect();
    scenario(nodes.into(), links, flows, Span::from_secs(30))
}

/// A host whose processors take 200 us to send and to receive a packet, or 0: a link of
/// 100 Mbit/s is faster.
fn slow(send: u64, receive: u64) -> Host {
    let work = |times| Work {
        per_packet: Span::from_micros(200 * times),
        per_byte: Span::ZERO,
    };
    Host {
        send: work(send),
        receive: work(receive),
        receive_buffer: None,
    }
}

/// A transfer of `bytes` over one link.
fn transfer(bytes: u64, host: Host, rate: u64) -> Scenario {
    let direction = settings(rate, Span::from_millis(10), 100);
    let tcp = Tcp {
        bytes: Some(bytes),
        ..Tcp::new(tcp::Settings::new(1_448))
    };
    let nodes = ["a", "b"].map(|name| node(name, Role::Host(host)));
    let links = vec![link("ab", [0, 1], &direction)];
    let flows = vec![flow("f", [0, 1], Traffic::Tcp(tcp))];
    scenario(nodes.into(), links, flows, Span::from_secs(86_400 * 10))
}

/// A host with these costs of sending and of receiving a packet, in microseconds.
fn host_of(micros: u64) -> Host {
    let work = Work {
        per_packet: Span::from_micros(micros),
        per_byte: Span::ZERO,
    };
    Host {
        send: work,
        receive: work,
        receive_buffer: None,
    }
}

/// A transfer in messages, each of which is answered.
fn echo(host: Host, bytes: u64) -> Scenario {
    let mut echo = transfer(bytes, host, 100_000_000);
    let messages = |size, answers| Messages {
        size,
        warmup: 0,
        answers,
    };
    if let Traffic::Tcp(tcp) = &mut echo.flows[0].traffic {
        tcp.messages = Some(messages(1_448, None));
    }
    let answers = Tcp {
        messages: Some(messages(28, Some(0))),
        ..Tcp::new(tcp::Settings::new(1_448))
    };
    echo.flows.push(flow("g", [1, 0], Traffic::Tcp(answers)));
    echo
}

/// Two routers, and a pair of hosts for each of `flows` connections, whose share of the
/// middle is 5 Mbit/s.
fn dumbbell(flows: u32) -> Scenario {
    let rate = 5_000_000 * u64::from(flows);
    let mut nodes = vec![node("left", Role::Router), node("right", Role::Router)];
    let middle = settings(rate, Span::from_millis(10), 10 * flows);
    let access = settings(rate, Span::from_millis(2), 1_000);
    let mut links = vec![link("middle", [0, 1], &middle)];
    let mut all = Vec::new();
    for number in 1..=flows as usize {
        let ends = [2 * number, 2 * number + 1];
        for (end, side) in ends.into_iter().zip([0, 1]) {
            nodes.push(node(&format!("{end}"), Role::Host(Host::default())));
            links.push(link(&format!("to {end}"), [end, side], &access));
        }
        let tcp = Tcp::new(tcp::Settings::new(960));
        all.push(flow(&format!("{number}"), ends, Traffic::Tcp(tcp)));
    }
    scenario(nodes, links, all, Span::from_millis(500))
}
