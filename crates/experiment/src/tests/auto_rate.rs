//! Links whose rate the machine decides.

use super::*;

fn experiment(text: &str) -> Experiment {
    Experiment::parse(text, "experiments/x.toml").unwrap()
}

/// An experiment with these lines besides its head and its sweep.
fn with(lines: &str) -> Experiment {
    let (head, sweep) = SMALL.split_once("[network]\nip = 6\n").unwrap();
    experiment(&format!("{head}{lines}{sweep}"))
}

fn megabits(number: u64) -> Rate {
    Rate::from_bits_per_second(number * 1_000_000).unwrap()
}

/// The rates of the links in the first cell.
fn rates(experiment: &Experiment, backend: Backend) -> Vec<Option<Rate>> {
    let plan = experiment.clone().plan(backend, unchecked).unwrap();
    let setting = plan.cells[0].setting.as_ref().unwrap();
    setting.network.links.iter().map(|link| link.rate).collect()
}

#[test]
fn auto_is_a_rate_of_all_links_of_one_link_of_a_backend_and_of_a_word() {
    for lines in [
        "[network]\nrate = \"auto\"\n",
        "[links.sender-receiver]\nrate = \"auto\"\n",
        "[on.netns.network]\nrate = \"auto\"\n",
    ] {
        let auto = with(lines);
        assert!(auto.has_auto_rate(), "{lines}");
        assert_eq!(
            rates(&auto, Backend::Netns),
            [Some(megabits(1_000))],
            "{lines}"
        );
        let slower = auto.with_auto_rate(megabits(200));
        assert!(!slower.has_auto_rate(), "{lines}");
        assert_eq!(
            rates(&slower, Backend::Netns),
            [Some(megabits(200))],
            "{lines}"
        );
    }
    let words = experiment(
        "format = 1\nname = \"small\"\n[choices.case.lan]\n\"network.rate\" = \"auto\"\n[choices.case.far]\n\"network.rate\" = \"10mbit\"\n[sweep]\ncase = [\"lan\", \"far\"]\n",
    );
    let slower = words.with_auto_rate(megabits(500));
    assert_eq!(rates(&slower, Backend::Netns), [Some(megabits(500))]);
    let plan = slower.plan(Backend::Netns, unchecked).unwrap();
    let again = experiment(&plan.text)
        .plan(Backend::Netns, unchecked)
        .unwrap();
    assert_eq!(again.hash, plan.hash);
    assert_eq!(again.cells[0].setting, plan.cells[0].setting);
}

#[test]
fn a_chosen_rate_makes_the_plan_of_that_rate() {
    let auto = with("[network]\nrate = \"auto\"\n").with_auto_rate(megabits(100));
    let plan = auto.plan(Backend::Netns, unchecked).unwrap();
    let written = with("[network]\nrate = \"100mbit\"\n");
    let written = written.plan(Backend::Netns, unchecked).unwrap();
    assert_eq!(plan.text, written.text);
    assert_eq!(plan.hash, written.hash);
}

#[test]
fn auto_is_the_largest_rate_where_no_machine_is_asked_and_none_between_hosts() {
    let auto = with("[network]\nrate = \"auto\"\n");
    assert_eq!(rates(&auto, Backend::Sim), [Some(megabits(1_000))]);
    assert_eq!(rates(&auto, Backend::Model), [Some(megabits(1_000))]);
    assert_eq!(rates(&auto, Backend::Hosts), [None]);
}

#[test]
fn auto_is_no_level_of_a_sweep() {
    let mut swept = with("");
    swept.set("rate=auto,100mbit").unwrap();
    let error = swept.plan(Backend::Netns, unchecked).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "--set rate=auto,100mbit: network.rate = \"auto\": \"auto\" is no level of a sweep; write rates, for instance \"1gbit\""
    );
}
