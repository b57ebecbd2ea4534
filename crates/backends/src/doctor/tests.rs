//! Checks of synthetic machines: each missing feature is named with a command
//! as remedy.

mod machine;

use os::stamps::Stamps;
use units::Span;

use super::check::short;
use super::*;
use machine::{encapsulation, nic, sound};

/// The check called `name` on a sound machine after `change`. Asserts that all
/// missing features have a remedy.
#[track_caller]
fn check(name: &str, change: impl FnOnce(&mut Facts)) -> Check {
    let mut facts = sound();
    change(&mut facts);
    let checks = judge(&facts);
    for check in &checks {
        assert!(!check.finding.is_empty() && !check.finding.contains('\n'));
        let first = check.remedy.as_deref().map(first_word);
        match check.status {
            Status::Ok | Status::Absent => assert_eq!(first, None, "{check:?}"),
            Status::Note => assert!(first.is_none_or(is_command), "{check:?}"),
            Status::Missing => assert!(first.is_some_and(is_command), "{check:?}"),
        }
    }
    let found = checks.into_iter().find(|check| check.name == name);
    found.unwrap_or_else(|| panic!("no check is called {name}"))
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// Whether a word is a program that a shell would find.
fn is_command(word: &str) -> bool {
    [
        "sudo",
        "sysctl",
        "modprobe",
        "apt-get",
        "docker",
        "grep",
        "echo",
        "jumbolab",
        "taskset",
        "top",
        "vmstat",
        "timedatectl",
        "uname",
        "ethtool",
        "ip",
    ]
    .contains(&word)
}

/// Asserts that finding and remedy contain these words.
#[track_caller]
fn says(check: &Check, status: Status, finding: &str, remedy: &str) {
    assert_eq!(check.status, status, "{check:?}");
    assert!(check.finding.contains(finding), "{check:?}");
    let both = [check.remedy.as_deref(), check.advice.as_deref()];
    let words = both.map(Option::unwrap_or_default).join(" ");
    assert!(words.contains(remedy), "{check:?}");
}

#[test]
fn on_a_sound_machine_nothing_is_noted() {
    let checks = judge(&sound());
    let noted: Vec<_> = checks
        .iter()
        .filter(|check| check.status != Status::Ok)
        .map(|check| check.name.as_str())
        .collect();
    assert_eq!(noted, [""; 0]);
    assert!(checks.iter().all(|check| check.remedy.is_none()));
}

#[test]
fn names_are_unique_within_their_group_and_groups_stand_together() {
    let checks = judge(&sound());
    let mut keys: Vec<_> = checks.iter().map(|c| (c.group, c.name.clone())).collect();
    let groups: Vec<_> = keys.iter().map(|(group, _)| *group).collect();
    let mut runs = groups.clone();
    runs.dedup();
    let mut different = runs.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(runs.len(), different.len(), "{runs:?}");
    keys.sort_unstable();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn a_container_without_namespaces_says_who_forbids_them_and_what_to_type() {
    let forbid = |facts: &mut Facts| {
        facts.attempt = Attempt::Rejected {
            reason: "the container forbids it".into(),
            command: "docker run --security-opt seccomp=unconfined".into(),
            advice: "or with --privileged".into(),
        };
    };
    says(
        &check("netns", forbid),
        Status::Missing,
        "the container forbids it",
        "docker run",
    );
    // An untested feature is neither present nor missing.
    assert_eq!(check("veth", forbid).status, Status::Note);
    says(
        &check("congestion", forbid),
        Status::Missing,
        "bbr",
        "tcp_bbr",
    );
    says(
        &check("UDP buffer", forbid),
        Status::Note,
        "212992 B",
        "sysctl net.core.rmem_max=16777216",
    );
}

#[test]
fn an_ordinary_user_is_told_what_root_keeps_and_types_sudo() {
    let netns = check("netns", |_| {});
    says(&netns, Status::Ok, "user namespace", "");
    assert!(netns.finding.contains("RPS"), "{netns:?}");
    let buffer = check("UDP buffer", |facts| {
        let Attempt::Inside(inside) = &mut facts.attempt else {
            unreachable!("a sound machine has an inside")
        };
        inside.udp_buffer = Some(2 * 212_992);
    });
    says(
        &buffer,
        Status::Note,
        "212992 B of the 16777216 B",
        "sudo sysctl",
    );
}

#[test]
fn root_has_its_buffers_whatever_the_limit_and_types_no_sudo() {
    let root = |facts: &mut Facts| facts.privileged = true;
    says(&check("netns", root), Status::Ok, "as root", "");
    says(
        &check("UDP buffer", root),
        Status::Ok,
        "beyond rmem_max of 212992",
        "",
    );
    let bridge = check("bridge", |facts| {
        root(facts);
        fail(facts, Ability::Bridge);
    });
    assert_eq!(bridge.remedy.as_deref(), Some("modprobe bridge"));
}

#[test]
fn every_part_that_a_test_bed_lacks_is_missing_with_a_remedy() {
    for (ability, name, command) in [
        (Ability::Veth, "veth", "modprobe veth"),
        (Ability::TokenBucket, "token bucket", "modprobe sch_tbf"),
        (Ability::Bridge, "bridge", "modprobe bridge"),
        (Ability::Ipv6, "IPv6", "--set ip=4"),
        (Ability::Offloads, "offloads", "--set offloads=on"),
        (
            Ability::PacketSocket,
            "packet sockets",
            "modprobe af_packet",
        ),
        (Ability::Transfer, "netns", "jumbolab run"),
    ] {
        let check = check(name, |facts| fail(facts, ability));
        says(&check, Status::Missing, "it is broken", command);
    }
    let bbr = check("congestion", |facts| {
        let Attempt::Inside(inside) = &mut facts.attempt else {
            unreachable!("a sound machine has an inside")
        };
        inside.congestion_controls.retain(|name| name != "bbr");
    });
    says(
        &bbr,
        Status::Missing,
        "not available: bbr",
        "sudo modprobe -a tcp_bbr",
    );
}

fn fail(facts: &mut Facts, ability: Ability) {
    let Attempt::Inside(inside) = &mut facts.attempt else {
        unreachable!("a sound machine has an inside")
    };
    for step in inside
        .steps
        .iter_mut()
        .filter(|step| step.ability == ability)
    {
        step.problem = Some("it is broken".into());
    }
}

#[test]
fn a_worker_that_is_lost_leaves_netns_missing() {
    let lost = |facts: &mut Facts| facts.attempt = Attempt::Lost("it ended early".into());
    says(
        &check("netns", lost),
        Status::Missing,
        "it ended early",
        "jumbolab",
    );
}

#[test]
fn one_processor_is_too_few_and_a_busy_machine_is_no_idle_one() {
    let one = check("count", |facts| facts.machine.processors = 1);
    says(&one, Status::Missing, "share one processor", "taskset");
    let busy = check("idle", |facts| {
        facts.load.busy = 1.23;
        facts.load.busiest = vec![("cargo".into(), 0.9), ("rustc".into(), 0.3)];
    });
    says(
        &busy,
        Status::Note,
        "1.2 of 4 processors busy: cargo 0.9, rustc 0.3",
        "`disturbed`",
    );
    let robbed = check("steal", |facts| facts.load.steal_percent = 4.0);
    says(&robbed, Status::Note, "4.0 %", "vmstat");
    let slow = check("frequency", |facts| {
        facts.machine.governor = Some("powersave".into());
    });
    says(&slow, Status::Note, "powersave", "performance");
}

#[test]
fn a_coarse_slow_or_stepped_clock_is_noted_with_what_would_be_better() {
    let coarse = check("reading", |facts| {
        facts.clock.source = "hpet".into();
        facts.clock.reading.step = Span::from_millis(4);
    });
    says(&coarse, Status::Note, "resolution 4.0 ms", "echo tsc |");
    let slow = check("reading", |facts| {
        facts.clock.reading.cost = Span::from_nanos(2_300);
    });
    says(&slow, Status::Note, "takes 2.3 us", "dmesg");
    let stepped = check("wall clock", |facts| {
        facts.clock.wall_step_nanos = -25_000_000;
    });
    says(&stepped, Status::Note, "25 ms", "timedatectl");
}

#[test]
fn stamps_that_are_absent_late_or_untried_are_told_apart() {
    let stamps = |stamped, micros| {
        Ok(Stamps {
            sent: 100,
            stamped,
            delay: Some(Span::from_micros(micros)),
        })
    };
    let absent = check("stamps", |facts| facts.stamps = stamps(3, 2));
    says(&absent, Status::Missing, "3 of 100", "uname");
    let late = check("stamps", |facts| facts.stamps = stamps(100, 900));
    says(&late, Status::Note, "900 us after", "top");
    let untried = check("stamps", |facts| {
        facts.stamps = Err("network unreachable".into())
    });
    says(
        &untried,
        Status::Note,
        "network unreachable",
        "ip link set lo up",
    );
}

#[test]
fn only_the_best_way_of_waiting_is_judged() {
    let pacer = check("sleep and spin", |facts| {
        facts.waits[2].1.as_mut().unwrap().p99 = Span::from_micros(400);
    });
    says(&pacer, Status::Note, "400 us p99", "top");
    let sleep = check("sleep", |facts| {
        facts.waits[0].1.as_mut().unwrap().p99 = Span::from_micros(400);
    });
    assert_eq!(sleep.status, Status::Ok);
}

#[test]
fn an_interface_says_whether_it_carries_jumbo_frames_and_leaves_out_what_is_unknown() {
    let jumbo = check("eth0", |_| {});
    assert_eq!(jumbo.finding, "ixgbe, MTU 1500, maximum 9216, offloads TSO");
    assert_eq!(jumbo.values["max_mtu"], 9216);
    assert!(!jumbo.values.contains_key("speed_bps"));
    let small = check("eth0", |facts| facts.nics = Ok(vec![nic(1500)]));
    says(&small, Status::Note, "does not support jumbo frames", "");
    let none = check("none", |facts| facts.nics = Ok(Vec::new()));
    assert_eq!(none.status, Status::Ok);
}

#[test]
fn programs_that_are_absent_are_noted_with_their_package() {
    let hosts = check("hosts", |facts| facts.ssh = false);
    says(&hosts, Status::Note, "not installed", "openssh-client");
    let peer = check("iperf3", |facts| facts.iperf3 = false);
    says(&peer, Status::Note, "not installed", "iperf3");
}

#[test]
fn spans_are_told_in_the_unit_that_people_would_use() {
    for (nanos, text) in [
        (0, "0 ns"),
        (38, "38 ns"),
        (1_900, "1.9 us"),
        (142_300, "142 us"),
        (1_500_000, "1.5 ms"),
        (25_000_000, "25 ms"),
    ] {
        assert_eq!(short(Span::from_nanos(nanos)), text);
    }
}

#[test]
fn what_emulated_links_carry_is_said_in_words_with_the_rate_to_type() {
    let with = |encapsulation: Encapsulation| {
        move |facts: &mut Facts| {
            if let Attempt::Inside(inside) = &mut facts.attempt {
                inside.emulated = vec![encapsulation];
            }
        }
    };
    let fast = check(
        "MTU 1500",
        with(encapsulation(1500, &[(1_000, 948.0), (2_500, 2_372.0)])),
    );
    says(&fast, Status::Ok, "TCP fills 2.5 Gbit/s", "");
    assert_eq!(fast.values["rate_bps"], 2_500_000_000_u64);
    let tried = [(1_000, 800.0), (700, 650.0), (500, 474.0)];
    let slow = check("MTU 1500", with(encapsulation(1500, &tried)));
    says(
        &slow,
        Status::Note,
        "TCP fills 500 Mbit/s",
        "--set rate=500mbit",
    );
    assert!(slow.finding.contains("700 Mbit/s is too fast"), "{slow:?}");
    let none = check("MTU 9000", with(encapsulation(9000, &[(100, 50.0)])));
    says(&none, Status::Note, "not even 100 Mbit/s", "top");
    let broken = Encapsulation {
        problem: Some("no emulator".into()),
        ..encapsulation(9000, &[])
    };
    says(
        &check("MTU 9000", with(broken)),
        Status::Note,
        "no emulator",
        "top",
    );
    let rejected = check("carried", |facts| {
        facts.attempt = Attempt::Lost("gone".into())
    });
    says(&rejected, Status::Note, "no test network", "");
}
