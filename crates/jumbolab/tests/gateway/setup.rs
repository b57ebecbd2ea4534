//! From nothing to a gateway: `init` on both hosts, and what `--check` finds.

use serde_json::json;

use super::see;

/// The lines of what was printed that contain `words`.
fn lines<'a>(printed: &'a str, words: &str) -> Vec<&'a str> {
    printed
        .lines()
        .filter(|line| line.contains(words))
        .collect()
}

#[test]
fn init_on_both_hosts_makes_gateways_that_seal_and_probe_finds_the_mtu_inside() {
    let seen = see(r#"
        forwarding
        set_mtu 9000 a/eth0 ga/in gb/in b/eth0
        set_mtu 1500 ga/out c/west c/east gb/out
        # The first prints what to type on the second, which prints what to type on the first.
        init() { node=$1; shift; in_node "$node" "$JUMBOLAB" gateway init --config-dir "$node.d" "$@"; }
        typed() { grep -o 'gateway init .*' "$1" | cut -d' ' -f3-; }
        init ga --local 192.0.2.1 --peer 198.51.100.1 --local-prefix 10.1.0.0/24 --prefix 10.2.0.0/24 --mtu 1500 --inside-mtu 9000 >one
        test ! -e ga.d/gateway.toml
        init gb $(typed one) >two
        init ga $(typed two) >three
        cat three
        stat -c 'mode %a' ga.d/gateway.key gb.d/gateway.key
        # Again it writes nothing.
        init ga $(typed two) 2>again || true
        cat again
        for node in ga gb; do in_node $node "$JUMBOLAB" gateway --config $node.d/gateway.toml --check; done
        for node in ga gb; do begin $node --config $node.d/gateway.toml; done
        crosses_after start
        until_said ga 'kind":"sealed'; until_said gb 'kind":"sealed'
        in_node a "$JUMBOLAB" probe 10.2.0.2 --json
        end ga gb
    "#);
    let printed = &seen.printed;
    assert_eq!(lines(printed, "mode 600").len(), 2, "{printed}");
    assert_eq!(lines(printed, "file exists").len(), 1, "{printed}");
    assert_eq!(
        lines(printed, "the configuration is right").len(),
        2,
        "{printed}"
    );
    assert_eq!(lines(printed, "problem").len(), 0, "{printed}");
    assert_eq!(seen.probed(), [json!(["clean", 9_000])], "{printed}");
    assert_eq!([0, 1].map(|end| seen.events(end, "sealed")), [1, 1]);
    seen.conserved();
}

#[test]
fn a_check_says_what_in_the_host_is_in_the_way_and_what_to_type() {
    let seen = see(r#"
        check() { in_node ga "$JUMBOLAB" gateway --check "$@" 2>&1 && echo sound || echo "code $?"; }
        way="--local 192.0.2.1 --peer 198.51.100.1"
        check $way --prefix 10.2.0.0/24 --prefix fd02::/64
        # Without a check the log says it.
        begin ga $way --prefix 10.2.0.0/24
        until_said ga '"kind":"problem".*does not forward IPv4'
        end ga
        forwarding
        check $way --prefix 10.2.0.0/24 --prefix fd02::/64
        check $way --prefix 10.2.0.0/24 --mtu 9001
        check --local 192.0.2.7 --peer 198.51.100.1 --prefix 10.2.0.0/24
        check --local 192.0.2.1 --peer 10.1.0.1 --prefix 10.2.0.0/24
        check --local 192.0.2.1 --peer 203.0.113.1 --prefix 10.2.0.0/24
        check $way --prefix 10.2.0.0/24 --interface absent
        set_in ga net.ipv4.conf.in.rp_filter=1
        set_in ga net.ipv4.conf.all.rp_filter=1
        check $way --prefix 10.2.0.0/24 --interface in
        set_in ga net.ipv4.conf.in.rp_filter=2
        check $way --prefix 10.2.0.0/24 --interface out
        set_in ga net.ipv4.conf.all.rp_filter=0
        # Others route hosts of the peer elsewhere; those with a higher metric do not count.
        ip -n ga route add 10.2.0.128/25 via 192.0.2.9
        ip -n ga route add 10.2.0.0/24 via 192.0.2.9 metric 2
        ip -n ga route add fd02::/64 via fd0a::9 metric 2
        check $way --prefix 10.2.0.0/24 --prefix fd02::/64
        ip -n ga route del 10.2.0.128/25
        check $way --prefix 10.1.0.0/24
        printf '[inside]\nmtu = 9000\n[peers.b]\naddress = "198.51.100.1"\nlocal = "192.0.2.1"\n' >large.toml
        check --config large.toml
        ip -n ga link set in mtu 9000
        check --config large.toml
        printf '[inside]\nroutes = "leave"\n[peers.b]\naddress = "198.51.100.1"\nlocal = "192.0.2.1"\n' >left.toml
        echo 'prefixes = ["10.2.0.0/24", "fd02::/64"]' >>left.toml
        begin ga --config left.toml
        ip -n ga -6 route add fd02::/64 dev jumbo0 metric 1
        check --config left.toml
        end ga
        ip -n ga link set out down
        check $way --prefix 10.2.0.0/24 --interface out
    "#);
    let found: Vec<&str> = seen
        .printed
        .lines()
        .filter(|line| *line != "the configuration is right")
        .collect();
    let expected = [
        "problem: the kernel does not forward IPv4 from the hosts; type: sysctl -w net.ipv4.ip_forward=1",
        "problem: the kernel does not forward IPv6 from the hosts; type: sysctl -w net.ipv6.conf.all.forwarding=1",
        "code 1",
        "sound",
        "problem: peers.peer.mtu = 9001: out has an MTU of 9000",
        "code 1",
        "error: --local 192.0.2.7: no interface of this host has the address",
        "code 2",
        "error: --peer 10.1.0.1: it is an address of this host; write the one of the other gateway",
        "code 2",
        "problem: peers.peer.address = 203.0.113.1: this host has no route to it",
        "code 1",
        "problem: core.interface = absent: this host has no such interface",
        "code 1",
        "problem: core.interface = in: the kernel's route to 198.51.100.1 is through out",
        "code 1",
        "sound",
        "problem: peers.peer.prefixes = 10.2.0.0/24: the kernel routes 10.2.0.128/25 to out, not to jumbo0, and drops packets from there as martian; type: ip route del 10.2.0.128/25 via 192.0.2.9 dev out",
        "code 1",
        "problem: peers.peer.prefixes = 10.1.0.0/24: the kernel routes 10.1.0.0/24 to in, not to jumbo0, and drops packets from there as martian; this host is in it; write prefixes without 10.1.0.0/24",
        "code 1",
        "problem: inside.mtu = 9000: no interface toward the hosts has this MTU, the largest is 1500 of in; type: ip link set dev in mtu 9000",
        "code 1",
        "sound",
        "problem: inside.routes = leave: 10.2.0.0/24 is not routed to jumbo0; type: ip route add 10.2.0.0/24 dev jumbo0",
        "code 1",
        "problem: ",
        "code 1",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

/// Prints what of a host a gateway could set.
const HOST: &str = r#"
host() {
    ip -n ga -o address
    ip -n ga -o -d link
    for version in -4 -6; do
        ip -n ga $version route show table all
        ip -n ga $version rule
    done
    in_node ga sysctl -a 2>/dev/null | grep -E 'net\.ipv[46]\.(conf|ip_forward)'
}
"#;

#[test]
fn what_a_gateway_sets_in_its_host_is_gone_after_its_end_and_after_a_kill() {
    let seen = see(&format!(
        "{HOST}{}",
        r#"
        keys
        remote="--peer 198.51.100.1 --local 192.0.2.1 --prefix 10.2.0.0/24 --prefix fd02::/64 $seal_a"
        # A gateway without an end of its log is not looked for.
        printf '' >gb.log
        gone() { # ARGUMENTS...
            host >before
            for how in TERM KILL; do
                begin ga $remote "$@"
                host >during
                cmp -s before during && echo "nothing of it is seen"
                kill -$how $ga
                wait $ga || true
                host >after
                diff before after && echo "as before $how"
            done
            # A start after a kill is as any other.
            begin ga $remote "$@"
            end ga
            host >after
            diff before after
        }
        gone --inside-interface in
        gone --inside-interface in --datapath auto
        forwarding
        gone
    "#
    ));
    let kept = seen.printed.lines().collect::<Vec<_>>();
    let expected = ["as before TERM", "as before KILL"];
    assert!(kept == expected.repeat(3), "{}", seen.printed);
}

#[test]
fn a_configuration_that_cannot_work_here_is_rejected_before_anything_is_changed() {
    let seen = see(&format!(
        "{HOST}{}",
        r#"
        rejected() { # NAME; the configuration is read from the input
            cat >"$1.toml"
            host >before
            in_node ga "$JUMBOLAB" gateway --config "$1.toml" --duration 1s 2>&1 && echo sound || echo "code $?"
            host >after
            diff before after
        }
        forwarding
        rejected own <<'END'
[peers.b]
address = "10.1.0.1"
local = "192.0.2.1"
END
        rejected covered <<'END'
[peers.b]
address = "198.51.100.1"
local = "192.0.2.1"
prefixes = ["198.51.100.0/24"]
END
        rejected twice <<'END'
[peers.b]
address = "198.51.100.1"
local = "192.0.2.1"
prefixes = ["10.2.0.0/24"]
[peers.c]
address = "198.51.100.9"
local = "192.0.2.1"
prefixes = ["10.2.0.0/24"]
END
        rejected pieces <<'END'
[inside]
mtu = 65576
[peers.b]
address = "198.51.100.1"
local = "192.0.2.1"
END
        rejected here <<'END'
[peers.b]
address = "198.51.100.1"
local = "192.0.2.1"
prefixes = ["127.0.0.0/8"]
END
        ip -n ga link set out mtu 1279
        rejected small <<'END'
[peers.b]
address = "198.51.100.1"
local = "192.0.2.1"
END
        rejected six <<'END'
[peers.b]
address = "fd0b::1"
local = "fd0a::1"
END
        ip -n ga link set out mtu 1280
        # The old configuration stays in force.
        cat >kept.toml <<'END'
[peers.b]
address = "198.51.100.1"
local = "192.0.2.1"
prefixes = ["10.2.0.0/24"]
END
        begin gb --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24
        begin ga --config kept.toml
        crosses_after start
        cp own.toml kept.toml
        kill -HUP $ga; until_said ga not_reloaded
        crosses_after rejected
        end ga gb
    "#
    ));
    let printed = seen.printed.lines().filter(|line| !line.starts_with('{'));
    let printed: Vec<&str> = printed.collect();
    let small = "out, toward it, has an MTU of 1279, and bundles need 1280; type: ip link set dev out mtu 1280, or more";
    let expected = [
        "error: own.toml:2: peers.b.address = 10.1.0.1: it is an address of this host; write the one of the other gateway",
        "error: covered.toml:4: peers.b.prefixes = 198.51.100.0/24: 198.51.100.0/24 covers the peer 198.51.100.1",
        "error: twice.toml:8: peers.c.prefixes = 10.2.0.0/24: `10.2.0.0/24` is also behind b",
        "error: pieces.toml:2: inside.mtu = 65576: write an MTU from 1280 to 65535",
        "error: here.toml:4: peers.b.prefixes = 127.0.0.0/8: no router forwards packets to `127.0.0.0/8`",
        &format!("error: small.toml:2: peers.b.address = 198.51.100.1: {small}"),
        "error: six.toml:3: peers.b.local = fd0a::1: no interface of this host has the address, and out can have none of IPv6 with an MTU of 1279; type: ip link set dev out mtu 1280",
    ];
    assert_eq!(printed.len(), 2 * expected.len(), "{printed:#?}");
    for (found, expected) in printed.chunks(2).zip(expected) {
        assert!(found[0].starts_with(expected), "{}\n{expected}", found[0]);
        assert_eq!(found[1], "code 2", "{}", found[0]);
    }
    let not = |line: &&serde_json::Value| line["kind"] == "not_reloaded";
    let line = seen.logs[0].iter().find(not).unwrap();
    let text = line["text"].as_str().unwrap();
    assert!(text.starts_with("kept.toml:2: peers.b.address"), "{text}");
    seen.conserved();
}
