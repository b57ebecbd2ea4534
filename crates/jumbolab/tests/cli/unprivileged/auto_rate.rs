//! Links with `rate = "auto"`.

use std::fs;

use crate::harness::{Dir, SHORT};

const RATES: [&str; 4] = ["1gbit", "500mbit", "200mbit", "100mbit"];

/// Whichever rate the machine sustains, one of the four is chosen, and kept.
#[test]
fn a_run_has_one_rate_which_a_resumed_run_and_a_copy_of_its_plan_keep() {
    let dir = Dir::new();
    let auto = format!("{SHORT} --set rate=auto --set offloads=off --repeat 1");
    let ran = dir.run(&format!("run os-comparison {auto}")).ran();
    assert!(ran.stderr.contains("Links of "), "{}", ran.stderr);
    let folders = fs::read_dir(dir.path().join("results")).unwrap();
    let folders: Vec<_> = folders.map(|entry| entry.unwrap().path()).collect();
    let [folder] = folders.as_slice() else {
        panic!("{folders:?}");
    };
    let text = fs::read_to_string(folder.join("plan.toml")).unwrap();
    let plan: toml::Table = toml::from_str(&text).unwrap();
    let rate = plan["network"]["rate"].as_str().unwrap();
    assert!(RATES.contains(&rate), "{rate}");
    let chosen = plan["run"]["auto_rate"].as_table().unwrap();
    assert_eq!(chosen["rate"].as_str(), Some(rate));
    assert!(chosen["tried"].as_str().unwrap().contains("kernel links"));

    let name = folder.file_name().unwrap().to_string_lossy();
    let report = dir.run(&format!("report results/{name}")).ran().stdout;
    assert!(report.contains("rate = \"auto\""), "{report}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("when the run began"));
    // Nothing is left to run, so nothing is measured again.
    dir.run(&format!("run os-comparison {auto} --resume")).ran();
    let again = fs::read_dir(dir.path().join("results")).unwrap();
    assert_eq!(again.count(), 1);
    let copy = dir.run(&format!("run results/{name}/plan.toml --dry-run --json"));
    assert_eq!(
        copy.ran().json()[0]["hash"],
        plan["run"]["hash"].as_str().unwrap()
    );
}

#[test]
fn a_dry_run_says_how_the_rate_is_found_and_a_comparison_says_that_rates_differ() {
    let dir = Dir::new();
    let planned = |on: &str| {
        let line = format!("run os-comparison --set rate=auto --dry-run --on {on}");
        dir.run(&line).ran().stdout
    };
    let netns = planned("netns");
    let says = "the largest of 1gbit, 500mbit, 200mbit, 100mbit that this machine sustains";
    assert!(netns.contains(says), "{netns}");
    assert!(planned("sim").contains("rate = \"auto\": 1gbit"));
    let short = "--set scenario=LU-LU --set size=100kB --set warmup=10kB --repeat 2 --on sim";
    let auto = format!("run os-comparison {short} --set rate=auto -o auto");
    let said = dir.run(&auto).ran().stdout;
    assert!(said.contains("no machine limits them"), "{said}");
    let slower = format!("run os-comparison {short} --set rate=500mbit -o slower");
    dir.run(&slower).ran();
    let compared = dir.run("report auto slower --full").ran().stdout;
    let differs = "network.rate: \"1gbit\" -> \"500mbit\"";
    assert!(compared.contains(differs), "{compared}");
}
