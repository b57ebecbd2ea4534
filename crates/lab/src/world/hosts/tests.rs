//! Which experiments are measured between machines, and why others are refused.

use experiment::Experiment;
use plan::World;
use plan::setting::{Coalescing, Traffic};
use units::Span;

use super::network::Layout;

fn planned(experiment: Experiment) -> Result<plan::Plan, String> {
    crate::world::plan(experiment, World::Hosts).map_err(|error| format!("{error:#}"))
}

#[test]
fn every_shipped_experiment_is_measured_or_refused_by_a_key_with_its_place() {
    let mut measured = Vec::new();
    for shipped in experiment::shipped() {
        let name = shipped.name;
        match planned(Experiment::load(name).unwrap()) {
            Ok(plan) => {
                assert!(plan.cells.iter().any(|cell| cell.setting.is_ok()), "{name}");
                measured.push(name);
            }
            Err(why) => {
                let place = format!("experiments/{name}.toml:");
                assert!(why.starts_with(&place), "{name}: {why}");
                assert!(!why.contains('\n'), "{why}");
            }
        }
    }
    let expected = [
        "aqm-congestion",
        "jumbo-frames",
        "jumbogen-scaling",
        "jumbogram-ditg",
        "jumbogram-throughput",
        "os-comparison",
        "receiver-timer",
        "red-decrease",
        "red-increase",
        "rtt-by-packet-size",
        "stall",
    ];
    for name in expected {
        assert!(measured.contains(&name), "{name}: {measured:?}");
    }
}

