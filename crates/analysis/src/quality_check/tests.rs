use plan::synthetic::{factors, facts, trial};
use plan::{Resumed, RoleFacts, evidence};

use super::*;

fn good(throughput: f64) -> Trial {
    let mut trial = trial(factors(9000), 1, &[("throughput", throughput)]);
    trial.evidence.insert(evidence::LIMIT_MBIT, 989.9);
    trial
        .evidence
        .insert(evidence::CONGESTION, "cubic".to_owned());
    trial
}

fn flagged(flag: &str) -> Trial {
    let mut trial = good(980.0);
    trial.flags.push(flag.into());
    trial
}

#[test]
fn a_sound_run_passes_and_says_what_it_ran_on() {
    let mut other = good(970.0);
    other.evidence.insert(evidence::LIMIT_MBIT, 949.25);
    other.metrics.insert("throughput", 949.3);
    let quality_check = check_quality(&facts(), &[good(990.5), other]);
    assert_eq!(quality_check.state(), State::Passed);
    assert!(quality_check.notes.is_empty());
    assert_eq!(
        quality_check.facts,
        [
            "jumbolab 0.1.0, build b1",
            "Linux 6.18.0, 2 x Test CPU, run by an ordinary user",
            "memory gib: 8",
            "congestion control: cubic",
            "link limit: 949.25 to 989.9 Mbit/s",
        ]
    );
}

#[test]
fn facts_of_the_machine_are_told_with_their_units() {
    let mut facts = facts();
    let late = ("pacing_late_us_p99".to_owned(), 8.5.into());
    facts.host.as_mut().unwrap().machine.extend([late]);
    let quality_check = check_quality(&facts, &[good(980.0)]);
    let line = "pacing error, 99th percentile: 8.5 us".to_owned();
    assert!(quality_check.facts.contains(&line), "{quality_check:?}");
}

#[test]
fn named_hosts_are_described_with_their_systems_and_interfaces() {
    let host = |role: &str, system: &str| RoleFacts {
        role: role.into(),
        name: "vm".into(),
        interface: "eth1".into(),
        system: system.into(),
        interfaces: [(
            "eth1".to_owned(),
            [("driver".to_owned(), "ixgbe".into())].into(),
        )]
        .into(),
        host: facts().host.unwrap(),
    };
    let mut facts = facts();
    facts.host = None;
    facts.hosts = vec![
        host("sender", "Linux"),
        host("receiver", "FreeBSD"),
        host("router", "Linux"),
    ];
    let lines = check_quality(&facts, &[good(980.0)]).facts;
    for line in [
        "systems of these hosts: LU-FreeBSD",
        "router vm, eth1: driver: ixgbe",
        "router vm, eth1: memory gib: 8",
    ] {
        assert!(lines.iter().any(|other| other == line), "{line}: {lines:?}");
    }
    facts.hosts[1].system = "Windows_NT".into();
    assert_eq!(facts.scenario().as_deref(), Some("LU-WS"));
    assert_eq!(facts.judges_nothing(), None);
    facts.hosts[1].system = "Windows (Wine)".into();
    assert_eq!(facts.scenario().as_deref(), Some("LU-Wine"));
    let note = "Wine, not Windows: nothing that is published is judged".to_owned();
    let notes = check_quality(&facts, &[good(980.0)]).notes;
    assert!(notes.contains(&note), "{notes:?}");
    // A run of a version that did not ask.
    facts.hosts[1].system.clear();
    assert_eq!(facts.scenario(), None);
}

#[test]
fn goodput_above_the_limit_fails_even_if_nobody_flagged_it() {
    assert_eq!(above_limit(&good(991.8)), None, "within 0.2 %");
    assert_eq!(above_limit(&good(992.0)), Some((992.0, 989.9)));
    let quality_check = check_quality(&facts(), &[good(980.0), good(1100.0)]);
    assert_eq!(quality_check.state(), State::Failed);
    assert_eq!(
        quality_check.faults,
        [
            "above-limit: goodput above what the link can carry in 1 of 2 trials, \
             first mtu=9000-r01 (1100.0 of 989.9 Mbit/s)"
        ]
    );
}

#[test]
fn goodput_over_emulated_links_may_read_as_much_too_high_as_they_were_late() {
    let mut late = good(995.0);
    assert!(above_limit(&late).is_some());
    late.evidence.insert(evidence::GOODPUT_LATE_PERCENT, 0.5);
    assert_eq!(above_limit(&late), None);
    late.metrics.insert("throughput", 1_000.0);
    assert!(above_limit(&late).is_some());
}

#[test]
fn each_flag_reads_back_and_weighs_as_it_should() {
    for flag in Flag::ALL {
        assert_eq!(flag.as_str().parse::<Flag>().unwrap(), flag);
        let quality_check = check_quality(&facts(), &[flagged(flag.as_str())]);
        let failed = quality_check.state() == State::Failed;
        assert_eq!(failed, flag.fails(), "{flag}");
        let lines = quality_check.faults.len() + quality_check.notes.len();
        assert_eq!(lines, 1, "{flag}");
    }
    let unknown = check_quality(&facts(), &[flagged("on-fire")]);
    assert_eq!(unknown.state(), State::Failed);
    assert!("on-fire".parse::<Flag>().is_err());
}

