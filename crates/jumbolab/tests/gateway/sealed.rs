//! Gateways that seal: what crosses, what is rejected, and what is said of it.

use super::see;
use super::traffic::DATAGRAMS;

#[test]
fn sealed_packets_cross_and_bundles_that_are_sent_again_do_not() {
    let seen = see(&format!(
        "keys
        begin_packet
        crosses_after start
        {DATAGRAMS}
        for way in '' -R; do
            serve_iperf3 b
            in_node a iperf3 -c 10.2.0.2 -p $iperf3_port -n 4M --json $way | grep -c sum_received
        done
        # Two pings that come late share a bundle.
        in_node c python3 \"$PROBE\" capture west 20 kept >capture &
        capture=$!
        for try in $(seq 500); do if grep -q ready capture; then break; fi; sleep 0.01; done
        in_node a ping -q -c 40 -i 0.01 -w 10 10.2.0.2 | grep '40 received'
        wait $capture
        in_node c python3 \"$PROBE\" again 198.51.100.1 kept
        in_node c python3 \"$PROBE\" flood 198.51.100.1 50253 1000
        crosses_after before
        end ga gb\n"
    ));
    let whole = r#""received": 6000, "damaged": 0, "misordered": 0"#;
    let crossed = seen.printed.lines().filter(|line| line.contains(whole));
    assert_eq!(crossed.count(), 3, "{}", seen.printed);
    let tcp = seen.printed.lines().filter(|line| *line == "1");
    assert_eq!(tcp.count(), 2, "{}", seen.printed);
    let reasons = &seen.logs[1].last().unwrap()["reasons"];
    assert_eq!(reasons["replayed"], 20, "{reasons}");
    assert!(reasons["unknown_sender"].as_u64() > Some(500), "{reasons}");
    assert!(seen.after("start") < 5_000, "{}", seen.printed);
    assert_eq!(seen.events(1, "keys"), 0, "{:?}", seen.logs[1]);
    seen.conserved();
}

#[test]
fn after_a_restart_sealed_traffic_resumes_and_old_bundles_are_of_no_use() {
    let seen = see(
        "keys
        begin_packet
        crosses_after start
        in_node c python3 \"$PROBE\" capture west 20 kept >capture &
        capture=$!
        for try in $(seq 500); do if grep -q ready capture; then break; fi; sleep 0.01; done
        in_node a ping -q -c 40 -i 0.01 -w 10 10.2.0.2 | grep '40 received'
        wait $capture
        kill -9 $gb
        wait $gb || true
        begin gb --inside-interface in --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24 $seal_b
        crosses_after restart
        in_node c python3 \"$PROBE\" again 198.51.100.1 kept
        crosses_after before
        end ga gb\n"
    );
    // A gateway begins a handshake once a second until it is answered.
    let restart = seen.after("restart");
    assert!(restart < 3_000, "{}", seen.printed);
    let reasons = &seen.logs[1].last().unwrap()["reasons"];
    assert!(reasons["unknown_key"].as_u64() >= Some(20), "{reasons}");
    assert_eq!(reasons.get("replayed"), None, "{reasons}");
    assert_eq!(seen.last(1, "released"), seen.last(1, "unpacked"));
}

#[test]
fn a_wrong_key_is_one_line_and_a_new_one_is_adopted_without_a_loss() {
    let seen = see(
        "keys
        wrong=$(\"$JUMBOLAB\" gateway keygen wrong)
        cat >b.toml <<END
[core]
private_key_file = \"gb.key\"
[inside]
interfaces = [\"in\"]
[peers.a]
address = \"192.0.2.1\"
local = \"198.51.100.1\"
prefixes = [\"10.1.0.0/24\"]
public_key = \"$wrong\"
END
        begin gb --config b.toml
        begin ga --inside-interface in --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24 $seal_a
        until_said ga 'with other keys'; until_said gb 'with other keys'
        in_node a ping -q -c 20 -i 0.1 10.2.0.2 | grep ' 0 received'
        sed -i \"s|$wrong|$(cat ga.pub)|\" b.toml; kill -HUP $gb; until_said gb '\"reloaded\"'
        crosses_after adopted
        in_node a ping -q -c 200 -i 0.01 -w 10 10.2.0.2 >pings &
        pings=$!
        (cat b.toml; echo '[aggregation]'; echo 'max_wait = \"2ms\"') >new; cp new b.toml
        kill -HUP $gb
        for try in $(seq 500); do if [ $(grep -c '\"reloaded\"' gb.log) = 2 ]; then break; fi; sleep 0.01; done
        wait $pings
        grep '200 received' pings
        chmod 604 gb.key; kill -HUP $gb; until_said gb not_reloaded
        sed -i '/_key/d' b.toml
        in_node a ping -q -i 0.1 10.2.0.2 >/dev/null &
        in_node b ping -q -i 0.1 10.1.0.2 >/dev/null &
        kill -HUP $gb; until_said gb 'has no key for it'; until_said ga 'not sealed'
        end ga gb\n"
    );
    assert!(
        seen.printed.contains("200 received"),
        "{}\n{:?}",
        seen.printed,
        seen.logs
    );
    assert!(seen.after("adopted") < 3_000, "{}", seen.printed);
    // The other key, and then no key.
    assert_eq!([0, 1].map(|end| seen.events(end, "keys")), [2, 2]);
    let rejection = seen.logs[1]
        .iter()
        .find(|line| line["kind"] == "not_reloaded");
    let text = rejection.unwrap()["text"].as_str().unwrap();
    assert!(text.contains("type: chmod 600 gb.key"), "{text}");
}
