//! Traffic through gateways: bytes, order, counts, path MTUs, restarts, unknown senders.

use serde_json::json;

use super::see;

/// Sends datagrams both ways over both versions of IP; prints what each receiver saw. No
/// socket has ever more of them than it has room for, so that all arrive on a machine that
/// is busy, too.
pub(super) const DATAGRAMS: &str = r#"
receive() { # NODE PORT
    in_node $1 python3 "$PROBE" receive $2 30 6000 >"$1.$2" &
    receivers="$receivers $!"
    for try in $(seq 2000); do if grep -q ready "$1.$2"; then return; fi; sleep 0.01; done
    exit 1
}
receivers=
stay
receive b 5001; receive b 5002; receive a 5003
in_node a python3 "$PROBE" carry 10.2.0.2 5001 300 20 &
in_node a python3 "$PROBE" carry fd02::2 5002 300 20 &
in_node b python3 "$PROBE" carry 10.1.0.2 5003 300 20 &
wait $receivers
cat b.5001 b.5002 a.5003
"#;

#[test]
fn datagrams_cross_whole_and_in_order_on_every_path() {
    for begin in [
        "begin_packet",
        "begin_tun",
        "begin_packet --encapsulation ip",
    ] {
        let seen = see(&format!("{begin}\n{DATAGRAMS}\nend ga gb\n"));
        let expected = json!({"received": 6_000, "damaged": 0, "misordered": 0});
        let received = seen.objects();
        let received: Vec<_> = received
            .iter()
            .filter(|seen| seen.get("received").is_some())
            .collect();
        assert_eq!(received, [&expected; 3], "{begin}");
        seen.conserved();
        // Few of them travelled alone.
        assert!(
            seen.last(0, "bundled") > 10 * seen.last(0, "alone"),
            "{begin}"
        );
        assert!(
            seen.last(0, "bundles") * 3 < seen.last(0, "bundled"),
            "{begin}"
        );
    }
}

#[test]
fn pings_and_tcp_cross_both_ways_over_both_versions() {
    for begin in ["begin_packet", "begin_tun"] {
        let seen = see(&format!(
            "{begin}
            for host in 10.2.0.2 fd02::2; do
                in_node a ping -q -c 5 -i 0.01 -w 10 $host | grep '5 received'
                for way in '' -R; do
                    serve_iperf3 b
                    in_node a iperf3 -c $host -p $iperf3_port -n 8M --json $way >iperf
                    python3 -c 'import json; end = json.load(open(\"iperf\"))[\"end\"]; \
                        print(json.dumps({{\"bytes\": end[\"sum_sent\"][\"bytes\"]}}))'
                done
            done
            end ga gb\n"
        ));
        let bytes: Vec<u64> = seen
            .objects()
            .iter()
            .map(|end| end["bytes"].as_u64().unwrap())
            .collect();
        assert_eq!(bytes.len(), 4, "{}", seen.printed);
        assert!(bytes.iter().all(|bytes| *bytes >= 8 << 20), "{bytes:?}");
        seen.conserved();
    }
}

