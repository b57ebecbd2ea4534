//! Lines and objects of intervals while flows run.

use serde_json::Value;

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::super::undisturbed::{Disturbed, until_undisturbed};
use super::Receiver;

/// The objects of an event.
fn of<'a>(objects: &'a [Value], event: &str) -> Vec<&'a Value> {
    let chosen = objects.iter().filter(|object| object["kind"] == event);
    chosen.collect()
}

#[test]
fn each_interval_is_an_object_and_the_results_come_last() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--json-stream --interval 100ms");
    for protocol in ["udp", "tcp"] {
        let line = format!(
            "::1 --protocol {protocol} --message 1000 --gap 1ms --duration 580ms --interval 100ms --json-stream"
        );
        until_undisturbed(&format!("intervals of {protocol}"), 5, || {
            let objects = receiver.send(&dir, &line).fine().json();
            let intervals = of(&objects, "interval");
            let results = of(&objects, "result");
            assert_eq!(results.len(), 1, "{objects:?}");
            assert_eq!(objects.last().unwrap()["kind"], "result");
            let result = results[0];
            for pair in intervals.windows(2) {
                assert_eq!(pair[0]["to_s"], pair[1]["from_s"]);
            }
            // Intervals are read while messages leave.
            for (key, whole) in [("sent", "sent"), ("received", "received")] {
                let sum: u64 = intervals
                    .iter()
                    .filter_map(|interval| interval[key].as_u64())
                    .sum();
                assert!(sum <= result.count(whole), "{key}: {objects:?}");
            }
            let answered = |interval: &&&Value| interval["delay_s"].is_object();
            match intervals.iter().filter(answered).count() {
                5.. => Ok(()),
                few => Err(Disturbed(format!("{few} intervals have delays"))),
            }
        })
        .unwrap();
    }
    let objects = receiver.stop().fine().json();
    let intervals = of(&objects, "interval");
    assert!(intervals.len() >= 8, "{objects:?}");
    assert!(intervals.iter().all(|one| one.count("session") > 0));
    let received: u64 = intervals.iter().map(|one| one.count("received")).sum();
    assert!(received > 500, "{objects:?}");
}

#[test]
fn lines_of_flows_and_their_sum_stand_below_a_head() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "--interval 100ms");
    let line = "::1 --flows 2 --meter round-trip --gap 1ms --duration 350ms --interval 100ms";
    let outcome = receiver.send(&dir, line).fine();
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(
        lines[0].starts_with("flow ") && lines[0].contains("RTT p50"),
        "{lines:?}"
    );
    for (line, name) in lines[1..].iter().zip(["[flow-1]", "[flow-2]", "[SUM]"]) {
        assert!(line.starts_with(name), "{lines:?}");
        assert_eq!(line.chars().count(), lines[0].chars().count(), "{lines:?}");
    }
    let printed = receiver.stop().fine().stdout;
    assert!(printed.contains("[1 flow-2]"), "{printed}");
}

#[test]
fn a_short_flow_and_an_interval_of_zero_print_results_only() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for options in ["", "--interval 0 --duration 300ms"] {
        let line = format!("::1 --gap 1ms --packets 100 {options}");
        let outcome = receiver.send(&dir, &line).fine();
        assert!(
            outcome.stdout.starts_with("flow: UDP"),
            "{}",
            outcome.stdout
        );
    }
}

#[test]
fn an_interval_that_cannot_be_is_rejected_by_name() {
    let dir = Dir::new();
    for (options, words) in [
        ("--interval 10ms", ["--interval 10ms", "100ms"]),
        ("--interval soon", ["--interval soon", "10ms"]),
        ("--interval 1s --json", ["--interval 1s", "--json-stream"]),
    ] {
        dir.run(&format!("send ::1 {options}")).rejected(&words);
        dir.run(&format!("recv {options}")).rejected(&words);
    }
}

#[test]
fn a_sender_that_cannot_keep_up_says_so() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    // A gigabit a millisecond: no machine keeps up.
    let line =
        "::1 --message 60000 --gap 100ns --duration 350ms --interval 100ms --receive-buffer 64kB";
    let outcome = receiver.send(&dir, line);
    let behind = "messages/s: the sender fell behind by ";
    let (live, result) = outcome.stdout.split_once("\nflow: UDP").unwrap();
    assert!(live.contains(behind), "{}", outcome.stdout);
    assert!(result.contains(behind), "{}", outcome.stdout);
}

