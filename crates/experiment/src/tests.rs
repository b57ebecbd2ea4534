//! Tests of the format from outside: valid input, error messages, and the round
//! trip of plans through text.

mod aqm_words;
mod auto_rate;
mod backend_overrides;
mod both_backends;
mod choices;
mod claims;
mod command;
mod connections;
mod distributions;
mod domain;
mod faults;
mod fuzz;
mod impairments;
mod kernels;
mod listed;
mod load;
mod queues;
mod rejected;
mod report;
mod shared;
mod simulated;
mod unstated;
mod watched;

use plan::setting::*;
use plan::{Backend, Factors, Level};
use units::{Bytes, IpMtu, IpVersion, Rate, Span};

use super::*;

const SMALL: &str = "\
format = 1
name = \"small\"
[aliases]
mtu = \"network.mtu\"
rate = \"network.rate\"
offloads = \"host.offloads\"
message = \"traffic.message\"
[network]
ip = 6
[sweep]
mtu = [1500, 9000]
";

fn planned(text: &str, sets: &[&str]) -> Result<Plan> {
    let mut experiment = Experiment::parse(text, "experiments/x.toml")?;
    for set in sets {
        experiment.set(set)?;
    }
    experiment.plan(Backend::Netns, unchecked)
}

/// A check that accepts everything; backends test their own checks.
fn unchecked(_: &Setting) -> Result<(), Rejection> {
    Ok(())
}

