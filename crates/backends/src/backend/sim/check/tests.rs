//! Valid settings that the simulator cannot run.

use experiment::Experiment;
use plan::Backend;

use super::check;

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

const GRAPH: &str = "\
format = 1
name = \"graph\"
[network]
shape = \"explicit\"
[nodes.a]
role = \"host\"
[nodes.r]
role = \"router\"
[nodes.b]
role = \"host\"
[links.a-r]
ends = [\"a\", \"r\"]
[links.r-b]
ends = [\"r\", \"b\"]
medium = \"fibre\"
length = \"10km\"
[traffic]
kind = \"flows\"
[flows.f]
from = \"a\"
to = \"b\"
message = 1000
load = \"50%\"
[sweep]
\"network.mtu\" = [1500, 9000]
";

const FLOWS: &str = "\
format = 1
name = \"small\"
[network]
shape = \"chain\"
link = \"emulated\"
rate = \"100mbit\"
[traffic]
kind = \"flows\"
[flows.probe]
message = 100
gap = \"10ms\"
[sweep]
\"network.load\" = [\"none\", \"light\", \"moderate\", \"heavy\"]
";

const DOMAIN: &str = "\
format = 1
name = \"domain\"
[network]
shape = \"explicit\"
ip = 4
[nodes]
a = { role = \"host\", address = \"10.1.0.1\" }
in = { role = \"router\" }
out = { role = \"router\" }
b = { role = \"host\", address = \"10.2.0.1\" }
[links]
a-in = { ends = [\"a\", \"in\"] }
core = { ends = [\"in\", \"out\"], mtu = 9000 }
out-b = { ends = [\"out\", \"b\"] }
[domain]
edges = [\"in\", \"out\"]
[domain.routes.west]
prefix = \"10.1.0.0/16\"
egress = \"in\"
[domain.routes.east]
prefix = \"10.2.0.0/16\"
egress = \"out\"
[traffic]
kind = \"flows\"
[flows.f]
from = \"a\"
to = \"b\"
message = 100
load = \"50%\"
[sweep]
\"network.rate\" = [\"100mbit\"]
";

/// Asserts the complete error line of `text` with `sets`.
#[track_caller]
fn rejected(text: &str, sets: &[&str], line: &str) {
    let mut experiment = Experiment::parse(text, "experiments/x.toml").unwrap();
    for set in sets {
        experiment.set(set).unwrap();
    }
    let error = experiment.plan(Backend::Sim, check).expect_err(line);
    assert_eq!(format!("{error:#}"), line);
}

#[test]
fn a_network_that_cannot_be_is_rejected_at_the_line_of_its_element() {
    let graph = |old: &str, new: &str, line: &str| {
        assert!(GRAPH.contains(old), "{old}");
        rejected(&GRAPH.replacen(old, new, 1), &[], line);
    };
    graph(
        "ends = [\"a\", \"r\"]",
        "ends = [\"r\", \"b\"]",
        "experiments/x.toml:13: links `a-r` and `r-b` connect the same nodes; keep one of them",
    );
    graph(
        "role = \"router\"",
        "role = \"host\"",
        "experiments/x.toml:19: flow `f` finds no path from `a` to `b`; connect them by links over routers and switches",
    );
    graph(
        "[links.a-r]",
        "[nodes.s]\nrole = \"switch\"\n[nodes.t]\nrole = \"switch\"\n[nodes.u]\nrole = \"switch\"\n\
         [links.s-t]\nends = [\"s\", \"t\"]\n[links.t-u]\nends = [\"t\", \"u\"]\n[links.u-s]\nends = [\"u\", \"s\"]\n[links.a-r]",
        "experiments/x.toml:21: link `u-s` closes a loop of switches; remove it, or make one of them a router",
    );
    rejected(
        &DOMAIN.replace("mtu = 9000", "mtu = 4000"),
        &[],
        "experiments/x.toml:13: link `core` supports 4000 B and bundles of `in` have up to 9000 B; make them smaller",
    );
}

#[test]
fn a_buffer_smaller_than_a_packet_is_rejected_at_its_key() {
    rejected(
        SMALL,
        &["traffic.protocol=udp", "host.receive_buffer=100"],
        "--set host.receive_buffer=100: node `receiver`: its receive buffer holds 100 bytes and a packet of flow `transfer` takes 1494; give it room for one",
    );
}

#[test]
fn cross_traffic_is_rejected_where_it_would_disturb_what_is_measured() {
    rejected(
        FLOWS,
        &["host.receive_per_packet=1us", "network.load=heavy"],
        "--set network.load=heavy: cross traffic: simulated hosts would process the packets of cross traffic, too; leave out their costs or the cross traffic",
    );
    rejected(
        FLOWS,
        &["network.shape=dumbbell", "network.load=heavy"],
        "--set network.load=heavy: cross traffic: only a path, e.g. shape = \"chain\", can have simulated cross traffic; write a flow instead",
    );
}