#[test]
fn a_path_mtu_is_told_with_the_router_that_stated_it() {
    let dir = Dir::new();
    // A sender, a router and a receiver, with a link of MTU 1500 behind the router.
    let script = "\
        ip link set lo up; \
        unshare --net tail -f /dev/null & router=$!; \
        unshare --net tail -f /dev/null & far=$!; \
        trap 'kill $router $far $receiver' EXIT; \
        for one in $router $far; do \
            until [ \"$(readlink /proc/$one/ns/net)\" != \"$(readlink /proc/$$/ns/net)\" ]; do :; done; \
        done; \
        at() { one=$1; shift; nsenter --target $one --net -- \"$@\"; }; \
        ip link add name near mtu 9000 type veth peer name one netns $router; at $router ip link set one mtu 9000; \
        at $router ip link add name two type veth peer name end netns $far; \
        ip addr add 10.9.1.1/24 dev near; ip link set near up; \
        at $router ip addr add 10.9.1.2/24 dev one; at $router ip link set one up; \
        at $router ip addr add 10.9.2.1/24 dev two; at $router ip link set two up; \
        at $far ip addr add 10.9.2.2/24 dev end; at $far ip link set end up; \
        at $router sysctl -q net.ipv4.ip_forward=1; \
        ip route add default via 10.9.1.2; at $far ip route add default via 10.9.2.1; \
        nsenter --target $far --net -- \"$0\" recv --open --listen 10.9.2.2 >/dev/null 2>said & receiver=$!; \
        until grep -qs 'port 7770' said; do kill -0 $receiver; done; \
        for flow in '--protocol udp' '--protocol icmp'; do \
            \"$0\" send 10.9.2.2 $flow --pmtudisc do --message uniform:1000,4000 --gap 5ms \
                --duration 350ms --interval 100ms || exit 1; \
            ip route flush cache; \
        done";
    let printed = dir.in_namespaces(script).fine().stdout;
    let live = printed.matches("[flow] path MTU 1500, told by 10.9.1.2\n");
    assert_eq!(live.count(), 2, "{printed}");
    let results = printed.matches(" too large: path MTU 1500, told by 10.9.1.2\n");
    assert_eq!(results.count(), 2, "{printed}");
}

#[test]
fn datagrams_that_the_senders_own_queue_drops_are_sent_and_lost() {
    let dir = Dir::new();
    let script = "\
        ip link set lo up; \
        tc qdisc add dev lo root tbf rate 8mbit burst 5000 limit 5000; \
        \"$0\" recv --listen 127.0.0.1 >/dev/null 2>said & receiver=$!; \
        trap 'kill $receiver' EXIT; \
        until grep -qs 'port 7770' said; do kill -0 $receiver; done; \
        \"$0\" send 127.0.0.1 --message 1000 --payload-rate 80mbit --duration 300ms --json";
    let flow = dir.in_namespaces(script).fine().json().remove(0);
    assert!(flow.count("sent") > 1_000, "{flow}");
    assert_eq!(flow.count("unsent"), 0, "{flow}");
    assert!(flow.count("lost") > flow.count("sent") / 2, "{flow}");
}

#[test]
fn a_summary_has_sizes_as_intervals_have_them() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for (options, size) in [
        ("--protocol tcp --message 125kB --bytes 7MB", "7.00 MB"),
        ("--message 29 --packets 10", "290 B"),
    ] {
        let line = format!("::1 --gap 100us --interval 0 {options}");
        let printed = receiver.send(&dir, &line).fine().stdout;
        for name in ["sent", "received"] {
            let line = printed.lines().find(|line| line.trim().starts_with(name));
            assert!(
                line.unwrap().contains(&format!("messages, {size}, ")),
                "{printed}"
            );
        }
    }
    let printed = receiver.stop().fine().stdout;
    assert!(printed.contains(" messages, 7.00 MB, "), "{printed}");
}
