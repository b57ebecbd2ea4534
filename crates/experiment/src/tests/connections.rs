//! Settings of simulated connections, and groups of flows.

use tcp::{Acknowledging, Control, Profile, Recovery, Settings};

use super::simulated::{rejected, sim};
use super::*;

const FLOWS: &str = "\
format = 1
name = \"connections\"
[host]
congestion = \"reno\"
[traffic]
kind = \"flows\"
duration = \"10s\"
[flows.a]
protocol = \"tcp\"
[flows.b]
protocol = \"tcp\"
count = 3
start_interval = \"1s\"
bytes = \"1MB\"
tcp = { window = 7 }
[sweep]
\"network.mtu\" = [1500, 9000]
";

/// The connection of each flow.
fn connections(plan: &Plan, cell: usize) -> Vec<Settings> {
    let Traffic::Flows(flows) = &setting(plan, cell).traffic else {
        panic!("flows");
    };
    let sends = flows.flows.iter().map(|flow| &flow.sends);
    sends
        .map(|sends| match sends {
            Sends::Bytes { settings, .. } => settings.clone(),
            Sends::Datagrams { .. } | Sends::Messages { .. } => panic!("a connection"),
        })
        .collect()
}

#[test]
fn each_of_a_group_may_have_hosts_of_its_own() {
    let text = FLOWS
        .replace(
            "count = 3",
            "count = 3\nfrom = \"sender*\"\nto = \"receiver*\"",
        )
        .replace(
            "[host]",
            "[network]\nshape = \"dumbbell\"\npairs = 3\n[host]",
        );
    let plan = sim(&text, &[]);
    let Traffic::Flows(flows) = &setting(&plan, 0).traffic else {
        panic!("flows");
    };
    let group = &flows.flows[1];
    assert_eq!(
        (group.from.as_str(), group.to.as_str()),
        ("sender*", "receiver*")
    );
    assert_eq!(Flow::end(&group.from, 3), "sender3");
    rejected(
        &text,
        &["network.pairs=2"],
        "experiments/x.toml:16: flows.b.from = \"sender*\": `*` is the number of a flow, here 1 to 3, and each must be a host's: sender1, receiver1, sender2, receiver2",
    );
    rejected(
        &text,
        &["flows.b.to=sender2"],
        "--set flows.b.to=sender2: flows.b.to = \"sender2\": a flow from a host to itself; name two hosts",
    );
}

#[test]
fn what_is_not_written_is_as_the_agent_has_it() {
    let standard = &connections(&sim(FLOWS, &[]), 0)[0];
    assert_eq!(*standard, Settings::new(u32::MAX));
    for (name, recovery) in [("tahoe", Recovery::Tahoe), ("sack1", Recovery::Sack)] {
        let agent = &connections(&sim(FLOWS, &[&format!("tcp.agent={name}")]), 0)[0];
        assert_eq!(*agent, Settings::ns2(recovery, u32::MAX, 20));
    }
    let plan = sim(
        FLOWS,
        &[
            "tcp.window=50",
            "tcp.timestamps=off",
            "tcp.acknowledge=each",
            "tcp.recovery=newreno",
            "tcp.segment=1000",
            "tcp.initial_ssthresh=window",
            "tcp.max_rto=2s",
        ],
    );
    let expected = Settings {
        window: 50,
        options: 0,
        acknowledging: Acknowledging::Each,
        recovery: Recovery::NewReno,
        initial_ssthresh: Some(50),
        max_rto: Span::from_secs(2),
        ..Settings::new(1_000)
    };
    assert_eq!(connections(&plan, 0)[0], expected);
}

#[test]
fn a_flow_has_what_it_leaves_out_from_all_flows_and_from_an_agent_of_its_own() {
    let sets = &["tcp.initial_window=4", "flows.a.tcp.agent=newreno"];
    let plan = sim(FLOWS, sets);
    let [a, b] = &connections(&plan, 0)[..] else {
        panic!("two flows");
    };
    assert_eq!(*a, Settings::ns2(Recovery::NewReno, u32::MAX, 20));
    assert_eq!(
        (b.profile, b.window, b.initial_window),
        (Profile::Standard, 7, 4)
    );
    // ns-2's threshold is the window, of whichever table.
    let plan = sim(FLOWS, &["tcp.agent=reno", "tcp.window=50"]);
    let thresholds: Vec<_> = connections(&plan, 0)
        .iter()
        .map(|settings| settings.initial_ssthresh)
        .collect();
    assert_eq!(thresholds, [Some(50), Some(7)]);
}

