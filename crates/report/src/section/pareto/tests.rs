use plan::Tradeoff;
use plan::synthetic::{facts, study};

use super::*;

#[test]
fn a_front_is_told_for_people_and_programs() {
    let (mut plan, trials) = study();
    plan.tradeoffs = vec![Tradeoff {
        metrics: ["cpu_sender", "throughput"].map(str::to_owned),
        within: vec!["offloads".into()],
    }];
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let lines_found = lines(&found);
    let heads: Vec<&str> = lines_found
        .iter()
        .filter(|line| !line.starts_with(' '))
        .map(String::as_str)
        .collect();
    assert_eq!(heads.len(), 2, "{lines_found:?}");
    assert!(heads[0].ends_with(", offloads=off: 1 of 2 settings are on the front"));
    assert!(
        lines_found[1].starts_with("  mtu=9000: 0.5000 ± "),
        "{}",
        lines_found[1]
    );
    let objects = crate::json_lines(&found);
    let line = objects
        .iter()
        .find(|line| line.contains("\"pareto\""))
        .unwrap();
    let object: serde_json::Value = serde_json::from_str(line).unwrap();
    assert!(object["metric"].is_null());
    assert_eq!(
        object["pareto"],
        serde_json::json!(["cpu_sender", "throughput"])
    );
    assert_eq!(object["within"], serde_json::json!({ "offloads": "off" }));
    assert_eq!(
        (&object["cells"], object["front"].as_array().unwrap().len()),
        (&2.into(), 1)
    );
    assert_eq!(object["front"][0]["factors"]["mtu"], 9000);
}
