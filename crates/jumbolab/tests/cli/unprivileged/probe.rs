//! `jumbolab probe` in network namespaces: a host, two routers and a far end, connected
//! by links with an MTU of 9000. Each test is a shell script in namespaces of its own.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Dir, Outcome};

/// Namespaces a - r - s - b; `at NODE COMMAND` runs a command in one of them.
pub(crate) const BED: &str = r#"
set -eu
mount -t tmpfs none /run
at() { node=$1; shift; ip netns exec "$node" "$@"; }
link() {
    ip link add "$2" mtu 9000 netns "$1" type veth peer name "$4" mtu 9000 netns "$3"
    up "$1" "$2" "$5" 1
    up "$3" "$4" "$5" 2
}
up() {
    ip -n "$1" address add "10.0.$3.$4/24" dev "$2"
    ip -n "$1" address add "fd00:$3::$4/64" dev "$2" nodad
    ip -n "$1" link set "$2" up
}
for node in a r s b; do ip netns add $node; ip -n $node link set lo up; done
link a ar r ra 1
link r rs s sr 2
link s sb b bs 3
for node in r s; do
    for knob in ipv4/ip_forward ipv6/conf/all/forwarding; do
        at $node sh -c "echo 1 >/proc/sys/net/$knob"
    done
done
ip -n a route add default via 10.0.1.2
ip -n a route add default via fd00:1::2
ip -n r route add 10.0.3.0/24 via 10.0.2.2
ip -n r route add fd00:3::/64 via fd00:2::2
ip -n s route add 10.0.1.0/24 via 10.0.2.1
ip -n s route add fd00:1::/64 via fd00:2::1
ip -n b route add default via 10.0.3.1
ip -n b route add default via fd00:3::1
"#;

/// Lets ordinary users send echo requests, which a new namespace does not.
pub(super) const ALLOW_ECHO: &str = "at a sh -c 'echo 0 0 >/proc/sys/net/ipv4/ping_group_range'";

/// Makes the link in the middle drop large packets: the kernel lets four bytes more
/// than the MTU into an interface, for a VLAN tag.
pub(super) const SILENT: &str = "ip -n s link set sr mtu 1500";

/// The far end.
pub(crate) const FAR_END: [&str; 2] = ["10.0.3.2", "fd00:3::2"];

/// The outcome of a script in the namespaces, after at most five minutes.
pub(crate) fn see(dir: &Dir, script: &str) -> Outcome {
    let mut command = Command::new("timeout");
    // The end of the script is the end of all processes that it began.
    command.args(["300", "unshare", "-Urnmpf", "--mount-proc", "--kill-child"]);
    command.args(["sh", "-c"]);
    command.arg(format!("{BED}{script}"));
    let command = command.current_dir(dir.path()).stdin(Stdio::null());
    let program = dir.command();
    Outcome::of(
        command
            .env("JUMBOLAB", program.get_program())
            .output()
            .unwrap(),
    )
}

/// The objects that a probe printed, by kind.
pub(crate) struct Seen(Vec<Value>);

