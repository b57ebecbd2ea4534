//! `jumbolab probe` against reflectors in Python, honest and hostile ones, and under a spray
//! of forged messages from a place that does not see its traffic.

use std::process::{Command, Output};
use std::thread;

use super::python;

const SPRAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reflector/spray.py");

/// Namespaces p - r - f with links of 9000 bytes and a delay of 10 ms between r and f, and
/// x, which is connected to r alone. `jumbolab recv` runs in f.
const BED: &str = r#"
set -eu
mount -t tmpfs none /run
knob() { ip netns exec "$1" sh -c "echo '$3' >/proc/sys/net/$2"; }
for node in p r f x; do
    ip netns add $node
    ip -n $node link set lo up
    for scope in all default; do
        knob $node ipv4/conf/$scope/rp_filter 0
        knob $node ipv6/conf/$scope/accept_dad 0
    done
done
address() {
    ip -n $1 address add 10.0.$3.$4/24 dev $2
    ip -n $1 address add fd00:$3::$4/64 dev $2 nodad
    ip -n $1 link set $2 up
}
host() {
    address $1 eth0 $2 2
    address r to_$1 $2 1
    ip -n $1 route add default via 10.0.$2.1
    ip -n $1 route add default via fd00:$2::1
}
ip link add eth0 mtu 9000 netns p type veth peer name to_p mtu 9000 netns r
ip link add eth0 mtu 9000 netns x type veth peer name to_x mtu 9000 netns r
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add e1 mtu 9000 type veth peer name to_f mtu 9000 netns r
ip link add e2 mtu 9000 type veth peer name eth0 mtu 9000 netns f
ip link set e1 up
ip link set e2 up
host p 1
host f 2
host x 3
knob r ipv4/ip_forward 1
knob r ipv6/conf/all/forwarding 1
# Few ports, so that the spray meets the right ones.
knob p ipv4/ip_local_port_range "40000 40100"
knob p ipv4/ping_group_range "0 0"
said() {
    for _ in $(seq 2000); do
        if grep -qs "$2" "$1"; then return; fi
        sleep 0.01
    done
    cat "$1" >&2
    exit 1
}
"$JUMBOLAB" emulate --between e1 e2 --delay 10ms >/dev/null 2>emulate &
ip netns exec f "$JUMBOLAB" recv --open >/dev/null 2>recv &
said emulate forwarding
said recv reflecting
look() { ip netns exec p "$JUMBOLAB" probe "$1" --max-mtu 9000 --json | grep '"kind":"path"'; }
attack() {
    ip netns exec x python3 "$SPRAY" "$1" "$2" "$3" 1300 40000 40100 7770 443 33434 >spray & spray=$!
    said spray begins
}
"#;

/// The lines of a script in namespaces, as root of a namespace of its own. The shell is
/// the first process of a PID namespace, so that all others end with it.
fn see(script: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .args(["100", "unshare", "-Urnmpf", "--kill-child", "sh", "-c"])
        .arg(format!("{BED}{script}"))
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .env("SPRAY", SPRAY)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn messages_from_off_the_path_change_nothing_that_is_measured() {
    for (victim, far_end, forged, route) in [
        (
            "10.0.1.2",
            "10.0.2.2",
            ["10.0.2.2", "10.0.1.1"],
            "ip route get",
        ),
        (
            "fd00:1::2",
            "fd00:2::2",
            ["fd00:2::2", "fd00:1::1"],
            "ip -6 route get",
        ),
    ] {
        let attacks = forged.map(|from| {
            format!(
                "attack {victim} {far_end} {from}\n\
                 look {far_end}\nlook {far_end}\n\
                 kill $spray; wait $spray || true\n"
            )
        });
        let script = format!(
            "look {far_end}\n{}ip netns exec p {route} {far_end}",
            attacks.concat()
        );
        let lines = see(&script);
        let (results, routes) = lines.split_at(5);
        for line in results {
            let result: serde_json::Value = serde_json::from_str(line).unwrap();
            let passed = ["forward", "reverse"].map(|way| result[way]["mtu"].as_u64());
            assert_eq!(passed, [Some(9_000); 2], "{line}");
            // What the messages did to this host is a fact, and the only one that is new.
            let summary = result["summary"].as_str().unwrap();
            let is_cached = summary.contains("this host caches a path MTU of 1300 bytes");
            let verdict = if is_cached { "problem" } else { "clean" };
            assert_eq!(result["verdict"], verdict, "{line}");
        }
        assert!(
            results[0].contains(r#""verdict":"clean""#),
            "{}",
            results[0]
        );
        // The kernel believed them: they were of the right kind.
        let routes = routes.concat();
        assert!(routes.contains("mtu 1300"), "{routes}");
    }
}

/// Probes a reflector of this kind. Returns the time that it took.
fn probe(host: &str, kind: &str) -> Output {
    let (_reflector, socket) = python(host, kind);
    let port = socket.peer_addr().unwrap().port().to_string();
    drop(socket);
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "100", env!("CARGO_BIN_EXE_jumbolab")]);
    command.args(["probe", host, "--port", &port, "--protocol", "udp"]);
    let command = command.args(["--max-mtu", "9000", "--json"]);
    command.output().unwrap()
}

#[test]
fn a_path_to_an_independent_reflector_is_clean() {
    for host in ["127.0.0.1", "::1"] {
        for kind in ["stateless", "stateful", "twice"] {
            let output = probe(host, kind);
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{host} {kind}: {said}");
            assert!(said.contains(r#""forward":{"mtu":9000"#), "{said}");
        }
    }
}

#[test]
fn no_hostile_reflector_makes_a_probe_hang() {
    thread::scope(|scope| {
        for kind in ["late", "numbers", "longer", "garbage", "silent"] {
            let probing = move || {
                let output = probe("127.0.0.1", kind);
                let code = output.status.code();
                assert!(matches!(code, Some(0 | 1 | 3)), "{kind}: {output:?}");
            };
            thread::Builder::new().spawn_scoped(scope, probing).unwrap();
        }
    });
}

/// Sends test packets from addresses of the link that nobody has.
const SPOOF: &str = r#"
import socket, struct
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
data = bytes(12) + struct.pack('>H', 1) + bytes(70)
for number in range(4000):
    source = bytes([10, 0, 2, 3 + number % 200])
    udp = struct.pack('>HHHH', 1024 + number, 7770, 8 + len(data), 0) + data
    ip = struct.pack('>BBHHHBBH', 0x45, 0, 0, 0, 0, 64, 17, 0) + source + bytes([10, 0, 2, 2])
    raw.sendto(ip + udp, ('10.0.2.2', 0))
"#;

#[test]
fn replies_that_wait_for_nobody_do_not_keep_others_from_a_probe() {
    let script = format!(
        "receiver=$!\n\
         knob f ipv4/conf/eth0/rp_filter 0\n\
         ip netns exec r python3 -c \"{SPOOF}\"\n\
         look 10.0.2.2\n\
         kill -INT $receiver\nsaid recv 'test packets: '\ntail -n 1 recv"
    );
    let lines = see(&script);
    let result: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(result["verdict"], "clean", "{lines:?}");
    assert_eq!(result["reverse"]["mtu"], 9_000, "{lines:?}");
    let said = lines.last().unwrap();
    let unresolved = said.contains("without an answer from the neighbour");
    assert!(unresolved && !said.contains("too large"), "{said}");
}
