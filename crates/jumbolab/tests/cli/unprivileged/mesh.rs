//! `jumbolab probe --mesh` between network namespaces on a switch, which a command that is no
//! `ssh` reaches.

use std::collections::BTreeSet;

use serde_json::Value;

use super::probe::see;
use crate::harness::{Dir, Outcome};

/// The namespaces `a` to `f` behind the switch `s`, all with MTU 9000, and the file `hosts`.
/// `mesh OPTIONS` probes them, and `small HOST` makes the switch drop large packets to and
/// from a host.
const SIX: &str = r#"
export JUMBOLAB_SSH="ip netns exec {}" XDG_CACHE_HOME="$PWD/cache"
ip link set lo up
ip netns add switch
ip -n switch link add s mtu 9000 type bridge
ip -n switch link set s up
number=0
for host in a b c d e f; do
    [ -e /run/netns/$host ] || ip netns add $host
    number=$((number + 1))
    ip link add meas mtu 9000 netns $host type veth peer name port-$host mtu 9000 netns switch
    ip -n switch link set port-$host master s up
    ip -n $host address add 10.8.0.$number/24 dev meas
    ip -n $host link set meas up
    echo "$host ssh=$host address=10.8.0.$number" >>hosts
done
mesh() { "$JUMBOLAB" probe --mesh hosts --protocol udp,icmp "$@"; }
small() { ip -n switch link set port-$1 mtu 1500; }
whole() { ip -n switch link set port-$1 mtu 9000; }
"#;

/// The outcome of a script among the six hosts.
fn among_six(dir: &Dir, script: &str) -> Outcome {
    see(dir, &format!("{SIX}{script}"))
}

fn of<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

