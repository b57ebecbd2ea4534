//! The experiments on the background of [Mulahuwaish s2]: settings of RED, gradual
//! deployment and shaping at the egress. Each is simulated in short.

use crate::harness::Dir;

/// Runs `name` with `short` settings, and returns the verdict of each claim.
fn verdicts(name: &str, short: &str) -> Vec<(String, String)> {
    let dir = Dir::new();
    dir.run(&format!("run {name} -o r {short}")).fine();
    let lines = dir.run("report r --json").fine().json();
    let claims = lines.iter().filter(|line| line["claim"].is_string());
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    claims
        .map(|line| (text(&line["claim"]), text(&line["verdict"])))
        .collect()
}

#[track_caller]
fn all_reproduced(verdicts: &[(String, String)], claims: usize) {
    assert_eq!(verdicts.len(), claims, "{verdicts:?}");
    for (claim, verdict) in verdicts {
        assert_eq!(verdict, "reproduced", "{claim}");
    }
}

#[test]
fn red_at_one_of_two_gateways_keeps_the_queue_there_short() {
    let short = "--repeat 4 --set duration=40s --set one=10s..40s --set two=10s..40s";
    let verdicts = verdicts("gradual-deployment", short);
    all_reproduced(&verdicts[..4], 4);
}

#[test]
fn packets_released_at_once_overflow_a_client_and_shaped_ones_do_not() {
    let verdicts = verdicts("egress-shaping", "--repeat 3 --set duration=200ms");
    all_reproduced(&verdicts, 2);
}

#[test]
fn settings_of_red_have_the_effects_that_the_paper_describes() {
    let short = "--repeat 5";
    let short = format!("{short} --set duration=40s --set all=10s..40s");
    let verdicts = verdicts("red-settings", &short);
    assert_eq!(verdicts.len(), 4, "{verdicts:?}");
    for (claim, verdict) in &verdicts {
        // The times at which two averages cross a threshold need more trials.
        if !claim.contains("within") {
            assert_eq!(verdict, "reproduced", "{claim}");
        }
    }
}
