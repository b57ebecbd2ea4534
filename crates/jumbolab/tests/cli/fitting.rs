//! Packets that exceed the MTU of a link.

use serde_json::Value;

use crate::harness::Dir;
use crate::lookup::{Lines, Object};

/// Only an idle machine emulates in time; timing error is not tested here.
const LATE: &str = "--set network.timing_error=1min";

#[track_caller]
fn trials(line: &str, count: usize) -> Vec<Value> {
    let dir = Dir::new();
    dir.run(&format!("run {line} -o r")).ran();
    dir.expect_no_process();
    let trials = dir.trials("r", count);
    assert!(trials.iter().all(|trial| trial["failure"].is_null()));
    trials
}

#[test]
fn every_hop_has_others_and_round_trips_have_percentiles() {
    let set = "--set load=evenly --set mtu=9000 --set rate=100mbit --set routers=1";
    let line = format!("rtt-under-load --repeat 1 --set duration=300ms {set} {LATE}");
    let trial = &trials(&line, 1)[0];
    let cross = trial["evidence"]["cross"].as_array().unwrap();
    assert_eq!(cross.len(), 2, "{cross:?}");
    for link in cross {
        let offered = link.figure("offered_mbit");
        assert!((49.0..51.0).contains(&offered), "{offered}");
    }
    let [half, more, most] = ["rtt_p50", "rtt_p95", "rtt_p99"].map(|name| trial.metric(name));
    assert!(0.0 < half && half <= more && more <= most);
    assert_eq!(trial.metric("rtt_p50"), trial.metric("rtt_p50/back"));
    assert!(trial.metric("rtt") > 0.0 && trial.metric("delay/small") > 0.0);
    assert!(trial["metrics"]["delay/back"].is_null(), "{trial}");
}

#[test]
fn whoever_may_cuts_what_does_not_fit_and_every_trial_learns_it_anew() {
    let set = "--set who=router,source,ipv6 --set wire=none --set size=30000";
    let line = format!("fragmentation --repeat 2 --set traffic.duration=100ms {set}");
    let trials = trials(&line, 6);
    for trial in &trials {
        let nodes = &trial["evidence"]["fragments"];
        let count = |node: &str, what: &str| nodes[node][what].as_u64().unwrap_or(0);
        let who = trial["factors"]["who"].as_str().unwrap();
        let (cutter, idle) = match who {
            "router" => ("router1", "sender"),
            _ => ("sender", "router1"),
        };
        // 21 pieces of 1480 bytes of payload over IPv4, 1448 over IPv6.
        assert!(count(cutter, "cut") > 0, "{who}: {nodes}");
        assert_eq!(count(cutter, "made"), 21 * count(cutter, "cut"), "{nodes}");
        assert_eq!(count(idle, "cut"), 0, "{who}: {nodes}");
        assert!(count("receiver", "joined") > 0, "{who}: {nodes}");
        assert_eq!(nodes["router2"], Value::Null, "it only forwards");
        // In a fresh test network no path MTU is cached.
        let too_big = count("router1", "too_big");
        assert_eq!(too_big > 0, who != "router", "{who}: {nodes}");
        assert!(trial.metric("first_delivery") > 0.0);
        assert!(trial.metric("cpu_message") > 0.0);
    }
}

#[test]
fn the_simulator_cuts_and_tells_as_kernels_do() {
    let set = "--set who=router,source,ipv6,whole4 --set wire=gigabit --set size=30000";
    let line = format!("fragmentation --on sim --repeat 1 --set traffic.duration=10ms {set}");
    let trials = trials(&line, 4);
    let of = |who: &str| trials.of(&[("who", who)]);
    let counts = |who: &str| {
        let router = &of(who)["evidence"]["fragments"]["router1"];
        ["cut", "too_big"].map(|name| router[name].as_u64().unwrap_or(0))
    };
    // At 4 and 8 ms; a notified sender fragments the second.
    assert_eq!(counts("router"), [2, 0]);
    assert_eq!(counts("source"), [0, 1]);
    assert_eq!(counts("ipv6"), [0, 1]);
    assert_eq!(counts("whole4"), [0, 0]);
    let first = |who: &str| of(who).metric("first_delivery");
    assert!((3.99..4.01).contains(&(first("source") - of("source").metric("delay"))));
    assert!((first("router") - of("router").metric("delay")).abs() < 1e-6);
    // Fragments are pipelined over three links; a whole packet takes its time
    // on each.
    assert!(of("ipv6").metric("delay") < of("router").metric("delay"));
    assert!(of("router").metric("delay") < of("whole4").metric("delay"));
}
