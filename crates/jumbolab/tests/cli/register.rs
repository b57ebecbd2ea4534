//! `jumbolab claims`.

use serde_json::Value;

use crate::harness::Dir;

#[test]
fn claims_are_listed_by_paper_and_shown_one_by_one() {
    let dir = Dir::new();
    let all = dir.run("claims").fine().stdout;
    for paper in [
        "Queue paper",
        "Egan",
        "Supriyanto 2017",
        "Praptodiyono 2019",
    ] {
        assert!(
            all.contains(&format!("\n{paper}")) || all.starts_with(paper),
            "{all}"
        );
    }
    let one = dir.run("claims mred-drop").fine().stdout;
    assert!(one.starts_with("mred-drop: "), "{one}");
    assert!(one.contains("3.06 %; printed 26.0"), "{one}");
    let lines = dir.run("claims egan --json").fine().stdout;
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["paper"], "egan");
        assert!(
            line["verdict"].is_string() && line["why"].is_string(),
            "{line}"
        );
    }
    assert!(lines.lines().count() >= 12);
    dir.run("claims nobody")
        .rejected(&["nobody", "mred-ddf, egan, 2017"]);
}

#[test]
fn a_run_is_recorded_under_the_name_of_its_variant() {
    let dir = Dir::new();
    let short = "--set duration=8s --set all=2s..8s --set window=2s..8s --repeat 3";
    dir.run(&format!(
        "run red-claims -o r {short} --set study=share,flood15"
    ))
    .fine();
    dir.run("claims --record r")
        .rejected(&["the shipped red-claims", "--variant"]);
    dir.run("claims --record r --variant short").rejected(&[
        "docs/results/red-claims.short.sim.json",
        "root of the repository",
    ]);
    std::fs::create_dir_all(dir.path().join("docs/results")).unwrap();
    dir.run("claims --record r --variant short").fine();
    let file = dir.path().join("docs/results/red-claims.short.sim.json");
    let record: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(record["run"]["variant"], "short");
    assert_eq!(record["run"]["date"], Value::Null);
    let verdicts = record["verdicts"].as_array().unwrap();
    let flood = verdicts
        .iter()
        .find(|line| line["claim"] == "Under a flood RED's queue is shorter than drop-tail's");
    assert_eq!(flood.unwrap()["verdict"], "reproduced");
}
