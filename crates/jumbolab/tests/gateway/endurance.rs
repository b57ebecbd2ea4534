//! Mixed load for a while, and faults under load. `JUMBOLAB_ENDURANCE` is the seconds of
//! load, and `JUMBOLAB_ENDURANCE_PATH` the path to the hosts, `packet` by default.

use serde_json::{Value, json};

use super::{see, see_for};

/// Seconds of load in the gate.
const SECONDS: u64 = 6;

/// The most kilobytes by which a gateway may grow after the first third of the load: rooms
/// for arrivals in batches, of which a longer batch uses more.
const GROWTH: u64 = 4_000;

/// A receiver of checked datagrams, and a gateway that seals.
const CHECKED: &str = r#"
keys
receive() { # NODE PORT TIMEOUT
    in_node $1 python3 "$PROBE" receive $2 $3 >"$1.$2" &
    eval "receiver_$1=$!"
    for try in $(seq 500); do if grep -q ready "$1.$2"; then return; fi; sleep 0.01; done
    exit 1
}
sealed() { # NODE LOCAL PEER PREFIX PREFIX PATH
    case $1 in ga) far=gb ;; *) far=ga ;; esac
    cat >"$1.toml" <<END
[core]
private_key_file = "$1.key"
[inside]
interfaces = ["in"]
datapath = "$6"
[peers.far]
address = "$3"
local = "$2"
prefixes = ["$4", "$5"]
public_key = "$(cat $far.pub)"
END
    begin $1 --config "$1.toml"
}
"#;

#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn under_mixed_load_memory_is_bounded_and_every_packet_is_counted() {
    let asked = std::env::var("JUMBOLAB_ENDURANCE").ok();
    let seconds = asked.as_ref();
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("a number of seconds"));
    let path = std::env::var("JUMBOLAB_ENDURANCE_PATH").unwrap_or_else(|_| "packet".into());
    let seen = see_for(
        &format!(
            "{CHECKED}
            # Many packets are larger than a bundle.
            export LARGEST=3000
            set_mtu 9000 a/eth0 ga/in gb/in b/eth0
            set_mtu 1500 ga/out c/west c/east gb/out
            sealed ga 192.0.2.1 198.51.100.1 10.2.0.0/24 fd02::/64 {path}
            sealed gb 198.51.100.1 192.0.2.1 10.1.0.0/24 fd01::/64 {path}
            crosses_after start
            receive b 5001 3; receive a 5003 3
            # About a millisecond passes between two datagrams of each flow.
            in_node a python3 \"$PROBE\" send 10.2.0.2 5001 $(({seconds} * 500)) 2 2000 &
            in_node b python3 \"$PROBE\" send 10.1.0.2 5003 $(({seconds} * 500)) 2 2000 &
            serve_iperf3 b
            in_node a iperf3 -c 10.2.0.2 -p $iperf3_port -t {seconds} -b 2M --bidir >/dev/null &
            tcp=$!
            in_node b ping -q -i 0.02 -w {seconds} fd01::2 >/dev/null &
            for second in $(seq {seconds}); do
                for process in $ga $gb; do
                    grep VmRSS /proc/$process/status | awk '{{ print \"memory\", $2 }}'
                done
                sleep 1
            done
            wait $tcp
            wait $receiver_a $receiver_b
            cat a.5003 b.5001
            end ga gb\n"
        ),
        seconds * 2 + 40,
    );
    for gateway in [0, 1] {
        assert!(seen.last(gateway, "pieces") > seconds * 500);
        assert!(seen.last(gateway, "joined") > seconds * 500);
    }
    let memory = seen.printed.lines();
    let memory = memory.filter_map(|line| line.strip_prefix("memory "));
    let memory: Vec<u64> = memory.map(|size| size.parse().unwrap()).collect();
    let highest = |part: &[u64]| part.iter().max().copied().unwrap_or(0);
    let (early, late) = memory.split_at(memory.len() / 3);
    if asked.is_some() {
        let last = seen.logs.each_ref().map(|log| log.last());
        println!("kB, both gateways in turn: {memory:?}\n{last:?}");
    }
    assert!(highest(late) <= highest(early) + GROWTH, "kB: {memory:?}");
    let checked: Vec<Value> = seen.objects();
    let checked = checked.iter().filter(|one| one.get("received").is_some());
    let checked: Vec<&Value> = checked.collect();
    assert_eq!(checked.len(), 2, "{}", seen.printed);
    for one in checked {
        assert_eq!(
            (&one["damaged"], &one["misordered"]),
            (&json!(0), &json!(0))
        );
        // Hosts may be short of processor time, and lose some outside gateways: half of them on
        // a machine that does other work, few in a long run on one that does not.
        let least = seconds * if asked.is_some() { 980 } else { 500 };
        assert!(one["received"].as_u64() >= Some(least), "{}", seen.printed);
    }
    seen.conserved();
}

#[test]
fn faults_under_load_end_within_seconds_and_nothing_is_misdelivered() {
    // The clock of the other gateway is a month ahead, and after a restart it is not.
    let seen = see(&format!(
        "{CHECKED}
        begin ga --inside-interface in --local 192.0.2.1 --peer 198.51.100.1 --prefix 10.2.0.0/24 $seal_a
        CLOCK='unshare --time --monotonic 2592000'
        again() {{ begin gb --inside-interface in --local 198.51.100.1 --peer 192.0.2.1 --prefix 10.1.0.0/24 $seal_b; }}
        again
        crosses_after start
        receive b 5001 6
        in_node a python3 \"$PROBE\" send 10.2.0.2 5001 4000 3 2000 &
        ip -n c link set east down; sleep 0.5; ip -n c link set east up
        crosses_after flap
        ip -n c link set east mtu 1400; ip -n gb link set out mtu 1400
        crosses_after shrunk
        ip -n c link set east mtu 9000; ip -n gb link set out mtu 9000
        kill -9 $gb
        wait $gb || true
        CLOCK=
        again
        crosses_after clock
        wait $receiver_b
        cat b.5001
        end ga gb\n"
    ));
    let all = seen.objects();
    for fault in ["flap", "shrunk", "clock"] {
        assert!(seen.after(fault) < 6_000, "{}", seen.printed);
    }
    let checked = all.iter().find(|one| one.get("received").is_some());
    let checked = checked.expect("the receiver prints what came");
    assert_eq!(checked["damaged"], 0, "{checked}");
    assert_eq!(checked["misordered"], 0, "{checked}");
    assert!(checked["received"].as_u64() > Some(4_000), "{checked}");
}
