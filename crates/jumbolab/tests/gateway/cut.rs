//! Packets of the hosts that are larger than the core's MTU.

use serde_json::json;

use super::see;

/// Hosts whose links have an MTU of 9000, and a core of two routers whose links have 1500.
const LARGE_INSIDE: &str = r#"
ip netns add d
ip -n d link set lo up
set_mtu 9000 a/eth0 ga/in gb/in b/eth0
set_mtu 1500 ga/out c/west
ip -n gb link del out
connect c east d west 1500
connect d east gb out 1500
address c east 203.0.113.1/24
address d west 203.0.113.2/24
address d east 198.51.100.9/24
address gb out 198.51.100.1/24
set_in d net.ipv4.ip_forward=1
ip -n c route add 198.51.100.0/24 via 203.0.113.2
ip -n d route add 192.0.2.0/24 via 203.0.113.1
ip -n gb route add 192.0.2.0/24 via 198.51.100.9
large() { # NODE FAR LOCAL PEER PREFIXES INSIDE
    cat >$1.toml <<END
[inside]
mtu = 9000
$6
[peers.far]
address = "$4"
local = "$3"
mtu = 1500
prefixes = [$5]
END
    if [ -e $1.key ]; then
        printf '%s\n' "public_key = '$(cat $2.pub)'" '[core]' "private_key_file = '$1.key'" >>$1.toml
    fi
    begin $1 --config $1.toml
}
begin_large() { # INSIDE
    large ga gb 192.0.2.1 198.51.100.1 '"10.2.0.0/24", "fd02::/64"' "$1"
    large gb ga 198.51.100.1 192.0.2.1 '"10.1.0.0/24", "fd01::/64"' "$1"
    crosses_after start
    if [ -e ga.key ]; then until_said ga 'kind":"sealed'; until_said gb 'kind":"sealed'; fi
}
"#;

#[test]
fn jumbo_frames_of_hosts_cross_two_routers_of_1500_and_probe_finds_9000() {
    for (prepare, inside) in [
        ("forwarding", ""),
        ("", "interfaces = [\"in\"]"),
        ("keys", "interfaces = [\"in\"]"),
    ] {
        let seen = see(&format!(
            "{LARGE_INSIDE}{prepare}
            begin_large '{inside}'
            for host in 10.2.0.2 fd02::2; do
                in_node a \"$JUMBOLAB\" probe $host --json
            done
            serve_iperf3 b
            in_node a iperf3 -c 10.2.0.2 -p $iperf3_port -n 20M -R --json >downloaded
            grep -o '\"tcp_mss_default\":.*[0-9]' downloaded
            in_node a ping -q -c 5 -i 0.01 -w 5 -s 8972 -M do 10.2.0.2 | grep '5 received'
            end ga gb\n"
        ));
        assert_eq!(
            seen.probed(),
            vec![json!(["clean", 9_000]); 2],
            "{}",
            seen.printed
        );
        // 9000 less the headers of IPv4 and TCP, and the option of time stamps.
        assert!(seen.printed.contains("8948"), "{}", seen.printed);
        // Each segment of the download is in seven bundles at least.
        let (released, joined) = (seen.last(0, "released"), seen.last(0, "joined"));
        assert!(
            released > 2_000 && joined > 6 * 2_000,
            "{released} {joined}"
        );
        let sealed = usize::from(prepare == "keys");
        assert_eq!([0, 1].map(|end| seen.events(end, "sealed")), [sealed; 2]);
        seen.conserved();
    }
}

#[test]
fn a_core_that_loses_repeats_and_reorders_bundles_damages_no_packet() {
    let seen = see("set_mtu 9000 a/eth0 ga/in gb/in b/eth0
        set_mtu 1500 ga/out c/west c/east gb/out
        for end in west east; do ip -n c address flush dev $end; done
        ip -n gb address flush dev out
        address gb out 192.0.2.2/24
        in_node c \"$JUMBOLAB\" emulate --between west east --delay 1ms --loss 1% --reorder 5% --duplicate 1% >emulated 2>&1 &
        emulator=$!
        begin ga --inside-interface in --mtu 1500 --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24
        begin gb --inside-interface in --mtu 1500 --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24
        in_node a ping -q -c 500 -i 0.02 -w 10 10.2.0.2 | grep -v ' 0 received'
        in_node b env LARGEST=8900 python3 \"$PROBE\" receive 5001 3 >b.5001 &
        receiver=$!
        for try in $(seq 500); do if grep -q ready b.5001; then break; fi; sleep 0.01; done
        in_node a env LARGEST=8900 python3 \"$PROBE\" send 10.2.0.2 5001 3000 1 1000
        wait $receiver
        cat b.5001
        end ga gb
        kill -TERM $emulator
        wait $emulator || true\n");
    let all = seen.objects();
    let checked = all.iter().find(|one| one.get("received").is_some());
    let checked = checked.expect("the receiver prints what came");
    assert_eq!(
        (&checked["damaged"], &checked["misordered"]),
        (&json!(0), &json!(0)),
        "{checked}"
    );
    // A datagram is in 1 to 8 bundles, each of which is lost with a chance of 1 %.
    let received = checked["received"].as_u64().expect("a number");
    assert!((2_700..3_000).contains(&received), "{checked}");
    let joined = seen.last(1, "joined");
    let out = seen.last(1, "released") + joined + seen.last(1, "inward_dropped");
    assert_eq!(seen.last(1, "unpacked"), out);
    assert!(
        joined > 3_000 && seen.last(1, "inward_dropped") > 0,
        "{joined}"
    );
}
