use experiment::Experiment;
use plan::{Backend, Plan};

use super::*;

/// The plan of an experiment with these keys, simulated.
fn plan(keys: &str) -> Plan {
    let text = format!("format = 1\nname = \"drawn\"\n{keys}");
    let experiment = Experiment::parse(&text, "drawn.toml").unwrap();
    backends::backend::plan(experiment, "sim".parse::<Backend>().unwrap()).unwrap()
}

const TRANSFER: &str = "[traffic]\nkind = \"transfer\"\nsize = \"5MB\"\necho = \"off\"\n";

#[test]
fn links_are_listed_and_a_value_that_differs_between_cells_is_marked() {
    let keys = format!(
        "[network]\nrate = \"1500kbit\"\ndelay = \"20ms\"\n{TRANSFER}[sweep]\n\"network.mtu\" = [1500, 4000, 9000]\n"
    );
    assert_eq!(
        topology_text(&plan(&keys), 100),
        "\
Test network
  sender-receiver: 1.5 Mbit/s; MTU 1500, 4000, 9000*; delay 20 ms; queue drop-tail; buffer 500 kB
  Hosts: IPv6; congestion control cubic
  sender → receiver: 5 MB over TCP
  Messages of 1428 B
  * differs between cells
"
    );
    assert_eq!(
        topology_lines(&plan(&keys), 45),
        ["sender-receiver: 1.5 Mbit/s; MTU 1500, 4000,…"]
    );
}

#[test]
fn equal_routers_of_a_chain_are_one_node() {
    let keys = format!(
        "[network]\nshape = \"chain\"\ndevices = 12\nrate = \"1gbit\"\n{TRANSFER}[sweep]\n\"network.mtu\" = [9000]\n"
    );
    let beds = of(&plan(&keys));
    let titles: Vec<String> = beds[0].nodes.iter().map(Node::title).collect();
    assert_eq!(titles, ["sender", "router1 ... router12", "receiver"]);
    assert_eq!(beds[0].nodes[1].notes(), ["links between them are alike"]);
}

#[test]
fn forty_senders_at_one_router_are_one_node() {
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
    let text = topology_text(&plan(keys), 100);
    let is_sender = |line: &&str| line.contains("(sender1 ... sender40 - left)");
    assert_eq!(text.lines().filter(is_sender).count(), 1, "{text}");
    assert!(
        text.contains("bulk: sender* → receiver*, 40 × TCP"),
        "{text}"
    );
}

#[test]
fn nodes_beside_the_longest_path_stand_at_its_ends() {
    let experiment = Experiment::load("red-increase").unwrap();
    let plan = backends::backend::plan(experiment, "sim".parse().unwrap()).unwrap();
    let bed = &of(&plan)[0];
    let layout = layout::Layout::of(bed);
    assert_eq!(layout.columns, 4);
    let places: Vec<_> = bed.nodes.iter().zip(layout.places).collect();
    for (name, place) in [
        ("s1", (0, 0)),
        ("s2", (0, 2)),
        ("r1", (1, 1)),
        ("r2", (2, 1)),
        ("s3", (3, 0)),
        ("s4", (3, 2)),
    ] {
        let found = places.iter().find(|(node, _)| node.name == name);
        assert_eq!(found.unwrap().1, place, "{name}");
    }
}

#[test]
fn the_edges_of_a_domain_say_what_they_aggregate() {
    let mut experiment = Experiment::load("jumbogen-scaling").unwrap();
    for set in ["traffic=flood25k", "aggregation=off,t900us", "frame=9000"] {
        experiment.set(set).unwrap();
    }
    let plan = backends::backend::plan(experiment, "sim".parse().unwrap()).unwrap();
    let beds = of(&plan);
    assert_eq!(beds.len(), 1);
    let notes = ["aggregates off, 9000 B*", "sends at once, after 900 us*"];
    for node in &beds[0].nodes {
        let is_edge = ["in", "out"].contains(&node.name.as_str());
        assert_eq!(
            node.notes().as_slice(),
            if is_edge { &notes[..] } else { &[] }
        );
    }
}

#[test]
fn cells_with_other_nodes_are_a_test_bed_of_their_own() {
    let keys = format!(
        "[network]\nshape = \"chain\"\nrate = \"1gbit\"\nmtu = 1500\n{TRANSFER}[sweep]\n\"network.devices\" = [1, 2]\n"
    );
    let cells: Vec<String> = of(&plan(&keys)).into_iter().map(|bed| bed.cells).collect();
    assert_eq!(cells, ["network.devices=1", "network.devices=2"]);
}

#[test]
fn every_shipped_experiment_is_listed_within_the_columns_and_drawn() {
    for shipped in experiment::shipped() {
        let name = shipped.name;
        let mut experiment = Experiment::load(name).unwrap();
        if name == "aqm-interpretations" {
            // Its thousands of cells have one arrangement of nodes.
            experiment.set("packets=3000B").unwrap();
            experiment.set("curve=text").unwrap();
        }
        let backend = experiment.backend().unwrap().unwrap_or_default();
        let Ok(plan) = backends::backend::plan(experiment, backend) else {
            continue;
        };
        for width in [60, 80, 100] {
            let text = topology_text(&plan, width);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(
                widest > Some(20) && widest <= Some(width.into()),
                "{name}: {text}"
            );
        }
        for bed in of(&plan) {
            let svg = figure(&bed);
            assert!(svg.alternative.starts_with("Test network. Links: "));
            let count = |element| svg.elements.matches(element).count();
            assert_eq!(count("<rect"), bed.nodes.len(), "{name}");
            assert_eq!(count("<polyline"), bed.links.len(), "{name}");
        }
    }
}
