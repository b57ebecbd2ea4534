//! Bundles of a simulated domain, read by tshark with the dissector in docs/.

use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::captured;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/reference/jumbolab-bundle.lua"
);

/// Three small packets per bundle, in front of a link with too low a rate,
/// which drops some of them.
const AGGREGATED: &str = "\
format = 1
name = \"aggregated\"
[network]
shape = \"explicit\"
ip = 4
mtu = 500
rate = \"100mbit\"
[nodes]
a = { role = \"host\", address = \"10.1.0.1\" }
in = { role = \"router\" }
out = { role = \"router\" }
b = { role = \"host\", address = \"10.2.0.1\" }
[links.a-in]
ends = [\"a\", \"in\"]
[links.sender-receiver]
ends = [\"in\", \"out\"]
mtu = 1500
rate = \"1mbit\"
buffer = \"4 packets\"
queue = \"mred\"
[links.sender-receiver.mred]
min = 1
max = 9
weight = 0.5
[links.sender-receiver.watch]
capture = \"on\"
[links.out-b]
ends = [\"out\", \"b\"]
[domain]
edges = [\"in\", \"out\"]
mtu = 700
trigger = \"full\"
[domain.routes.east]
prefix = \"10.2.0.0/16\"
egress = \"out\"
[domain.routes.west]
prefix = \"10.1.0.0/16\"
egress = \"in\"
[traffic]
kind = \"flows\"
duration = \"500ms\"
[flows.f]
from = \"a\"
to = \"b\"
message = 172
gap = \"1200us\"
[flows.tcp]
protocol = \"tcp\"
from = \"a\"
to = \"b\"
bytes = \"4kB\"
[sweep]
\"domain.encapsulation\" = [\"ip\", \"udp\", \"label\"]
[trials]
repeat = 1
";

/// The output of tshark for a trial's capture.
fn read(folder: &TempDir, trial: &str, options: &[&str]) -> Vec<String> {
    let capture = format!("r/watch/{trial}-sender-receiver.pcapng");
    let output = Command::new("tshark")
        .args(["-X", &format!("lua_script:{SCRIPT}"), "-r", &capture])
        .args([
            "-d",
            "mpls.label==16,jumbolab",
            "-d",
            "mpls.label==17,jumbolab",
        ])
        .args([
            "-o",
            "udp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
        ])
        .args(options)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("Lua"), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn tshark_finds_every_field_of_simulated_bundles_whole_and_with_inner_drops() {
    let folder = captured(AGGREGATED);
    for trial in ["c00-r01", "c01-r01", "c02-r01"] {
        let fields = |filter: &str, field: &str| {
            read(&folder, trial, &["-Y", filter, "-T", "fields", "-e", field])
        };
        let count = |filter: &str| fields(filter, "frame.number").len();
        let (all, inner_dropped) = (count("jumbolab"), count("jumbolab.inner_dropped"));
        assert!(
            all > 30 && inner_dropped > 0 && inner_dropped < all,
            "{trial}: {inner_dropped} of {all}"
        );
        let wrong = "_ws.malformed || _ws.lua.error || ip.checksum.status == 0 \
                     || _ws.expert.severity == error || jumbolab.bad_length || jumbolab.padding";
        assert_eq!(count(wrong), 0, "{trial}");
        // Bundle numbers rise; those of dropped bundles are missing.
        let numbers = fields(
            "jumbolab && ip.dst == 198.18.0.3 || mpls",
            "jumbolab.sequence",
        );
        let numbers: Vec<u16> = numbers
            .iter()
            .map(|number| number.parse().unwrap())
            .collect();
        assert!(numbers.is_sorted(), "{trial}: {numbers:?}");
        // A dropped inner packet has length 0; the others follow each other.
        let lengths = fields("jumbolab.inner_dropped", "jumbolab.length");
        assert!(
            lengths
                .iter()
                .all(|entries| entries.split(',').any(|length| length == "0"))
        );
        let inside = fields("jumbolab", "ip.dst");
        assert!(
            inside.iter().all(|packets| packets.contains("198.18.0.4")),
            "{trial}"
        );
    }
}
