//! The sizes, gaps and bursts of every distribution arrive over loopback as drawn. Other
//! tests check that drawn values follow the distribution.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv6Addr};

use keyfile::Section;
use traffic::flows::flow;
use units::Seed;
use wire::log::{Batch, Block, MAGIC, Next, next, open};

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::Receiver;

const MESSAGES: usize = 300;

/// The sizes of one-way datagrams.
const SIZES: std::ops::RangeInclusive<u64> = 1..=65_527;

/// A received message: its bytes, and its departure in nanoseconds.
type Arrived = (u64, u64);

#[test]
fn every_distribution_is_delivered_as_it_is_drawn() {
    let dir = Dir::new();
    dir.write("seen.txt", "# bytes\n100\n200\n300\n");
    dir.write("gaps.txt", "2ms\n4ms\n");
    let [seen, gaps] =
        ["seen.txt", "gaps.txt"].map(|name| format!("file:{}", dir.path().join(name).display()));
    let seen_message: &[(&str, &str)] = &[("message", &seen), ("gap", &gaps)];
    let flows: Vec<(&str, &[(&str, &str)])> = vec![
        ("constant", &[("message", "100"), ("gap", "3ms")]),
        (
            "uniform",
            &[("message", "uniform:100,900"), ("gap", "uniform:1ms,5ms")],
        ),
        (
            "exponential",
            &[("message", "exponential:500"), ("gap", "exponential:3ms")],
        ),
        (
            "normal",
            &[("message", "normal:500,90"), ("gap", "normal:3ms,1ms")],
        ),
        (
            "poisson",
            &[("message", "poisson:500"), ("gap", "poisson:3ms,500us")],
        ),
        (
            "pareto",
            &[("message", "pareto:1.5,100"), ("gap", "pareto:2.5,2ms")],
        ),
        (
            "cauchy",
            &[("message", "cauchy:500,20"), ("gap", "cauchy:3ms,20us")],
        ),
        (
            "gamma",
            &[("message", "gamma:2,250"), ("gap", "gamma:2,1500us")],
        ),
        (
            "weibull",
            &[("message", "weibull:0.8,500"), ("gap", "weibull:0.8,3ms")],
        ),
        ("empirical", seen_message),
        (
            "on-off",
            &[("gap", "1ms"), ("on_time", "20ms"), ("off_time", "30ms")],
        ),
        (
            "random-on-off",
            &[
                ("gap", "exponential:1ms"),
                ("on_time", "exponential:20ms"),
                ("off_time", "pareto:2.5,10ms"),
            ],
        ),
    ];
    let mut file = String::new();
    for (name, keys) in &flows {
        let _ = writeln!(file, "[flows.{name}]");
        for (key, value) in *keys {
            let _ = writeln!(file, "{key} = '{value}'");
        }
    }
    dir.write("flows.toml", &file);
    let mut receiver = Receiver::start(&dir, "--once --packet-log-dir logs");
    let line =
        format!("::1 --flow-file flows.toml --packets {MESSAGES} --duration 1min --seed 7 --json");
    let outcomes = receiver.send(&dir, &line).fine().json();
    receiver.end().fine();
    let log = std::fs::read_dir(dir.path().join("logs")).unwrap().next();
    let arrived = arrived(&std::fs::read(log.unwrap().unwrap().path()).unwrap());
    for (place, ((name, written), outcome)) in flows.iter().zip(&outcomes).enumerate() {
        let mut keys = Section::default();
        keys.option("packets", &MESSAGES.to_string());
        for (key, value) in *written {
            keys.option(key, value);
        }
        let to = IpAddr::V6(Ipv6Addr::LOCALHOST);
        let drawn = flow(name, &keys, to, Seed::new(7)).unwrap().schedule;
        let drawn: Vec<Arrived> = drawn
            .map(|(at, size)| (size.get(), at.as_nanos()))
            .filter(|(size, _)| SIZES.contains(size))
            .collect();
        assert_eq!(outcome.count("received"), drawn.len() as u64, "{outcome}");
        follows(name, &arrived[&place], &drawn);
    }
}

/// Asserts that sizes and departures are as drawn, apart from timing error.
fn follows(name: &str, arrived: &[Arrived], drawn: &[Arrived]) {
    let sizes = |of: &[Arrived]| of.iter().map(|(size, _)| *size).collect::<Vec<_>>();
    assert_eq!(sizes(arrived), sizes(drawn), "{name}");
    let pairs = arrived.iter().zip(drawn);
    let mut late: Vec<u64> = pairs.map(|((_, left), (_, at))| left - at).collect();
    late.sort_unstable();
    // A busy machine delays some messages, but not half of them by that much;
    // the whole test lasts about a second.
    let median = late[late.len() / 2] - late[0];
    assert!(median < 20_000_000, "{name}: {median} ns");
}

/// The records of each flow in a log, in the order of sequence numbers.
fn arrived(bytes: &[u8]) -> BTreeMap<usize, Vec<Arrived>> {
    open(bytes).unwrap();
    let mut found: BTreeMap<usize, Vec<(u64, Arrived)>> = BTreeMap::new();
    let mut batch = Batch::default();
    let mut at = MAGIC.len();
    while let Next::Block(block, length) = next(&bytes[at..]).unwrap() {
        if let Block::Records(records) = block {
            records.read(&mut batch).unwrap();
            for record in batch.records() {
                let flow = usize::try_from(record.flow).unwrap();
                let message = (record.sequence, (record.size.into(), record.sent));
                found.entry(flow).or_default().push(message);
            }
        }
        at += length;
    }
    let in_order = |mut messages: Vec<(u64, Arrived)>| {
        messages.sort_unstable();
        messages.into_iter().map(|(_, message)| message).collect()
    };
    found
        .into_iter()
        .map(|(flow, messages)| (flow, in_order(messages)))
        .collect()
}
