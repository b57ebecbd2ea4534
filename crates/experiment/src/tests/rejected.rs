//! Every error is one line with place, key, value and remedy.

use super::*;

#[test]
fn bad_keys_and_values_are_rejected_in_one_line() {
    for (sets, line) in [
        (
            "mtu=0",
            "--set mtu=0: network.mtu = 0: write an MTU of IPv6 from 1280 to 65535",
        ),
        (
            "mtu=1279",
            "--set mtu=1279: network.mtu = 1279: write an MTU of IPv6 from 1280 to 65535",
        ),
        (
            "mtu=1500,70000",
            "--set mtu=1500,70000: network.mtu = 70000: write an MTU of IPv6 from 1280 to 65535",
        ),
        (
            "mtu=-1",
            "--set mtu=-1: network.mtu = -1: write an MTU of IPv6 from 1280 to 65535",
        ),
        (
            "mtu=\"1500\"",
            "--set mtu=\"1500\": network.mtu = \"1500\": write 1500",
        ),
        (
            "mtu=",
            "--set mtu=: network.mtu = \"\": write an MTU of IPv6 from 1280 to 65535",
        ),
        (
            "rate=1gb",
            "--set rate=1gb: network.rate = \"1gb\": 1gb may be bits or bytes; write 1gbit or 8gbit, or none",
        ),
        (
            "rate=1000",
            "--set rate=1000: network.rate = 1000: 1000 has no unit; write 1kbit or 1gbit, or none",
        ),
        (
            "traffic.size=5Mb",
            "--set traffic.size=5Mb: traffic.size = \"5Mb\": 5Mb may be bits or bytes; write 5MB",
        ),
        (
            "traffic.timeout=0s",
            "--set traffic.timeout=0s: traffic.timeout = \"0s\": no transfer ends in no time; write for instance \"30s\"",
        ),
        (
            "repeat=0",
            "--set repeat=0: trials.repeat = 0: write a number from 1 to 100000",
        ),
        (
            "seeds=1,2",
            "--set seeds=1,2: trials.repeat = [1, 2]: `trials.repeat` is one for the whole run, no factor; write one value",
        ),
        (
            "mtu=[]",
            "--set mtu=[]: sweep.mtu = []: a sweep over nothing; write at least one level",
        ),
        (
            "network.loss=0.1%",
            "--set network.loss=0.1%: network.loss = \"0.1%\": `loss` needs link = \"emulated\"",
        ),
        (
            "network.loss=0.1",
            "--set network.loss=0.1: network.loss = 0.1: write \"0.1%\", or \"10%\"",
        ),
        (
            "network.delay=10ms",
            "--set network.delay=10ms: network.delay = \"10ms\": `delay` needs link = \"emulated\"",
        ),
        (
            "network.devices=2",
            "--set network.devices=2: network.devices = 2: only shape = \"switched\" and \"chain\" have devices; leave it out",
        ),
        (
            "network.link=real",
            "--set network.link=real: network.link = \"real\": write \"kernel\", \"emulated\" or \"mixed\"",
        ),
        (
            "network.bit_error_rate=2",
            "--set network.bit_error_rate=2: network.bit_error_rate = 2: write a probability from 0 to 1, for instance 1e-9",
        ),
        (
            "network.shape=ring",
            "--set network.shape=ring: network.shape = \"ring\": write \"pair\", \"routed\", \"switched\", \"chain\", \"dumbbell\" or \"explicit\"",
        ),
        (
            "network.addresses=router",
            "--set network.addresses=router: network.addresses = \"router\": Router Advertisements are IPv6's and need shape = \"routed\"; write \"auto\" or \"static\"",
        ),
        (
            "network.buffer=3kB",
            "--set network.buffer=3kB: network.buffer = \"3kB\": two frames of MTU 1500 with framing are 3076 bytes; write from 3076 to 4294967295",
        ),
        (
            "network.burst=1537",
            "--set network.burst=1537: network.burst = 1537: a frame of MTU 1500 with framing are 1538 bytes; write from 1538 to 4294967295",
        ),
        (
            "message=27",
            "--set message=27: traffic.message = 27: a message has 56 to 16777216 bytes: for instance --set traffic.message=56",
        ),
        (
            "message=mtu-1480",
            "--set message=mtu-1480: traffic.message = \"mtu-1480\": 20 bytes on MTU 1500; a message has 56 to 16777216 bytes: for instance --set traffic.message=56",
        ),
        (
            "loss=1%",
            "--set loss=1%: unknown alias or key `loss`; did you mean `network.loss` or `links.NAME.loss`?",
        ),
        (
            "max_probability=0.1",
            "--set max_probability=0.1: unknown alias or key `max_probability`; did you mean `network.red.max_probability` or `network.mred.max_probability` or `links.NAME.red.max_probability` or `links.NAME.mred.max_probability`?",
        ),
        (
            "colour=red",
            "--set colour=red: unknown alias or key `colour`; `jumbolab show` prints an experiment with its aliases",
        ),
        (
            "mut=1500",
            "--set mut=1500: unknown alias or key `mut`; did you mean `mtu`?",
        ),
        (
            "network.mut=1500",
            "--set network.mut=1500: network.mut = 1500: unknown key; did you mean `network.mtu`?",
        ),
        (
            "mtu",
            "--set mtu: write key=value, for instance mtu=1500,9000",
        ),
        (
            "network.mtu.x=1\n",
            "--set network.mtu.x=1\\n: network.mtu = { x = 1 }: this key is swept; write its levels under [sweep] as mtu",
        ),
        (
            "network.ip.x=4",
            "--set network.ip.x=4: network.ip.x: `ip` is no table; write the keys of a table below one",
        ),
        (
            "links.router-receiver.mtu=1500",
            "--set links.router-receiver.mtu=1500: links.router-receiver: the links of shape = \"pair\" are sender-receiver",
        ),
        (
            "compare.baseline=1501",
            "--set compare.baseline=1501: compare.baseline = 1501: write a level of mtu: 1500, 9000",
        ),
        (
            "compare.factor=offloads",
            "--set compare.factor=offloads: compare.factor = \"offloads\": compare a factor of [sweep]: mtu",
        ),
        (
            "host.congestion=../x",
            "--set host.congestion=../x: host.congestion = \"../x\": write 1 to 15 letters, digits, \"-\" and \"_\", a letter or digit first",
        ),
        (
            "trials.order=fixed",
            "--set trials.order=fixed: trials.order = \"fixed\": write \"random\"; no other order is honest",
        ),
    ] {
        check_rejected(SMALL, &[sets], line);
    }
}

