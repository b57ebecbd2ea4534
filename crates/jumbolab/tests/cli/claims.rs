//! Experiments that compare claims and closed forms with simulation, in reduced
//! size.

use serde_json::Value;

use crate::harness::Dir;
use crate::lookup::{Lines, Object};

#[test]
fn red_claims_are_told_with_their_verdicts_wherever_a_run_is_reported() {
    let dir = Dir::new();
    let short = "--set duration=8s --set all=2s..8s --set window=2s..8s --repeat 3";
    let run = format!("run red-claims -o r --full {short} --set study=share,flood15,two35");
    let page = dir.run(&run).fine().stdout;
    assert!(page.contains("\nClaims\n"), "{page}");
    let held =
        "Under a flood RED's queue is shorter than drop-tail's [Mulahuwaish s2.D]: reproduced";
    assert!(page.contains(held), "{page}");
    let claims = dir.run("report r --json").fine().json().with("claim");
    assert!(claims.len() > 10);
    for claim in &claims {
        assert!(
            claim["verdict"].is_string() && claim["metric"].is_string(),
            "{claim}"
        );
    }
    let notice = |claim: &&Value| claim["metric"] == "notice" && claim["by"] == 0.0;
    let notice = claims.iter().find(notice).unwrap();
    assert_eq!(notice["settings"].as_array().unwrap().len(), 1, "{notice}");
    assert_eq!(notice["verdict"], "reproduced", "{notice}");
    let html = std::fs::read_to_string(dir.path().join("r/report.html")).unwrap();
    assert!(html.contains("Under a flood RED"));
}

#[test]
fn a_larger_buffer_keeps_the_link_busier_as_the_sawtooth_has_it() {
    let dir = Dir::new();
    let short = "--set duration=40s --set steady=10s..40s --set losses=10s..40s --set within=1s";
    let cells = "--set congestion=reno --set flows=1 --set mtu=9000 --repeat 2";
    dir.run(&format!("run buffer-sizing -o r {short} {cells}"))
        .fine();
    let cells = dir.run("report r --json").fine().json().with("cell");
    let busy: Vec<f64> = cells
        .iter()
        .map(|cell| cell.figure("utilisation_percent_steady"))
        .collect();
    assert_eq!(busy.len(), 5);
    assert!(busy.is_sorted_by(|a, b| a <= &(b + 0.5)), "{busy:?}");
    assert!(busy[0] < 90.0 && busy[4] > 99.0, "{busy:?}");
}

#[test]
fn wrong_bits_take_from_large_frames_what_lost_frames_leave_them() {
    let dir = Dir::new();
    let short = "--set size=4MB --set warmup=2MB --set delay=10ms --set mtu=1500,9000 --repeat 2";
    dir.run(&format!(
        "run mtu-and-loss -o r {short} --set impairment=p2,e7"
    ))
    .ran();
    let lines = dir.run("report r --json").ran().json().with("model");
    let gain = |impairment: &str| {
        let line = lines.of(&[("impairment", impairment), ("mtu", "9000")]);
        line.figure("change_percent")
    };
    assert!(gain("p2") > gain("e7") && gain("e7") > 0.0);
    dir.run("run mtu-and-loss --on netns --dry-run").fine();
}
