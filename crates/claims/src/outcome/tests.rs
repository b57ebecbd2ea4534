use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::record::{Explanation, recorded};
use crate::register::papers;

/// The least number of claims of each paper.
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
        let (_, least) = LEAST.iter().find(|(name, _)| *name == paper.name).unwrap();
        assert!(paper.claims.len() >= *least, "{}", paper.name);
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
        match &claim.evidence {
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
            Evidence::Rivals(one) => {
                let texts = texts(&experiment(&one.experiment), "rivals", "text");
                assert!(texts.contains(&one.rivals), "{id}: {texts:#?}");
            }
            _ => {}
        }
    }
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
        .filter(|run| run.world.is_none())
        .map(|run| run.experiment)
        .collect();
    assert_eq!(experiments, BTreeSet::new(), "not on record");
    for one in all {
        assert!(!one.figure.is_empty(), "{}", one.claim.id);
    }
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

#[test]
fn an_explanation_has_to_give_every_sentence() {
    use Verdict::{Inconclusive, NotMeasured, NotReproduced, Reproduced};
    let of = |counts: &[(&str, usize, usize)], claimed: Option<&str>| {
        let explanations = counts.iter().map(|&(level, reproduced, contradicted)| {
            let level = Level::Text(level.to_owned());
            Explanation {
                level,
                reproduced,
                contradicted,
            }
        });
        let one = OfRivals {
            rivals: "why".to_owned(),
            sentences: 3,
            explanations: explanations.collect(),
        };
        let wanted = Rivals {
            experiment: String::new(),
            rivals: "why".to_owned(),
            explanation: claimed.map(|level| Level::Text(level.to_owned())),
            variant: None,
            world: None,
        };
        of_rivals(&one, &wanted)
    };
    let counts = [("a", 2, 1), ("b", 3, 0), ("c", 2, 0), ("d", 0, 0)];
    assert_eq!(
        of(&counts, None),
        (Reproduced, "a 2, b 3, c 2, d 0 of 3 sentences".to_owned())
    );
    for (level, verdict) in [
        ("a", NotReproduced),
        ("b", Reproduced),
        ("c", Inconclusive),
        ("d", NotMeasured),
    ] {
        assert_eq!(of(&counts, Some(level)).0, verdict, "{level}");
    }
    // Each sentence is given by one of them, and all by none.
    assert_eq!(of(&counts[..1], None).0, NotReproduced);
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
        Robustness {
            question: "Message time".to_owned(),
            metric: Some("message_time".to_owned()),
            cell: levels.into_iter().chain([mtu]).collect(),
            holds: Measured {
                value,
                interval: None,
            },
            settings: 32,
        }
    };
    "sim".clone_into(&mut record.run.world);
    record.robustness = vec![
        line("one", "middle", 0.0),
        line("two", "middle", 25.0),
        line("two", "large", 99.0),
    ];
    let shares = |world: &str| {
        let mut search = record.clone();
        world.clone_into(&mut search.run.world);
        let all = [search];
        let found = robustness(&claim.evidence, &record, &all).unwrap();
        crate::text::share(&found)
    };
    assert_eq!(shares("sim"), "0 to 25 % of 32");
    assert_eq!(shares("netns"), "0 to 25 % of 32 (netns)");
}
