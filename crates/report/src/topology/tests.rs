use experiment::Experiment;
use plan::{Plan, World};

use super::*;

/// The plan of an experiment with these keys, simulated.
fn plan(keys: &str) -> Plan {
    let text = format!("format = 1\nname = \"drawn\"\n{keys}");
    let experiment = Experiment::parse(&text, "drawn.toml").unwrap();
    lab::world::plan(experiment, "sim".parse::<World>().unwrap()).unwrap()
}

fn drawn(keys: &str, width: usize) -> String {
    topology_text(&plan(keys), width)
}

const TRANSFER: &str = "[traffic]\nkind = \"transfer\"\nsize = \"5MB\"\necho = \"off\"\n";

#[test]
fn a_pair_is_two_boxes_and_a_value_that_differs_between_cells_is_marked() {
    let text = drawn(
        &format!(
            "[network]\nrate = \"1500kbit\"\ndelay = \"20ms\"\n{TRANSFER}[sweep]\n\"network.mtu\" = [1500, 4000, 9000]\n"
        ),
        100,
    );
    assert_eq!(
        text,
        "\
┌────────┐ 1.5 Mbit/s            ┌──────────┐
│ sender ├───────────────────────┤ receiver │
└────────┘ MTU 1500, 4000, 9000* └──────────┘
  sender-receiver: 1.5 Mbit/s; MTU 1500, 4000, 9000*; delay 20 ms; queue drop-tail; buffer 500 kB
  Hosts: IPv6; congestion control cubic
  sender → receiver: 5 MB over TCP
  Messages of 1428 B
  * differs between cells
"
    );
}

#[test]
fn equal_routers_of_a_chain_are_one_box() {
    let keys = format!(
        "[network]\nshape = \"chain\"\nstages = 12\nrate = \"1gbit\"\n{TRANSFER}[sweep]\n\"network.mtu\" = [9000]\n"
    );
    let text = drawn(&keys, 80);
    let picture: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(
        picture,
        [
            "┌────────┐ 1 Gbit/s ┌──────────────────────┐ 1 Gbit/s ┌──────────┐",
            "│ sender ├──────────┤ router1 ... router12 ├──────────┤ receiver │",
            "└────────┘ MTU 9000 └──────────────────────┘ MTU 9000 └──────────┘",
        ]
    );
    assert!(text.contains("router1 ... router12: links between them are alike"));
}

#[test]
fn forty_senders_at_one_router_are_one_box() {
    let keys = "\
[network]
shape = \"dumbbell\"
pairs = 40
rate = \"1gbit\"
[links.bottleneck]
rate = \"100mbit\"
[traffic]
kind = \"flows\"
[flows.bulk]
protocol = \"tcp\"
from = \"sender*\"
to = \"receiver*\"
count = 40
[sweep]
\"network.mtu\" = [1500]
";
    let text = drawn(keys, 100);
    let titles: Vec<&str> = text
        .lines()
        .nth(1)
        .unwrap()
        .split(['│', '├', '┤'])
        .collect();
    assert_eq!(
        [titles[1], titles[3], titles[5], titles[7]],
        [
            " sender1 ... sender40 ",
            " left ",
            " right ",
            " receiver1 ... receiver40 "
        ]
    );
    assert!(
        text.contains("bulk: sender* → receiver*, 40 × TCP"),
        "{text}"
    );
}

#[test]
fn listed_nodes_meet_where_their_links_do() {
    let experiment = Experiment::load("red-increase").unwrap();
    let plan = lab::world::plan(experiment, "sim".parse().unwrap()).unwrap();
    let text = topology_text(&plan, 100);
    let picture: Vec<&str> = text.lines().take(7).collect();
    assert_eq!(
        picture.join("\n"),
        "\
┌────┐ 10 Mbit/s                               10 Mbit/s  ┌────┐
│ s1 ├────────────┐                          ┌────────────┤ s3 │
└────┘ MTU 1500   │ ┌────┐ 1.5 Mbit/s ┌────┐ │ MTU 1500   └────┘
                  ├─┤ r1 ├────────────┤ r2 ├─┤
┌────┐ 10 Mbit/s  │ └────┘ MTU 1500   └────┘ │ 10 Mbit/s  ┌────┐
│ s2 ├────────────┘                          └────────────┤ s4 │
└────┘ MTU 1500                                MTU 1500   └────┘"
    );
}

#[test]
fn the_edges_of_a_domain_say_what_they_gather() {
    let mut experiment = Experiment::load("jumbogen-scaling").unwrap();
    for set in ["traffic=flood25k", "gather=off,t900us", "frame=9000"] {
        experiment.set(set).unwrap();
    }
    let plan = lab::world::plan(experiment, "sim".parse().unwrap()).unwrap();
    let beds = of(&plan);
    assert_eq!(beds.len(), 1);
    let notes = ["gathers off, 9000 B*", "sends at once, after 900 us*"];
    for node in &beds[0].nodes {
        let is_edge = ["in", "out"].contains(&node.name.as_str());
        assert_eq!(
            node.notes().as_slice(),
            if is_edge { &notes[..] } else { &[] }
        );
    }
    assert_eq!(
        beds[0].node_lines(),
        [format!("in, out: {}", notes.join("; "))]
    );
}

#[test]
fn cells_with_other_nodes_have_a_drawing_of_their_own() {
    let keys = format!(
        "[network]\nshape = \"chain\"\nrate = \"1gbit\"\nmtu = 1500\n{TRANSFER}[sweep]\n\"network.stages\" = [1, 2]\n"
    );
    let cells: Vec<String> = of(&plan(&keys)).into_iter().map(|bed| bed.cells).collect();
    assert_eq!(cells, ["network.stages=1", "network.stages=2"]);
}

#[test]
fn every_shipped_experiment_has_a_drawing_within_the_columns() {
    for shipped in experiment::shipped() {
        let name = shipped.name;
        let mut experiment = Experiment::load(name).unwrap();
        if name == "aqm-readings" {
            // Its thousands of cells have one arrangement of nodes.
            experiment.set("packets=3000B").unwrap();
            experiment.set("law=text").unwrap();
        }
        let world = experiment.world().unwrap().unwrap_or_default();
        let Ok(plan) = lab::world::plan(experiment, world) else {
            continue;
        };
        for width in [60, 80, 100] {
            let text = topology_text(&plan, width);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest > Some(20) && widest <= Some(width), "{name}: {text}");
        }
        for bed in of(&plan) {
            let picture = svg::figure(&bed).into_string();
            assert!(picture.contains("role=\"img\" aria-label=\"Test bed. Links: "));
        }
    }
}
