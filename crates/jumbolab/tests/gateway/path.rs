//! Path MTUs that gateways find by probes.

use serde_json::json;

use super::see;
use super::traffic::DATAGRAMS;

/// A router between the gateways that drops what is too large without a word, both ways.
/// Not sealed: sealing this much traffic takes a gateway that is not optimized too
/// long. `gateway` tests probes with one.
const SILENT: &str = r#"
ip -n c rule add iif lo ipproto icmp pref 1 blackhole
limit() { ip -n c link set east mtu $1; }
probing() { # NODE LOCAL PEER PREFIXES
    cat >$1.toml <<END
[inside]
interfaces = ["in"]
[core]
probe = "500ms"
[peers.other]
address = "$3"
local = "$2"
prefixes = [$4]
END
    begin $1 --config $1.toml
}
limit 4000
probing ga 192.0.2.1 198.51.100.1 '"10.2.0.0/24", "fd02::/64"'
probing gb 198.51.100.1 192.0.2.1 '"10.1.0.0/24", "fd01::/64"'
crosses_after start
"#;

#[test]
fn black_holes_that_no_router_reports_are_found_and_followed() {
    let seen = see(&format!(
        "{SILENT}
        sleep 5
        {DATAGRAMS}
        limit 9000
        until_said ga '\"mtu\":9000,\"mtu_before\":4000'
        limit 2500
        until_said ga '\"mtu\":2500'
        in_node a ping -q -c 5 -i 0.01 -w 5 -s 1400 -M do 10.2.0.2 | grep '5 received'
        end ga gb\n"
    ));
    let expected = json!({"received": 6_000, "damaged": 0, "misordered": 0});
    let received = seen.objects();
    let of_receivers = received.iter().filter(|one| one.get("received").is_some());
    assert_eq!(of_receivers.collect::<Vec<_>>(), [&expected; 3]);
}

/// Gateways that seal and say nothing of probes, over IPv4 or IPv6.
fn forged(local: &str, peer: &str, mtu: u32) {
    let seen = see(&format!(
        "keys
        begin ga --inside-interface in $seal_a --local {local} --peer {peer} --prefix 10.2.0.0/24
        begin gb --inside-interface in $seal_b --local {peer} --peer {local} --prefix 10.1.0.0/24
        until_said ga '\"mtu\":9000'
        changes=$(grep -c path_mtu ga.log)
        in_node c python3 \"$PROBE\" too_big {local} {peer} {mtu} 250
        # The kernel believes it.
        ip -n ga route get {peer} | grep -q \"mtu {mtu}\"
        test $(grep -c path_mtu ga.log) = $changes
        # A router's true report is followed before the next probe of every ten seconds.
        ip -n c link set east mtu 3600
        in_node c python3 \"$PROBE\" too_big {local} {peer} 1300 1
        until_said ga '\"mtu\":3600'
        end ga gb\n"
    ));
    assert!(seen.printed.contains("forged"), "{}", seen.printed);
    seen.conserved();
}

#[test]
fn forged_reports_do_not_change_the_path_mtu_of_gateways_that_seal() {
    forged("192.0.2.1", "198.51.100.1", 1_111);
    forged("fd0a::1", "fd0b::1", 1_313);
}