#[test]
fn the_smallest_ipv4_mtu_is_legal_but_needs_a_smaller_message() {
    let v4 = "network.ip=4";
    check_rejected(
        SMALL,
        &[v4, "mtu=67"],
        "--set mtu=67: network.mtu = 67: write an MTU of IPv4 from 68 to 65535",
    );
    check_rejected(
        SMALL,
        &[v4, "traffic.message=mtu-72", "mtu=68"],
        "--set traffic.message=mtu-72: traffic.message = \"mtu-72\": -4 bytes on MTU 68; a message has 56 to 16777216 bytes: for instance --set traffic.message=56",
    );
    let plan = plan(SMALL, &[v4, "mtu=68", "traffic.message=56"]);
    assert_eq!(setting(&plan, 0).network.links[0].mtu.get(), 68);
}

#[test]
fn udp_messages_fit_one_packet() {
    let udp = "traffic.protocol=udp";
    plan(SMALL, &[udp, "message=65527"]);
    check_rejected(
        SMALL,
        &[udp, "message=65528"],
        "--set message=65528: traffic.message = 65528: a message in UDP over IPv6 has 56 to 65527 bytes: for instance --set traffic.message=65527",
    );
    check_rejected(
        SMALL,
        &[udp, "message=65508", "network.ip=4"],
        "--set message=65508: traffic.message = 65508: a message in UDP over IPv4 has 56 to 65507 bytes: for instance --set traffic.message=65507",
    );
}

