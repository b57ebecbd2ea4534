//! The names of all disciplines as words of the factor `queue`.

use proptest::prelude::*;
use queue::{DISCIPLINES, Spec};

use super::*;

/// The experiments with a queue that is studied, one level of each other factor,
/// and the number of cells that remain for each queue.
const AQM: [(&str, &[&str]); 9] = [
    ("aqm-ablations", &["frames=bundles"]),
    ("aqm-congestion", &["frames=bundles", "scenario=increase"]),
    (
        "aqm-interpretations",
        &[
            "packets=3000B",
            "buffer=20",
            "count=frames",
            "curve=text",
            "min_rto=1s",
            "long=open",
        ],
    ),
    (
        "buffer-sizing",
        &["congestion=reno", "flows=1", "mtu=1500", "buffer=b100"],
    ),
    (
        "kernel-and-simulator",
        &["congestion=reno", "buffer=100kB", "mtu=1500"],
    ),
    ("mtu-and-queues", &["load=30%", "mtu=1500"]),
    ("red-claims", &["study=flood08"]),
    ("red-decrease", &[]),
    ("red-increase", &[]),
];

fn shipped_with(name: &str, sets: &[&str]) -> Plan {
    let mut experiment = Experiment::load(name).unwrap();
    for set in sets {
        experiment.set(set).unwrap();
    }
    let plan = experiment.plan(Backend::Sim, |_| Ok(()));
    plan.unwrap_or_else(|error| panic!("{name} --set {sets:?}: {error:#}"))
}

/// The queue of the narrow link, or of the first one.
fn queue_of(plan: &Plan, cell: usize) -> Spec {
    let links = &setting(plan, cell).network.links;
    let narrow = links.iter().find(|link| link.name == "bottleneck");
    narrow.unwrap_or(&links[0]).queue()
}

#[test]
fn every_discipline_is_a_word_of_every_aqm_experiment() {
    let names: Vec<&str> = DISCIPLINES.iter().map(|choice| choice.name).collect();
    let all = format!("queue={}", names.join(","));
    for (experiment, others) in AQM {
        let plan = shipped_with(experiment, &[others, &[&*all]].concat());
        assert_eq!(plan.cells.len(), names.len(), "{experiment}");
        for (cell, name) in names.iter().enumerate() {
            let factors = &factors(&plan)[cell];
            assert!(factors.contains(&format!("queue={name}")), "{factors}");
            let ours = format!("{:?}", queue_of(&plan, cell)).to_lowercase();
            let wanted = match (experiment, *name) {
                // A word of these files: RED that adapts.
                ("red-increase" | "red-decrease", "ared") => "red(",
                (_, "ared") => "adaptivered(",
                (_, "fq_codel") => "fqcodel(",
                (_, other) => other,
            };
            assert!(ours.starts_with(wanted), "{experiment} {name}: {ours}");
        }
    }
}

#[test]
fn a_target_is_not_shorter_than_a_packet_takes() {
    let target = |set: &str| match queue_of(&shipped_with("red-increase", &[set]), 0) {
        Spec::Codel(settings) => settings.target,
        Spec::FqCodel(settings) => settings.codel.target,
        Spec::Pie(settings) => settings.target,
        other => panic!("{other:?}"),
    };
    // 1500 bytes take 8 ms at 1.5 Mbit/s.
    assert_eq!(target("queue=codel"), Span::from_millis(12));
    assert_eq!(target("queue=fq_codel,red"), Span::from_millis(12));
    // The default of PIE is long enough.
    assert_eq!(target("queue=pie"), Span::from_millis(15));
    let mut stated = Experiment::load("red-increase").unwrap();
    stated.set("queue=codel").unwrap();
    stated.set("links.bottleneck.codel.target=7ms").unwrap();
    let plan = stated.plan(Backend::Sim, |_| Ok(())).unwrap();
    assert!(
        matches!(queue_of(&plan, 0), Spec::Codel(codel) if codel.target == Span::from_millis(7))
    );
    let fast = shipped_with(
        "buffer-sizing",
        &["queue=codel", "flows=1", "congestion=reno"],
    );
    assert!(
        matches!(queue_of(&fast, 0), Spec::Codel(codel) if codel.target == Span::from_millis(5))
    );
}

#[test]
fn a_plan_with_such_a_word_reads_back_the_same() {
    for set in ["queue=codel", "queue=red,codel,pie,fq_codel"] {
        let plan = shipped_with("aqm-congestion", &[set, "scenario=increase"]);
        let again = Experiment::parse(&plan.text, "plan.toml").unwrap();
        let again = again.plan(Backend::Sim, |_| Ok(())).unwrap();
        assert_eq!((&again.hash, &again.text), (&plan.hash, &plan.text));
        for cell in 0..plan.cells.len() {
            assert_eq!(setting(&again, cell), setting(&plan, cell), "{set} {cell}");
        }
    }
}

#[test]
fn words_of_other_choices_are_those_of_the_file() {
    let rejected = |name: &str, set: &str| {
        let mut experiment = Experiment::load(name).unwrap();
        let rejection = experiment
            .set(set)
            .and_then(|()| experiment.plan(Backend::Sim, |_| Ok(())));
        rejection.unwrap_err().to_string()
    };
    let error = rejected("aqm-congestion", "scenario=codel");
    assert!(
        error.ends_with("write \"increase\" or \"decrease\""),
        "{error}"
    );
    let error = rejected("aqm-congestion", "queue=cdel");
    assert!(error.contains("\"codel\""), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_word_is_taken_or_rejected(word in "[a-z_]{1,8}|codel|rio|m?red(head)?") {
        let mut experiment = Experiment::load("red-increase").unwrap();
        let _ = experiment.set(&format!("queue={word}"));
        let _ = experiment.plan(Backend::Sim, |_| Ok(()));
    }
}
