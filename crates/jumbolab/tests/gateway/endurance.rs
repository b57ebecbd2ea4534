//! Mixed load for a while, and faults under load. `JUMBOLAB_ENDURANCE` is the seconds of
//! load, and `JUMBOLAB_ENDURANCE_PATH` the path to the hosts, `packet` by default.
//!
//! Verdicts depend on what gateways and kernels counted, and not on how much of the load a
//! machine had the time for. With kills and a path that drops, the same is counted to the
//! packet in virtual time, by the tests of the gateway's machine.

use serde_json::{Value, json};

use super::{Seen, see_for};

/// Seconds of load in the gate.
const SECONDS: u64 = 6;

/// The most kilobytes by which a gateway may grow after the first third of the load: rooms
/// for arrivals in batches, of which a longer batch uses more, and 64 rooms for segments that
/// leave joined, each of which grows to the 64 KiB of the longest run so far.
const GROWTH: u64 = 4_000 + 64 * 64;

/// Sealed gateways, load of mixed sizes, and what the kernels of the hosts count.
const LOAD: &str = r#"
keys
# Many packets are larger than a bundle.
export LARGEST=3000
set_mtu 9000 a/eth0 ga/in gb/in b/eth0
set_mtu 1500 ga/out c/west c/east gb/out
receive() { # NODE PORT TIMEOUT
    OVER=over in_node $1 python3 "$PROBE" receive $2 $3 >"$1.$2" &
    eval "receiver_$1_$2=$!"
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
begin_ga() { sealed ga 192.0.2.1 198.51.100.1 10.2.0.0/24 fd02::/64 $path; }
begin_gb() { sealed gb 198.51.100.1 192.0.2.1 10.1.0.0/24 fd01::/64 $path; }
# Both versions of IP, both ways. A receiver ends some seconds after the last datagram.
load() { # TIMEOUT GAP_US
    receive b 5001 $1; receive b 5002 $1; receive a 5003 $1; receive a 5004 $1
    senders=
    during a 10.2.0.2 5001 $2; during a fd02::2 5002 $2; during b 10.1.0.2 5003 $2; during b fd01::2 5004 $2
}
during() { # NODE HOST PORT GAP_US
    in_node $1 python3 "$PROBE" during $2 $3 $seconds 2 $4 &
    senders="$senders $!"
}
memory() {
    for node in ga gb; do
        eval "process=\$$node"
        awk -v node=$node '/VmRSS/ { print "memory", node, $2 }' /proc/$process/status || true
    done
}
received() {
    wait $senders
    touch over
    wait $receiver_b_5001 $receiver_b_5002 $receiver_a_5003 $receiver_a_5004
    cat b.5001 b.5002 a.5003 a.5004
    for node in a b; do
        # Datagrams for which a socket had no room, by either version of IP.
        in_node $node cat /proc/net/snmp | awk '/^Udp:/ && $6 ~ /^[0-9]/ { print "{\"full\": " $6 "}" }'
        in_node $node awk '/^Udp6RcvbufErrors/ { print "{\"full\": " $2 "}" }' /proc/net/snmp6
    done
}
"#;

/// The seconds of load, and whether it is a long run.
fn seconds() -> (u64, bool) {
    let asked = std::env::var("JUMBOLAB_ENDURANCE").ok();
    let seconds = asked.as_ref();
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("a number of seconds"));
    (seconds, asked.is_some())
}

/// Runs `faults` on sealed gateways under load, which become ready at first.
fn see_under_load(seconds: u64, faults: &str) -> Seen {
    let path = std::env::var("JUMBOLAB_ENDURANCE_PATH").unwrap_or_else(|_| "packet".into());
    let script = format!("{LOAD}\npath={path} seconds={seconds}\n{faults}");
    see_for(&script, seconds * 4 + 240)
}

impl Seen {
    /// The sum of a number over all objects that were printed.
    fn sum(&self, name: &str) -> u64 {
        let objects = self.objects();
        objects.iter().filter_map(|one| one[name].as_u64()).sum()
    }

