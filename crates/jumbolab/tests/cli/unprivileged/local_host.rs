//! What limits packets of the local host: routes, cached path MTUs, interfaces below, and MSS
//! clamps. Each
//! test types the commands that were advised, and looks again.

use serde_json::Value;

use super::probe::{SILENT, see};
use crate::harness::Dir;

/// Types the commands of all findings in the file `before`, in the namespace `a`.
const MEND: &str = r#"
mend() {
    sed -n 's/.*"command":"\([^"]*\)".*/\1/p' before >commands
    while read -r command; do at a $command >/dev/null; done <commands
}
"#;

/// Looks, mends, and looks again. Returns both exit codes, and the lines of both looks.
#[track_caller]
fn look_mend_look(prepared: &str, look: &str) -> ([i64; 2], [Vec<Value>; 2]) {
    let dir = Dir::new();
    let script = format!(
        "{MEND}{prepared}\nlook() {{ at a \"$JUMBOLAB\" probe {look} --json; }}\n\
         code=0; look >before || code=$?\ncat before\nmend\n\
         again=0; look >after || again=$?\ncat after\n\
         echo \"{{\\\"kind\\\":\\\"codes\\\",\\\"codes\\\":[$code,$again]}}\" >codes"
    );
    let outcome = see(&dir, &script).fine();
    let codes = std::fs::read_to_string(dir.path().join("codes")).unwrap();
    let codes: Value = serde_json::from_str(&codes).unwrap();
    let codes = [0, 1].map(|place| codes["codes"][place].as_i64().unwrap());
    let lines = outcome.json();
    let heads = ["path", "local_host"];
    let is_head = |line: &Value| heads.iter().any(|head| line["kind"] == *head);
    let second = lines.iter().rposition(is_head).unwrap();
    let (before, after) = lines.split_at(second);
    (codes, [before.to_vec(), after.to_vec()])
}

