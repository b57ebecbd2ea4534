//! Bundles behind MPLS labels on Ethernet.

use serde_json::json;

use super::see;
use super::traffic::DATAGRAMS;

/// Gateways that are neighbours, with labels; 1001 leads to b.
const LABELLED: &str = r#"
one_link
labelled() { # NODE LOCAL PEER TO FROM PREFIXES
    cat >$1.toml <<END
[inside]
interfaces = ["in"]
[core]
interface = "out"
encapsulation = "mpls"
[peers.other]
address = "$3"
local = "$2"
label_to = $4
label_from = $5
prefixes = [$6]
END
    # The first frame needs the neighbour's address.
    in_node $1 ping -q -c 1 -w 5 $3 >/dev/null
    begin $1 --config $1.toml
}
labelled ga 192.0.2.1 192.0.2.2 1001 1002 '"10.2.0.0/24", "fd02::/64"'
labelled gb 192.0.2.2 192.0.2.1 1002 1001 '"10.1.0.0/24", "fd01::/64"'
"#;

#[test]
fn labelled_frames_cross_and_other_dissectors_read_them() {
    let seen = see(&format!(
        "{LABELLED}
        in_node gb python3 \"$PROBE\" frames out 20 frames.pcap >frames &
        for try in $(seq 500); do if grep -q ready frames; then break; fi; sleep 0.01; done
        {DATAGRAMS}
        tshark -X lua_script:\"$DISSECTOR\" -d mpls.label==1001,jumbolab -r frames.pcap -T fields \\
            -e eth.type -e mpls.label -e mpls.ttl -e jumbolab.version 2>dissected
        end ga gb\n"
    ));
    let expected = json!({"received": 6_000, "damaged": 0, "misordered": 0});
    let received = seen.objects();
    let of_receivers = received.iter().filter(|one| one.get("received").is_some());
    assert_eq!(of_receivers.collect::<Vec<_>>(), [&expected; 3]);
    let frames = seen.printed.lines().filter(|line| line.starts_with("0x"));
    let frames: Vec<&str> = frames.collect();
    assert_eq!(frames, ["0x8847\t1001\t64\t1"; 20], "{}", seen.printed);
    seen.conserved();
}