#[test]
fn faults_in_a_file_are_named_by_line() {
    for (lines, fault) in [
        (
            "mut = 1500",
            "10: network.mut = 1500: unknown key; did you mean `network.mtu`?",
        ),
        (
            "rate = \"1gbps\"",
            "10: network.rate = \"1gbps\": 1gbps may be bits or bytes; write 1gbit or 8gbit, or none",
        ),
        (
            "\nloss = \"1%\"",
            "11: network.loss = \"1%\": `loss` needs link = \"emulated\"",
        ),
        (
            "jitter = \"1s\"",
            "10: network.jitter = \"1s\": `jitter` needs link = \"emulated\"",
        ),
        (
            "rate = [\"1gbit\"]",
            "10: network.rate = [\"1gbit\"]: write one value; levels go under [sweep]",
        ),
        (
            "mtu = [1500]",
            "10: network.mtu = [1500]: this key is swept; write its levels under [sweep] as mtu",
        ),
        (
            "rate = { x = 1 }",
            "10: network.rate = { x = 1 }: write one value, not a table",
        ),
        (
            "[sweeps]",
            "10: sweeps: unknown table; did you mean `sweep`?",
        ),
        (
            "[netwrk]\nmtu = 1",
            "10: netwrk: unknown table; did you mean `network`?",
        ),
        (
            "[links.left]\nmtu = 1500",
            "10: links.left: the links of shape = \"pair\" are sender-receiver",
        ),
        (
            "[traffic]\nmtu = 1500",
            "11: traffic.mtu = 1500: unknown key; did you mean `network.mtu`?",
        ),
        (
            "[trials]\nrepeat = 0",
            "11: trials.repeat = 0: write a number from 1 to 100000",
        ),
        (
            "[[published]]\nmetric = \"rtt\"",
            "10: published.source is missing; write for instance source = \"[Key Table 4]\"",
        ),
        (
            "mtu == 3",
            "10: this is not TOML: extra `=`, expected nothing; correct the line",
        ),
    ] {
        check_rejected(&with(lines), &[], &format!("experiments/x.toml:{fault}"));
    }
}

#[test]
fn what_is_no_experiment_is_rejected() {
    for (text, line) in [
        ("", "x:1: format is missing; write for instance format = 1"),
        (
            "format = 2",
            "x:1: format = 2: this build reads format = 1; write it",
        ),
        (
            "\n\nformat = = 1",
            "x:3: this is not TOML: extra `=`, expected nothing; correct the line",
        ),
        (
            "format = 1\nformat = 1",
            "x:2: this is not TOML: duplicate key; correct the line",
        ),
        ("format = 1\naliases = 3", "x:2: aliases = 3: write a table"),
        (
            "format = 1\n[aliases]\nrepeat = \"network.mtu\"",
            "x:3: aliases.repeat = \"network.mtu\": this name is taken; choose another",
        ),
    ] {
        let error = Experiment::parse(text, "x").expect_err(line);
        assert_eq!(format!("{error:#}"), line);
    }
    check_rejected(
        "format = 1",
        &[],
        "experiments/x.toml:1: name is missing; write for instance name = \"my-experiment\"",
    );
    check_rejected(
        "format = 1\nname = \"x\"",
        &[],
        "experiments/x.toml:1: sweep is missing; write for instance [sweep] mtu = [1500, 9000]",
    );
    check_rejected(
        "format = 1\nname = \"x\"\n[sweep]",
        &[],
        "experiments/x.toml:3: sweep: a sweep over nothing; write for instance [sweep] mtu = [1500, 9000]",
    );
    check_rejected(
        &SMALL.replace("[1500, 9000]", "[]"),
        &[],
        "experiments/x.toml:11: sweep.mtu = []: a sweep over nothing; write at least one level",
    );
    check_rejected(
        &SMALL.replace("9000", "70000"),
        &[],
        "experiments/x.toml:11: network.mtu = 70000: write an MTU of IPv6 from 1280 to 65535",
    );
    check_rejected(
        &SMALL.replace("network.rate", "network.rat"),
        &[],
        "experiments/x.toml:5: aliases.rate = \"network.rat\": unknown key; did you mean `network.rate`?",
    );
    check_rejected(
        &format!("{SMALL}\"network.mtu\" = 1500"),
        &[],
        "experiments/x.toml:12: sweep.\"network.mtu\" = 1500: `network.mtu` is swept twice",
    );
}

