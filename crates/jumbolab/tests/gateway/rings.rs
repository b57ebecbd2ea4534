//! Paths of packets to the hosts: through rings of AF_XDP, and through packet sockets.

use serde_json::{Value, json};

use super::see_alone;

/// Gateways that send to their hosts as `WAY` says, and links to the hosts that carry
/// packets larger than a piece of a ring.
const GATEWAYS: &str = r#"
for link in "a eth0" "ga in" "gb in" "b eth0"; do
    set -- $link
    ip -n $1 link set $2 mtu 5000
done
configure() { # NODE LOCAL PEER PREFIX
    cat >"$1.toml" <<END
[inside]
interfaces = ["in"]
$WAY
[peers.far]
address = "$3"
local = "$2"
prefixes = ["$4"]
END
}
begin_a() { configure ga 192.0.2.1 198.51.100.1 10.2.0.0/24; begin ga --config ga.toml; }
begin_b() { configure gb 198.51.100.1 192.0.2.1 10.1.0.0/24; begin gb --config gb.toml; }
checked() { # COUNT
    stay
    in_node b python3 "$PROBE" receive 5001 30 $((4 * $1)) >received &
    receiver=$!
    for try in $(seq 2000); do if grep -q ready received; then break; fi; sleep 0.01; done
    in_node a python3 "$PROBE" carry 10.2.0.2 5001 $1 4 >/dev/null
    wait $receiver
    cat received
}
crosses() { in_node a ping -q -c 3 -i 0.05 -w 5 10.2.0.2 | grep -E ' [3-9][0-9]* received'; }
"#;

/// The paths to the interfaces inside, as the log of a gateway names them at each start.
fn paths(log: &[Value]) -> Vec<&Value> {
    let started = log.iter().filter(|line| line["kind"] == "started");
    started.map(|line| &line["inside"]).collect()
}

#[test]
fn each_path_keeps_bytes_and_order_and_works_again_after_kill_9_and_a_flap() {
    for path in ["xdp", "packet"] {
        let seen = see_alone(&format!(
            "{GATEWAYS}
            WAY='datapath = \"{path}\"'
            # Large ones among the small ones, which do not fit a ring.
            export LARGEST=3000
            begin_a; begin_b
            crosses
            checked 500
            ip -n gb link set in down
            in_node a ping -q -c 3 -i 0.01 -W 1 10.2.0.2 >/dev/null || true
            ip -n gb link set in up
            crosses_after flap >/dev/null
            kill -9 $gb; wait $gb || true
            begin_b
            crosses_after restart >/dev/null
            checked 50
            end ga gb\n"
        ));
        let objects = seen.objects();
        for (place, count) in [2_000, 200].into_iter().enumerate() {
            let expected = json!({"received": count, "damaged": 0, "misordered": 0});
            assert_eq!(objects[place], expected, "{path}: {}", seen.printed);
        }
        // The log is that of the second start.
        assert_eq!(paths(&seen.logs[1]), [&json!({"in": path})]);
    }
}

#[test]
fn where_another_program_holds_the_queue_a_gateway_says_so() {
    let seen = see_alone(&format!(
        "{GATEWAYS}
        WAY='datapath = \"xdp\"'
        begin_a
        # Another gateway on the same interface.
        WAY='datapath = \"xdp\"
name = \"jumbo1\"
routes = \"leave\"
[core]
encapsulation = \"ip\"'
        configure gb 192.0.2.1 192.0.2.77 10.9.0.0/24
        if in_node ga \"$JUMBOLAB\" gateway --config gb.toml 2>rejected; then exit 1; fi
        cat rejected
        sed -i 's/^datapath.*/datapath = \"auto\"/' gb.toml
        ip netns exec ga \"$JUMBOLAB\" gateway --log gb.log --config gb.toml 2>gb.said &
        gb=$!
        for try in $(seq 500); do if [ -s gb.log ]; then break; fi; sleep 0.01; done
        until_said gb '\"problem\"'
        end gb ga\n"
    ));
    let rejected = "opening a ring of AF_XDP on in (path = \"xdp\"): another program uses AF_XDP on its first queue";
    assert!(seen.printed.contains(rejected), "{}", seen.printed);
    let log = &seen.logs[1];
    assert_eq!(paths(log), [&json!({"in": "packet"})]);
    let problem = log.iter().find(|line| line["kind"] == "problem");
    let text = problem.expect("until_said")["text"].as_str().unwrap();
    let said = "frames to in go through a packet socket, not AF_XDP: another program uses AF_XDP on its first queue";
    assert_eq!(text, said);
}

#[test]
fn what_waits_in_a_ring_while_an_interface_is_down_is_counted_at_the_end() {
    let seen = see_alone(&format!(
        "{GATEWAYS}
        WAY='datapath = \"xdp\"'
        begin_a; begin_b
        crosses
        ip -n gb link set in down
        # The gateway still knows the host's link address.
        in_node a ping -q -c 20 -i 0.01 -W 1 10.2.0.2 >/dev/null || true
        end gb ga\n"
    ));
    assert!(seen.last(1, "released") > seen.last(1, "inside_sent"));
    assert!(seen.last(1, "inside_rejected") > 0);
    seen.conserved();
}
