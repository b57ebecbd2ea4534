//! Networks with a domain, and queues that take packets out of bundles.

use serde_json::Value;

use crate::harness::Dir;

const SHORT: &str = "--set duration=6s --set h1=0s..3s --set h2=3s..6s --set stagger=20ms --set interval=1s --repeat 2";

#[test]
fn the_congestion_paper_has_its_cells_its_figures_and_a_verdict_per_claim() {
    let dir = Dir::new();
    let run = format!("run aqm-congestion -o r {SHORT} --set small_flows=5");
    // An average that follows the queue at once, so that a short trial shows the law.
    let law = "--set min_th=1 --set max_th=9 --set weight=0.2 --set mred_min_th=1 --set mred_max_th=9 --set mred_weight=0.2";
    let words = format!("--set scenario=increase --set small_start=3s {law}");
    let page = dir.run(&format!("{run} {words}")).fine().stdout;
    assert!(page.contains("\nClaims\n"), "{page}");
    let lines = dir.run("report r --json").fine().json();
    let cells: Vec<&Value> = lines
        .iter()
        .filter(|line| line["cell"].is_string())
        .collect();
    assert_eq!(cells.len(), 8);
    let cell = |frames: &str, queue: &str| {
        let is = |line: &&&Value| {
            line["factors"]["frames"] == frames && line["factors"]["queue"] == queue
        };
        *cells.iter().find(is).unwrap()
    };
    let figure = |line: &Value, name: &str| line[name].as_f64().unwrap();
    for frames in ["bundles", "whole"] {
        for queue in ["red", "mred", "mredhead", "mredpaper"] {
            let line = cell(frames, queue);
            assert_eq!(line["failed"], 0, "{line}");
            let packets = figure(line, "packets_per_frame_h1");
            assert_eq!(packets > 1.2, frames == "bundles", "{line}");
            let [half, all] =
                ["h1", "h2"].map(|half| figure(line, &format!("carried_percent_{half}")));
            assert!(half < all && all <= 100.5, "{line}");
        }
    }
    // Where nothing is in a frame, MRED is RED.
    let [red, mred] = ["red", "mred"].map(|queue| cell("whole", queue));
    for name in [
        "drop_percent_h1",
        "inner_drop_percent_h1",
        "average_queue_h2",
        "rtt",
    ] {
        assert_eq!(red[name], mred[name], "{name}");
    }
    // Where something is, packets die and their frames go on.
    let thinned = cell("bundles", "mred");
    let [frames, packets] =
        ["drop_percent_h1", "inner_drop_percent_h1"].map(|name| figure(thinned, name));
    assert!(frames < packets, "{thinned}");
}

#[test]
fn what_cannot_be_gathered_or_thinned_is_refused_in_one_line() {
    let dir = Dir::new();
    for (set, words) in [
        (
            "bundle=50",
            "domain.mtu = 50: an MTU of 50 B has no room for two packets",
        ),
        (
            "jfet=0s",
            "domain.jfet = \"0s\": a timer of 0 gathers nothing",
        ),
        (
            "domain.routes.east.prefix=10.1.0.0/16",
            "the route `west` has the same prefix; keep one of them",
        ),
        ("domain.routes.east.prefix=", "write a prefix, for instance"),
        (
            "bounds=0.01..1.5",
            "the least and the largest share of a frame's packets, from 0 to 1",
        ),
        ("over=tail", "write \"arriving\", \"head\" or \"queue\""),
    ] {
        let run = format!("run aqm-congestion --dry-run --set queue=mredpaper --set {set}");
        dir.run(&run).refused(&[&format!("--set {set}: "), words]);
    }
}