#[test]
fn stamps_of_the_program_are_noted_with_the_resolution_of_times() {
    let mut stamped = flagged("program-stamps");
    stamped.evidence.insert(evidence::STAMP_LATE_US, 61.7);
    stamped.evidence.insert(evidence::ECHO_STAMP_LATE_US, 20.0);
    let quality_check = check_quality(&facts(), &[good(980.0), stamped]);
    assert_eq!(quality_check.state(), State::Passed);
    assert_eq!(
        quality_check.notes,
        [
            "program-stamps: a system stamps no arrivals, so the program did in 1 of 2 trials, \
             first mtu=9000-r01; times of single arrivals are resolved to 62 us"
        ]
    );
}

/// Ten sound trials, the first of which have `flag`.
fn ten(flag: &str, flagged_trials: usize) -> Vec<Trial> {
    let of = |number| match number < flagged_trials {
        true => flagged(flag),
        false => good(980.0),
    };
    (0..10).map(of).collect()
}

#[test]
fn a_disturbed_value_that_counts_is_a_warning_and_no_fault() {
    for (disturbed, state) in [
        (0, State::Passed),
        (1, State::PassedWithWarnings),
        (10, State::PassedWithWarnings),
    ] {
        let quality_check = check_quality(&facts(), &ten("disturbed", disturbed));
        assert_eq!(quality_check.state(), state, "{disturbed} of 10");
        assert!(quality_check.faults.is_empty());
    }
    let quality_check = check_quality(&facts(), &ten("disturbed", 3));
    let warnings: Vec<String> = quality_check
        .warnings
        .iter()
        .map(Warning::to_string)
        .collect();
    assert_eq!(
        warnings,
        ["approximate results: other work disturbed 3 of 10 trials; repeat on an idle machine"]
    );
    let mut left_out = ten("disturbed", 3);
    for trial in &mut left_out[..3] {
        trial.metrics.retain(|_| false);
    }
    let quality_check = check_quality(&facts(), &left_out);
    assert_eq!(quality_check.state(), State::Passed);
    assert!(quality_check.notes[0].starts_with("disturbed: "));
}

#[test]
fn one_cell_whose_host_was_measured_is_a_warning_however_many_others_there_are() {
    let others = (0..30).map(|_| Trial {
        factors: factors(1500).into(),
        ..good(940.0)
    });
    let trials: Vec<Trial> = others.chain(ten("cpu-bound", 2)).collect();
    let quality_check = check_quality(&facts(), &trials);
    assert_eq!(quality_check.state(), State::PassedWithWarnings);
    let warning = quality_check.warnings[0];
    assert_eq!((warning.trials, warning.of), (2, 40));
    let words = warning.to_string();
    let begin = "the host was measured, not the link";
    assert!(words.starts_with(begin), "{words}");
    // So is one whose goodput nothing explains.
    let slow: Vec<Trial> = trials[..30]
        .iter()
        .cloned()
        .chain(ten("below-limit", 2))
        .collect();
    let quality_check = check_quality(&facts(), &slow);
    assert_eq!(quality_check.state(), State::PassedWithWarnings);
    let warning = quality_check.warnings[0];
    assert_eq!(
        warning.to_string(),
        "goodput is below half of what links, windows and hosts allow in 2 of 40 trials; look at timeouts"
    );
}

#[test]
fn a_fault_weighs_more_than_a_warning_and_failed_trials_are_not_counted() {
    let mut trials = ten("disturbed", 5);
    for trial in &mut trials[5..] {
        trial.failure = Some("timed out".into());
    }
    let quality_check = check_quality(&facts(), &trials);
    assert_eq!(quality_check.state(), State::PassedWithWarnings);
    assert_eq!(
        (
            quality_check.warnings[0].trials,
            quality_check.warnings[0].of
        ),
        (5, 5)
    );
    trials.push(flagged("mtu-differs"));
    let quality_check = check_quality(&facts(), &trials);
    assert_eq!(quality_check.state(), State::Failed);
    assert_eq!(quality_check.warnings.len(), 1);
}

#[test]
fn the_words_of_a_state_are_those_of_the_formats() {
    for (state, words) in [
        (State::Passed, "passed"),
        (State::PassedWithWarnings, "passed with warnings"),
        (State::Failed, "failed"),
    ] {
        let in_json = serde_json::to_value(state).unwrap();
        assert_eq!(in_json, words.replace(' ', "_"));
        assert_eq!(state.to_string().to_lowercase(), words);
    }
}

#[test]
fn failed_trials_and_forced_resumption_are_noted() {
    let mut failed = trial(factors(9000), 2, &[]);
    failed.failure = Some("timed out".into());
    let mut mixed = facts();
    mixed.resumed.push(Resumed {
        version: "0.2.0".into(),
        binary: "b2".into(),
        kernel: Some("Linux 7.0.0".into()),
    });
    let quality_check = check_quality(&mixed, &[good(980.0), failed.clone()]);
    assert_eq!(quality_check.state(), State::Passed);
    assert_eq!(quality_check.notes.len(), 2);
    assert!(quality_check.notes[0].contains("1 of 2 trials failed"));
    let nothing = check_quality(&facts(), &[failed]);
    assert_eq!(nothing.state(), State::Failed, "nothing finished");
}
