//! The meters of named hosts, and a router between them.

use std::fs;

use plan::{Trial, evidence};
use results::folder::Folder;

use crate::bed::{Bed, Between};
use crate::run::{HOSTS, TRANSFER, complaints, measured, said};

/// The router of the bed.
const ROUTER: [&str; 2] = ["--host", "router=r"];

/// A transfer by a program, which states its bytes.
const PROGRAM: &str = "\
format = 1
name = \"iperf3\"
[network]
ip = 4
mtu_method = \"interface\"
mtu = 9000
[host]
offloads = \"on\"
[traffic]
kind = \"command\"
receiver = \"iperf3 -s -1\"
sender = \"iperf3 -c {receiver} -J -n 20M\"
read.bytes = \"/end/sum_received/bytes\"
read.throughput = \"/end/sum_received/bits_per_second * 1e-6\"
[sweep]
\"host.congestion\" = [\"CONTROL\"]
[trials]
repeat = 1
retry_limit = \"none\"
";

/// The interfaces of the machine of this role in the evidence of a trial.
fn interfaces(trial: &Trial, role: &str) -> Vec<String> {
    let hosts = trial.evidence.get(evidence::HOSTS).unwrap();
    let host = hosts.into_iter().find(|host| host.role == role).unwrap();
    host.nics.into_iter().map(|nic| nic.interface).collect()
}

fn is_flagged(trial: &Trial, flag: &str) -> bool {
    trial.flags.iter().any(|name| name == flag)
}

#[test]
fn a_router_is_metered_in_each_trial_and_every_interface_is_described() {
    let bed = Bed::new(Between::Router);
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    let folder = measured(&bed, "t.toml", &ROUTER);
    let (_, facts, trials) = Folder::read(&folder).unwrap();
    let named = facts.hosts.iter();
    let named: Vec<[&str; 2]> = named
        .map(|host| [host.role.as_str(), host.interface.as_str()])
        .collect();
    let router = ["router", "to-a and to-b"];
    assert_eq!(named, [["sender", "meas"], ["receiver", "meas"], router]);
    for host in &facts.hosts {
        assert_eq!(host.system, "Linux");
        for of_interface in host.interfaces.values() {
            assert_eq!(of_interface["driver"], "veth");
            assert_eq!(of_interface["mtu"], "9000");
        }
        assert!(host.host.machine.contains_key("clock_synchronisation"));
    }
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        assert_eq!(trial.failure, None);
        // Less than a tick of CPU accounting is zero.
        assert!(
            trial.metrics["cpu_forwarding"] >= 0.0,
            "{:?}",
            trial.metrics
        );
        assert!((0.0..1e5).contains(&trial.metrics["cpu_router"]));
        assert_eq!(interfaces(trial, "router"), ["to-a", "to-b"]);
        assert_eq!(interfaces(trial, "receiver"), ["meas"]);
        assert_eq!(trial.evidence.get(evidence::ROUTER_CARRIED), Some(true));
        assert!(!is_flagged(trial, "router-bypassed"));
        // Energy is metered or the quality check says why not.
        let is_metered = |host: &plan::RoleFacts| {
            let energy = host.host.machine["energy"].as_str().unwrap();
            energy.starts_with("metered")
        };
        let all = facts.hosts.iter().all(is_metered);
        assert_eq!(trial.metrics.contains_key("energy"), all);
    }
    let report = |words: &[&str]| String::from_utf8(bed.run(words).stdout).unwrap();
    let full = report(&["report", "--full", "r"]);
    for part in ["router ", "to-b: driver: veth", "clock synchronisation: "] {
        assert!(full.contains(part), "{part}: {full}");
    }

    // The same experiment in namespaces stands beside it.
    let words = "run t.toml --on netns --set network.mtu_method=interface -o n";
    let words: Vec<&str> = words.split(' ').collect();
    let output = bed.run(&words);
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        said(&output)
    );
    let both = report(&["report", "r", "n", "--full"]);
    for part in ["hosts: r\nnetns: n\n", "hosts %", "netns %"] {
        assert!(both.contains(part), "{part}: {both}");
    }
}

#[test]
fn programs_meter_a_router_and_one_beside_the_path_is_found_out() {
    let bed = Bed::new(Between::Router);
    let control = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let text = PROGRAM.replace("CONTROL", control.trim());
    fs::write(bed.path("p.toml"), text).unwrap();
    let trial = |router: &str| {
        let folder = measured(&bed, "p.toml", &["--host", router]);
        let (_, _, mut trials) = Folder::read(&folder).unwrap();
        fs::remove_dir_all(folder).unwrap();
        assert_eq!((trials.len(), &trials[0].failure), (1, &None));
        trials.remove(0)
    };
    let on_path = trial("router=r,interface=to-b");
    assert!(on_path.metrics["cpu_forwarding"] >= 0.0);
    assert!(!is_flagged(&on_path, "router-bypassed"));
    let beside = trial("router=r,interface=mgmt");
    assert!(is_flagged(&beside, "router-bypassed"), "{beside:?}");
}

#[test]
fn an_interface_without_rings_is_told_before_anything_is_changed() {
    let bed = Bed::new(Between::Cable);
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    for (key, told) in [
        ("host.receive_ring=512", "meas of a has no rings to set"),
        (
            "host.coalescing=adaptive",
            "meas of a has no interrupt coalescing to set",
        ),
    ] {
        let words = [&["run", "t.toml"][..], &HOSTS, &["-o", "r", "--set", key]].concat();
        let output = bed.run(&words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(told), "{said}");
        assert_eq!(complaints(&said), 1, "{said}");
        assert!(!bed.path("r").exists());
    }
}
