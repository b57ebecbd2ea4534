//! Egress tables that follow the kernel's routes, with BIRD in two autonomous systems.

use super::see;

/// Configurations of the gateways and of BIRD for the systems 65001 and 65002; `routes`
/// are those that b announces.
const SYSTEMS: &str = r#"
system() { # NODE LOCAL NETWORK AS PEER AS
    cat >$1.toml <<END
[inside]
interfaces = ["in"]
[follow]
[peers.other]
address = "$5"
local = "$2"
END
    cat >$1.conf <<END
router id $2;
protocol device { scan time 1; }
protocol static { ipv4; route $3 via "in"; }
protocol kernel { ipv4 { import none; export where source = RTS_BGP; }; }
protocol bgp neighbour {
    local $2 as $4;
    neighbor $5 as $6;
    connect delay time 1;
    connect retry time 1;
    ipv4 { import all; export where source = RTS_STATIC; next hop self; };
}
END
    mkdir -p $1.run
    in_node $1 bird -f -c $1.conf -s $1.run/ctl >$1.bird 2>&1 &
    eval "bird_$1=$!"
}
"#;

#[test]
fn kernel_routes_by_hand_are_followed_within_a_second() {
    let seen = see("cat >a.toml <<'END'
[inside]
interfaces = [\"in\"]
[follow]
table = 100
protocol = \"static\"
[peers.b]
address = \"198.51.100.1\"
local = \"192.0.2.1\"
END
        begin gb --inside-interface in --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24
        begin ga --config a.toml
        in_node a ping -q -c 1 -w 2 10.2.0.2 >unreached || true
        grep -q '+1 errors' unreached
        ip -n ga route add 10.2.0.0/24 via 198.51.100.1 dev out onlink proto static table 100
        until_said ga '\"prefixes\":1'
        in_node a ping -q -c 5 -i 0.01 -w 5 10.2.0.2 | grep '5 received'
        ip -n ga route del 10.2.0.0/24 table 100
        date +%s%N >withdrawn
        until_said ga '\"prefixes_before\":1,'
        date +%s%N | awk -v from=$(cat withdrawn) '{ print ($1 - from < 1000000000) ? \"in time\" : \"late\" }'
        in_node a ping -q -c 3 -i 0.2 -W 1 10.2.0.2 >lost || true
        grep -o '3 packets transmitted, 0 received' lost
        end ga gb\n");
    for words in ["5 received", "in time", "3 packets transmitted, 0 received"] {
        assert!(seen.printed.contains(words), "{}", seen.printed);
    }
    // Those before the route and those behind it, to the packet.
    assert!(seen.last(0, "dropped") >= 4, "{:?}", seen.logs[0]);
    seen.conserved();
}

#[test]
fn bird_feeds_the_tables_of_two_systems_and_a_withdrawn_prefix_leaves() {
    // The core is one link here, so that each next hop is a neighbour.
    let seen = see(&format!(
        "{SYSTEMS}
        one_link
        system ga 192.0.2.1 10.1.0.0/24 65001 192.0.2.2 65002
        system gb 192.0.2.2 10.2.0.0/24 65002 192.0.2.1 65001
        begin ga --config ga.toml
        begin gb --config gb.toml
        until_said ga '\"prefixes\":1'
        until_said gb '\"prefixes\":1'
        in_node a ping -q -c 5 -i 0.01 -w 5 10.2.0.2 | grep '5 received'
        sed -i '/^protocol static/c protocol static {{ ipv4; }}' gb.conf
        in_node a ping -q -i 0.02 -c 150 -W 1 10.2.0.2 >withdrawing &
        pings=$!
        # From the first sign: the withdrawal is on its way to a's BIRD and kernel then.
        date +%s%N >withdrawn
        in_node gb birdc -s gb.run/ctl configure >/dev/null
        until_said ga '\"prefixes_before\":1,'
        date +%s%N | awk -v from=$(cat withdrawn) '{{ print ($1 - from < 1000000000) ? \"in time\" : \"late\" }}'
        wait $pings || true
        in_node a ping -q -c 3 -i 0.2 -W 1 10.2.0.2 >lost || true
        grep -o '3 packets transmitted, 0 received' lost
        kill $bird_ga $bird_gb
        end ga gb\n"
    ));
    for words in ["5 received", "in time", "3 packets transmitted, 0 received"] {
        assert!(seen.printed.contains(words), "{}", seen.printed);
    }
    // Those on the way when the prefix left are counted, too.
    assert!(seen.last(0, "dropped") > 50, "{:?}", seen.logs[0]);
    seen.conserved();
}

#[test]
fn routes_that_another_program_or_the_interface_lost_are_entered_again() {
    let seen = see("cat >a.toml <<'END'
[inside]
name = \"jumbo7\"
[peers.b]
address = \"198.51.100.1\"
local = \"192.0.2.1\"
prefixes = [\"10.2.0.0/24\", \"fd02::/64\"]
END
        forwarding
        begin ga --config a.toml
        begin gb --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24 --prefix fd01::/64
        crosses_after start
        ip -n ga link set jumbo7 down
        until_said ga 'jumbo7 is down'
        ip -n ga link set jumbo7 up
        until_said ga '2 routes to jumbo7 had been removed'
        crosses_after up
        ip -n ga -6 route del fd02::/64 dev jumbo7
        until_said ga '1 route to jumbo7 had been removed'
        in_node a ping -q -c 3 -i 0.1 -w 5 fd02::2 | grep '3 received'
        ip -n ga route flush dev jumbo7
        crosses_after flush
        ip -n ga link set jumbo7 name other
        until_said ga 'has the name other now'
        ip -n ga link set other name jumbo7
        kill -HUP $ga; until_said ga '\"reloaded\"'
        crosses_after name
        ip netns add away
        ip -n ga link set jumbo7 netns away
        until_said ga 'jumbo7 has left this network namespace'
        end ga gb\n");
    assert!(seen.printed.contains("3 received"), "{}", seen.printed);
}
