//! Flow files of any content are read or rejected, and what is read has a schedule.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use units::Time;

use super::*;

const VALUES: &[&str] = &[
    "udp",
    "tcp",
    "icmp",
    "udplite",
    "sctp",
    "dccp",
    "1025",
    "on",
    "off",
    "true",
    "0",
    "1",
    "28",
    "27",
    "512",
    "1200",
    "65507",
    "65528",
    "16MiB",
    "17MiB",
    "0s",
    "1ns",
    "1ps",
    "20ms",
    "10s",
    "999999h",
    "1e9s",
    "-1s",
    "1mbit",
    "1bit",
    "10gbit",
    "999999gbit",
    "constant:1ms",
    "exponential:1ms",
    "exponential:1ps",
    "uniform:0s,1s",
    "uniform:28,100",
    "uniform:1,27",
    "normal:512,64",
    "normal:1ms,1h",
    "pareto:1.1,1ns",
    "pareto:0.05,1ns",
    "cauchy:1us,1s",
    "gamma:0.001,1s",
    "weibull:0.05,1s",
    "poisson:512",
    "file:/nowhere",
    "AF41",
    "64",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "nan",
    "inf",
    "",
    "\u{202e}",
    "mtu",
    "window",
    "one-way",
    "round-trip",
    "arrivals",
];

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(VALUES).prop_map(|text| format!("{text:?}")),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<u32>().prop_map(|number| format!("\"{number}ns\"")),
        1 => prop::sample::select(vec!["true", "1.5", "[]", "{}", "[1, 2]", "1979-05-27"])
            .prop_map(str::to_owned),
    ]
}

fn file() -> impl Strategy<Value = String> {
    let key = prop::sample::select(KEYS.to_vec());
    let keys = prop::collection::vec((key, value()), 0..6);
    let table = ("[a-z.\\-]{1,12}", keys).prop_map(|(name, keys)| {
        let mut seen = std::collections::BTreeSet::new();
        let lines = keys.into_iter().filter(|(key, _)| seen.insert(*key));
        let lines = lines.map(|(key, value)| format!("{key} = {value}\n"));
        format!("[flows.\"{name}\"]\n{}", lines.collect::<String>())
    });
    let tables = prop::collection::vec(table, 1..4).prop_map(|tables| tables.concat());
    let damage = prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<char>()));
    (tables, damage).prop_map(|(text, damage)| {
        let mut letters: Vec<char> = text.chars().collect();
        if let Some((place, letter)) = damage {
            let place = place.index(letters.len());
            letters[place] = letter;
        }
        letters.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn a_flow_file_is_read_or_rejected_and_its_schedule_runs(text in file(), ip in any::<bool>()) {
        let to = match ip {
            true => IpAddr::V4(Ipv4Addr::LOCALHOST),
            false => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let flows = read(&text, "flows.toml", &Section::default()).unwrap_or_default();
        for (name, keys) in flows {
            let flow = flow(&name, &keys, to, Seed::new(1));
            let _ = reversed(&name, &keys, to, Seed::new(1));
            let Ok(flow) = flow else { continue };
            let mut last = Time::ZERO;
            for (at, size) in flow.schedule.take(200) {
                prop_assert!(at >= last, "{text}");
                prop_assert!(flow.largest.is_none_or(|largest| size <= largest), "{text}");
                prop_assert!(size >= Bytes::new(28), "{text}: {size:?}");
                last = at;
            }
        }
    }
}
