use std::path::Path;

use ::tcp::{Control, Recovery, Settings};
use analysis::Findings;
use analysis::across_backends::across_backends;
use meter::departures::Distribution;
use plan::setting::{Flow, Flows, PathMtu, Sends, Traffic};
use plan::synthetic::{facts, study};
use plan::{Backend, Level, Plan, RunFacts, Trial};
use units::Span;

use super::*;
use crate::{backends_json, html};

/// The study simulated and measured; the simulator gains what the paper did,
/// and has no offloads.
fn two() -> [(Plan, Vec<Trial>, RunFacts); 2] {
    let (live, of_live) = study();
    let (mut plan, mut trials) = study();
    plan.backend = Backend::Sim;
    for cell in &mut plan.cells {
        if cell.factors.to_string().contains("offloads=on") {
            cell.setting = Err("not simulated: hosts have no offloads".into());
        }
    }
    trials.retain(|trial| !trial.factors.to_string().contains("offloads=on"));
    for trial in &mut trials {
        if let Some(throughput) = trial.metrics.get("throughput").copied() {
            let mtu = trial.factors.to_string();
            let share = if mtu.ends_with("9000") { 0.95 } else { 0.8 };
            trial.metrics.insert("throughput", throughput * share);
        }
    }
    let simulated = RunFacts {
        backend: Backend::Sim,
        host: None,
        ..facts()
    };
    [(plan, trials, simulated), (live, of_live, facts())]
}

