use plan::Resumed;
use plan::synthetic::{factors, facts, trial};

use super::*;

fn good(throughput: f64) -> Trial {
    let mut trial = trial(factors(9000), 1, &[("throughput", throughput)]);
    trial.evidence.insert("limit_mbit".into(), 989.9.into());
    trial.evidence.insert("congestion".into(), "cubic".into());
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
    other.evidence.insert("limit_mbit".into(), 949.25.into());
    other.metrics.insert("throughput".into(), 949.3);
    let certificate = certify(&facts(), &[good(990.5), other]);
    assert!(certificate.passed && certificate.notes.is_empty());
    assert_eq!(
        certificate.facts,
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
    let certificate = certify(&facts, &[good(980.0)]);
    let line = "pacing error, 99th percentile: 8.5 us".to_owned();
    assert!(certificate.facts.contains(&line), "{certificate:?}");
}

#[test]
fn goodput_above_the_limit_fails_even_if_nobody_flagged_it() {
    assert_eq!(above_limit(&good(991.8)), None, "within 0.2 %");
    assert_eq!(above_limit(&good(992.0)), Some((992.0, 989.9)));
    let certificate = certify(&facts(), &[good(980.0), good(1100.0)]);
    assert!(!certificate.passed);
    assert_eq!(
        certificate.faults,
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
    late.evidence
        .insert("goodput_late_percent".into(), 0.5.into());
    assert_eq!(above_limit(&late), None);
    late.metrics.insert("throughput".into(), 1_000.0);
    assert!(above_limit(&late).is_some());
}

#[test]
fn each_flag_reads_back_and_weighs_as_it_should() {
    for flag in Flag::ALL {
        assert_eq!(flag.as_str().parse::<Flag>().unwrap(), flag);
        let certificate = certify(&facts(), &[flagged(flag.as_str())]);
        assert_eq!(certificate.passed, !flag.fails(), "{flag}");
        let lines = certificate.faults.len() + certificate.notes.len();
        assert_eq!(lines, 1, "{flag}");
    }
    assert!(!certify(&facts(), &[flagged("on-fire")]).passed);
    assert!("on-fire".parse::<Flag>().is_err());
}

#[test]
fn a_machine_that_was_not_idle_is_warned_of() {
    let trials = |disturbed: usize| {
        let of = |number| match number < disturbed {
            true => flagged("disturbed"),
            false => good(980.0),
        };
        (0..10).map(of).collect::<Vec<_>>()
    };
    assert_eq!(certify(&facts(), &trials(2)).warning, None);
    let certificate = certify(&facts(), &trials(3));
    assert!(certificate.passed);
    assert!(
        certificate
            .warning
            .unwrap()
            .starts_with("other work disturbed 3 of 10 trials")
    );
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
    let certificate = certify(&mixed, &[good(980.0), failed.clone()]);
    assert!(certificate.passed);
    assert_eq!(certificate.notes.len(), 2);
    assert!(certificate.notes[0].contains("1 of 2 trials failed"));
    assert!(!certify(&facts(), &[failed]).passed, "nothing finished");
}
