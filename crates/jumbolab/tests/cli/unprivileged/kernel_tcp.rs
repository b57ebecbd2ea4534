//! TCP of kernels by key: what was asked for is what connections do.

use std::fs;

use serde_json::Value;

use crate::harness::Dir;
use crate::undisturbed::{Disturbed, until_undisturbed};

/// A connection over 100 ms, and the packets that come to the link from the end of the
/// handshake to the first acknowledgement of data.
const FIRST_FLIGHT: &str = "\
format = 1
name = \"first-flight\"
[network]
shape = \"explicit\"
link = \"emulated\"
timing_error = \"5s\"
rate = \"100mbit\"
ip = 4
[nodes.a]
role = \"host\"
[nodes.r]
role = \"router\"
[nodes.b]
role = \"host\"
[links.a-r]
ends = [\"a\", \"r\"]
[links.wire]
ends = [\"r\", \"b\"]
delay = \"100ms\"
[links.wire.losses]
window = \"150ms..350ms\"
[traffic]
kind = \"flows\"
duration = \"500ms\"
[flows.one]
protocol = \"tcp\"
from = \"a\"
to = \"b\"
[sweep]
\"network.mtu\" = [1500]
\"tcp.initial_window\" = [1, 3, 10, 40]
[trials]
repeat = 1
retry_limit = \"none\"
";

#[test]
fn the_first_flight_of_a_connection_has_as_many_segments_as_were_asked_for() {
    let simulated = FIRST_FLIGHT.replace("link = \"emulated\"\ntiming_error = \"5s\"\n", "");
    for (asked, counted, trial) in first_flights(&simulated, "sim") {
        assert_eq!(counted, Some(asked), "{trial}");
    }
    // A trial that other work disturbed may have sent at other times.
    let mut open = vec![1, 3, 10, 40];
    until_undisturbed("first flights", 10, || {
        for (asked, counted, trial) in first_flights(FIRST_FLIGHT, "netns") {
            // Of kernels the last packet of the handshake comes with them.
            if counted == Some(asked + 1) {
                open.retain(|window| *window != asked);
            } else {
                assert_ne!(trial["disturbed"], Value::Null, "{trial}");
            }
        }
        match open.is_empty() {
            true => Ok(()),
            false => Err(Disturbed(format!("initial windows {open:?}"))),
        }
    })
    .unwrap();
}

/// The initial window, the packets in the first flight, and the trial, of each.
fn first_flights(experiment: &str, backend: &str) -> Vec<(u64, Option<u64>, Value)> {
    let dir = Dir::new();
    dir.write("first.toml", experiment);
    dir.run(&format!("run ./first.toml --on {backend} -o r"));
    let of = |trial: Value| {
        let asked = trial["factors"]["tcp.initial_window"].as_u64().unwrap();
        let counted = trial["evidence"]["losses"]["flows"]["one"][0].as_u64();
        (asked, counted, trial)
    };
    dir.trials("r", 4).into_iter().map(of).collect()
}

/// A transfer over 50 ms, whose packets are recorded.
const TRANSFER: &str = "\
format = 1
name = \"transfer\"
[network]
shape = \"pair\"
link = \"emulated\"
timing_error = \"5s\"
rate = \"100mbit\"
delay = \"50ms\"
[links.sender-receiver]
record = true
[traffic]
kind = \"transfer\"
size = \"200kB\"
warmup = 0
cpu_bytes = 0
[tcp]
initial_window = 3
[sweep]
\"network.mtu\" = [1500]
[trials]
repeat = 1
";

#[test]
fn transfers_over_a_path_begin_with_the_window_that_was_asked_for() {
    let dir = Dir::new();
    dir.write("transfer.toml", TRANSFER);
    dir.run("run ./transfer.toml -o r");
    let name = dir.trials("r", 1)[0]["evidence"]["recordings"][0].clone();
    let file = dir.path().join("r").join(name.as_str().unwrap());
    let text = fs::read_to_string(file).unwrap();
    // Full frames toward the receiver, with the flow of each: arrival_ps, left_ps, way,
    // size, flow.
    let full = text.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split(',').collect();
        let arrival: u64 = columns.first()?.parse().ok()?;
        let size: u64 = columns.get(3)?.parse().ok()?;
        (columns[2] == "0" && size > 1_000).then(|| (columns[4].to_owned(), arrival))
    });
    let full: Vec<(String, u64)> = full.collect();
    let (flow, first) = full.first().unwrap();
    let ends = first + 90_000_000_000;
    let flight = full.iter().filter(|(of, at)| of == flow && *at < ends);
    assert_eq!(flight.count(), 3, "{text}");
}

/// A program that looks at the TCP of its namespace.
const LOOK: &str = "\
format = 1
name = \"look\"
[traffic]
kind = \"command\"
sender = \"sh ./look.sh\"
read = { throughput = \"/rate\" }
[network]
ip = 4
rate = \"none\"
[host]
offloads = \"on\"
[sweep]
\"network.mtu\" = [1500]
[trials]
repeat = 1
retry_limit = \"none\"
";

#[test]
fn settings_of_tcp_are_those_of_the_namespaces_and_of_no_other() {
    let own = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
    let names = ["tcp_sack", "tcp_early_retrans", "tcp_recovery"];
    let before = names.map(own);
    let dir = Dir::new();
    dir.write("look.toml", LOOK);
    dir.write(
        "look.sh",
        "cat /proc/sys/net/ipv4/tcp_sack /proc/sys/net/ipv4/tcp_early_retrans >seen\n\
         ip -4 route >>seen\necho '{\"rate\": 1}'",
    );
    let sets = "--set tcp.recovery=newreno --set tcp.tail_loss_probe=off --set tcp.initial_window=2 \
        --set tcp.min_rto=1s --set tcp.acknowledge=each";
    for (number, congestion) in ["cubic", "reno"].into_iter().enumerate() {
        dir.run(&format!(
            "run ./look.toml -o r{number} {sets} --set host.congestion={congestion}"
        ));
        let trials = dir.trials(&format!("r{number}"), 1);
        assert_eq!(trials[0]["failure"], Value::Null, "{}", trials[0]);
        let seen = fs::read_to_string(dir.path().join("seen")).unwrap();
        assert!(seen.starts_with("0\n0\n"), "{seen}");
        let mut lines = seen.lines();
        let route = lines.find(|line| line.contains("initcwnd 2"));
        let route = route.unwrap_or_default();
        for metric in ["rto_min lock 1s", "quickack 1", "198.18."] {
            assert!(route.contains(metric), "{metric} in {seen}");
        }
        let plan = fs::read_to_string(dir.path().join(format!("r{number}/plan.toml"))).unwrap();
        assert!(plan.contains("min_rto = \"1s\""), "{plan}");
    }
    assert_eq!(names.map(own), before, "the machine's own");

    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split('.').map(|part| part.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    let outcome = dir.run("run ./look.toml -o rack --set tcp.rack=off");
    match version < (6, 17) {
        true => drop(outcome.fine()),
        false => outcome.rejected(&["Linux from 6.17 on detects losses by it alone"]),
    }
}
