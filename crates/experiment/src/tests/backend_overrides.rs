//! `[on.BACKEND.TABLE]`: overrides for one backend.

use super::simulated::{rejected, sim};
use super::*;

const ON: &str = "\
format = 1
name = \"on\"
[network]
rate = \"1gbit\"
[traffic]
protocol = \"udp\"
[on.sim.host]
send_per_packet = \"3us\"
[on.sim.trials]
repeat = 3
[on.netns.network]
buffer = \"700kB\"
[sweep]
\"network.mtu\" = [1500, 9000]
";

fn netns(text: &str) -> Plan {
    let experiment = Experiment::parse(text, "experiments/x.toml").unwrap();
    experiment.plan(Backend::Netns, unchecked).unwrap()
}

fn cost(plan: &Plan) -> units::Span {
    plan.cells[1]
        .setting
        .as_ref()
        .unwrap()
        .host
        .costs
        .send_per_packet
}

#[test]
fn a_key_of_one_backend_counts_there_and_nowhere_else() {
    let simulated = sim(ON, &[]);
    assert_eq!(cost(&simulated), units::Span::from_micros(3));
    assert_eq!(simulated.repeat, 3);
    let live = netns(ON);
    assert_eq!(cost(&live), units::Span::ZERO);
    assert_eq!(live.repeat, 20);
    assert!(live.text.contains("buffer = \"700kB\""), "{}", live.text);
    assert!(!simulated.text.contains("700kB"), "{}", simulated.text);
}

#[test]
fn a_backend_may_sweep_other_levels_unless_they_are_set() {
    let text = format!("{ON}[on.sim.sweep]\n\"network.mtu\" = [1500, 4000, 9000]\n");
    assert_eq!(sim(&text, &[]).cells.len(), 3);
    assert_eq!(netns(&text).cells.len(), 2);
    assert_eq!(sim(&text, &["network.mtu=1500"]).cells.len(), 1);
}

#[test]
fn a_plan_holds_what_its_backend_has_and_is_the_same_plan_again() {
    let plan = sim(ON, &[]);
    assert!(!plan.text.contains("[on"), "{}", plan.text);
    assert!(
        plan.text.contains("send_per_packet = \"3us\""),
        "{}",
        plan.text
    );
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.text, &again.hash), (&plan.text, &plan.hash));
}

#[test]
fn what_another_backend_has_does_not_change_the_name_of_a_folder() {
    let (before, after) = ON.split_once("[on.sim.host]").unwrap();
    let after = after.split_once("[on.netns").unwrap().1;
    assert_eq!(
        netns(&format!("{before}[on.netns{after}")).hash,
        netns(ON).hash
    );
}

#[test]
fn set_writes_over_the_file_in_every_backend_and_over_itself_in_one() {
    let of = |sets: &[&str]| cost(&sim(ON, sets)).as_nanos();
    assert_eq!(of(&["on.sim.host.send_per_packet=2us"]), 2000);
    assert_eq!(of(&["host.send_per_packet=1us"]), 1000);
    let both = [
        "on.sim.host.send_per_packet=2us",
        "host.send_per_packet=1us",
    ];
    assert_eq!(of(&both), 2000);
    // A swept key has its levels in every backend.
    assert_eq!(of(&["host.send_per_packet=1us,5us"]), 5000);
}

/// A choice of costs may be fitted as well; a cost that an argument sets is not.
#[test]
fn costs_are_fitted_until_an_argument_sets_one() {
    let file = ON.replace("[on.sim.host]", "[on.sim.host]\nfitted_to = \"Doe2001\"");
    let file = format!(
        "{file}\n[choices.costs.slow]\n\"host.fitted_to\" = \"Roe2002\"\n\"host.send_per_byte\" = \"5ns\"\n"
    );
    let of = |sets: &[&str]| {
        let plan = sim(&file, sets);
        let again = sim(&plan.text, &[]);
        assert_eq!(again.text, plan.text);
        let setting = plan.cells.last().unwrap().setting.as_ref().unwrap().clone();
        setting.host.costs.fitted_to
    };
    assert_eq!(of(&[]).as_deref(), Some("Doe2001"));
    assert_eq!(of(&["network.mtu=9000"]).as_deref(), Some("Doe2001"));
    assert_eq!(of(&["costs=slow"]).as_deref(), Some("Roe2002"));
    for cost in [
        "host.receive_per_byte=2ns",
        "on.sim.host.send_per_packet=0s",
        "host.send_per_packet=1us,2us",
    ] {
        assert_eq!(of(&[cost]), None, "{cost}");
    }
}

