//! Each kind of object that commands print as JSON is printed, and as its schema says.

use crate::harness::Dir;

#[test]
fn commands_print_every_kind_of_their_schemas() {
    let dir = Dir::new();
    let run = "run mtu-and-loss --on sim --set size=400kB --set preroll=200kB --set impairment=p2";
    dir.run(&format!("{run} --repeat 2 -o a")).ran();
    dir.run(&format!("{run} --repeat 2 --set delay=20ms -o b"))
        .ran();
    dir.run(&format!("{run} --on model -o c")).ran();
    let kinds = |lines: &[&str]| -> Vec<String> {
        let objects = lines.iter().flat_map(|line| dir.run(line).ran().json());
        let kinds = objects.map(|object| object["kind"].as_str().unwrap().to_owned());
        let mut kinds: Vec<String> = kinds.collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let dry_run = format!("{run} --dry-run --json");
    assert_eq!(kinds(&[&dry_run]), ["dry_run"]);
    let reports = ["report a --json", "report a b --json", "report a c --json"];
    let expected = ["cell", "change", "metric", "metric_by_backend", "run"];
    assert_eq!(kinds(&reports), expected);
    assert_eq!(kinds(&["list --json"]), ["experiment"]);
    assert_eq!(kinds(&["claims --json"]), ["claim"]);
    let predictions = [
        "predict overhead --json",
        "predict limit --rate 1gbit --json",
        "predict optimal --rate 1gbit --ber 1e-8 --json",
        "predict --size 5MB --rate 1gbit --json",
        "predict wait --rate 1gbit --json",
        "predict bundle --jfet 100us --json",
        "predict arithmetic --json",
    ];
    let expected = [
        "arithmetic",
        "bundle",
        "bundle_wait",
        "limit",
        "optimal",
        "overhead",
        "transfer",
        "wait",
    ];
    assert_eq!(kinds(&predictions), expected);
}
