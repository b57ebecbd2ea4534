use super::*;

/// A file with two unstated settings, one of them a choice of several keys.
const FILE: &str = "\
format = 1
name = \"unstated\"
[aliases]
tcp = \"tcp.agent\"
rate = \"network.rate\"
[choices.ends.slow]
\"host.send_per_packet\" = \"5us\"
\"host.receive_per_packet\" = \"5us\"
[choices.ends.fast]
\"host.send_per_packet\" = \"1us\"
\"host.receive_per_packet\" = \"1us\"
[sweep]
\"network.mtu\" = [1500, 9000]
[[unstated]]
name = \"tcp\"
values = [\"reno\", \"newreno\", \"sack1\"]
reason = \"the paper names none\"
[[unstated]]
name = \"ends\"
values = [\"slow\", \"fast\"]
reason = \"the paper does not say how fast they are\"
[[unstated]]
name = \"network.delay\"
values = [\"5ms\"]
range = { from = \"1ms\", to = \"100ms\", steps = 3, scale = \"log\" }
reason = \"somewhere in one country\"
";

fn plan_of(experiment: Experiment) -> Plan {
    experiment.plan(Backend::Sim, |_| Ok(())).unwrap()
}

fn parsed(text: &str) -> Experiment {
    Experiment::parse(text, "my.toml").unwrap()
}

/// Whether the resolved text has this line.
fn has(plan: &Plan, line: &str) -> bool {
    plan.text.lines().any(|own| own == line)
}

#[test]
fn a_run_uses_the_first_values_and_each_point_its_own() {
    let experiment = parsed(FILE);
    let plan = plan_of(experiment.clone());
    let names: Vec<&str> = plan.unstated.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["tcp", "ends", "network.delay"]);
    let delays: Vec<String> = plan.unstated[2]
        .values
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(delays, ["5ms", "1ms", "10ms", "100ms"]);
    let of = |plan: &Plan, lines: [&str; 3]| lines.iter().all(|line| has(plan, line));
    let slow = "send_per_packet = \"5us\"";
    assert!(
        of(&plan, ["agent = \"reno\"", slow, "delay = \"5ms\""]),
        "{}",
        plan.text
    );
    let other = plan_of(
        experiment
            .with_unstated(&plan.unstated, &[2, 1, 3])
            .unwrap(),
    );
    let fast = "send_per_packet = \"1us\"";
    assert!(
        of(&other, ["agent = \"sack1\"", fast, "delay = \"100ms\""]),
        "{}",
        other.text
    );
    assert_eq!(other.cells[0].factors, plan.cells[0].factors);
    assert_ne!(other.cells[0].setting, plan.cells[0].setting);
}

#[test]
fn an_experiment_is_written_so_that_defaults_still_follow() {
    let mut experiment = parsed(FILE);
    experiment.set("rate=10mbit").unwrap();
    let again = parsed(&experiment.written());
    let settings = plan_of(experiment.clone()).unstated;
    for point in [[0, 0, 0], [2, 1, 3]] {
        let [one, other] =
            [&experiment, &again].map(|own| plan_of(own.with_unstated(&settings, &point).unwrap()));
        assert_eq!(one.text, other.text);
        assert_eq!(one.cells[1].setting, other.cells[1].setting);
    }
}

#[test]
fn without_unstated_settings_the_same_trials_are_run() {
    let plan = plan_of(parsed(FILE));
    let (stated, _) = FILE.split_once("[[unstated]]").unwrap();
    let stated = stated.replace(
        "[sweep]",
        "[tcp]\nagent = \"reno\"\n[host]\nsend_per_packet = \"5us\"\nreceive_per_packet = \"5us\"\n[network]\ndelay = \"5ms\"\n[sweep]",
    );
    let stated = plan_of(parsed(&stated));
    let settings = |plan: &Plan| -> Vec<_> {
        plan.cells
            .iter()
            .map(|cell| (cell.factors.clone(), cell.setting.clone()))
            .collect()
    };
    assert_eq!(settings(&plan), settings(&stated));
}

#[test]
fn a_setting_of_one_backend_is_searched_there_alone() {
    let simulated = |name: &str| format!("name = \"{name}\"\non = \"sim\"\n");
    let on_sim = FILE
        .replacen("name = \"ends\"\n", &simulated("ends"), 1)
        .replacen("name = \"tcp\"\n", &simulated("tcp"), 1)
        + "[on.sim.host]\nsend_per_packet = \"3us\"\n[on.netns.network]\nlink = \"emulated\"\n";
    let experiment = parsed(&on_sim);
    let plan = plan_of(experiment.clone());
    assert_eq!(plan.unstated.len(), 3);
    assert!(has(&plan, "send_per_packet = \"5us\""), "{}", plan.text);
    let fast = experiment.with_unstated(&plan.unstated, &[0, 1, 0]);
    assert!(has(&plan_of(fast.unwrap()), "send_per_packet = \"1us\""));
    // In the other backend it neither is nor is searched.
    let other = parsed(&on_sim).plan(Backend::Netns, |_| Ok(())).unwrap();
    let names: Vec<&str> = other.unstated.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["network.delay"]);
    assert!(!has(&other, "send_per_packet = \"5us\""), "{}", other.text);
    // One of its keys states it, in whichever table.
    for set in [
        "host.send_per_packet=7us",
        "on.sim.host.send_per_packet=7us",
    ] {
        let mut stated = parsed(&on_sim);
        stated.set(set).unwrap();
        let plan = plan_of(stated);
        assert_eq!(plan.unstated.len(), 2, "{set}");
        assert!(has(&plan, "send_per_packet = \"7us\""), "{set}");
    }
}

#[test]
fn a_value_that_another_table_would_hide_is_rejected() {
    let hidden = format!("{FILE}[on.sim.network]\ndelay = \"9ms\"\n");
    let rejected = parsed(&hidden).plan(Backend::Sim, |_| Ok(())).unwrap_err();
    let words = format!("{rejected:#}");
    assert!(words.contains("[on.sim] has it as well"), "{words}");
    let elsewhere = hidden.replace("on.sim.", "on.netns.");
    assert_eq!(plan_of(parsed(&elsewhere)).unstated.len(), 3);
}

#[test]
fn what_is_set_is_stated_and_a_plan_reads_back_as_it_was_run() {
    for (set, left) in [
        (&["tcp=sack1"][..], &["ends", "network.delay"][..]),
        (&["tcp=sack1,reno"], &["ends", "network.delay"]),
        (&["host.send_per_packet=7us"], &["tcp", "network.delay"]),
        (&["ends=fast", "network.delay=3ms"], &["tcp"]),
        (&["rate=10mbit"], &["tcp", "ends", "network.delay"]),
        (&["tcp=reno", "ends=slow", "network.delay=1ms"], &[]),
    ] {
        let mut experiment = parsed(FILE);
        for set in set {
            experiment.set(set).unwrap();
        }
        let plan = plan_of(experiment);
        let names: Vec<&str> = plan.unstated.iter().map(|one| &*one.name).collect();
        assert_eq!(names, left, "{set:?}");
        let again = plan_of(parsed(&plan.text));
        assert_eq!(
            (&again.text, &again.hash),
            (&plan.text, &plan.hash),
            "{set:?}"
        );
        assert_eq!(again.unstated, plan.unstated);
        assert_eq!(again.cells[0].setting, plan.cells[0].setting);
    }
}

#[test]
fn what_cannot_be_searched_is_rejected_by_line() {
    for (old, new, words) in [
        ("name = \"tcp\"", "name = \"tpc\"", "did you mean `tcp`"),
        ("\"slow\", \"fast\"]", "\"slow\", \"quick\"]", "slow"),
        ("\"slow\", \"fast\"]", "\"slow\"]", "two values"),
        ("\"slow\", \"fast\"]", "\"slow\", \"slow\"]", "twice"),
        ("name = \"network.delay\"", "name = \"tcp\"", "twice"),
        (
            "name = \"network.delay\"",
            "name = \"network.mtu\"",
            "swept",
        ),
        (
            "reason = \"somewhere in one country\"",
            "",
            "reason is missing",
        ),
        ("to = \"100ms\"", "to = \"1s\"", "same unit"),
        ("from = \"1ms\"", "from = \"0ms\"", "above 0"),
        ("steps = 3", "steps = 1", "unstated.range.steps"),
    ] {
        assert!(FILE.contains(old), "{old}");
        let text = FILE.replacen(old, new, 1);
        let experiment = Experiment::parse(&text, "my.toml");
        let error = experiment.and_then(|experiment| experiment.plan(Backend::Sim, |_| Ok(())));
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("my.toml:") && error.contains(words),
            "{error}"
        );
    }
}
