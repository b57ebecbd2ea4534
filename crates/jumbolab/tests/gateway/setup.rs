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
        init ga --local 192.0.2.1 --peer 198.51.100.1 --local-prefix 10.1.0.0/24 --prefix 10.2.0.0/24 --mtu 1500 >one
        test ! -e ga.d/gateway.toml
        init gb $(typed one) >two
        init ga $(typed two) >three
        cat three
        stat -c 'mode %a' ga.d/gateway.key gb.d/gateway.key
        # Again it writes nothing.
        init ga $(typed two) 2>again || true
        cat again
        for node in ga gb; do printf '[inside]\nmtu = 9000\n' >>$node.d/gateway.toml; done
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
        check() { in_node ga "$JUMBOLAB" gateway --check "$@" && echo sound || echo "code $?"; }
        way="--local 192.0.2.1 --peer 198.51.100.1"
        check $way --prefix 10.2.0.0/24 --prefix fd02::/64
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
        "problem: peers.peer.local = 192.0.2.7: no interface of this host has the address",
        "code 1",
        "problem: peers.peer.address = 10.1.0.1: it is an address of this host",
        "code 1",
        "problem: peers.peer.address = 203.0.113.1: this host has no route to it",
        "code 1",
        "problem: core.interface = absent: this host has no such interface",
        "code 1",
        "problem: core.interface = in: the kernel's route to 198.51.100.1 is through out",
        "code 1",
        "sound",
        "problem: ",
        "code 1",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}
