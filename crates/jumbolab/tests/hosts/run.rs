//! The backend `hosts`.

use std::fs;
use std::process::{Command, Output};

use plan::evidence;
use results::folder::Folder;

use crate::bed::{Bed, Between, until};

/// The options that name both hosts.
pub(crate) const HOSTS: [&str; 6] = [
    "--on",
    "hosts",
    "--host",
    "sender=a,interface=meas",
    "--host",
    "receiver=b,interface=meas",
];

/// A small transfer at two MTUs, limited by segments.
pub(crate) const TRANSFER: &str = "\
format = 1
name = \"transfer\"
[network]
ip = 4
mtu_method = \"mss\"
[host]
offloads = \"on\"
[traffic]
size = \"500kB\"
warmup = \"100kB\"
cpu_bytes = \"1MB\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 2
retry_limit = \"none\"
[compare]
factor = \"network.mtu\"
baseline = 1500
";

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The number of lines of `said` without the list of side effects.
pub(crate) fn complaints(said: &str) -> usize {
    let is_listed = |line: &&str| *line == "this experiment will:" || line.starts_with("  ");
    said.trim_end()
        .lines()
        .filter(|line| !is_listed(line))
        .count()
}

/// Runs an experiment between both hosts; returns its folder.
#[track_caller]
pub(crate) fn measured(bed: &Bed, experiment: &str, more: &[&str]) -> std::path::PathBuf {
    let words = [&["run", experiment][..], &HOSTS, &["-o", "r"], more].concat();
    let output = bed.run(&words);
    // Whether trials on this machine are undisturbed is not judged.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        said(&output)
    );
    bed.path("r")
}

#[test]
fn transfers_are_measured_at_every_mtu_and_both_hosts_are_recorded() {
    let bed = Bed::new(Between::Cable);
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    let folder = measured(&bed, "t.toml", &[]);
    let (text, facts, trials) = Folder::read(&folder).unwrap();
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        assert_eq!(trial.failure, None);
        assert!(trial.metrics["throughput"] > 0.0 && trial.metrics["rtt"] > 0.0);
        // The segment has the MTU's size, less IPv4, TCP and its timestamps.
        let mtu = trial.factors.to_string().contains("9000").then_some(9_000);
        let segment = mtu.unwrap_or(1_500) - 20 - 20 - 12;
        let used = trial.number(evidence::SEGMENT_SIZE);
        assert_eq!(used, Some(segment.into()), "{}", trial.factors);
    }
    let roles: Vec<&str> = facts.hosts.iter().map(|host| host.role.as_str()).collect();
    assert_eq!(roles, ["sender", "receiver"]);
    assert!(
        !text.contains("ssh"),
        "machines are no part of the plan: {text}"
    );
    assert_eq!(
        [bed.mtu("a", "meas"), bed.mtu("b", "meas")],
        ["9000", "9000"]
    );
    for host in ["a", "b"] {
        until(|| bed.agents(host).is_empty());
    }
}

#[test]
fn the_shipped_experiments_run_between_hosts() {
    let bed = Bed::new(Between::Cable);
    let folder = measured(
        &bed,
        "os-comparison",
        &[
            "--repeat",
            "2",
            "--set",
            "network.mtu_method=mss",
            "--set",
            "trials.retry_limit=none",
            "--set",
            "size=500kB",
            "--set",
            "cpu_bytes=1MB",
        ],
    );
    let (_, facts, trials) = Folder::read(&folder).unwrap();
    // Three of the rows want the offloads off, which are on here.
    assert_eq!(trials.len(), 12);
    // The scenarios with Windows, of which each has three MTUs with offloads on and off.
    let needed = facts
        .left_out
        .iter()
        .filter(|cell| cell.why.contains("needs a Windows"));
    assert_eq!((needed.count(), facts.left_out.len()), (18, 18));
    assert!(trials.iter().all(|trial| trial.failure.is_none()));
    fs::remove_dir_all(&folder).unwrap();
    // They are on again: rows that want them on are rejected where they were off before.
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    let folder = measured(&bed, "t.toml", &[]);
    let (_, facts, _) = Folder::read(&folder).unwrap();
    assert_eq!(facts.left_out.len(), 0);
    fs::remove_dir_all(&folder).unwrap();
    let folder = measured(
        &bed,
        "rtt-by-packet-size",
        &[
            "--repeat",
            "1",
            "--set",
            "band=small",
            "--set",
            "traffic.size_step=2000",
            "--set",
            "traffic.size=20kB",
            "--set",
            "mtu=9000",
            "--set",
            "host.offloads=on",
            "--set",
            "trials.retry_limit=none",
        ],
    );
    let (_, _, trials) = Folder::read(&folder).unwrap();
    assert_eq!(trials.len(), 2, "TCP and UDP");
    assert!(trials.iter().all(|trial| trial.failure.is_none()));
}