#[test]
fn the_hosts_control_is_that_of_connections() {
    let transfer = |sets: &[&str]| {
        let plan = sim(SMALL, sets);
        let tcp = transfer(&plan, 0).tcp.clone();
        tcp.map(|settings| settings.control)
    };
    assert_eq!(transfer(&[]), Some(Control::Cubic));
    assert_eq!(transfer(&["host.congestion=reno"]), Some(Control::Reno));
    assert_eq!(transfer(&["tcp.agent=sack1"]), Some(Control::Reno));
    assert_eq!(transfer(&["traffic.protocol=udp"]), None);
    let bbr = sim(SMALL, &["host.congestion=bbr"]);
    let why = bbr.cells[0].setting.as_ref().unwrap_err();
    assert_eq!(why, "not simulated: TCP's control is reno or cubic there");
}

#[test]
fn a_plan_with_connections_written_out_is_the_same_plan() {
    let cases: [(&str, &[&str]); 6] = [
        (SMALL, &[]),
        (SMALL, &["tcp.agent=sack1"]),
        (SMALL, &["tcp.agent=standard,reno", "tcp.window=50"]),
        (SMALL, &["traffic.protocol=udp,tcp", "tcp.window=50"]),
        (FLOWS, &["flows.a.tcp.agent=standard,sack1"]),
        (
            FLOWS,
            &["flows.b.watch.interval=10ms", "flows.b.start_jitter=1s"],
        ),
    ];
    for (text, sets) in cases {
        let plan = sim(text, sets);
        let again = sim(&plan.text, &[]);
        assert_eq!(again.text, plan.text);
        assert_eq!(again.hash, plan.hash, "{sets:?}");
        for (one, other) in plan.cells.iter().zip(&again.cells) {
            assert_eq!(one.setting, other.setting, "{sets:?}");
        }
    }
}