#[test]
fn a_host_that_drops_large_packets_is_named_and_watched_until_it_is_whole() {
    let dir = Dir::new();
    let script = "small f\n\
        \"$JUMBOLAB\" probe --mesh hosts --protocol udp,icmp --watch 1s --json --metrics-listen 127.0.0.1:9778 >lines 2>said & watch=$!\n\
        metrics() { bash -c 'exec 3<>/dev/tcp/127.0.0.1/9778; \\
            printf \"GET /metrics HTTP/1.1\\r\\n\\r\\n\" >&3; cat <&3' >$1; }\n\
        until metrics before && grep -q EOF before; do kill -0 $watch; done\n\
        whole f\n\
        until grep -q '\"worse\":0.*\"verdict\":\"clean\"' lines; do kill -0 $watch; done\n\
        until metrics after && grep -q EOF after && ! grep -q 'clean{.* 0' after; do\n\
            kill -0 $watch\n\
        done\n\
        kill -INT $watch\ncode=0\nwait $watch || code=$?\ncat lines\nexit $code";
    let outcome = among_six(&dir, script).fine();
    let lines = outcome.json();
    let [problem] = of(&lines, "mesh_problem")[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(problem["groups"], serde_json::json!([["f"]]), "{problem}");
    let changes = of(&lines, "mesh_change").into_iter();
    let grown =
        changes.filter(|change| change["change"] == "grew" && change["passed_bytes"] == 9000);
    let of_f = grown.filter(|change| change["from"] == "f" || change["to"] == "f");
    let pairs: BTreeSet<[&str; 2]> = of_f
        .map(|change| ["from", "to"].map(|key| change[key].as_str().unwrap()))
        .collect();
    assert_eq!(pairs.len(), 10, "{lines:?}");
    let metrics = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    for (name, clean) in [("before", 0), ("after", 1)] {
        let text = metrics(name);
        for (from, to, clean) in [("a", "f", clean), ("f", "e", clean), ("a", "b", 1)] {
            let line =
                format!("jumbolab_probe_clean{{from=\"{from}\",to=\"{to}\",ip=\"4\"}} {clean}\n");
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert_eq!(text.matches("jumbolab_probe_clean{").count(), 30, "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}

/// `lose HOST` makes a host lose every tenth packet above 1440 bytes that enters or leaves it,
/// at random, and `keep HOST` stops that.
const LOSS: &str = r#"
lose() {
    ip netns exec $1 nft -f - <<'END'
table inet loss {
    chain into {
        type filter hook input priority 0
        meta length > 1440 numgen random mod 1000 < 100 drop
    }
    chain out {
        type filter hook output priority 0
        meta length > 1440 numgen random mod 1000 < 100 drop
    }
}
END
}
keep() { ip netns exec $1 nft delete table inet loss; }
"#;

#[test]
fn a_host_that_loses_a_tenth_of_large_packets_is_named_until_it_loses_none() {
    let dir = Dir::new();
    // The watch prints rounds in which something changed.
    let script = "lose d\n\
        \"$JUMBOLAB\" probe --mesh hosts --watch 5s --json >lines 2>said & watch=$!\n\
        until grep -q '\"d: its interface' lines; do kill -0 $watch; sleep 0.2; done\n\
        keep d\n\
        until grep -q '\"mesh_comparison\".*\"verdict\":\"clean\"' lines; do\n\
            kill -0 $watch; sleep 0.2\n\
        done\n\
        kill -INT $watch\nwait $watch || [ $? = 130 ]\ncat lines";
    let outcome = among_six(&dir, &format!("{LOSS}{script}")).fine();
    let lines = outcome.json();
    let [first] = of(&lines, "mesh")[..] else {
        panic!("{lines:?}");
    };
    let whole = "All 30 paths between 6 hosts deliver packets of 9000 bytes.";
    let [ref compared @ .., last] = of(&lines, "mesh_comparison")[..] else {
        panic!("no round changed anything: {lines:?}");
    };
    assert_eq!(last["mesh"], serde_json::json!([whole]), "{last}");
    assert_eq!(last["verdict"], "clean", "{last}");
    // No other host is blamed in any round.
    let rounds = compared.iter().map(|round| &round["mesh"]);
    for round in rounds.chain([&first["summary"]]) {
        let sentences = round.as_array().unwrap().iter();
        for sentence in sentences.filter_map(Value::as_str) {
            let blamed = sentence.split_once(": its interface").map(|(host, _)| host);
            assert!(blamed.is_none_or(|host| host == "d"), "{sentence}");
        }
    }
}

#[test]
fn a_comparison_reports_what_a_change_did_to_each_path() {
    let dir = Dir::new();
    // One port is mended, another one damaged, and a host leaves the mesh.
    let script = "sed -i /^d/d hosts\nsmall f\nmesh --json >before.json || [ $? = 1 ]\n\
        whole f\nsmall b\nsed -i /^e/d hosts\n\
        mesh --compare before.json --json >now.json && exit 9 || [ $? = 1 ]\n\
        mesh --compare now.json >same\n\
        head -n 9 before.json >damaged.json\n\
        mesh --compare damaged.json 2>>said && exit 9 || [ $? = 2 ]\n\
        mesh --compare before.json --max-mtu 1500 2>>said && exit 9 || [ $? = 2 ]\n\
        cat now.json";
    let outcome = among_six(&dir, script).fine();
    let lines = outcome.json();
    let [compared] = of(&lines, "mesh_comparison")[..] else {
        panic!("{lines:?}");
    };
    let counts = ["added", "removed", "unchanged"];
    let counts = counts.map(|key| compared[key].as_u64().unwrap());
    assert_eq!(counts, [0, 8, 2], "{compared}");
    assert_eq!(compared["time"], Value::Null);
    let change = |from: &str, to: &str| {
        let changes = of(&lines, "mesh_change");
        let mut changes = changes.into_iter();
        let found = changes.find(|line| line["from"] == from && line["to"] == to);
        found.map(|line| line["change"].clone())
    };
    let expected = [
        ("c", "f", Some("grew")),
        ("b", "a", Some("shrank")),
        ("e", "a", Some("gone")),
        ("a", "c", None),
    ];
    for (from, to, what) in expected {
        assert_eq!(
            change(from, to),
            what.map(Value::from),
            "{from} to {to}: {lines:?}"
        );
    }
    let file = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let summary = compared["summary"].as_str().unwrap();
    let end = ", 8 were removed and 2 did not change.";
    assert!(
        summary.starts_with("Of 20 paths, ") && summary.ends_with(end),
        "{summary}"
    );
    assert!(
        file("same").starts_with("None of 12 paths changed.\n\nThe mesh now\n"),
        "{}",
        file("same")
    );
    let said = file("said");
    let errors: Vec<&str> = said.lines().collect();
    for (error, words) in errors.iter().zip([
        "error: damaged.json:9: lines are missing behind this one; name a file",
        "error: --max-mtu 1500: before.json has results up to 9000 bytes; write this size",
    ]) {
        assert!(error.starts_with(words), "{said}");
    }
    assert_eq!(errors.len(), 2, "{said}");
}

#[test]
fn a_host_that_is_away_is_an_event_of_a_watch_and_so_is_its_return() {
    let dir = Dir::new();
    let script = "sed -i /^[d-f]/d hosts\n\
        echo '[ ! -e away-$1 ] || { echo away >&2; exit 1; }; exec ip netns exec \"$@\"' >enter\n\
        export JUMBOLAB_SSH='sh ./enter {}'\n\
        \"$JUMBOLAB\" probe --mesh hosts --protocol udp,icmp --watch 1s >lines 2>said & watch=$!\n\
        wait_for() { until grep -q \"$1\" lines; do kill -0 $watch; done; }\n\
        wait_for 'All 6 paths'\n\
        : >away-c\n\
        wait_for 'between c and a, b: not seen any more'\n\
        wait_for ' c: .*away'\n\
        rm away-c\n\
        wait_for 'between c and a, b: seen now; the path MTU is 9000 bytes'\n\
        kill -INT $watch\nwait $watch";
    among_six(&dir, script).fine();
}