/// Two hosts at each of two routers, with a narrow link between these.
const NETWORK: &str = "
format = 1
name = \"x\"
[network]
shape = \"explicit\"
link = \"emulated\"
ip = 4
[nodes.a]
role = \"host\"
[nodes.b]
role = \"host\"
[nodes.r]
role = \"router\"
[nodes.s]
role = \"router\"
[nodes.c]
role = \"host\"
[nodes.d]
role = \"host\"
[links.a-r]
ends = [\"a\", \"r\"]
[links.b-r]
ends = [\"r\", \"b\"]
[links.narrow]
ends = [\"r\", \"s\"]
rate = \"2mbit\"
delay = \"20ms\"
queue = \"red\"
[links.narrow.windows]
all = \"0s..1s\"
[links.s-c]
ends = [\"s\", \"c\"]
[links.s-d]
ends = [\"s\", \"d\"]
[traffic]
kind = \"flows\"
duration = \"1s\"
[flows.there]
protocol = \"tcp\"
from = \"a\"
to = \"c\"
[flows.back]
protocol = \"tcp\"
from = \"d\"
to = \"b\"
[sweep]
\"network.mtu\" = [1500]
";

#[test]
fn a_network_of_two_routers_is_laid_over_four_machines() {
    let plan = planned(Experiment::parse(NETWORK, "x.toml").unwrap()).unwrap();
    let setting = plan.cells[0].setting.as_ref().unwrap();
    let graph = setting.network.graph.as_ref().unwrap();
    let layout = Layout::of(graph).unwrap();
    assert_eq!(layout.core_names(&setting.network), "narrow");
    let gateways = layout.gateways.map(|node| graph.nodes[node].name.as_str());
    assert_eq!(gateways, ["r", "s"], "the first end is the ingress");
    let Traffic::Flows(flows) = layout.between_machines(setting).traffic else {
        panic!("flows are flows");
    };
    let ends: Vec<[&str; 2]> = { flows.flows.iter() }
        .map(|flow| [&*flow.from, &*flow.to])
        .collect();
    assert!(ends.contains(&["sender", "receiver"]) && ends.contains(&["receiver", "sender"]));
}

/// The same network with a second link between the routers, behind the narrow one.
fn in_a_row(ends: &str) -> String {
    let behind = NETWORK.replace("[\"s\", \"c\"]", "[\"t\", \"c\"]");
    let behind = behind.replace("[\"s\", \"d\"]", "[\"t\", \"d\"]");
    let more = format!("[nodes.t]\nrole = \"router\"\n[links.next]\nends = {ends}\n[traffic]");
    behind.replace("[traffic]", &more)
}

#[test]
fn links_in_a_row_are_all_emulated_from_the_ingress_to_the_egress() {
    let text = in_a_row("[\"s\", \"t\"]").replace(
        "protocol = \"tcp\"\nfrom = \"d\"",
        "message = 18\ngap = \"1ms\"\nfrom = \"d\"",
    );
    let plan = planned(Experiment::parse(&text, "x.toml").unwrap()).unwrap();
    let setting = plan.cells[0].setting.as_ref().unwrap();
    let graph = setting.network.graph.as_ref().unwrap();
    let layout = Layout::of(graph).unwrap();
    assert_eq!(layout.core_names(&setting.network), "narrow, next");
    let gateways = layout.gateways.map(|node| graph.nodes[node].name.as_str());
    assert_eq!(gateways, ["r", "t"]);
    let place = |name: &str| {
        let wire = graph.wires.iter().position(|wire| wire.name == name);
        layout.place(wire.unwrap())
    };
    assert_eq!(
        ["narrow", "next", "s-c"].map(place),
        [Some(0), Some(1), None]
    );
    for (text, told) in [
        (
            in_a_row("[\"t\", \"s\"]"),
            "each link written from the ingress",
        ),
        (
            in_a_row("[\"s\", \"t\"]\nmtu = 1400"),
            "links.next.mtu: links in a row",
        ),
    ] {
        let why = planned(Experiment::parse(&text, "x.toml").unwrap()).unwrap_err();
        assert!(why.contains(told) && !why.contains('\n'), "{why}");
    }
}

/// The same network with one host on the receiver's side, whose link has these keys more.
fn of_one_host(keys: &str) -> String {
    let one = NETWORK.replace("[nodes.d]\nrole = \"host\"\n", "");
    let one = one.replace("[links.s-d]\nends = [\"s\", \"d\"]\n", "");
    let one = one.replace("from = \"d\"", "from = \"c\"");
    one.replace("[links.s-c]\n", &format!("[links.s-c]\n{keys}\n"))
}

#[test]
fn the_link_of_the_only_host_of_a_machine_is_emulated() {
    for (keys, names) in [
        ("", "narrow"),
        ("rate = \"1mbit\"", "narrow, s-c"),
        ("delay = \"3ms\"", "narrow, s-c"),
        ("queue = \"dropfront\"", "narrow, s-c"),
    ] {
        let text = of_one_host(keys);
        let plan = planned(Experiment::parse(&text, "x.toml").unwrap()).unwrap();
        let network = &plan.cells[0].setting.as_ref().unwrap().network;
        let layout = Layout::of(network.graph.as_ref().unwrap()).unwrap();
        assert_eq!(layout.emulated_names(network), names, "{keys}");
        let mut of_hosts = layout.of_hosts(network);
        assert!(of_hosts.all(|(side, link)| (side, &*link.name) == (1, "s-c")));
    }
    let text = of_one_host("windows = { other = \"0s..1s\" }");
    let why = planned(Experiment::parse(&text, "x.toml").unwrap()).unwrap_err();
    assert!(why.contains("links.s-c.windows: this link"), "{why}");
}

#[test]
fn what_two_gateways_cannot_be_is_refused_by_name_and_a_path_is_as_it_is() {
    let refused = |from: &str, to: &str| {
        assert!(NETWORK.contains(from), "{from}");
        let text = NETWORK.replacen(from, to, 1);
        let why = planned(Experiment::parse(&text, "x.toml").unwrap()).unwrap_err();
        assert!(!why.contains('\n'), "{why}");
        why
    };
    for (from, to, told) in [
        (
            "[links.s-c]\n",
            "[links.s-c]\ndelay = \"3ms\"\n",
            "links.s-c.delay: this link is the network between hosts as it is, and emulated are only those between gateways (narrow)",
        ),
        (
            "[links.a-r]\n",
            "[links.a-r]\nrate = \"10mbit\"\n",
            "links.a-r.rate: this link",
        ),
        (
            "[links.b-r]\n",
            "[links.b-r]\nqueue = \"dropfront\"\n",
            "links.b-r.queue: this link",
        ),
        (
            "[links.b-r]\n",
            "[links.b-r]\nmtu = 1400\n",
            "two machines with one MTU",
        ),
        (
            "to = \"c\"",
            "to = \"b\"",
            "flows.there: its two hosts are on one machine",
        ),
        (
            "ends = [\"s\", \"d\"]",
            "ends = [\"c\", \"d\"]",
            "the link s-d joins no host to a gateway",
        ),
        (
            "ends = [\"s\", \"d\"]",
            "ends = [\"t\", \"d\"]\n[links.s-t]\nends = [\"s\", \"t\"]\n[nodes.t]\nrole = \"router\"",
            "the link s-c joins no host to a gateway",
        ),
        (
            "link = \"emulated\"",
            "link = \"kernel\"",
            "between kernels its links are emulated",
        ),
        // On a path between hosts the same keys are refused as before.
        (
            "shape = \"explicit\"\nlink = \"emulated\"",
            "shape = \"pair\"\nlink = \"emulated\"",
            "the network between hosts is as it is",
        ),
    ] {
        let why = refused(from, to);
        assert!(why.contains(told), "{to}: {why}");
    }
}

#[test]
fn what_segments_cannot_limit_is_refused_with_what_to_write() {
    let planned = |keys: &str| {
        let text = format!(
            "format = 1\nname = \"x\"\n[network]\nmtu_by = \"mss\"\n{keys}\n[sweep]\n\"network.mtu\" = [1500]\n"
        );
        planned(Experiment::parse(&text, "x.toml").unwrap())
    };
    assert_eq!(planned("").map(|plan| plan.cells.len()), Ok(1));
    let datagrams = "[traffic]\nprotocol = \"udp\"\nmessage = ";
    assert!(planned(&format!("{datagrams}\"mtu-72\"")).is_ok());
    let why = planned(&format!("{datagrams}1500")).unwrap_err();
    assert!(
        why.contains("nothing cuts datagrams of 1500 octets"),
        "{why}"
    );
    let why = planned("[traffic]\nkind = \"command\"\nsender = \"true\"\nread.loss = \"/x\"");
    let why = why.unwrap_err();
    assert!(why.contains("no sockets of your programs"), "{why}");
}

#[test]
fn machines_do_not_change_the_plan_of_a_run() {
    let text = "format = 1\nname = \"x\"\n[sweep]\n\"network.mtu\" = [1500]\n";
    let named = format!("{text}[hosts.sender]\nssh = \"a\"\n[hosts.receiver]\nssh = \"b\"\n");
    let hash = |text: &str| {
        let plan = planned(Experiment::parse(text, "x.toml").unwrap()).unwrap();
        assert!(!plan.text.contains("ssh"), "{}", plan.text);
        plan.hash
    };
    assert_eq!(hash(text), hash(&named));
}

#[test]
fn rings_and_coalescing_are_asked_of_real_cards_alone() {
    let planned = |world, keys: &str| {
        let text = format!(
            "format = 1\nname = \"x\"\n[sweep]\n\"network.mtu\" = [1500]\n[host]\n{keys}\n"
        );
        let experiment = Experiment::parse(&text, "x.toml");
        let plan = crate::world::plan(experiment.unwrap(), world);
        plan.map_err(|error| format!("{error:#}"))
    };
    let keys = "receive_ring = 2048\ncoalescing = \"50us\"\ncoalescing_frames = 8";
    let plan = planned(World::Hosts, keys).unwrap();
    let nic = plan.cells[0].setting.as_ref().unwrap().host.nic;
    assert_eq!((nic.receive_ring, nic.send_ring), (Some(2_048), None));
    let within = Coalescing::Within(Span::from_micros(50));
    assert_eq!(
        (nic.coalescing, nic.coalescing_frames),
        (Some(within), Some(8))
    );
    let again = planned(World::Hosts, "coalescing = \"adaptive\"").unwrap();
    assert!(
        again.text.contains("coalescing = \"adaptive\""),
        "{}",
        again.text
    );
    for (world, keys, told) in [
        (
            World::Netns,
            keys,
            "neither rings nor coalescing: --on hosts",
        ),
        (World::Sim, "send_ring = 1", "no network cards: --on hosts"),
        (
            World::Hosts,
            "send_ring = 0",
            "write a number from 1 to 1000000",
        ),
        (World::Hosts, "coalescing = \"5ns\"", "whole microseconds"),
        (
            World::Hosts,
            "coalescing = \"adaptive\"\ncoalescing_frames = 1",
            "the driver adapts the frames, too",
        ),
    ] {
        let why = planned(world, keys).unwrap_err();
        assert!(why.contains(told) && why.starts_with("x.toml:"), "{why}");
    }
}
