//! `jumbolab doctor` on this machine and on machines that forbid a feature of
//! test networks.

use serde_json::Value;

use crate::harness::{Dir, Outcome};
use crate::unprivileged::sandbox::{enter_user_namespace, forbid_unshare, prepared};

/// The checks of every machine, by group.
const CHECKS: [(&str, &[&str]); 6] = [
    ("Backends", &["netns", "model", "sim", "hosts"]),
    (
        "Kernel",
        &[
            "release",
            "veth",
            "token bucket",
            "bridge",
            "IPv6",
            "offloads",
            "packet sockets",
            "congestion",
            "queues",
            "UDP buffer",
            "TCP buffers",
            "iperf3",
        ],
    ),
    ("Processors", &["count", "idle", "frequency"]),
    ("Clock", &["source", "reading", "wall clock", "stamps"]),
    ("Pacing", &["sleep", "timer", "sleep and spin"]),
    ("Emulated links", &["MTU 1500", "MTU 9000"]),
];

/// The value in JSON of a heading.
fn snake_case(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "_")
}

#[track_caller]
fn checks(outcome: Outcome) -> Vec<Value> {
    let lines = outcome.json();
    assert_eq!(lines.len(), 1, "one object");
    let checks = lines[0]["checks"].as_array().unwrap().clone();
    let is_missing = checks.iter().any(|check| check["status"] == "missing");
    assert_eq!(outcome.code, Some(i32::from(is_missing)), "{checks:?}");
    for check in &checks {
        let typed = check["remedy"].as_str();
        assert!(check["status"] != "missing" || typed.is_some(), "{check}");
    }
    checks
}

#[track_caller]
fn named<'a>(checks: &'a [Value], name: &str) -> &'a Value {
    let mut found = checks.iter().filter(|check| check["name"] == name);
    let check = found.next();
    check.unwrap_or_else(|| panic!("no check is called {name}"))
}

#[test]
fn every_check_is_in_the_json_and_netns_was_really_tried() {
    let dir = Dir::new();
    let checks = checks(dir.run("doctor --json"));
    for (group, names) in CHECKS {
        for name in names {
            assert_eq!(named(&checks, name)["group"], snake_case(group), "{name}");
        }
    }
    let netns = named(&checks, "netns");
    assert_eq!(netns["status"], "ok", "{netns}");
    assert!(
        netns["values"]["goodput_bps"].as_f64() > Some(0.0),
        "{netns}"
    );
    let pacer = &named(&checks, "sleep and spin")["values"];
    assert!(pacer["timing_error_p99_s"].as_f64() >= pacer["timing_error_p50_s"].as_f64());
    dir.expect_no_process();
    assert!(dir.entries().is_empty(), "left behind: {:?}", dir.entries());
}

#[test]
fn without_a_terminal_the_page_is_plain_and_fits_120_columns() {
    let dir = Dir::new();
    let page = dir.run("doctor").ran();
    assert!(!page.stdout.contains('\x1b'), "{}", page.stdout);
    assert_eq!(page.stderr, "", "progress is for terminals");
    for (group, names) in CHECKS {
        assert!(page.stdout.contains(&format!("\n{group}\n")), "{group}");
        for name in names {
            assert!(page.stdout.contains(&format!(" {name} ")), "{name}");
        }
    }
    let typed = |line: &&str| line.trim_start().starts_with("type: ");
    for line in page.stdout.lines().filter(|line| !typed(line)) {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn a_machine_without_user_namespaces_is_diagnosed_and_exits_with_1() {
    let dir = Dir::new();
    let mut command = dir.command();
    command.args(["doctor", "--json"]);
    prepared(&mut command, || {
        enter_user_namespace(4711)?;
        std::fs::write("/proc/sys/user/max_user_namespaces", "0")
    });
    let checks = checks(Outcome::of(command.output().unwrap()));
    let netns = named(&checks, "netns");
    assert_eq!(netns["status"], "missing", "{netns}");
    let typed = netns["remedy"].as_str().unwrap();
    assert!(
        typed.starts_with("sudo sysctl user.max_user_namespaces"),
        "{typed}"
    );
    assert_eq!(named(&checks, "veth")["status"], "note");
    dir.expect_no_process();
}

#[test]
fn a_policy_that_forbids_unshare_is_diagnosed_and_exits_with_1() {
    let dir = Dir::new();
    let mut command = dir.command();
    command.arg("doctor");
    let page = Outcome::of(prepared(&mut command, forbid_unshare).output().unwrap());
    assert_eq!(page.code, Some(1), "{}", page.stderr);
    assert!(page.stdout.contains("✗ netns"), "{}", page.stdout);
    assert!(page.stdout.contains("forbids it"), "{}", page.stdout);
    assert!(page.stdout.contains("type: "), "{}", page.stdout);
}