impl Seen {
    /// Probes the far end after `prepared`; the exit code must be `code`.
    #[track_caller]
    pub(crate) fn probe(prepared: &str, line: &str, code: i32) -> Self {
        let dir = Dir::new();
        let script = format!("{ALLOW_ECHO}\n{prepared}\nat a {line} --json");
        let outcome = see(&dir, &script);
        assert_eq!(
            outcome.code,
            Some(code),
            "{}{}",
            outcome.stdout,
            outcome.stderr
        );
        let seen = Self(outcome.json());
        // A script that failed before has code 1 as well.
        assert!(!seen.of("path").is_empty(), "{}", outcome.stderr);
        seen
    }

    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["kind"] == kind).collect()
    }

    #[track_caller]
    pub(crate) fn path(&self) -> &Value {
        self.of("path")[0]
    }

    /// The finding of this name.
    #[track_caller]
    pub(crate) fn finding(&self, name: &str) -> &Value {
        let findings = self.of("finding");
        let found = findings.iter().find(|finding| finding["finding"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {:?}", self.0))
    }
}

/// Probes by root, and by a user without privileges.
pub(crate) const BY: [&str; 2] = [
    "\"$JUMBOLAB\" probe",
    "setpriv --bounding-set=-all --inh-caps=-all \"$JUMBOLAB\" probe",
];

#[test]
fn a_path_that_carries_the_mtu_of_the_interface_is_clean() {
    for (far_end, by) in [(FAR_END[0], BY[0]), (FAR_END[1], BY[1])] {
        let seen = Seen::probe("", &format!("{by} {far_end}"), 0);
        let path = seen.path();
        assert_eq!(path["verdict"], "clean", "{path}");
        assert_eq!(
            (&path["forward"]["mtu"], &path["reverse"]["mtu"]),
            (&9000.into(), &9000.into())
        );
        assert!(seen.of("finding").is_empty(), "{:?}", seen.0);
        let hops: Vec<u64> = seen
            .of("hop")
            .iter()
            .filter_map(|hop| hop["hop"].as_u64())
            .collect();
        assert_eq!(hops, [1, 2, 3]);
        assert_eq!(seen.of("hop")[2]["address"], far_end);
    }
}

#[test]
fn a_router_that_rejects_large_packets_is_named() {
    let narrow = "ip -n r link set rs mtu 1400\nip -n s link set sr mtu 1400";
    for (far_end, router, by) in [
        (FAR_END[0], "10.0.1.2", BY[1]),
        (FAR_END[1], "fd00:1::2", BY[0]),
    ] {
        let seen = Seen::probe(narrow, &format!("{by} {far_end}"), 1);
        let path = seen.path();
        assert_eq!(
            (&path["verdict"], &path["forward"]["mtu"]),
            (&"problem".into(), &1400.into())
        );
        assert_eq!(path["forward"]["limit"], "packet_too_big");
        let finding = seen.finding("packet_too_big");
        assert_eq!(
            (&finding["router"], &finding["mtu"]),
            (&router.into(), &1400.into())
        );
        assert_eq!(finding["hop"], 1);
    }
}

#[test]
fn a_link_that_drops_large_packets_silently_is_found_between_its_ends() {
    for (far_end, by) in [(FAR_END[0], BY[0]), (FAR_END[1], BY[1])] {
        let seen = Seen::probe(SILENT, &format!("{by} {far_end}"), 1);
        let finding = seen.finding("black_hole");
        assert_eq!(finding["fails_from_bytes"], 1505, "{finding}");
        assert_eq!(
            (
                &finding["place"]["after_hop"]["hop"],
                &finding["place"]["before_hop"]["hop"]
            ),
            (&1.into(), &2.into())
        );
        assert_eq!(finding["direction"], "forward");
        assert!(!seen.of("advice").is_empty());
    }
}

#[test]
fn a_first_link_whose_ends_differ_is_told_apart() {
    let seen = Seen::probe(
        "ip -n r link set ra mtu 1500",
        &format!("{} {}", BY[0], FAR_END[0]),
        1,
    );
    let finding = seen.finding("first_link");
    assert_eq!(finding["fails_from_bytes"], 1505, "{finding}");
}

#[test]
fn an_open_port_shows_the_segment_size_to_root_and_to_users() {
    let listen = "ip netns exec b \"$JUMBOLAB\" recv --open --listen 10.0.3.2 --port 4000 >said 2>&1 & \
        until grep -q listening said 2>/dev/null; do kill -0 $!; done";
    for by in BY {
        let seen = Seen::probe(listen, &format!("{by} {} --port 4000", FAR_END[0]), 0);
        let protocols = seen.of("protocol");
        let tcp = protocols
            .iter()
            .find(|protocol| protocol["protocol"] == "tcp");
        assert_eq!(tcp.unwrap()["mss"], 8960, "{by}: {:?}", seen.0);
    }
}

#[test]
fn what_a_user_cannot_see_is_said_and_what_no_user_may_send_is_rejected() {
    let seen = Seen::probe(
        "",
        &format!("{} {} --protocol tcp,icmp", BY[1], FAR_END[0]),
        0,
    );
    let texts: Vec<&str> = seen
        .of("not_seen")
        .iter()
        .filter_map(|line| line["text"].as_str())
        .collect();
    assert!(texts.iter().any(|text| text.contains("root")), "{texts:?}");
    let dir = Dir::new();
    let icmp = format!("at a {} {} --protocol icmp", BY[1], FAR_END[0]);
    see(&dir, &icmp).rejected(&["ping_group_range"]);
    let capture = format!("at a {} {} --capture c.pcapng", BY[1], FAR_END[0]);
    see(&dir, &capture).rejected(&["--capture c.pcapng", "root"]);
}

#[test]
fn a_host_that_does_not_answer_leaves_it_open() {
    // Nobody has this address: the last router says so, or nobody.
    let seen = Seen::probe("", &format!("{} 10.0.3.77", BY[0]), 3);
    assert_eq!(seen.path()["verdict"], "unclear");
}

#[test]
fn a_capture_holds_the_packets_of_the_investigation() {
    let dir = Dir::new();
    let script = format!(
        "at a \"$JUMBOLAB\" probe {} --json --capture c.pcapng",
        FAR_END[0]
    );
    let outcome = see(&dir, &script).fine();
    let probes = outcome.json()[0]["probes"].as_u64().unwrap();
    let bytes = std::fs::read(dir.path().join("c.pcapng")).unwrap();
    let (mut packets, mut rest) = (0, bytes.as_slice());
    while let Some((head, _)) = rest.split_first_chunk::<8>() {
        let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        packets += u64::from(number(0) == 6);
        rest = &rest[number(4) as usize..];
    }
    // Each probe has an answer, but for a lost one.
    assert!(packets + 4 >= 2 * probes, "{packets} of {probes}");
    let again = see(&dir, &script);
    again.rejected(&["c.pcapng", "new file"]);
}

#[test]
fn a_reflector_tells_both_directions_apart() {
    // Answers return over another link, whose near end receives no more than 1500 bytes.
    let back = "link r rb s sr2 4\nip -n r link set rb mtu 1500\n\
        ip -n s route replace 10.0.1.0/24 via 10.0.4.2\n\
        ip -n r address flush dev rb\nip -n s address flush dev sr2\n\
        ip -n r address add 10.0.4.2/24 dev rb\nip -n s address add 10.0.4.1/24 dev sr2\n\
        ip -n s route replace 10.0.1.0/24 via 10.0.4.2\n\
        ip netns exec b \"$JUMBOLAB\" recv --open --listen 10.0.3.2 >said 2>&1 &\n\
        until grep -q listening said 2>/dev/null; do kill -0 $!; done";
    for by in BY {
        let seen = Seen::probe(back, &format!("{by} {}", FAR_END[0]), 1);
        let path = seen.path();
        assert_eq!(path["forward"]["mtu"], 9000, "{by}: {path}");
        assert_eq!(path["reverse"]["mtu"], 1504, "{by}: {path}");
        assert_eq!(seen.finding("black_hole")["direction"], "reverse");
    }
}

#[test]
fn a_watch_prints_what_changes_and_serves_it() {
    let dir = Dir::new();
    let script = "ip netns exec a \"$JUMBOLAB\" probe 10.0.3.2 --watch 1s --protocol icmp --json \\
            --metrics-listen 127.0.0.1:9777 >lines 2>said & watch=$!\n\
        wait_for() { until grep -q \"$1\" lines 2>/dev/null; do kill -0 $watch; done; }\n\
        metrics() { at a bash -c 'exec 3<>/dev/tcp/127.0.0.1/9777; \\
            printf \"GET /metrics HTTP/1.1\\r\\n\\r\\n\" >&3; cat <&3' >$1; }\n\
        wait_for '\"kind\":\"path\"'\n\
        until metrics before && grep -q EOF before; do kill -0 $watch; done\n\
        ip -n r link set rs mtu 1400\nip -n s link set sr mtu 1400\n\
        wait_for '\"kind\":\"change\"'\n\
        until metrics after && grep -q changes_total.*1 after; do kill -0 $watch; done\n\
        kill -INT $watch\ncode=0\nwait $watch || code=$?\ncat lines\nexit $code";
    let outcome = see(&dir, script);
    assert_eq!(
        outcome.code,
        Some(1),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let lines = outcome.json();
    let changes: Vec<&Value> = lines
        .iter()
        .filter(|line| line["kind"] == "change")
        .collect();
    assert_eq!(changes.len(), 1, "{lines:?}");
    let change = changes[0];
    assert_eq!(
        (&change["forward_mtu_before"], &change["forward"]["mtu"]),
        (&9000.into(), &1400.into())
    );
    assert_eq!(change["verdict"], "problem");
    let metrics = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let labels = "{host=\"10.0.3.2\",far_end=\"10.0.3.2\"";
    for (name, mtu, clean) in [("before", 9000, 1), ("after", 1400, 0)] {
        let text = metrics(name);
        for line in [
            format!("jumbolab_probe_path_mtu_bytes{labels},direction=\"forward\"}} {mtu}\n"),
            format!("jumbolab_probe_clean{labels}}} {clean}\n"),
        ] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}

#[test]
fn a_watch_whose_own_host_fails_says_that_nothing_passes() {
    // The far end of the link fails, or the local address goes away.
    let failures = [
        "ip -n r link set ra down",
        "ip -n a address flush dev ar\nip -n a route add prohibit 10.0.3.2",
    ];
    for failure in failures {
        let dir = Dir::new();
        let script = format!(
            "ip netns exec a \"$JUMBOLAB\" probe 10.0.3.2 --watch 1s --protocol icmp --json \\
                --metrics-listen 127.0.0.1:9779 >lines 2>said & watch=$!\n\
            wait_for() {{ until grep -q \"$1\" lines said; do kill -0 $watch; done; }}\n\
            metrics() {{ at a bash -c 'exec 3<>/dev/tcp/127.0.0.1/9779; \\
                printf \"GET /metrics HTTP/1.1\\r\\n\\r\\n\" >&3; cat <&3' >$1; }}\n\
            wait_for '\"kind\":\"path\"'\n{failure}\n\
            until metrics after && grep -q 'clean{{.* 0' after; do kill -0 $watch; done\n\
            kill -INT $watch\ncode=0\nwait $watch || code=$?\ncat lines\nexit $code"
        );
        let outcome = see(&dir, &script);
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        let lines = outcome.json();
        let changes = lines.iter().filter(|line| line["kind"] == "change");
        let [change] = changes.collect::<Vec<_>>()[..] else {
            panic!("{lines:?}");
        };
        assert_eq!(
            (&change["forward_mtu_before"], &change["forward"]["mtu"]),
            (&9000.into(), &Value::Null)
        );
        assert_eq!(change["verdict"], "unclear");
        let after = std::fs::read_to_string(dir.path().join("after")).unwrap();
        assert!(!after.contains("path_mtu_bytes{"), "{after}");
    }
}

#[test]
fn a_host_that_has_addresses_of_its_link_alone_probes_beyond_it() {
    let dir = Dir::new();
    let script = "ip -n a address flush dev ar scope global\n\
        ip -n a address add fe80::a/64 dev ar nodad\n\
        ip -n r address add fe80::b/64 dev ra nodad\n\
        ip -n a -6 route replace default via fe80::b dev ar\n\
        at a \"$JUMBOLAB\" probe fd00:2::1 --json";
    let outcome = see(&dir, script);
    assert!(
        outcome.code < Some(3) && !outcome.stderr.contains("os error"),
        "{}",
        outcome.stderr
    );
    let path = outcome.json().remove(0);
    assert_eq!(path["forward"]["mtu"], 9000, "{path}");
}

#[test]
fn a_hostile_far_end_neither_stops_a_probe_nor_lowers_its_result() {
    const HOSTILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/hostile_far_end.py");
    let answer = format!(
        "ip netns exec b python3 {HOSTILE} >said &\n\
        until grep -q ready said 2>/dev/null; do kill -0 $!; done"
    );
    for by in BY {
        let dir = Dir::new();
        let script = format!(
            "{ALLOW_ECHO}\n{answer}\nat a {by} {} --json --protocol icmp",
            FAR_END[0]
        );
        let outcome = see(&dir, &script).ran();
        assert_eq!(outcome.json()[0]["forward"]["mtu"], 9000, "{by}");
    }
}