#[test]
fn backends_tables_and_keys_that_are_none_are_rejected_with_their_place() {
    let with = |line: &str| ON.replace("[on.sim.host]", line);
    rejected(
        &with("[on.mars.host]"),
        &[],
        "experiments/x.toml:7: on.mars: there is no backend `mars`; choose one of netns, hosts, sim, model",
    );
    rejected(
        &with("[on.sim.hosts]"),
        &[],
        "experiments/x.toml:7: on.sim.hosts: unknown table; did you mean `host`?",
    );
    rejected(
        ON,
        &["on.sim=3"],
        "--set on.sim=3: on.sim = 3: write a table",
    );
    rejected(
        &ON.replace("send_per_packet", "send_per_paket"),
        &[],
        "experiments/x.toml:8: host.send_per_paket = \"3us\": unknown key; did you mean `host.send_per_packet`?",
    );
    rejected(
        &ON.replace("buffer =", "bufer ="),
        &[],
        "experiments/x.toml:12: on.netns.network.bufer = \"700kB\": unknown key `network.bufer`; did you mean `network.buffer`?",
    );
    rejected(
        ON,
        &["on.netns.network.mtu=4000"],
        "--set on.netns.network.mtu=4000: on.netns.network.mtu = 4000: this key is swept as network.mtu, in every backend",
    );
    rejected(
        ON,
        &["on.sim.network.rate=1gbit,2gbit"],
        "--set on.sim.network.rate=1gbit,2gbit: on.sim.network.rate = [\"1gbit\", \"2gbit\"]: a backend has one value of its own; levels are for all backends",
    );
}