#[test]
fn programs_of_the_user_run_on_the_hosts() {
    let bed = Bed::new(Between::Cable);
    let text = "\
format = 1
name = \"iperf3\"
[network]
ip = 4
mtu = 9000
[host]
offloads = \"on\"
[traffic]
kind = \"command\"
receiver = \"iperf3 -s -1\"
sender = \"iperf3 -c {receiver} -J -n 2M\"
read.throughput = \"/end/sum_received/bits_per_second * 1e-6\"
[sweep]
\"host.congestion\" = [\"CONTROL\"]
[trials]
repeat = 1
retry_limit = \"none\"
";
    let control = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let text = text.replace("CONTROL", control.trim());
    fs::write(bed.path("p.toml"), text).unwrap();
    let folder = measured(&bed, "p.toml", &[]);
    let (_, _, trials) = Folder::read(&folder).unwrap();
    assert_eq!((trials.len(), &trials[0].failure), (1, &None));
    assert!(trials[0].metrics["throughput"] > 0.0);
}

#[test]
fn sizes_that_a_switch_does_not_carry_are_not_measured_and_say_where_they_vanish() {
    let bed = Bed::new(Between::Switch(1_500));
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    let folder = measured(&bed, "t.toml", &[]);
    let (_, facts, trials) = Folder::read(&folder).unwrap();
    assert_eq!(trials.len(), 2, "MTU 1500 alone");
    assert_eq!(facts.left_out.len(), 1);
    let why = &facts.left_out[0].why;
    let told = "does not pass: packets above 1500 bytes are dropped silently between a and b: a switch between them, or the port of b";
    assert_eq!(why, told);
    let words = ["report", "--full", folder.to_str().unwrap()];
    let report = String::from_utf8(bed.run(&words).stdout).unwrap();
    assert!(report.contains("does not pass"), "{report}");
}

#[test]
fn sizes_that_a_router_rejects_are_not_measured_and_it_is_named() {
    let bed = Bed::new(Between::Router);
    bed.ip("r", "link set to-b mtu 1500");
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    let folder = measured(&bed, "t.toml", &[]);
    let (_, facts, trials) = Folder::read(&folder).unwrap();
    assert_eq!(trials.len(), 2, "MTU 1500 alone");
    assert_eq!(facts.left_out.len(), 1);
    let told = "does not pass: 10.8.1.9 between a and b forwards at most 1500 bytes";
    assert_eq!(facts.left_out[0].why, told);
}