#[test]
fn thousands_of_flows_are_one_line_of_the_plan() {
    let plan = sim(FLOWS, &["flows.b.count=2000", "flows.b.start_interval=4ms"]);
    assert!(plan.text.contains("count = 2000"));
    assert!(plan.text.lines().count() < 100, "{}", plan.text);
    let Traffic::Flows(flows) = &setting(&plan, 0).traffic else {
        panic!("flows");
    };
    let names: Vec<String> = flows.flows[1].names().collect();
    assert_eq!(
        (names.len(), &*names[0], &*names[1999]),
        (2000, "b0001", "b2000")
    );
    assert_eq!(flows.flows[0].names().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn what_makes_no_sense_of_connections_is_rejected_by_name() {
    let file = "experiments/x.toml";
    let cases: [(&[&str], &str); 15] = [
        (
            &["tcp.recovery=tahoe"],
            "--set tcp.recovery=tahoe: tcp.recovery = \"tahoe\": ns-2's agent alone has it: agent = \"tahoe\"; here write \"reno\", \"newreno\" or \"sack\"",
        ),
        (
            &["tcp.windw=3"],
            "--set tcp.windw=3: tcp.windw = 3: unknown key; did you mean `tcp.window`?",
        ),
        (
            &["tcp.agent=vegas"],
            "--set tcp.agent=vegas: tcp.agent = \"vegas\": write \"standard\", \"linux\", \"tahoe\", \"reno\", \"newreno\" or \"sack1\"",
        ),
        (
            &["tcp.agent=sack1", "tcp.recovery=reno"],
            "--set tcp.recovery=reno: tcp.recovery = \"reno\": ns-2's agents have their own: agent = \"tahoe\", \"reno\", \"newreno\" or \"sack1\"",
        ),
        (
            &["tcp.agent=sack1", "host.congestion=cubic"],
            "--set host.congestion=cubic: host.congestion = \"cubic\": ns-2's agents know Reno's control only; write host.congestion = \"reno\"",
        ),
        (
            &["tcp.agent=sack1", "tcp.ecn=on"],
            "--set tcp.ecn=on: tcp.ecn = \"on\": ns-2's agents are simulated without marks; write \"off\"",
        ),
        (
            &["tcp.window=0"],
            "--set tcp.window=0: tcp.window = 0: write a number from 1 to 1000000000, or none",
        ),
        (
            &["tcp.segment=70kB"],
            "--set tcp.segment=70kB: tcp.segment = \"70kB\": write \"mtu\", or 1 to 65495 bytes",
        ),
        (
            &["tcp.clock_granularity=0s"],
            "--set tcp.clock_granularity=0s: tcp.clock_granularity = \"0s\": write a time above 0",
        ),
        (
            &["tcp.min_rto=90s"],
            "by default: tcp.max_rto = \"60s\": the shortest time-out is 90s, the longest 60s",
        ),
        (
            &["flows.a.rate=1mbit"],
            "--set flows.a.rate=1mbit: flows.a.rate = \"1mbit\": TCP sends when it may, not on a schedule; remove it, or write protocol = \"udp\"",
        ),
        (
            &[
                "flows.a.protocol=udp",
                "flows.a.load=1%",
                "flows.a.watch.interval=1ms",
            ],
            "--set flows.a.watch.interval=1ms: flows.a.watch.interval = \"1ms\": only a flow of protocol = \"tcp\" has this key; remove it",
        ),
        (
            &["flows.b.start_interval=6s"],
            "--set flows.b.start_interval=6s: flows.b.start_interval = \"6s\": traffic.duration ends at 10s, before the last of 3 flows begins; write a longer duration",
        ),
        (
            &["flows.b.stop=1500ms"],
            "--set flows.b.stop=1500ms: flows.b.stop = \"1500ms\": it stops before it begins; write a later time",
        ),
        (
            &["flows.b02.protocol=tcp"],
            "experiments/x.toml:12: flows.b.count = 3: one of them would be called `b02`, and so is another flow",
        ),
    ];
    for (sets, line) in cases {
        rejected(FLOWS, sets, line);
    }
    rejected(
        FLOWS,
        &["flows.b.count=10000", "flows.b.start_interval=0s"],
        &format!(
            "{file}:1: flows is missing; write for instance [flows.big] load = \"30%\", and at most 10000 of them"
        ),
    );
}

#[test]
fn connections_of_a_path_between_kernels_have_no_window_of_their_own() {
    let mut experiment = Experiment::parse(SMALL, "experiments/x.toml").unwrap();
    experiment.set("tcp.window=50").unwrap();
    let error = experiment.plan(Backend::Netns, unchecked).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "--set tcp.window=50: tcp.window = 50: the kernel's TCP does not let it be set, only the simulator's does; add --on sim"
    );
}

#[test]
fn connections_of_a_network_between_kernels_have_windows_and_counted_links() {
    let text = "format = 1\nname = \"x\"\n[network]\nshape = \"explicit\"\nlink = \"emulated\"\nframing = \"none\"\n\
        [nodes.a]\nrole = \"host\"\n[nodes.b]\nrole = \"host\"\n\
        [links.ab]\nends = [\"a\", \"b\"]\n[links.ab.windows]\nall = \"0s..1s\"\n\
        [links.ab.series]\ninterval = \"100ms\"\n[links.ab.losses]\nwindow = \"0s..1s\"\n\
        [traffic]\nkind = \"flows\"\nduration = \"1s\"\n[tcp]\nwindow = 50\n\
        [flows.f]\nprotocol = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n\
        [flows.g]\nprotocol = \"tcp\"\nfrom = \"b\"\nto = \"a\"\n[flows.g.tcp]\nwindow = 20\n[sweep]\n\"network.mtu\" = [1500, 9000]\n";
    let experiment = Experiment::parse(text, "experiments/x.toml").unwrap();
    let plan = experiment.plan(Backend::Netns, unchecked).unwrap();
    let setting = plan.cells[0].setting.as_ref().unwrap();
    let Traffic::Flows(flows) = &setting.traffic else {
        panic!("flows");
    };
    let windows = flows.flows.iter().map(|flow| match &flow.sends {
        Sends::Messages { window, .. } => *window,
        Sends::Datagrams { .. } | Sends::Bytes { .. } => panic!("a connection of kernels"),
    });
    assert_eq!(windows.collect::<Vec<_>>(), [Some(50), Some(20)]);
    let link = &setting.network.links[0];
    assert_eq!(link.framing, units::Framing::None);
    let counted = &link.counted;
    assert!(counted.windows.len() == 1 && counted.series.is_some() && counted.losses.is_some());
    assert!(!setting.network.emulated(link).ethernet);
}