#[test]
fn voip_flows_of_ditg_cross_without_a_loss() {
    let seen = see("begin_packet --max-wait 25ms
        in_node b ITGRecv >/dev/null 2>&1 &
        for try in $(seq 500); do if in_node b ss -tln | grep -q :9000; then break; fi; sleep 0.01; done
        for port in 7001 7002 7003 7004; do
            echo \"-a 10.2.0.2 -rp $port -t 2000 VoIP -x G.711.1 -h RTP\"
        done >flows
        in_node a ITGSend flows -l sent.log -x received.log >/dev/null 2>&1
        in_node b sh -c 'ITGDec /tmp/received.log 2>/dev/null || ITGDec received.log' | grep -E 'Total packets|Packets dropped' | tail -n 2
        # Packets of one exit keep their order: behind this one, none waits.
        in_node a ping -q -c 1 -w 5 10.2.0.2 >/dev/null
        end ga gb\n");
    assert!(seen.printed.contains("0 (0.00 %)"), "{}", seen.printed);
    // Each flow has a packet every 10 ms, so that few wait alone.
    assert!(
        seen.last(0, "bundled") > seen.last(0, "alone"),
        "{}",
        seen.printed
    );
    seen.conserved();
}

#[test]
fn a_smaller_mtu_of_the_core_is_adopted_and_hosts_need_not_know() {
    // The path to b supports 9000 bytes, then 1400: less than a packet of the hosts.
    let seen = see("begin_packet
        in_node a ping -q -c 3 -i 0.01 -w 5 -s 1400 -M do 10.2.0.2 | grep '3 received'
        ip -n c link set east mtu 1400
        ip -n gb link set out mtu 1400
        for try in $(seq 5); do
            in_node a ping -q -c 1 -w 1 -s 1350 -M do 10.2.0.2 >/dev/null 2>&1 || true
        done
        until_said ga '\"mtu\":1400'
        in_node a ping -q -c 3 -i 0.01 -w 5 -s 1400 -M do 10.2.0.2 | grep '3 received'
        in_node a ping -q -c 3 -i 0.01 -w 5 -s 1400 -M do fd02::2 | grep '3 received'
        in_node a ip route get 10.2.0.2
        end ga gb\n");
    assert!(!seen.printed.contains("mtu"), "{}", seen.printed);
    assert!(seen.last(0, "pieces") >= 6, "{}", seen.printed);
}

#[test]
fn traffic_resumes_after_kill_9_a_restart_and_a_flap_and_nothing_is_left() {
    for begin in ["begin_packet", "begin_tun"] {
        let seen = see(&format!(
            "{begin}
            crosses() {{ # at most five seconds
                in_node a ping -q -c 200 -i 0.025 -w 5 10.2.0.2 >pings || true
                grep -q ' 0 received' pings && exit 1
                in_node a ping -q -c 5 -i 0.01 -w 5 10.2.0.2 | grep '5 received'
            }}
            crosses
            kill -9 $gb
            wait $gb || true
            in_node gb ip -o link | grep -c jumbo0 || true
            in_node gb ip route | grep -c 10.1.0.0 || true
            in_node gb ip -details link show in | grep -o 'promiscuity 0'
            begin gb --inside-interface in --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64 || true
            crosses
            ip -n c link set east down
            ip -n c link set east up
            crosses
            end ga gb\n"
        ).replace(
            "begin gb --inside-interface in",
            if begin == "begin_tun" { "begin gb" } else { "begin gb --inside-interface in" },
        ));
        let lines: Vec<&str> = seen.printed.lines().collect();
        assert_eq!(
            lines.iter().filter(|line| **line == "0").count(),
            2,
            "{}",
            seen.printed
        );
        assert!(lines.contains(&"promiscuity 0"), "{}", seen.printed);
        let crossed = lines.iter().filter(|line| line.contains("5 received"));
        assert_eq!(crossed.count(), 3, "{}", seen.printed);
    }
}

#[test]
fn a_flood_from_an_unknown_sender_is_counted_and_nothing_of_it_is_forwarded() {
    let seen = see("begin_packet
        in_node c python3 \"$PROBE\" flood 198.51.100.1 50253 20000
        in_node a ping -q -c 5 -i 0.01 -w 5 10.2.0.2 | grep '5 received'
        end ga gb\n");
    // All of them came, unless the kernel had no room for some.
    assert!(seen.last(1, "rejected") > 10_000, "{:?}", seen.logs[1]);
    assert_eq!(
        seen.last(1, "unpacked"),
        seen.last(0, "bundled") + seen.last(0, "alone")
    );
}

#[test]
fn a_new_configuration_takes_over_without_a_loss_and_a_wrong_one_does_not() {
    let seen = see("cat >b.toml <<'END'
[inside]
interfaces = [\"in\"]
[peers.a]
address = \"192.0.2.1\"
local = \"198.51.100.1\"
prefixes = [\"10.1.0.0/24\"]
END
        begin gb --config b.toml
        begin ga --inside-interface in --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24
        in_node a ping -q -c 300 -i 0.01 -w 10 10.2.0.2 >pings &
        pings=$!
        sed 's/interfaces/interface/' b.toml >wrong; cp b.toml right; cp wrong b.toml
        kill -HUP $gb; until_said gb not_reloaded
        (cat right; echo '[aggregation]'; echo 'max_wait = \"2ms\"') >b.toml
        kill -HUP $gb; until_said gb '\"reloaded\"'
        wait $pings
        grep '300 received' pings
        end ga gb\n");
    assert!(seen.printed.contains("300 received"), "{}", seen.printed);
    let wrong = seen.logs[1]
        .iter()
        .find(|line| line["kind"] == "not_reloaded");
    let text = wrong.unwrap()["text"].as_str().unwrap();
    assert_eq!(
        text,
        "b.toml:2: inside.interface = [\"in\"]: unknown key; did you mean `interfaces`?"
    );
    seen.conserved();
}

#[test]
fn a_second_gateway_with_ip_packets_to_one_address_is_rejected() {
    let seen = see(
        "cat >second.toml <<'END'
[inside]
name = \"jumbo9\"
[core]
encapsulation = \"ip\"
[peers.other]
address = \"192.0.2.77\"
local = \"198.51.100.1\"
END
        begin gb --inside-interface in --encapsulation ip --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24
        second() { in_node gb \"$JUMBOLAB\" gateway --config second.toml --duration 1s; }
        second 2>said && exit 1
        grep 'another gateway takes them' said
        end gb
        second\n",
    );
    assert!(seen.printed.contains("another gateway"), "{}", seen.printed);
}