#[test]
fn what_there_is_not_is_reported_before_what_is_missing() {
    for (text, line) in [
        (
            "[netwrk]\nmtu = 1500",
            "2: netwrk: unknown table; did you mean `network`?",
        ),
        (
            "network.mut = 1500",
            "2: network.mut = 1500: unknown key; did you mean `network.mtu`?",
        ),
        (
            "links.any.dealy = \"1ms\"",
            "2: links.any.dealy = \"1ms\": unknown key; did you mean `links.any.delay`?",
        ),
        (
            "[[claim]]\ntxt = \"x\"",
            "3: claim.txt = \"x\": unknown key; did you mean `claim.text`?",
        ),
        (
            "rate = \"1gbit\"",
            "2: rate = \"1gbit\": unknown key; did you mean `network.rate`?",
        ),
        (
            "on.sim.host.send_per_paket = \"1us\"",
            "2: on.sim.host.send_per_paket = \"1us\": unknown key `host.send_per_paket`; did you mean `host.send_per_packet`?",
        ),
    ] {
        let text = format!("format = 1\n{text}");
        check_rejected(&text, &[], &format!("experiments/x.toml:{line}"));
    }
}

#[test]
fn a_key_of_which_nothing_here_makes_use_is_rejected_and_not_called_unknown() {
    check_rejected(
        SMALL,
        &["links.sender-receiver.ends=x"],
        "--set links.sender-receiver.ends=x: links.sender-receiver.ends = \"x\": nothing in this experiment uses it; remove it",
    );
    check_rejected(
        SMALL,
        &["network.pairs=2"],
        "--set network.pairs=2: network.pairs = 2: nothing in this experiment uses it; remove it",
    );
}

#[test]
fn unknown_experiments_and_backends_are_rejected_with_what_there_is() {
    let rejected = |name: &str| format!("{:#}", Experiment::load(name).unwrap_err());
    const REST: &str = "`jumbolab list` names all, and a file is given by its path, as ./my.toml";
    for (name, hint) in [
        ("os-comparsion", "; did you mean `os-comparison`?"),
        (
            "red",
            "; did you mean `red-claims` or `red-decrease` or `red-increase`?",
        ),
        ("aqm-congestoin", "; did you mean `aqm-congestion`?"),
        ("queues", "; did you mean `mtu-and-queues`?"),
        ("zebra", ""),
    ] {
        assert_eq!(
            rejected(name),
            format!("no shipped experiment is called `{name}`{hint}; {REST}")
        );
    }
    assert_eq!(
        rejected("./nowhere.toml"),
        "cannot read ./nowhere.toml: No such file or directory (os error 2)"
    );
    let backend = |name: &str| format!("{:#}", name.parse::<Backend>().unwrap_err());
    assert_eq!(
        backend("moon"),
        "there is no backend `moon`; choose one of netns, hosts, sim, model"
    );
    assert_eq!("netns".parse::<Backend>().unwrap(), Backend::Netns);
}

#[test]
fn a_sweep_that_would_never_end_is_rejected() {
    let many: Vec<_> = (0..101).map(|step| (1500 + step).to_string()).collect();
    let mtus = format!("mtu={}", many.join(","));
    let sizes = format!("traffic.size={}", many.join(","));
    let error = planned(SMALL, &[&mtus, &sizes]).unwrap_err().to_string();
    assert!(
        error.ends_with("sweep makes more cells than 10000; list fewer levels"),
        "{error}"
    );
}

#[test]
fn a_rejection_stays_short_whatever_is_rejected() {
    let long = "x".repeat(10_000);
    let sets = [
        format!("mtu={long}"),
        format!("mtu=1500,{long}"),
        format!("{long}=1"),
        format!("backend={long}"),
    ];
    for set in &sets {
        let error = planned(SMALL, &[set]).unwrap_err();
        let line = format!("{error:#}");
        assert!(line.starts_with("--set ") && line.len() < 1_200, "{line}");
    }
}

#[test]
fn a_run_of_more_than_a_million_trials_is_rejected() {
    let levels = ["1500"; 500].join(",");
    let error = planned(SMALL, &[&format!("mtu={levels}"), "repeat=100000"]).unwrap_err();
    let line = format!("{error:#}");
    for part in ["repeat = 100000", "more than 1000000", "at most "] {
        assert!(line.contains(part), "{line}");
    }
}