    /// Whether all that came was as it had been sent, and a gateway did not grow after the
    /// first third of the load.
    #[track_caller]
    #[expect(clippy::print_stdout, reason = "figures of a long run")]
    fn endured(&self, is_long: bool) {
        for node in ["ga", "gb"] {
            let words = format!("memory {node} ");
            let memory = self.printed.lines();
            let memory = memory.filter_map(|line| line.strip_prefix(&words));
            let memory: Vec<u64> = memory.map(|size| size.parse().unwrap()).collect();
            let (early, late) = memory.split_at(memory.len().div_ceil(3));
            let highest = |part: &[u64]| part.iter().max().copied().unwrap_or(0);
            if is_long {
                println!("{node}: kB {memory:?}");
            }
            assert!(highest(early) > 0, "{}", self.printed);
            assert!(highest(late) <= highest(early) + GROWTH, "kB: {memory:?}");
        }
        let objects = self.objects();
        let received = objects.iter().filter(|one| one.get("received").is_some());
        let received: Vec<&Value> = received.collect();
        assert_eq!(received.len(), 4, "{}", self.printed);
        for one in received {
            let wrong = [&one["damaged"], &one["misordered"]];
            assert_eq!(wrong, [&json!(0); 2], "{}", self.printed);
            assert!(one["received"].as_u64() > Some(0), "{}", self.printed);
        }
        if is_long {
            println!(
                "{objects:#?}\n{:?}",
                self.logs.each_ref().map(|log| log.last())
            );
        }
    }
}

#[test]
fn under_mixed_load_memory_is_bounded_and_every_packet_is_counted() {
    let (seconds, is_long) = seconds();
    let seen = see_under_load(
        seconds,
        r#"
        begin_ga; begin_gb
        crosses_after start
        load 3 4000
        serve_iperf3 b
        in_node a iperf3 -c 10.2.0.2 -p $iperf3_port -t $seconds -b 2M --bidir >/dev/null &
        tcp=$!
        in_node b ping -q -i 0.02 -w $seconds fd01::2 >/dev/null &
        for second in $(seq $seconds); do memory; sleep 1; done
        # It gives up where it gets too little of a processor.
        wait $tcp || true
        received
        end ga gb
    "#,
    );
    seen.endured(is_long);
    seen.conserved();
    for gateway in [0, 1] {
        assert!(seen.last(gateway, "pieces") > 0 && seen.last(gateway, "joined") > 0);
    }
    // A datagram that did not come was counted by a gateway or a kernel.
    let missing = seen.sum("sent") - seen.sum("received");
    let counted = |gateway| {
        let counters = [
            "inside_overrun",
            "dropped",
            "inward_dropped",
            "inside_rejected",
        ];
        let counted: u64 = counters
            .iter()
            .map(|counter| seen.last(gateway, counter))
            .sum();
        let sent = seen.last(1 - gateway, "bundled") + seen.last(1 - gateway, "alone");
        counted + sent - seen.last(gateway, "unpacked")
    };
    let counted = counted(0) + counted(1) + seen.sum("full");
    assert!(
        missing <= counted,
        "{missing} of {counted}: {}",
        seen.printed
    );
}

#[test]
fn after_every_fault_under_load_packets_cross_again_and_none_is_damaged() {
    let (seconds, is_long) = seconds();
    // The clock of the other gateway is a month ahead, and after a restart it is not.
    let seen = see_under_load(
        seconds.max(12),
        r#"
        one_link() {
            for end in west east; do ip -n c address flush dev $end; done
            ip netns exec c "$JUMBOLAB" emulate --between west east --loss 0.5% --delay 2ms >emulated 2>&1 &
            emulator=$!
            ip -n gb address flush dev out
            address gb out 192.0.2.2/24
        }
        one_link
        begin_ga() { sealed ga 192.0.2.1 192.0.2.2 10.2.0.0/24 fd02::/64 $path; }
        begin_gb() { sealed gb 192.0.2.2 192.0.2.1 10.1.0.0/24 fd01::/64 $path; }
        begin_ga
        CLOCK='unshare --time --monotonic 2592000'
        begin_gb
        CLOCK=
        crosses_after start
        # Little enough for a busy machine: pings are to cross.
        load 10 40000
        ends=$(($(date +%s) + $seconds)) round=0
        while [ $round = 0 ] || [ $(date +%s) -lt $ends ]; do
            round=$((round + 1))
            ip -n gb link set out down; sleep 0.5; ip -n gb link set out up
            crosses_after flap
            for link in ga/out gb/out; do set_mtu 1400 $link; done
            crosses_after shrunk
            for link in ga/out gb/out; do set_mtu 1500 $link; done
            crosses_after grown
            memory
            for node in ga gb; do
                eval "process=\$$node"
                kill -9 $process
                wait $process || true
                begin_$node
                crosses_after killed
            done
        done
        received
        end ga gb
        kill $emulator
    "#,
    );
    seen.endured(is_long);
    seen.accounted();
    assert!(seen.sum("received") <= seen.sum("sent"), "{}", seen.printed);
}
