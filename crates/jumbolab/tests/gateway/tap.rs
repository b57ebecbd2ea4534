//! A TAP interface toward the hosts: the gateway is a router in their bridge.

use serde_json::json;

use super::see;
use super::traffic::DATAGRAMS;

#[test]
fn hosts_in_a_bridge_find_the_gateway_and_it_finds_them() {
    // Nobody has talked to b: the gateway has to ask for it, also where its link address
    // changes. The kernel of gb has no neighbour there and cannot have forwarded the pings.
    let seen = see("begin_tap
        in_node gb ip neigh show | grep -c 10.2.0 || true
        for host in 10.2.0.2 fd02::2; do
            in_node a ping -q -c 5 -i 0.01 -w 5 $host | grep '5 received'
        done
        in_node a ip neigh show 10.1.0.1 | grep -o '02:6a:0a:01:00:01'
        in_node a ip -6 neigh show fd01::1 | grep -o '02:6a:0a:01:00:01'
        ip -n b link set eth0 address 02:00:00:00:0b:0b
        in_node b ping -q -c 1 -w 5 10.2.0.1 >/dev/null || true
        in_node a ping -q -c 5 -i 0.01 -w 5 10.2.0.2 | grep '5 received'
        # Nobody has this address.
        in_node a ping -q -c 3 -i 0.01 -W 1 10.2.0.77 >/dev/null || true
        end ga gb\n");
    let lines: Vec<&str> = seen.printed.lines().collect();
    assert_eq!(lines[0], "0", "{}", seen.printed);
    let crossed = lines.iter().filter(|line| line.contains("5 received"));
    assert_eq!(crossed.count(), 3, "{}", seen.printed);
    let link = lines.iter().filter(|line| **line == "02:6a:0a:01:00:01");
    assert_eq!(link.count(), 2, "{}", seen.printed);
    assert_eq!(seen.last(1, "inside_refused"), 3);
    let started = &seen.logs[0][0];
    assert_eq!(started["inside"], json!({"jumbo0": "tap"}), "{started}");
    seen.conserved();
}

#[test]
fn packets_for_a_host_that_does_not_answer_are_given_up_after_three_seconds() {
    // Nothing but the ping comes that could remind the gateway.
    let seen = see("begin_tap --metrics 127.0.0.1:9778
        from=$(date +%s%3N)
        in_node a ping -q -c 1 -W 1 10.2.0.77 >/dev/null || true
        for try in $(seq 1000); do
            if in_node gb python3 -c 'import urllib.request
text = urllib.request.urlopen(\"http://127.0.0.1:9778/metrics\").read().decode()
raise SystemExit(\"inside_refused_packets_total 1\" not in text)'; then break; fi
        done
        echo \"{\\\"after\\\": \\\"given up\\\", \\\"ms\\\": $(($(date +%s%3N) - from))}\"
        end ga gb\n");
    // Metrics are renewed each second.
    let after = seen.after("given up");
    assert!((2_900..6_000).contains(&after), "{after}");
    assert_eq!(seen.last(1, "inside_refused"), 1);
    seen.conserved();
}

#[test]
fn the_machine_itself_is_the_host_where_the_interface_has_an_address() {
    // No bridge: the kernels of the gateways have the other addresses of the segments.
    let seen = see("begin ga --path tap --address 10.3.0.1 --address fd03::1 \\
            --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.4.0.0/24 --prefix fd04::/64
        begin gb --path tap --address 10.4.0.1 --address fd04::1 \\
            --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.3.0.0/24 --prefix fd03::/64
        for ends in 'ga 3 4' 'gb 4 3'; do
            set -- $ends
            address $1 jumbo0 10.$2.0.2/24 fd0$2::2/64
            ip -n $1 route add 10.$3.0.0/24 via 10.$2.0.1
            ip -n $1 route add fd0$3::/64 via fd0$2::1
        done
        for host in 10.4.0.2 fd04::2; do
            in_node ga ping -q -c 5 -i 0.01 -w 5 $host | grep '5 received'
        done
        in_node ga ip neigh show 10.3.0.1 | grep -o '02:6a:0a:03:00:01'
        serve_iperf3 gb
        in_node ga iperf3 -c 10.4.0.2 -p $iperf3_port -n 32M --json >iperf
        python3 -c 'import json; end = json.load(open(\"iperf\"))[\"end\"]; \
            print(json.dumps({\"octets\": end[\"sum_received\"][\"bytes\"]}))'
        end ga gb\n");
    let lines: Vec<&str> = seen.printed.lines().collect();
    let crossed = lines.iter().filter(|line| line.contains("5 received"));
    assert_eq!(crossed.count(), 2, "{}", seen.printed);
    assert!(lines.contains(&"02:6a:0a:03:00:01"), "{}", seen.printed);
    let octets = seen.objects()[0]["octets"].as_u64();
    // The test ends when the last octet is in the sender's socket.
    assert!(octets >= Some(16 << 20), "{}", seen.printed);
    seen.conserved();
}

#[test]
fn datagrams_keep_their_octets_and_their_order() {
    let seen = see(&format!("begin_tap\n{DATAGRAMS}\nend ga gb\n"));
    let expected = json!({"received": 6_000, "damaged": 0, "misordered": 0});
    let received = seen.objects();
    let of_receivers = received.iter().filter(|one| one.get("received").is_some());
    assert_eq!(of_receivers.collect::<Vec<_>>(), [&expected; 3]);
    assert!(seen.last(0, "bundled") > 10 * seen.last(0, "alone"));
    seen.conserved();
}

#[test]
fn super_packets_of_tcp_come_in_one_piece_and_leave_as_segments() {
    let seen = see("begin_tap
        given() { # NODE: frames that the kernel gave to the gateway
            in_node $1 cat /proc/net/dev | awk '$1 == \"jumbo0:\" { print $11 }'
        }
        for host in 10.2.0.2 fd02::2; do
            for way in '' -R; do
                serve_iperf3 b
                in_node a iperf3 -c $host -p $iperf3_port -n 8M --json $way >iperf
                python3 -c 'import json; end = json.load(open(\"iperf\"))[\"end\"]; \
                    print(json.dumps({\"octets\": end[\"sum_sent\"][\"bytes\"]}))'
            done
        done
        for node in ga gb; do echo \"{\\\"given\\\": $(given $node)}\"; done
        end ga gb\n");
    let all = seen.objects();
    let numbers =
        |key: &str| -> Vec<u64> { all.iter().filter_map(|one| one[key].as_u64()).collect() };
    let octets = numbers("octets");
    assert_eq!(octets.len(), 4, "{}", seen.printed);
    assert!(octets.iter().all(|octets| *octets >= 8 << 20), "{octets:?}");
    for (gateway, given) in numbers("given").into_iter().enumerate() {
        let came = seen.last(gateway, "came") + seen.last(gateway, "fragments");
        assert!(2 * came > 3 * given, "{came} packets in {given} frames");
        // 16 MiB of segments of 1448 octets, and acknowledgements.
        assert!(came > 11_000, "{came}");
    }
    seen.conserved();
}

#[test]
fn traffic_resumes_after_kill_9_and_nothing_is_left() {
    let seen = see("begin_tap
        crosses_after start
        kill -9 $gb
        wait $gb || true
        in_node gb ip -o link | grep -c jumbo0 || true
        in_node gb ip route | grep -c 10.1.0.0 || true
        in_node gb bridge link | grep -c ' in@'
        begin_tap_b
        crosses_after restart
        end ga gb\n");
    let lines = seen.printed.lines().filter(|line| !line.starts_with('{'));
    assert_eq!(lines.collect::<Vec<_>>(), ["0", "0", "1"]);
    assert!(seen.after("restart") < 6_000, "{}", seen.printed);
}

#[test]
fn a_bridge_that_does_not_exist_is_refused_and_nothing_is_left() {
    let seen = see("for node in ga; do
            status=0
            in_node $node \"$JUMBOLAB\" gateway --path tap --bridge br7 --address 10.1.0.1 \\
                --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24 2>said || status=$?
            echo $status; cat said
            in_node $node ip -o link | grep -c jumbo0 || true
        done\n");
    let lines: Vec<&str> = seen.printed.lines().collect();
    assert_eq!(lines.len(), 3, "{}", seen.printed);
    assert_eq!((lines[0], lines[2]), ("2", "0"));
    assert!(lines[1].contains("br7"), "{}", seen.printed);
}
