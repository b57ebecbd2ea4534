//! Runs that end early leave hosts as they were, and keep their trials.

use std::fs;
use std::process::Stdio;

use os::clock;
use results::folder::Folder;
use units::Span;

use crate::bed::{Bed, Between, signal, until};
use crate::run::{HOSTS, TRANSFER, by_interface, said};

#[test]
fn a_second_run_on_a_host_is_rejected_and_killed_ones_leave_it_as_it_was() {
    let bed = Bed::new(Between::Cable);
    let long = by_interface().replace("1500, 9000", "1500, 4000");
    fs::write(
        bed.path("t.toml"),
        long.replace("repeat = 2", "repeat = 500"),
    )
    .unwrap();
    for (number, end) in ["controller", "agents", "interrupt", "network"]
        .into_iter()
        .enumerate()
    {
        let folder = format!("r{number}");
        let words = [&["run", "t.toml"][..], &HOSTS, &["-o", &folder]].concat();
        let mut command = bed.command(&words);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until(|| bed.mtu("a", "meas") == "1500" && bed.mtu("b", "meas") == "1500");
        let second = bed.run(&[&["run", "t.toml"][..], &HOSTS, &["-o", "second"]].concat());
        assert_eq!(second.status.code(), Some(2));
        assert!(said(&second).contains("transfer-"), "{}", said(&second));
        match end {
            "network" => ["a", "b"].iter().for_each(|host| bed.cut(host)),
            "interrupt" => signal("-2", &[child.id()]),
            "controller" => child.kill().unwrap(),
            _ => signal("-9", &bed.agents("a")),
        }
        let killed = clock::monotonic();
        until(|| {
            ["a", "b"]
                .iter()
                .all(|host| bed.mtu(host, "meas") == "9000")
        });
        let took = clock::monotonic().since(killed).unwrap();
        assert!(took < Span::from_secs(10), "{took}");
        child.wait().unwrap();
    }
}

#[test]
fn agents_end_with_their_programs_when_the_network_is_cut() {
    let bed = Bed::new(Between::Cable);
    // Its own process is not the only one that it leaves.
    bed.program("a", "endless", "#!/bin/sh\nsleep 600 & wait\n");
    let control = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let text = "\
format = 1
name = \"endless\"
[network]
ip = 4
mtu = 9000
[host]
offloads = \"on\"
[traffic]
kind = \"command\"
receiver = \"iperf3 -s\"
sender = \"endless\"
timeout = \"10min\"
read.throughput = \"/nothing\"
[sweep]
\"host.congestion\" = [\"CONTROL\"]
[trials]
repeat = 1
retry_limit = \"none\"
";
    let text = text.replace("CONTROL", control.trim());
    fs::write(bed.path("p.toml"), text).unwrap();
    let words = [&["run", "p.toml"][..], &HOSTS, &["-o", "r"]].concat();
    let mut command = bed.command(&words);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let runs = |host, program: &[&str]| {
        let mut all = bed.processes(Some(host)).into_iter();
        all.any(|(_, words)| words == program)
    };
    let both = || [runs("a", &["sleep", "600"]), runs("b", &["iperf3", "-s"])];
    until(|| both() == [true; 2]);
    ["a", "b"].iter().for_each(|host| bed.cut(host));
    let cut = clock::monotonic();
    until(|| ["a", "b"].iter().all(|host| bed.agents(host).is_empty()));
    until(|| both() == [false; 2]);
    let took = clock::monotonic().since(cut).unwrap();
    assert!(took < Span::from_secs(10), "{took}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_run_whose_agent_is_killed_keeps_its_trials_and_is_resumed() {
    let bed = Bed::new(Between::Cable);
    let long = TRANSFER.replace("repeat = 2", "repeat = 6");
    fs::write(bed.path("t.toml"), long).unwrap();
    let words = [&["run", "t.toml"][..], &HOSTS, &["-o", "r"]].concat();
    let child = bed
        .command(&words)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let child = child.unwrap();
    let journal = bed.path("r").join("trials.jsonl");
    let kept = || {
        fs::read_to_string(&journal)
            .unwrap_or_default()
            .lines()
            .count()
    };
    until(|| kept() >= 1);
    signal("-9", &bed.agents("a"));
    let output = child.wait_with_output().unwrap();
    let told = said(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    let last = told.trim_end().lines().last().unwrap();
    assert!(last.contains("add --resume to continue"), "{told}");
    let before = kept();
    assert!((1..12).contains(&before), "{before}");
    let output = bed.run(&[&words[..], &["--resume"]].concat());
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        said(&output)
    );
    let (_, _, trials) = Folder::read(&bed.path("r")).unwrap();
    assert_eq!(trials.len(), 12);
}