#[track_caller]
fn plan(text: &str, sets: &[&str]) -> Plan {
    planned(text, sets).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Asserts the complete error line of `text` with `sets`.
#[track_caller]
fn check_rejected(text: &str, sets: &[&str], line: &str) {
    let error = planned(text, sets).expect_err(line);
    assert_eq!(format!("{error:#}"), line);
}

#[track_caller]
fn setting(plan: &Plan, cell: usize) -> &Setting {
    plan.cells[cell].setting.as_ref().unwrap()
}

#[track_caller]
fn transfer(plan: &Plan, cell: usize) -> &Transfer {
    setting(plan, cell).traffic.transfer().unwrap()
}

fn factors(plan: &Plan) -> Vec<String> {
    plan.cells
        .iter()
        .map(|cell| cell.factors.to_string())
        .collect()
}

/// `SMALL` with `lines` in its `[network]` table, from line 10 on.
fn with(lines: &str) -> String {
    SMALL.replace("[sweep]", &format!("{lines}\n[sweep]"))
}

#[track_caller]
fn check_round_trip(plan: &Plan) {
    let again = Experiment::parse(&plan.text, "plan.toml")
        .and_then(|experiment| experiment.plan(plan.backend, unchecked))
        .unwrap_or_else(|error| panic!("{error:#}\n{}", plan.text));
    assert_eq!(again.text, plan.text);
    assert_eq!(again.hash, plan.hash);
    assert_eq!(
        format!("{:?}", (&again.cells, &again.compare, &again.published)),
        format!("{:?}", (&plan.cells, &plan.compare, &plan.published)),
    );
    assert_eq!(
        (
            again.repeat,
            again.seed,
            &again.name,
            &again.title,
            &again.source
        ),
        (
            plan.repeat,
            plan.seed,
            &plan.name,
            &plan.title,
            &plan.source
        )
    );
}

#[test]
fn a_small_experiment_gets_every_default() {
    let plan = plan(SMALL, &[]);
    assert_eq!(factors(&plan), ["mtu=1500", "mtu=9000"]);
    assert_eq!(plan.repeat, 20);
    let setting = setting(&plan, 0);
    assert_eq!(setting.network.shape, Shape::Pair);
    assert_eq!(setting.network.addresses, Addresses::Static);
    let [link] = setting.network.links.as_slice() else {
        panic!("a pair has one link");
    };
    assert_eq!(link.mtu.get(), 1500);
    assert_eq!(link.buffer, Bytes::new(500_000));
    assert_eq!(transfer(&plan, 0).message, Bytes::new(1428));
    assert_eq!(transfer(&plan, 0).timeout, Span::from_millis(30_000));
    assert_eq!(setting.host.congestion, "cubic");
    check_round_trip(&plan);
}

#[test]
fn a_stream_is_written_alike_at_every_mtu_and_a_datagram_fills_its_packet() {
    let written = |sets: &[&str]| {
        let plan = plan(SMALL, sets);
        [0, 1].map(|cell| transfer(&plan, cell).message.get())
    };
    assert_eq!(written(&[]), [1428, 1428]);
    assert_eq!(written(&["traffic.protocol=udp"]), [1428, 8928]);
    assert_eq!(written(&["message=mtu-72"]), [1428, 8928]);
}

#[test]
fn the_study_has_its_cells_and_all_52_printed_figures() {
    let plan = Experiment::load("os-comparison")
        .and_then(|experiment| experiment.plan(Backend::Netns, unchecked))
        .unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(plan.cells.len(), 4 * 2 * 3);
    let measured = plan.cells.iter().filter(|cell| cell.setting.is_ok());
    assert_eq!(measured.count(), 6);
    assert_eq!(
        plan.cells[6].setting,
        Err("not measured here: needs a Windows host".into())
    );
    assert_eq!(transfer(&plan, 5).message, Bytes::new(8928));
    assert_eq!(setting(&plan, 0).network.addresses, Addresses::Router);
    assert_eq!(
        plan.cells[4].factors.to_string(),
        "scenario=LU-LU offloads=on mtu=4000"
    );
    let rows = &plan.published;
    let absolute: usize = rows.iter().map(|row| row.values.len()).sum();
    let changes_alone: usize = rows
        .iter()
        .filter(|row| row.values.is_empty())
        .map(|row| row.changes.len())
        .sum();
    assert_eq!(absolute + changes_alone, 52);
    assert!(rows.iter().all(|row| row.changes.len() == 2));
    check_round_trip(&plan);
}

#[test]
fn the_study_can_be_asked_other_questions() {
    for sets in [
        &["rate=300mbit", "mtu=2345", "ip=4", "congestion=reno"][..],
        &["protocol=udp", "ip=4", "rate=10gbit", "offloads=on"],
        &["rate=none", "shape=switched", "scenario=LU-LU"],
        &["shape=pair", "mtu=1500,1500", "offloads=off", "repeat=40"],
        &["message=1428", "buffer=100kB,2MB", "congestion=cubic,reno"],
        &[
            "burst=1MB",
            "warmup=0",
            "cpu_bytes=0",
            "send_buffer=1MB",
            "nagle=on",
        ],
    ] {
        let plan = plan(shipped::text("os-comparison").unwrap().1, sets);
        assert!(plan.cells[0].setting.is_ok());
        check_round_trip(&plan);
    }
}

#[test]
fn printed_changes_agree_with_the_printed_values() {
    let plan = plan(shipped::text("os-comparison").unwrap().1, &[]);
    for row in plan.published.iter().filter(|row| !row.values.is_empty()) {
        let (_, baseline) = row.values[0];
        for (position, (level, change)) in row.changes.iter().enumerate() {
            let (same_level, value) = &row.values[position + 1];
            assert_eq!(level, same_level);
            let computed = 100.0 * (value / baseline - 1.0);
            // The study rounded its values to 0.01 before printing them.
            let rounding = 100.0 * 0.011 / baseline + 0.01;
            assert!(
                (computed - change).abs() < rounding,
                "{} {level}: {change} is printed, {computed} is computed",
                row.metric
            );
        }
    }
}

#[test]
fn the_template_plans_and_gives_the_defaults_of_the_format() {
    let template = plan(TEMPLATE, &[]);
    check_round_trip(&template);
    // Commenting out every key of a cell may change nothing but the text.
    let mut in_cell = false;
    let bare: String = TEMPLATE
        .lines()
        .filter(|line| {
            if line.starts_with('[') {
                let root = line.trim_matches(['[', ']']);
                in_cell = keys::cell_roots().contains(&root);
            }
            !in_cell
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let bare = plan(&bare, &[]);
    assert_eq!(format!("{:?}", bare.cells), format!("{:?}", template.cells));
    assert_eq!(bare.hash, template.hash);
    assert!(shipped().all(|shipped| shipped.name != "template"));
    assert!(shipped().all(|shipped| !shipped.title.is_empty()));
}

#[test]
fn every_file_of_the_folder_is_listed_in_its_order() {
    let order = include_str!("../../../experiments/order");
    let names: Vec<&str> = shipped().map(|shipped| shipped.name).collect();
    assert!(order.lines().eq(names.iter().copied()), "{names:?}");
}

#[test]
fn the_page_describes_every_key() {
    let page = include_str!("../../../docs/reference/keys.md");
    let plan = plan(TEMPLATE, &[]);
    let keys = plan.text.lines().filter_map(|line| line.split_once(" = "));
    for (key, _) in keys {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn the_hash_follows_the_meaning_and_not_the_writing() {
    let hash = plan(SMALL, &[]).hash;
    let keys_moved = "\
name = 'small' # a comment
sweep.mtu = [1500, 9000]
network = { rate = \"1000mbit\", ip = 6 }
aliases.message = \"traffic.message\"
aliases.offloads = \"host.offloads\"
aliases.rate = \"network.rate\"
aliases.mtu = \"network.mtu\"
format = 1
[run]
machine = \"other\"
";
    assert_eq!(plan(keys_moved, &[]).hash, hash);
    assert_eq!(plan(SMALL, &["network.shape=pair"]).hash, hash);
    assert_eq!(hash.len(), 8);
    for other in [
        "rate=100mbit",
        "mtu=9000,1500",
        "repeat=21",
        "trials.seed=2",
        "name=smaller",
        "offloads=on",
        "links.sender-receiver.mtu=3000",
    ] {
        assert_ne!(plan(SMALL, &[other]).hash, hash, "{other}");
    }
    // Results folders are named by the hash: it must not drift.
    assert_eq!(hash, "e71fb8f0");
}

#[test]
fn a_run_table_is_ignored() {
    let text = format!("{}\n[run]\nkernel = \"6.18\"\n", plan(SMALL, &[]).text);
    assert_eq!(plan(&text, &[]).hash, plan(SMALL, &[]).hash);
}

#[test]
fn set_takes_other_levels_makes_factors_and_writes_values() {
    let cells = |sets: &[&str]| factors(&plan(SMALL, sets));
    assert_eq!(cells(&["mtu=2345"]), ["mtu=2345"]);
    assert_eq!(
        cells(&["network.mtu=[2345, 3000]"]),
        ["mtu=2345", "mtu=3000"]
    );
    assert_eq!(cells(&["sweep.mtu=2345,3000"]), ["mtu=2345", "mtu=3000"]);
    assert_eq!(
        cells(&["rate=1gbit,none", "mtu=1500"]),
        ["mtu=1500 rate=1gbit", "mtu=1500 rate=none"]
    );
    assert_eq!(
        cells(&["traffic.nagle=true,false", "mtu=1500"]),
        ["mtu=1500 traffic.nagle=on", "mtu=1500 traffic.nagle=off"]
    );
    let plan = plan(
        SMALL,
        &["rate=300mbit", "seeds=3", "network.ip=4", "offloads=true"],
    );
    let setting = setting(&plan, 0);
    assert_eq!(
        setting.network.links[0].rate,
        Rate::from_bits_per_second(300_000_000)
    );
    assert_eq!(plan.repeat, 3);
    assert_eq!(setting.network.ip, IpVersion::V4);
    assert!(setting.host.offloads);
    check_round_trip(&plan);
}

#[test]
fn levels_listed_twice_make_copies() {
    let plan = plan(SMALL, &["mtu=1500,1500", "offloads=off,on"]);
    assert_eq!(
        factors(&plan),
        [
            "mtu=1500 offloads=off",
            "mtu=1500 offloads=on",
            "mtu=1500 offloads=off copy=2",
            "mtu=1500 offloads=on copy=2",
        ]
    );
    check_round_trip(&plan);
}

#[test]
fn links_differ_where_they_are_told_to() {
    let text = with("shape = \"routed\"\nlinks = 0").replace("links = 0", "rate = \"none\"");
    let sets = [
        "links.router-receiver.rate=100mbit",
        "links.router-receiver.mtu=1280",
        "links.sender-router.burst=20kB",
        "traffic.message=mtu-72",
    ];
    let plan = plan(&text, &sets);
    let [first, second] = setting(&plan, 1).network.links.as_slice() else {
        panic!("a routed path has two links");
    };
    assert_eq!((first.mtu.get(), first.rate), (9000, None));
    assert_eq!(first.burst, Bytes::new(20_000));
    assert_eq!(second.mtu.get(), 1280);
    assert_eq!(second.rate, Rate::from_bits_per_second(100_000_000));
    assert_eq!(second.burst, Bytes::new(12_500));
    assert_eq!(transfer(&plan, 1).message, Bytes::new(1208));
    check_round_trip(&plan);
}

#[test]
fn an_automatic_bucket_holds_two_frames_or_a_millisecond() {
    let burst = |mtu, rate| {
        let mtu = IpMtu::new(mtu, IpVersion::V4).unwrap();
        auto_burst(mtu, rate).get()
    };
    let rate = Rate::from_bits_per_second;
    assert_eq!(burst(1500, rate(1_000_000_000)), 125_000);
    assert_eq!(burst(1500, rate(10_000_000)), 2 * 1538);
    assert_eq!(burst(9000, rate(10_000_000)), 2 * 9038);
    assert_eq!(burst(68, rate(200_000_001)), 25_001);
    assert_eq!(burst(1500, None), 2 * 1538);
    assert_eq!(burst(1500, rate(u64::MAX)), u64::from(u32::MAX));
}

#[test]
fn figures_are_left_out_where_the_run_has_other_settings_than_the_study() {
    let text = shipped::text("os-comparison").unwrap().1;
    let shown = |set: &str| {
        let plan = plan(text, &[set]);
        check_round_trip(&plan);
        plan.published.len()
    };
    let all = shown("ip=6");
    assert!(all > 0);
    assert_eq!(
        shown("rate=1000mbit"),
        all,
        "the same rate, written otherwise"
    );
    assert_eq!(shown("nagle=on"), all, "the study does not say");
    for other in [
        "protocol=udp",
        "ip=4",
        "rate=100mbit",
        "size=50MB",
        "shape=pair",
    ] {
        assert_eq!(shown(other), 0, "{other}");
    }
}

#[test]
fn changes_are_shown_only_against_the_baseline_they_were_printed_for() {
    let text = shipped::text("os-comparison").unwrap().1;
    let changes = |sets: &[&str]| {
        let plan = plan(text, sets);
        check_round_trip(&plan);
        let shown = plan.published.iter().filter(|row| !row.changes.is_empty());
        (
            plan.compare.baseline.to_string(),
            plan.published.len(),
            shown.count(),
        )
    };
    assert_eq!(changes(&["mtu=9000,1500"]), ("1500".into(), 20, 20));
    assert_eq!(changes(&["mtu=2345"]), ("2345".into(), 12, 0));
    assert_eq!(changes(&["compare.baseline=4000"]), ("4000".into(), 12, 0));
    assert_eq!(changes(&["compare.factor=offloads"]), ("off".into(), 0, 0));
}

#[test]
fn rows_match_cells_by_the_names_of_the_factors() {
    let text = SMALL.replace("mtu = [1500, 9000]", "\"network.mtu\" = [1500, 9000]")
        + "[[published]]\nmetric = \"rtt\"\nunit = \"ms\"\nsource = \"[K]\"\n\
           factors = { \"host.offloads\" = false }\nvalues = { 9000 = 2, 1500 = 1.5 }\n";
    let plan = plan(&text, &[]);
    let row = &plan.published[0];
    let offloads = ("offloads".to_owned(), Level::Text("off".into()));
    assert_eq!(row.factors, Factors(vec![offloads]));
    assert_eq!(
        row.values,
        [(Level::Integer(1500), 1.5), (Level::Integer(9000), 2.0)]
    );
    assert_eq!(factors(&plan)[0], "mtu=1500");
    check_round_trip(&plan);
    check_rejected(
        &text.replace("host.offloads", "offload"),
        &[],
        "experiments/x.toml:16: published.factors.offload = false: unknown alias or key `offload`; did you mean `offloads`?",
    );
}
