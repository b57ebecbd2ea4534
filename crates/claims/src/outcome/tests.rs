use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::record::recorded;
use crate::register::papers;

/// The least number of claims of the papers that are done; of another one it is 1.
const LEAST: [(&str, usize); 4] = [("mred-ddf", 20), ("egan", 12), ("2017", 12), ("2019", 12)];

fn experiment(name: &str) -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../experiments/{name}.toml"));
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn texts(experiment: &toml::Table, table: &str, key: &str) -> Vec<String> {
    let rows = experiment.get(table).and_then(toml::Value::as_array);
    let rows = rows.into_iter().flatten();
    rows.map(|row| row[key].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_paper_has_as_many_claims_as_it_should() {
    for paper in papers().unwrap() {
        let least = LEAST.iter().find(|(name, _)| *name == paper.name);
        let least = least.map_or(1, |(_, least)| *least);
        assert!(paper.claims.len() >= least, "{}", paper.name);
    }
}

#[test]
fn every_claim_has_a_name_of_its_own_and_all_its_sentences() {
    let papers = papers().unwrap();
    let mut names = BTreeSet::new();
    for claim in papers.iter().flat_map(|paper| &paper.claims) {
        assert!(names.insert(&claim.id), "{} is there twice", claim.id);
        for text in [&claim.text, &claim.place, &claim.done, &claim.why] {
            assert!(!text.trim().is_empty(), "{}", claim.id);
        }
        assert!(claim.why.ends_with('.'), "{}", claim.id);
    }
}

#[test]
fn what_a_claim_refers_to_is_in_the_experiment() {
    let papers = papers().unwrap();
    for claim in papers.iter().flat_map(|paper| &paper.claims) {
        let id = &claim.id;
        for evidence in [&claim.evidence].into_iter().chain(&claim.fitted) {
            refers_to_something(id, evidence);
        }
    }
}

fn refers_to_something(id: &str, evidence: &Evidence) {
    match evidence {
        Evidence::Claim(one) => {
            let texts = texts(&experiment(&one.experiment), "claim", "text");
            assert!(texts.contains(&one.claim), "{id}: {texts:#?}");
        }
        Evidence::Jump(one) => {
            let texts = texts(&experiment(&one.experiment), "jump", "text");
            assert!(texts.contains(&one.jump), "{id}: {texts:#?}");
        }
        Evidence::Figure(one) => {
            let metrics = texts(&experiment(&one.experiment), "published", "metric");
            assert!(metrics.contains(&one.metric), "{id}: {metrics:#?}");
        }
        Evidence::Claims(one) => {
            let experiment = experiment(&one.experiment);
            let texts = ["claim", "jump"].map(|table| texts(&experiment, table, "text"));
            let texts = texts.concat();
            assert!(
                one.claims.iter().all(|text| texts.contains(text)),
                "{id}: {texts:#?}"
            );
        }
        _ => {}
    }
}

#[test]
fn a_claim_about_hosts_that_are_not_at_hand_has_a_second_verdict_by_fitted_ones() {
    let (papers, records) = (papers().unwrap(), recorded().unwrap());
    let all = outcomes(&papers, &records).unwrap();
    let with: Vec<_> = all.iter().filter(|one| one.fitted.is_some()).collect();
    assert!(with.len() >= 10, "{}", with.len());
    for one in &with {
        assert!(!matches!(
            one.verdict,
            Conclusion::Measured(Verdict::Reproduced)
        ));
        assert!(one.verdicts().contains("; simulated with fitted hosts: "));
    }
    let id = "2019-throughput-windows";
    let one = with.iter().find(|one| one.claim.id == id).unwrap();
    assert_eq!(
        one.verdicts(),
        "not measured; simulated with fitted hosts: direction only"
    );
    assert!(one.record.is_none() && one.elsewhere.is_empty());
    // At MTU 1500 the hosts are fitted: six of the nine settings are left.
    let id = "2019-windows-lowest";
    let one = with.iter().find(|one| one.claim.id == id).unwrap();
    let figure = &one.fitted.as_ref().unwrap().figure;
    assert!(figure.ends_with("holds in 6 of 6"), "{figure}");

    let claim = claim_of(
        "not_measured = \"no\"",
        "fitted = { experiment = \"x\", claim = \"y\" }",
    );
    let why = outcome(&papers[0], &claim, &records)
        .unwrap_err()
        .to_string();
    assert!(why.contains("with backend = \"sim\""), "{why}");
}

#[test]
fn every_claim_has_evidence_that_exists() {
    let (papers, records) = (papers().unwrap(), recorded().unwrap());
    let all = outcomes(&papers, &records).unwrap();
    let count: usize = papers.iter().map(|paper| paper.claims.len()).sum();
    assert_eq!(all.len(), count);
    let experiments: BTreeSet<&str> = all
        .iter()
        .filter(|one| one.record.is_none())
        .filter_map(|one| one.claim.evidence.run())
        .filter(|run| run.backend.is_none())
        .map(|run| run.experiment)
        .collect();
    assert_eq!(experiments, BTreeSet::new(), "not on record");
    for one in all {
        assert!(!one.figure.is_empty(), "{}", one.claim.id);
    }
}

/// Two backends may answer a claim differently, and a reader sees both.
#[test]
fn a_claim_shows_every_backend_that_has_a_record_of_it() {
    let record = |backend: &str, verdict: &str, mean: f64| -> Record {
        let text = format!(
            r#"{{"run": {{"experiment": "queues", "variant": null, "backend": "{backend}", "plan": "0", "version": "0",
                "kernel": null, "processors": null, "date": null, "trials": 2, "failed": 0, "complete": true,
                "quality_check": "passed"}},
            "verdicts": [{{"claim": "it falls", "verdict": "{verdict}", "holds": 1, "settings": 1, "unit": "ms",
                "lowest": {{"value": {mean}, "interval": null}}, "highest": null, "average": null}}],
            "sensitivity": []}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let claim = claim_of(r#"experiment = "queues", claim = "it falls""#, "");
    let records = [
        record("hosts", "not measured", 0.0),
        record("netns", "not reproduced", 2.5),
        record("sim", "reproduced", -1.5),
    ];
    let papers = papers().unwrap();
    let found = outcome(&papers[0], &claim, &records[1..]).unwrap();
    assert_eq!(found.verdict, Conclusion::Measured(Verdict::NotReproduced));
    assert_eq!(
        found.figures(),
        "2.50 ms (netns); -1.50 ms (sim: reproduced)"
    );
    // A backend that did not measure it has nothing to say.
    let evidence = &claim.evidence;
    let others = elsewhere(evidence, &records[2], &records);
    let backends: Vec<&str> = others.iter().map(|one| one.backend.as_str()).collect();
    assert_eq!(backends, ["netns"]);
}

#[test]
fn several_verdicts_come_to_the_worst() {
    use Verdict::{DirectionOnly, Inconclusive, NotMeasured, NotReproduced, Reproduced};
    for (verdicts, all) in [
        (vec![], NotMeasured),
        (vec![NotMeasured], NotMeasured),
        (vec![Reproduced, Reproduced], Reproduced),
        (vec![Reproduced, DirectionOnly], DirectionOnly),
        (vec![Reproduced, Inconclusive, DirectionOnly], Inconclusive),
        (vec![Inconclusive, NotReproduced, Reproduced], NotReproduced),
    ] {
        assert_eq!(together(verdicts.iter().copied()), all, "{verdicts:?}");
    }
}

#[test]
fn figures_are_written_with_their_intervals() {
    let exact = Measured {
        value: 0.5,
        interval: Some([0.5, 0.5]),
    };
    let spread = Measured {
        value: -12.34,
        interval: Some([-13.0, -11.0]),
    };
    assert_eq!(written(&exact, ""), "0.500");
    assert_eq!(written(&spread, "%"), "-12.3 [-13.0, -11.0] %");
    assert_eq!(digits(-0.0001), "0");
    assert_eq!(digits(81_274.0), "81274");
    let claim = OfClaim {
        claim: String::new(),
        verdict: Verdict::Reproduced,
        holds: 2,
        settings: 3,
        unit: "ms".to_owned(),
        lowest: Some(spread),
        highest: Some(exact),
        average: None,
        alternatives: Vec::new(),
    };
    assert_eq!(
        of_claim(&claim),
        "-12.3 [-13.0, -11.0] ms to 0.500 ms; holds in 2 of 3"
    );
}

#[test]
fn a_cell_has_the_levels_that_are_asked_for() {
    let cell = |levels: &[(&str, i64)]| -> BTreeMap<String, Level> {
        let levels = levels.iter();
        levels
            .map(|(name, level)| ((*name).to_owned(), Level::Integer(*level)))
            .collect()
    };
    let own = cell(&[("mtu", 9000), ("size", 5)]);
    assert!(has(&own, &cell(&[("mtu", 9000)])));
    assert!(!has(&own, &cell(&[("mtu", 1500)])));
    assert!(!has(&own, &cell(&[("rate", 1)])));
}

/// The root mean square of the standard deviations of single trials in per cent of their
/// mean, over the cells of a record that have these levels.
fn spread(record: &Record, metric: &str, levels: &[(&str, &str)]) -> f64 {
    let own: Vec<_> = record
        .figures
        .iter()
        .filter(|one| {
            let has = |(name, level): &(&str, &str)| {
                let own = one.cell.get(*name);
                own.is_some_and(|own| own.to_string() == *level)
            };
            one.metric == metric && levels.iter().all(has)
        })
        .collect();
    let cells: BTreeSet<String> = record
        .figures
        .iter()
        .map(|one| format!("{:?}", one.cell))
        .collect();
    let trials = record.run.trials / cells.len();
    // Quantiles of Student's t at 97.5 %, of one degree of freedom less.
    let quantile = match trials {
        3 => 4.303,
        5 => 2.776,
        20 => 2.093,
        other => panic!("{other} trials"),
    };
    let squares = own.iter().map(|one| {
        let [low, high] = one.mean.interval.unwrap();
        let error = (high - low) / 2.0 / quantile;
        (100.0 * error * f64::sqrt(trials as f64) / one.mean.value).powi(2)
    });
    (squares.sum::<f64>() / own.len() as f64).sqrt()
}

#[test]
fn the_spread_of_printed_means_is_that_of_the_named_record() {
    let records = recorded().unwrap();
    let mut seen = 0;
    for (name, metric, levels) in [
        ("os-comparison", "throughput", &[("carrier", "tcp")][..]),
        ("os-comparison", "rtt", &[]),
        ("os-comparison", "jitter", &[]),
        ("os-comparison", "cpu_sender", &[]),
        ("os-comparison", "cpu_receiver", &[]),
        (
            "rtt-by-packet-size",
            "message_time",
            &[("protocol", "udp"), ("band", "middle")],
        ),
    ] {
        let rows = experiment(name)["published"].as_array().unwrap().clone();
        for row in rows
            .iter()
            .filter(|row| row["metric"].as_str() == Some(metric))
        {
            let source = row["spread_source"].as_str().unwrap();
            let from = source.split(['(', ')']).nth(1).unwrap();
            let record = records
                .iter()
                .find(|record| record.file_name() == format!("{from}.json"));
            let exact = spread(record.unwrap(), metric, levels);
            let written = row["spread_percent"].as_float().unwrap();
            assert!((written - exact).abs() < 0.06, "{name} {metric}: {exact}");
            seen += 1;
        }
    }
    assert_eq!(seen, 21);
}

fn claim_of(evidence: &str, slip: &str) -> Claim {
    let text = format!(
        "id = \"x\"\ntext = \"a\"\nplace = \"s1\"\ndone = \"b\"\nwhy = \"c.\"\n{slip}\nevidence = {{ {evidence} }}"
    );
    toml::from_str(&text).unwrap()
}

#[test]
fn what_only_the_paper_or_a_calculation_decides_is_never_reproduced() {
    use Conclusion::{Calculation, Slip, Tables, Text};
    for (evidence, slip, conclusion) in [
        ("tables = \"2019-rtt-order\"", "", Tables(true)),
        ("tables = \"mred-drop\"", "", Tables(false)),
        ("calculation = \"egan-udp-limit\"", "", Calculation(true)),
        ("calculation = \"mred-saved-rate\"", "", Calculation(false)),
        ("contradicted_by = \"s2 says the opposite\"", "", Text),
        ("tables = \"mred-drop\"", "slip = \"0.26 points\"", Slip),
        ("contradicted_by = \"s2\"", "slip = \"no longer\"", Slip),
    ] {
        let mut paper = papers().unwrap().remove(0);
        paper.claims = vec![claim_of(evidence, slip)];
        let all = outcomes(std::slice::from_ref(&paper), &[]).unwrap();
        assert_eq!(all[0].verdict, conclusion, "{evidence}");
        assert!(!all[0].verdict.as_str().contains("reproduced"));
    }
}

#[test]
fn a_slip_is_told_from_what_the_paper_or_a_calculation_shows() {
    for (evidence, why) in [
        ("tables = \"2019-rtt-order\"", "agrees with what is printed"),
        (
            "experiment = \"stall\", claim = \"it stops\"",
            "no run tells what was meant",
        ),
    ] {
        let claim = claim_of(evidence, "slip = \"ms\"");
        let error = by_itself(&claim).unwrap_err().to_string();
        assert!(
            error.starts_with("x: slip: ") && error.contains(why),
            "{error}"
        );
    }
    let mut paper = papers().unwrap().remove(0);
    paper.claims = vec![claim_of("tables = \"mred-drop\"", "slip = \"0.26 points\"")];
    let all = outcomes(std::slice::from_ref(&paper), &[]).unwrap();
    assert_eq!(all[0].verdict, Conclusion::Slip);
    assert!(all[0].figure.ends_with("; evidently meant: 0.26 points"));
}

#[test]
fn the_share_of_a_published_change_is_that_of_its_cells() {
    let (papers, records) = (papers().unwrap(), recorded().unwrap());
    let claims = papers.iter().flat_map(|paper| &paper.claims);
    let claim = claims
        .into_iter()
        .find(|claim| claim.id == "egan-udp-figure")
        .unwrap();
    let mut record = records
        .iter()
        .find(|record| record.run.experiment == "rtt-by-packet-size")
        .unwrap()
        .clone();
    let line = |path: &str, band: &str, value: f64| {
        let levels = [("path", path), ("protocol", "udp"), ("band", band)];
        let levels = levels.map(|(name, level)| (name.to_owned(), Level::Text(level.to_owned())));
        let mtu = ("mtu".to_owned(), Level::Integer(9000));
        Sensitivity {
            question: "Message time".to_owned(),
            alternative: None,
            metric: Some("message_time".to_owned()),
            cell: levels.into_iter().chain([mtu]).collect(),
            holds: Measured {
                value,
                interval: None,
            },
            settings: 32,
        }
    };
    "sim".clone_into(&mut record.run.backend);
    record.sensitivity = vec![
        line("one", "middle", 0.0),
        line("two", "middle", 25.0),
        line("two", "large", 99.0),
    ];
    let shares = |backend: &str| {
        let mut search = record.clone();
        backend.clone_into(&mut search.run.backend);
        let all = [search];
        let found = sensitivity(&claim.evidence, &record, &all).unwrap();
        crate::text::share(&found)
    };
    assert_eq!(shares("sim"), "0 to 25 % of 32");
    assert_eq!(shares("netns"), "0 to 25 % of 32 (netns)");
    // Other settings than the shipped ones were not searched.
    let mut variant = record.clone();
    variant.run.variant = Some("small-sizes".to_owned());
    assert!(sensitivity(&claim.evidence, &variant, &[record]).is_none());
}