fn on<T>(ask: impl FnOnce(&AcrossBackends, &[Run<'_>]) -> T) -> T {
    changed(|_| (), ask)
}

/// As [`on`], with `change` applied to both plans.
fn changed<T>(change: impl Fn(&mut Plan), ask: impl FnOnce(&AcrossBackends, &[Run<'_>]) -> T) -> T {
    let mut runs = two();
    runs.iter_mut().for_each(|(plan, ..)| change(plan));
    let folders = ["results/s", "results/n"];
    let runs: Vec<Run<'_>> = { runs.iter().zip(folders) }
        .map(|((plan, trials, facts), folder)| Run {
            folder: Path::new(folder),
            found: Findings::of(plan, trials, facts),
        })
        .collect();
    let found: Vec<&Findings<'_>> = runs.iter().map(|run| &run.found).collect();
    ask(&across_backends(&found).unwrap(), &runs)
}

#[test]
fn both_backends_and_the_paper_stand_in_one_row() {
    let text = on(|all, runs| document::text(&of_backends(all, runs), 140));
    assert!(
        text.starts_with("synthetic: What a test needs\nsim: results/s\nnetns: results/n\n"),
        "{text}"
    );
    let row = text
        .lines()
        .find(|line| line.starts_with("LU-LU") && line.contains("9000"));
    let words: Vec<&str> = row.unwrap().split_whitespace().collect();
    let row = words.join(" ");
    assert!(row.starts_with("LU-LU off 9000 940 ± "), "{row}");
    for part in [" +23.9 [", " 989 ± ", " +4.3 [", " 938.88 +25.03 "] {
        assert!(row.contains(part), "`{part}` is not in: {row}");
    }
    assert!(row.contains("sim, netns: direction only"), "{row}");
    let missing = "Not in sim: 2 cells (needs a Windows host), 2 cells (not simulated: hosts have no offloads).";
    assert!(text.contains(missing), "{text}");
    let sentence = "Changes of which the intervals of sim and netns meet: throughput 0 of 1";
    assert!(text.contains(sentence), "{text}");
    assert!(text.contains("Quality check of sim: passed"), "{text}");
    for width in [60, 80, 100] {
        let text = on(|all, runs| document::text(&of_backends(all, runs), width));
        let mut lines = text.lines();
        assert!(
            lines.all(|line| line.chars().count() <= usize::from(width)),
            "{text}"
        );
    }
}

#[test]
fn what_the_plan_names_comes_first_with_the_difference_of_both_backends() {
    let named = ["retransmissions", "throughput"].map(str::to_owned);
    let name = |plan: &mut Plan| plan.leading = named.to_vec();
    let text = changed(name, |all, runs| {
        document::text(&of_backends(all, runs), 140)
    });
    let at = |heading: &str| text.find(heading).expect(heading);
    assert!(at("\nRetransmissions") < at("(Mbit/s)"), "{text}");
    assert!(at("(Mbit/s)") < at("\nCPU utilisation"), "{text}");
    assert!(text.contains("netns less sim"), "{text}");
    // 989 and 940 Mbit/s, as the table of both has them.
    assert!(text.contains(" +49"), "{text}");
    let without = on(|all, runs| document::text(&of_backends(all, runs), 140));
    assert!(!without.contains("netns less sim"), "{without}");
}

#[test]
fn a_level_that_all_rows_have_is_told_once() {
    let one = |plan: &mut Plan| {
        for cell in &mut plan.cells {
            let held = ("queue".to_owned(), Level::Text("red".to_owned()));
            cell.factors.0.insert(0, held);
        }
    };
    let text = changed(one, |all, runs| {
        assert_eq!(held(all).len(), 1);
        document::text(&of_backends(all, runs), 140)
    });
    assert!(text.contains("In all rows: queue red."), "{text}");
    assert_eq!(on(|all, _| held(all).len()), 0);
}

#[test]
fn other_tcp_in_the_simulator_than_in_the_kernel_is_told() {
    let connected = |settings: Option<Settings>| {
        let sends = match &settings {
            Some(settings) => Sends::Bytes {
                settings: settings.clone(),
                bytes: None,
                watch: None,
            },
            None => Sends::Messages {
                gaps: Distribution::Constant(0.0),
                payloads: Distribution::Constant(1_000.0),
                bursts: None,
                packets: None,
                bytes: None,
                window: None,
            },
        };
        Traffic::Flows(Flows {
            duration: Span::from_secs(1),
            flows: vec![Flow {
                name: "f".to_owned(),
                count: 1,
                start_interval: Span::ZERO,
                start_jitter: Span::ZERO,
                from: "a".to_owned(),
                to: "b".to_owned(),
                start: Span::ZERO,
                stop: None,
                sends,
                round_trip: false,
                path_mtu: PathMtu::Machine,
                class: 0,
                precedence: 0,
            }],
            sockets: None,
        })
    };
    let told = |simulated: &Settings, window: Option<u32>| {
        let change = |plan: &mut Plan| {
            let settings = (plan.backend == Backend::Sim).then(|| simulated.clone());
            for setting in plan
                .cells
                .iter_mut()
                .filter_map(|cell| cell.setting.as_mut().ok())
            {
                setting.traffic = connected(settings.clone());
                setting.host.tcp.initial_window = window;
            }
        };
        changed(change, |all, _| tcp::differences(all))
    };
    let ns2 = Settings::ns2(Recovery::Sack, 1_000, 20);
    let of_ns2 = told(&ns2, None).unwrap();
    assert_eq!(
        of_ns2,
        "TCP differs: sim has an agent of ns-2 and a first window of 2 in place of 10 segments, netns the kernel's own. --set tcp.agent=linux simulates that."
    );
    let alike = told(&ns2, Some(2)).unwrap();
    assert!(alike.contains("an agent of ns-2, netns"), "{alike}");
    let standard = told(&Settings::new(1_000), None).unwrap();
    let expected = "sim has TCP of the standards, netns the kernel's own.";
    assert!(standard.contains(expected), "{standard}");
    assert_eq!(told(&Settings::linux(Control::Reno, 1_000), None), None);
}

#[test]
fn a_line_of_json_has_every_backend_in_the_order_of_the_folders() {
    let lines = on(backends_json);
    let lines: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let line = lines
        .iter()
        .find(|line| line["metric"] == "throughput" && line["factors"]["mtu"] == 9000)
        .unwrap();
    assert_eq!(line["published_change_percent"], 25.03);
    assert_eq!(line["source"], "[Praptodiyono2019 Table 4]");
    let backends = line["backends"].as_array().unwrap();
    let names: Vec<&str> = backends
        .iter()
        .filter_map(|backend| backend["backend"].as_str())
        .collect();
    assert_eq!(names, ["sim", "netns"]);
    assert_eq!(backends[0]["folder"], "results/s");
    assert_eq!(backends[1]["n"], 2);
    assert_eq!(backends[1]["verdict"], "direction_only");
}

#[test]
fn the_page_plots_each_backend_as_a_series_beside_what_was_published() {
    let page = on(|all, runs| html(&of_backends(all, runs)));
    for part in ["Quality checks", "results/n"] {
        assert!(page.contains(part), "`{part}` is not in the page");
    }
    let plots = crate::page::plots_of(&page).to_string();
    for part in [
        "backend sim, offloads off",
        "backend netns, offloads on",
        "published LU-LU",
    ] {
        assert!(plots.contains(part), "`{part}` is in no plot");
    }
}