#[test]
fn what_is_wrong_with_hosts_is_told_in_one_line_with_its_remedy_and_nothing_is_changed() {
    let bed = Bed::new(Between::Switches);
    bed.spoil_destinations();
    fs::write(bed.path("t.toml"), by_interface().replace("9000", "4000")).unwrap();
    let [a, b] = ["sender=a,interface=meas", "receiver=b,interface=meas"];
    let sender = |rest: &str| [format!("sender={rest}"), b.to_owned()];
    let receiver = |rest: &str| [a.to_owned(), format!("receiver={rest}")];
    // A key that nobody has unlocked.
    let key = bed.path("locked");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "secret", "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    let mut admitted = fs::read_to_string(bed.path("key.pub")).unwrap();
    admitted += &fs::read_to_string(bed.path("locked.pub")).unwrap();
    fs::write(bed.path("key.pub"), admitted).unwrap();
    let identity = format!("IdentityFile {}", key.display());
    bed.alias(
        "locked",
        &["HostName 10.9.1.2", "IdentitiesOnly yes", &identity],
    );
    // The first identity counts, and the others are tried, too.
    let config = fs::read_to_string(bed.path("config")).unwrap();
    let others = config.replace("Host *\n", "Host * !locked\n");
    let always = "Host locked\n User root\n UserKnownHostsFile ";
    let known = bed.path("known");
    let config = format!("{others}{always}{}\n LogLevel ERROR\n", known.display());
    fs::write(bed.path("config"), config).unwrap();
    let before = [bed.state("a"), bed.state("b")];
    let rejected = |hosts: [String; 2], told: [&str; 2]| {
        let [sender, receiver] = &hosts;
        let words = [
            "run", "t.toml", "--on", "hosts", "-o", "none", "--host", sender, "--host", receiver,
        ];
        let output = bed.run(&words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{hosts:?}: {said}");
        assert!(
            told.iter().all(|words| said.contains(words)),
            "{told:?}: {said}"
        );
        assert_eq!(complaints(&said), 1, "{said}");
        assert!(!bed.path("none").exists());
    };
    let meas = |name: &str| sender(&format!("{name},interface=meas"));
    rejected(
        meas("wrong-key"),
        ["its host key is not the known one", "ssh-keygen -R"],
    );
    rejected(
        meas("unknown-key"),
        ["its host key is unknown", "compare the key"],
    );
    rejected(meas("no-key"), ["no password is asked for", "ssh-copy-id"]);
    rejected(meas("locked"), ["it accepts no key of yours", "ssh-add"]);
    rejected(
        meas("rejecting"),
        ["it rejects the connection", "systemctl start ssh"],
    );
    rejected(meas("routeless"), ["it cannot be reached", "ping"]);
    rejected(meas("gone"), ["it cannot be reached", "ping"]);
    rejected(
        meas("name.invalid"),
        ["its name is not known", "~/.ssh/config"],
    );
    rejected(
        meas("nobody-there@a"),
        ["it accepts no key of yours", "ssh-copy-id"],
    );
    let other = [
        "it runs Linux riscv64, and this program is for",
        "install jumbolab",
    ];
    rejected(meas("c"), other);
    bed.program("c", "jumbolab", "#!/bin/sh\necho jumbolab 0.0.1\n");
    rejected(meas("c"), other);
    let by = |name: &str, way: &str| receiver(&format!("{name},interface=meas,become={way}"));
    rejected(
        by("d", "sudo"),
        ["`sudo` wants a password there", "NOPASSWD"],
    );
    rejected(
        by("b", "no-such-program"),
        [
            "there is no program `no-such-program` there",
            "leave `become` out",
        ],
    );
    rejected(
        sender("a,interface=eth77"),
        ["it has no interface eth77", "there are"],
    );
    rejected(
        receiver("b,address=192.0.2.9"),
        ["has the address 192.0.2.9", "there are"],
    );
    rejected(sender("-oX=y"), ["begins with a dash", "sender"]);
    rejected(
        sender("a,interface=mgmt"),
        [
            "it is used by the ssh connection",
            "allow_management_interface = true",
        ],
    );
    let [one, other] = [a, b].map(str::to_owned);
    bed.ip("b", "link set meas down");
    rejected(
        [one.clone(), other.clone()],
        ["its interface meas is down", "ip link set meas up"],
    );
    bed.ip("b", "link set meas up");
    fs::rename(bed.path("config"), bed.path("other")).unwrap();
    rejected(
        [one, other],
        ["the configuration of ssh has an error", "correct the file"],
    );
    until(|| [bed.state("a"), bed.state("b")] == before);
}

/// The transfer with MTUs of interfaces.
pub(crate) fn by_interface() -> String {
    TRANSFER.replace("\"mss\"", "\"interface\"")
}

#[test]
fn interfaces_are_changed_for_a_run_and_are_as_before_after_it() {
    let bed = Bed::new(Between::Cable);
    fs::write(bed.path("t.toml"), by_interface().replace("9000", "4000")).unwrap();
    let folder = measured(&bed, "t.toml", &[]);
    let (_, facts, trials) = Folder::read(&folder).unwrap();
    assert_eq!((trials.len(), facts.left_out.len()), (4, 0));
    for trial in &trials {
        assert_eq!(trial.failure, None);
        let mtu = trial.factors.to_string().contains("4000").then_some(4_000);
        let segment = mtu.unwrap_or(1_500) - 20 - 20 - 12;
        let used = trial.number(evidence::SEGMENT_SIZE);
        assert_eq!(used, Some(segment.into()), "{}", trial.factors);
    }
    assert_eq!(
        [bed.mtu("a", "meas"), bed.mtu("b", "meas")],
        ["9000", "9000"]
    );
}

#[test]
fn jumbo_frames_measures_what_the_network_has_and_leaves_out_the_rest_by_name() {
    let bed = Bed::new(Between::Cable);
    let folder = measured(
        &bed,
        "jumbo-frames",
        &["--repeat", "1", "--set", "trials.retry_limit=none"],
    );
    let (_, facts, trials) = Folder::read(&folder).unwrap();
    // A transfer and requests, each at two MTUs; no interface is changed for them.
    assert_eq!((trials.len(), facts.left_out.len()), (4, 0));
    assert!(trials.iter().all(|trial| trial.failure.is_none()));
    let output = bed.run(&["report", "r"]);
    let text = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ");
    for part in [
        "Hosts, offloads on",
        "Request of 20 kB",
        "Long lossy path; 100 kB over 20 ms (the path between hosts has the delay and the losses that it has)",
        "Hosts, offloads off (it would change the interfaces of the hosts)",
    ] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}
