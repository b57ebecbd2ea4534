//! Recordings of live gateways, and their replays.

use serde_json::Value;

use super::see;
use super::traffic::DATAGRAMS;

#[test]
fn every_decision_of_a_live_gateway_is_made_again_by_the_replay() {
    let seen = see(&format!(
        "cat >a.toml <<'END'
[inside]
interfaces = [\"in\"]
[uplink]
rate = \"30mbit\"
queue = \"mred,candidates=arriving,min=5,max=15\"
[peers.b]
address = \"198.51.100.1\"
local = \"192.0.2.1\"
prefixes = [\"10.2.0.0/24\", \"fd02::/64\"]
END
        begin ga --config a.toml --record whole
        begin gb --inside-interface in --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24
        {DATAGRAMS}
        kill -HUP $ga; until_said ga reloaded
        in_node a ping -q -c 100 -i 0.005 -w 10 10.2.0.2 | grep '100 received'
        end ga
        cp ga.log whole.log
        \"$JUMBOLAB\" run replay --recording whole --json --set aggregation.max_wait=5ms
        grep -v settings whole >unsettled
        if \"$JUMBOLAB\" run replay --recording unsettled 2>rejection; then exit 1; else echo rejected $?; fi
        begin ga --config a.toml --record cut
        in_node a ping -q -c 400 -i 0.005 -w 10 10.2.0.2 >/dev/null
        kill -9 $ga
        wait $ga || true
        \"$JUMBOLAB\" run replay --recording cut --json
        begin ga --config a.toml --record /dev/full
        in_node a ping -q -c 20 -i 0.1 -w 10 10.2.0.2 | grep '20 received'
        end ga gb
        cat whole.log\n"
    ));
    let all = seen.objects();
    let replays: Vec<&Value> = all
        .iter()
        .filter(|one| one.get("core_packets").is_some())
        .collect();
    let [was, with, cut] = replays[..] else {
        panic!("{}", seen.printed)
    };
    for own in [was, cut] {
        assert_eq!(own["compared"], own["agreed"], "{own}");
        assert!(own["compared"].as_u64() > Some(100), "{own}");
    }
    assert!(was["inner_dropped"].as_u64() > Some(0), "{was}");
    // The recording and the gateway's own counters tell the same.
    let stopped = all.iter().find(|one| one["kind"] == "stopped").unwrap();
    let count = |object: &Value, key: &str| object[key].as_u64().expect(key);
    let sent = count(stopped, "bundled") + count(stopped, "alone");
    assert_eq!(count(was, "sent"), sent, "{stopped}");
    // Packets without an egress come and are dropped before they could be aggregated.
    assert_eq!(
        count(stopped, "received") - count(was, "arrived"),
        count(stopped, "dropped") - count(was, "dropped"),
        "{stopped}"
    );
    assert_eq!(with["settings"], "aggregation.max_wait=5ms");
    assert_eq!(with["arrived"], was["arrived"]);
    assert!(seen.printed.contains("rejected 2"), "{}", seen.printed);
    assert_eq!(seen.events(0, "not_recorded"), 1, "{:?}", seen.logs[0]);
}