/// The finding of this name.
#[track_caller]
fn finding<'a>(lines: &'a [Value], name: &str) -> &'a Value {
    let found = lines.iter().find(|line| line["finding"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {lines:?}"))
}

#[test]
fn a_cached_path_mtu_below_that_of_the_path_is_named_and_flushed() {
    for (far_end, mtu) in [("10.0.3.2", 1300), ("fd00:3::2", 1404)] {
        // The path is small while the first probe looks, so that the kernel learns it.
        let learned = format!(
            "middle() {{ ip -n r link set rs mtu $1; ip -n s link set sr mtu $1; }}\n\
             middle {mtu}\nat a \"$JUMBOLAB\" probe {far_end} --protocol udp >small || true\n\
             middle 9000"
        );
        let ([before, after], [first, _]) = look_mend_look(&learned, far_end);
        assert_eq!([before, after], [1, 0], "{far_end}: {first:?}");
        assert_eq!(first[0]["forward"]["mtu"], 9000, "{:?}", first[0]);
        let cached = finding(&first, "cached_path_mtu");
        assert_eq!(cached["mtu"], mtu, "{cached}");
        assert_eq!(cached["address"], far_end);
        let expires = cached["expires_s"].as_f64().unwrap();
        assert!((1.0..=600.0).contains(&expires), "{cached}");
    }
}

#[test]
fn a_route_that_limits_this_host_is_named_with_the_command_that_keeps_the_rest_of_it() {
    for (far_end, route, mtu, locked) in [
        (
            "10.0.3.2",
            "default via 10.0.1.2 dev ar mtu 1450 initcwnd 20",
            1450,
            false,
        ),
        (
            "10.0.3.2",
            "10.0.3.0/24 via 10.0.1.2 dev ar proto static metric 7 mtu lock 2000",
            2000,
            true,
        ),
        (
            "fd00:3::2",
            "default via fd00:1::2 dev ar metric 1024 mtu 1400 advmss 1300",
            1400,
            false,
        ),
        // Larger than the interface.
        (
            "10.0.3.2",
            "default via 10.0.1.2 dev ar mtu 9900",
            9900,
            false,
        ),
    ] {
        let set = format!("ip -n a route replace {route}");
        let ([before, after], [first, _]) = look_mend_look(&set, far_end);
        assert_eq!([before, after], [1, 0], "{route}: {first:?}");
        let name = match mtu {
            9900 => "route_mtu_too_large",
            _ => "route_mtu",
        };
        let found = finding(&first, name);
        assert_eq!(found["mtu"], mtu, "{found}");
        let command = found["command"].as_str().unwrap();
        for kept in ["initcwnd 20", "proto static", "metric 7", "advmss 1300"] {
            assert_eq!(command.contains(kept), route.contains(kept), "{command}");
        }
        assert!(!command.contains(" mtu "), "{command}");
        if name == "route_mtu" {
            assert_eq!(found["locked"], locked, "{found}");
        }
    }
}

#[test]
fn a_route_with_the_mtu_of_the_path_is_no_problem() {
    let narrow = "ip -n r link set rs mtu 1400\nip -n s link set sr mtu 1400\n\
        ip -n a route replace default via 10.0.1.2 mtu 1400";
    let (_, [lines, _]) = look_mend_look(narrow, "10.0.3.2");
    let named: Vec<&Value> = lines
        .iter()
        .filter(|line| line["finding"] == "route_mtu")
        .collect();
    assert!(named.is_empty(), "{named:?}");
    assert_eq!(finding(&lines, "packet_too_big")["mtu"], 1400);
}

#[test]
fn tcp_that_does_not_look_for_black_holes_is_told_where_there_is_one() {
    for (value, expected) in [(0, 1), (1, 0)] {
        let prepared =
            format!("{SILENT}\nat a sh -c 'echo {value} >/proc/sys/net/ipv4/tcp_mtu_probing'");
        let (_, [lines, _]) = look_mend_look(&prepared, "10.0.3.2");
        let named = lines
            .iter()
            .filter(|line| line["finding"] == "tcp_mtu_probing");
        assert_eq!(named.count(), expected, "{value}");
        assert_eq!(lines[0]["advised_mtu"], 1500, "{:?}", lines[0]);
        assert_eq!(lines[0]["forward"]["mtu"], 1504);
        assert!(
            lines[0]["summary"]
                .as_str()
                .unwrap()
                .contains("is 1500 bytes (+4), not 9000")
        );
    }
}

#[test]
fn interfaces_whose_packets_do_not_fit_are_found_and_mended_without_a_probe() {
    let stacked = "ip -n a link add vx0 type vxlan id 7 remote 10.0.1.2 dstport 4789\n\
        ip -n a link set vx0 mtu 8960\nip -n a link set vx0 up\n\
        ip -n a link add br0 type bridge\n\
        ip -n a link add p0 mtu 3000 type veth peer name p1 mtu 4000\n\
        ip -n a link set p0 master br0\nip -n a link set br0 mtu 4000\n\
        ip -n a link set br0 up\nip -n a link set p0 up\nip -n a link set p1 up\n\
        ip -n a route add 10.7.0.0/16 via 10.0.1.2 mtu 9100\n\
        ip -n a route add 10.8.0.0/16 via 10.0.1.2 mtu 1380";
    let ([before, after], [first, second]) = look_mend_look(stacked, "--self");
    assert_eq!([before, after], [1, 0], "{first:?} {second:?}");
    assert_eq!(first[0]["verdict"], "problem");
    let below = finding(&first, "small_below");
    assert_eq!(
        (&below["interface"], &below["fits_bytes"]),
        (&"vx0".into(), &8950.into())
    );
    assert_eq!(below["command"], "ip link set vx0 mtu 8950");
    let port = finding(&first, "small_port");
    assert_eq!(
        (&port["port"], &port["port_mtu"]),
        (&"p0".into(), &3000.into())
    );
    assert_eq!(finding(&first, "small_peer")["peer"], "p0");
    assert_eq!(finding(&first, "route_mtu_too_large")["mtu"], 9100);
    // It may be intended, and is mended all the same.
    let limit = finding(&first, "route_mtu");
    assert_eq!(
        (&limit["problem"], &limit["mtu"]),
        (&false.into(), &1380.into())
    );
    let interfaces = first
        .iter()
        .filter(|line| line["kind"] == "local_interface");
    let mut names: Vec<&str> = interfaces
        .filter_map(|line| line["interface"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["ar", "br0", "p0", "p1", "vx0"]);
    assert_eq!(second[0]["verdict"], "clean");
}

/// Rules of `nft` in the namespace `a`: two clamps of connections of the host, one of the
/// route's MTU, one of another interface, and one of forwarded packets in a chain that is
/// called.
const CLAMPS: &str = r#"
at a nft -f - <<'END'
table inet t {
    chain o {
        type filter hook output priority mangle;
        counter
        tcp flags syn tcp option maxseg size set 1360
        tcp flags syn / syn,rst tcp option maxseg size set rt mtu
        oifname "wg0" tcp flags syn tcp option maxseg size set 1280
    }
    chain f {
        type filter hook forward priority mangle;
        meta l4proto tcp jump clamped
    }
    chain clamped {
        tcp flags syn tcp option maxseg size set 1200
    }
}
table ip s {
    chain i {
        type filter hook prerouting priority mangle;
        tcp flags syn tcp option maxseg size set 4000
    }
}
END"#;

#[test]
fn rules_that_clamp_the_mss_are_named_and_deleted() {
    let all = |lines: &[Value]| -> Vec<[Value; 5]> {
        let clamps = lines.iter().filter(|line| line["finding"] == "mss_clamp");
        let keys = ["table", "chain", "rule", "syns", "mss"];
        clamps
            .map(|clamp| keys.map(|key| clamp[key].clone()))
            .collect()
    };
    let clamp = |table: &str, chain: &str, rule: u32, syns: &str, mss: u32| -> [Value; 5] {
        [
            table.into(),
            chain.into(),
            rule.into(),
            syns.into(),
            mss.into(),
        ]
    };
    let leaving = clamp("inet t", "o", 2, "leaving", 1_360);
    let arriving = clamp("ip s", "i", 1, "arriving", 4_000);
    let forwarded = clamp("inet t", "clamped", 1, "forwarded", 1_200);
    // The rules of IPv4 do not concern IPv6.
    for (far_end, expected) in [
        ("10.0.3.2", vec![leaving.clone(), arriving.clone()]),
        ("fd00:3::2", vec![leaving.clone()]),
    ] {
        let ([before, after], [first, second]) = look_mend_look(CLAMPS, far_end);
        assert_eq!([before, after], [1, 0], "{far_end}: {first:?} {second:?}");
        assert_eq!(all(&first), expected, "{first:?}");
        assert_eq!(all(&second), Vec::<[Value; 5]>::new());
    }
    let (codes, [first, second]) = look_mend_look(CLAMPS, "--self");
    assert_eq!(codes, [0, 0], "{first:?}");
    assert_eq!(first[0]["mss_clamps"], 4, "{:?}", first[0]);
    let mut found = all(&first);
    found.sort_by_key(|clamp| clamp[4].as_u64());
    assert_eq!(found, [forwarded, leaving, arriving], "{first:?}");
    // What is left is for an interface that this host does not have.
    assert_eq!(second[0]["mss_clamps"], 1, "{:?}", second[0]);
}

#[test]
fn a_user_who_may_not_see_rules_is_told_so() {
    let dir = Dir::new();
    let script = format!(
        "{CLAMPS}\nat a setpriv --bounding-set -all --inh-caps -all \
         \"$JUMBOLAB\" probe --self >text\ncat text"
    );
    let outcome = see(&dir, &script).fine();
    let text = &outcome.stdout;
    assert!(text.contains("MSS clamps in nftables: not seen"), "{text}");
}

#[test]
fn a_check_of_the_own_host_sends_no_packet_and_needs_no_network() {
    let dir = Dir::new();
    let script = "at a sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'\n\
         count() { at a sed -n 's/^ *ar: *//p' /proc/net/dev; }\n\
         before=$(count)\nat a \"$JUMBOLAB\" probe --self --json >lines\n\
         test \"$before\" = \"$(count)\"\ncat lines\n\
         ip netns add empty\nip netns exec empty \"$JUMBOLAB\" probe --self >text\ncat text >&2";
    let outcome = see(&dir, script).fine();
    let lines = outcome.json();
    assert_eq!(lines[0]["verdict"], "clean", "{lines:?}");
    let text = &outcome.stderr;
    assert!(
        text.contains("The interfaces and routes of this host are consistent."),
        "{text}"
    );
}