const PUBLISHED: &str = "\
format = 1
name = \"on\"
aliases.rate = \"network.rate\"
aliases.message = \"traffic.message\"
[on.published.traffic]
message = \"mtu-72\"
[sweep]
\"network.mtu\" = [1500, 9000]
[[published]]
metric = \"throughput\"
unit = \"Mbit/s\"
factors = { rate = \"1gbit\" }
values = { \"1500\" = 750.94, \"9000\" = 938.88 }
source = \"[Praptodiyono2019 Table 4]\"
";

#[test]
fn a_key_of_the_study_counts_where_its_figures_do() {
    let message = |sets: &[&str]| {
        let plan = plan(PUBLISHED, sets);
        assert_eq!(super::plan(&plan.text, &[]).hash, plan.hash);
        transfer(&plan, plan.cells.len() - 1).message.get()
    };
    assert_eq!(message(&[]), 8928);
    assert_eq!(message(&["rate=1gbit,10gbit"]), 8928);
    assert_eq!(message(&["rate=10gbit"]), 1428);
    assert_eq!(message(&["rate=none"]), 1428);
    assert_eq!(message(&["message=500"]), 500);
    assert_eq!(message(&["rate=none", "message=mtu-72"]), 8928);
    // The resolved text of either is the same experiment with the key written out.
    let written = PUBLISHED.replace("[on.published.traffic]", "[traffic]");
    assert_eq!(plan(&written, &[]).hash, plan(PUBLISHED, &[]).hash);
    let trials = PUBLISHED.replace(
        "[on.published.traffic]\nmessage = \"mtu-72\"",
        "[on.published.trials]\nrepeat = 3",
    );
    let why = planned(&trials, &[]).unwrap_err().to_string();
    assert!(why.contains("on.published.trials: unknown table"), "{why}");
}

const CASES: &str = "\
format = 1
name = \"cases\"
[choices.case.near]
\"traffic.size\" = \"1MB\"
[choices.case.far]
\"traffic.size\" = \"2MB\"
\"network.delay\" = \"10ms\"
\"network.link\" = \"emulated\"
[on.sim.choices.case.near]
\"traffic.size\" = \"3MB\"
[on.hosts.network]
rate = \"none\"
[on.hosts.choices.case.far]
left_out = \"the path has the delay that it has\"
[sweep]
case = [\"far\", \"near\"]
\"network.mtu\" = [1500, 9000]
";

fn on_hosts(text: &str, sets: &[&str]) -> Result<Plan> {
    let mut experiment = Experiment::parse(text, "experiments/x.toml")?;
    for set in sets {
        experiment.set(set)?;
    }
    experiment.plan(Backend::Hosts, unchecked)
}

#[test]
fn a_word_stands_for_other_keys_in_one_backend() {
    let size = |plan: &Plan| transfer(plan, 2).size;
    assert_eq!(size(&sim(CASES, &[])), Bytes::new(3_000_000));
    assert_eq!(size(&netns(CASES)), Bytes::new(1_000_000));
    check_round_trip(&netns(CASES));
}

#[test]
fn cells_of_a_word_that_a_backend_leaves_out_are_kept_with_the_reason_and_not_read() {
    let plan = on_hosts(CASES, &[]).unwrap();
    let outcomes: Vec<Option<&str>> = plan
        .cells
        .iter()
        .map(|cell| cell.setting.as_ref().err().map(String::as_str))
        .collect();
    let why = Some("not measured here: the path has the delay that it has");
    assert_eq!(outcomes, [why, why, None, None]);
    let again = on_hosts(&plan.text, &[]).unwrap();
    assert_eq!((&again.text, &again.hash), (&plan.text, &plan.hash));
    assert!(netns(CASES).cells.iter().all(|cell| cell.setting.is_ok()));
}

#[test]
fn a_run_of_which_all_is_left_out_is_rejected_with_the_reason() {
    let error = on_hosts(CASES, &["case=far"]).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "experiments/x.toml:1: sweep: not measured here: the path has the delay that it has"
    );
}

#[test]
fn a_reason_is_one_line() {
    let text = CASES.replace(
        "left_out = \"the path has the delay that it has\"",
        "left_out = 1",
    );
    let error = on_hosts(&text, &[]).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "experiments/x.toml:14: choices.case.far.left_out = 1: write one line of text in quotes"
    );
}

#[test]
fn an_unknown_key_of_a_word_in_another_backend_is_rejected() {
    for (wrong, right) in [
        ("[on.sim.choises.case.near]", "did you mean `choices`"),
        (
            "[on.sim.choices.case.near]\n\"network.dealy\" = \"1ms\"",
            "unknown key",
        ),
    ] {
        let text = CASES.replace("[on.sim.choices.case.near]", wrong);
        let error = on_hosts(&text, &[]).unwrap_err();
        assert!(error.to_string().contains(right), "{error:#}");
    }
}

/// The four pairs of systems of the study: simulated where hosts are fitted to them, and no
/// longer when an argument sets what all hosts cost.
#[test]
fn pairs_with_windows_are_simulated_by_fitted_hosts_alone() {
    let of = |backend, sets: &[&str]| {
        let mut experiment = Experiment::load("os-comparison").unwrap();
        for set in ["offloads=off", "mtu=1500"].iter().chain(sets) {
            experiment.set(set).unwrap();
        }
        let plan = experiment.plan(backend, unchecked).unwrap();
        let cells = plan.cells.into_iter().map(|cell| match cell.setting {
            Ok(setting) => setting.host.costs.send_per_packet.as_nanos().to_string(),
            Err(why) => why,
        });
        cells.collect::<Vec<_>>()
    };
    assert_eq!(of(Backend::Sim, &[]), ["2340", "2087", "2868", "3908"]);
    assert_eq!(of(Backend::Model, &[]), ["3213", "2883", "3898", "5247"]);
    // A search of forms varies the costs of Linux hosts; fits of the others stay.
    let costs = of(Backend::Sim, &["costs=packets"]);
    assert_eq!(costs, ["11800", "2087", "2868", "3908"]);
    let none = "not simulated: no costs of hosts are fitted to these systems";
    for set in [
        "host.send_per_packet=1us",
        "on.sim.host.send_per_packet=1us",
    ] {
        assert_eq!(
            of(Backend::Sim, &[set]),
            ["1000", none, none, none],
            "{set}"
        );
    }
    let absent = "not measured here: needs a Windows host";
    assert_eq!(of(Backend::Netns, &[]), ["0", absent, absent, absent]);
    // Between named hosts, their systems decide, which no plan knows.
    assert_eq!(of(Backend::Hosts, &[]), ["0"; 4]);
}
