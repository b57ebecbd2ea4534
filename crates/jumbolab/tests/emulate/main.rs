//! `jumbolab emulate` between two namespaces made by `ip netns`, with traffic
//! from Python. Each test is a shell script in namespaces of its own, which end
//! with it.

mod distributions;
#[path = "../cli/processors.rs"]
mod processors;
#[path = "../cli/schema.rs"]
mod schema;
mod too_big;
#[path = "../cli/undisturbed.rs"]
mod undisturbed;

use std::collections::VecDeque;
use std::process::{Command, Stdio};

use processors::Processors;
use serde_json::{Value, json};
use tempfile::TempDir;
use undisturbed::until_undisturbed;

/// Namespaces a and b with 10.0.0.1 and 10.0.0.2; their links end at e1 and e2.
const BED: &str = r#"
set -eu
mount -t tmpfs none /run
for node in a b; do ip netns add $node; done
ip link add e1 type veth peer name eth0 netns a
ip link add e2 type veth peer name eth0 netns b
ip link set e1 up
ip link set e2 up
for node in a b; do ip -n $node link set eth0 up; done
ip -n a address add 10.0.0.1/24 dev eth0
ip -n b address add 10.0.0.2/24 dev eth0
begin() {
    "$JUMBOLAB" emulate --between e1 e2 --json "$@" >report 2>said &
    emulator=$!
    # A script that fails leaves no emulator behind.
    trap 'kill $emulator 2>/dev/null || true' EXIT
    # At most ten seconds, and not after the emulator has ended.
    for _ in $(seq 1000); do
        if grep -q forwarding said; then return; fi
        kill -0 $emulator
        sleep 0.01
    done
    echo "the emulator does not say that it forwards" >&2
    exit 1
}
end() {
    kill -TERM $emulator
    code=0
    wait $emulator || code=$?
    echo $code >code
}
probe() { python3 "$PROBE" "$@"; }
"#;

/// Frames of 9014 bytes between the namespaces.
const JUMBO: &str = "for node in a b; do ip -n $node link set eth0 mtu 9000; done
    ip link set e1 mtu 9000\n ip link set e2 mtu 9000\n";

/// The output of a script.
struct Seen {
    /// The objects that its probes printed.
    probes: Vec<Value>,
    /// The emulator's last object.
    report: Value,
    /// Its stderr.
    said: String,
    /// Its exit code.
    code: String,
}

#[track_caller]
fn see(script: &str) -> Seen {
    let folder = TempDir::new().unwrap();
    let output = Command::new("unshare")
        .args(["-Urnm", "sh", "-c", &format!("{BED}{script}")])
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .env(
            "PROBE",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/emulate/probe.py"),
        )
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let (said, report) = (read("said"), read("report"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}\n{said}");
    assert!(!said.contains("panicked"), "{said}");
    let json = |line: &str| -> Value { serde_json::from_str(line).expect(line) };
    report
        .lines()
        .map(json)
        .for_each(|line| schema::check(&line));
    Seen {
        probes: String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(json)
            .collect(),
        report: report.lines().last().map_or(Value::Null, json),
        said,
        code: read("code").trim().to_owned(),
    }
}

impl Seen {
    /// The objects that its probes printed, of which there must be `count`.
    #[track_caller]
    fn probes(&self, count: usize) -> &[Value] {
        assert_eq!(self.probes.len(), count, "{}", self.said);
        &self.probes
    }

    fn there(&self, key: &str) -> f64 {
        self.report["directions"][0][key].as_f64().expect(key)
    }
}

#[test]
fn a_crooked_rate_carries_what_its_frames_allow() {
    // IPv4 and UDP 28, Ethernet and FCS 18, preamble and gap 20.
    let expected = 12_345_678.0 * 1400.0 / (1400.0 + 28.0 + 18.0 + 20.0);
    // A pause of the CPU can empty the queue or delay the first datagram.
    let seen = until_undisturbed("the rate of a link", 5, || {
        let processors = Processors::now();
        // 40 sent for 20 received: the queue in front of the link never empties.
        let seen = see("begin --rate 12345678bit\n probe udp 8000 1400 40 20\n end\n");
        let rate = seen.probes[0]["rate"].as_f64().unwrap();
        match processors.disturbed() {
            _ if (rate / expected - 1.0).abs() < 0.01 => Ok(seen),
            Some(disturbed) => Err(disturbed),
            None => panic!("{rate} of {expected}: {}", seen.report),
        }
    })
    .unwrap();
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert_eq!(seen.report["final"], true);
    // The root of a user namespace may not change the scheduling policy.
    assert_eq!(seen.report["scheduling"], "ordinary");
    assert!(seen.there("dropped") > 0.0, "{}", seen.report);
}

#[test]
fn losses_are_as_frequent_as_was_asked() {
    let seen =
        see("begin --loss 10% --reverse-option loss=0%\n probe udp 20000 100 256 256\n end\n");
    let (arrived, lost) = (seen.there("arrived"), seen.there("lost"));
    // 99 % of all runs lie within 2.576 standard deviations.
    let width = 2.576 * (arrived * 0.1 * 0.9).sqrt();
    assert!(arrived > 15_000.0, "{}", seen.report);
    assert!((lost - 0.1 * arrived).abs() < width, "{}", seen.report);
    let received = seen.probes[0]["received"].as_f64().unwrap();
    let delivered = seen.there("delivered");
    assert!(
        received <= delivered && delivered - received < 100.0,
        "{received} of {}",
        seen.report
    );
}

#[test]
fn copies_of_icmp_echoes_hide_no_losses() {
    // The first packets of a new link may take a second.
    let seen = see("begin --loss 10% --duplicate 40%\n \
         send() { ip netns exec a \"$JUMBOLAB\" send 10.0.0.2 --protocol icmp --json \"$@\"; }\n \
         for _ in $(seq 20); do if send --packets 1 >one; then break; fi; done\n \
         send --gap 1ms --packets 500 --packet-log echoes.jlog\n \
         \"$JUMBOLAB\" decode echoes.jlog --json\n end\n");
    let [sent, decoded] = seen.probes(2) else {
        panic!("{}", seen.said);
    };
    for (at_end, in_log) in [
        ("sent", "sent"),
        ("echoes_lost", "lost"),
        ("echo_duplicates", "duplicates"),
    ] {
        assert_eq!(sent[at_end], decoded[in_log], "{sent} {decoded}");
    }
    let count = |key: &str| sent[key].as_u64().unwrap();
    assert_eq!(count("echoes") + count("echoes_lost"), 500, "{sent}");
    assert!(count("echoes_lost") > 20, "{sent}");
    assert!(count("echo_duplicates") > count("echoes_lost"), "{sent}");
}

#[test]
fn a_second_emulator_of_an_interface_is_rejected_until_the_first_one_is_gone() {
    let seen = see(
        "ip link add e3 type veth peer name eth1 netns a\n ip link set e3 up
        begin
        \"$JUMBOLAB\" emulate --between e3 e2 --duration 1s 2>rejected && exit 1
        grep -q 'e2: another emulator' rejected
        kill -9 $emulator\n wait $emulator || true
        begin\n probe udp 100 100 10 10\n end\n",
    );
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert_eq!(seen.probes(1)[0]["received"], 100, "{}", seen.report);
}

#[test]
fn an_interface_that_was_down_carries_on_when_it_is_up() {
    let seen = see("begin\n probe udp 100 100 10 10
        ip link set e1 down\n ip link set e1 up\n ip link set e2 down\n ip link set e2 up
        probe udp 100 100 10 10\n end\n");
    assert_eq!(seen.code, "0", "{}", seen.said);
    for probe in seen.probes(2) {
        assert_eq!(probe["received"], 100, "{probe}");
    }
}

#[test]
fn frames_of_all_sizes_come_whole_and_in_their_order() {
    let seen = see(
        "for node in a b; do ip -n $node link set eth0 mtu 9000; done
        ip link set e1 mtu 9000\n ip link set e2 mtu 9000
        begin --rate 1gbit\n probe mixed 2000\n end\n",
    );
    assert_eq!(seen.code, "0", "{}", seen.said);
    let expected: Vec<u32> = (0..2_000).collect();
    assert_eq!(seen.probes(1)[0]["came"], json!(expected));
}

#[test]
fn frames_for_an_interface_that_is_down_are_counted_and_do_not_come_later() {
    let seen = see(&format!(
        "{JUMBO}begin\n ip link set e2 down\n probe frames 60\n sleep 0.2
        ip link set e2 up\n sleep 1\n probe mixed 100\n end\n"
    ));
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert!(seen.there("unsent") >= 60.0, "{}", seen.report);
    let received = seen.probes(1)[0]["came"].as_array().unwrap();
    let in_order = received.iter().flat_map(Value::as_u64).is_sorted();
    assert!(
        in_order && received.iter().all(Value::is_u64),
        "{received:?}"
    );
}

#[test]
fn an_interface_that_is_gone_ends_it_with_one_line() {
    let seen =
        see("begin\n ip link delete e2\n code=0\n wait $emulator || code=$?\n echo $code >code\n");
    assert_eq!(seen.code, "2");
    let last = seen.said.lines().last().unwrap();
    assert!(last.contains("e2: the interface is gone"), "{}", seen.said);
}

#[test]
fn a_link_carries_on_when_the_disk_of_its_recording_is_full() {
    let seen = see("mkdir tiny\n mount -t tmpfs -o size=256k none tiny
        begin --record tiny/r.csv
        probe udp 20000 100 100 90
        for _ in $(seq 1000); do if grep -q stops said; then break; fi; sleep 0.01; done
        probe udp 100 100 10 10\n end
        \"$JUMBOLAB\" run replay --recording tiny/r.csv --json 2>note
        grep -q 'was cut' note\n");
    assert_eq!(seen.code, "1", "{}", seen.said);
    assert_eq!(seen.probes[1]["received"], 100, "{}", seen.said);
    assert!(seen.there("delivered") >= 100.0, "no last counts");
    for words in [
        "no space left on device; recording stops, the link goes on",
        "error: the recording ends early: --record tiny/r.csv",
    ] {
        assert!(seen.said.contains(words), "{words}: {}", seen.said);
    }
    let replayed = &seen.probes[2];
    // A frame takes less than 100 bytes of the file.
    assert!(replayed["compared"].as_u64() > Some(2_000), "{replayed}");
    assert_eq!(replayed["agreed"], replayed["compared"], "{replayed}");
}

#[test]
fn a_recording_survives_kill_9() {
    let seen = see("begin --rate 10mbit --record r.csv
        probe udp 20000 100 200 150
        kill -9 $emulator\n wait $emulator || true
        \"$JUMBOLAB\" run replay --recording r.csv --json 2>note
        grep -q 'was cut' note\n");
    let replayed = &seen.probes[1];
    // All but some thousands, which were in the buffer of the file.
    assert!(replayed["compared"].as_u64() > Some(10_000), "{replayed}");
    assert_eq!(replayed["agreed"], replayed["compared"], "{replayed}");
}

#[test]
fn frames_that_are_read_late_met_the_queue_as_it_was_when_they_arrived() {
    // A thousand datagrams arrive while the emulator is stopped. They are read in many
    // batches, when the link could have sent a hundred of them.
    let seen = see("begin --rate 10mbit --buffer 15kB --record r.csv
        probe udp 1 100 1 1
        kill -STOP $emulator\n probe udp 1000 1400 1000 0\n sleep 0.5\n kill -CONT $emulator
        sleep 0.2\n end
        awk -F, '$3 == 0 && /delivered|dropped/ {
            printf \"[%s, %s, %s]\\n\", $1, $4, $6 == \"delivered\" ? \"true\" : \"false\"
        }' r.csv | sort -t '[' -k 2n\n");
    assert_eq!(seen.code, "0", "{}", seen.said);
    let frames = &seen.probes[2..];
    assert!(frames.len() >= 1_000, "{}", seen.report);
    // Frames that wait: when each begins to leave, in picoseconds, and its bytes.
    let (mut waiting, mut free) = (VecDeque::<(u64, u64)>::new(), 0);
    for frame in frames {
        let [at, bytes] = [0, 1].map(|column| frame[column].as_u64().unwrap());
        while waiting.front().is_some_and(|(begins, _)| *begins <= at) {
            waiting.pop_front();
        }
        let before: u64 = waiting.iter().map(|(_, bytes)| bytes).sum();
        let fits = before + bytes <= 15_000;
        assert_eq!(frame[2], fits, "{frame} of {frames:?}");
        if fits {
            let begins = at.max(free);
            // With preamble and gap, at 100 ns a bit.
            free = begins + (bytes + 20) * 8 * 100_000;
            waiting.push_back((begins, bytes));
        }
    }
}

#[test]
fn a_larger_mtu_in_flight_is_carried_and_a_smaller_one_too() {
    let seen = see("begin
        for mtu in 9000 1500 65535; do
            ip link set e1 mtu $mtu\n ip link set e2 mtu $mtu
            for node in a b; do ip -n $node link set eth0 mtu $mtu; done
            probe udp 200 $((mtu - 28)) 1 1
        done\n end\n");
    assert_eq!(seen.code, "0", "{}", seen.said);
    for probe in seen.probes(3) {
        assert_eq!(probe["received"], 200, "{probe}");
    }
    assert_eq!(seen.there("super_packets"), 0.0);
}

#[test]
fn super_packets_enter_a_link_as_the_frames_of_which_they_consist() {
    // Interfaces as they are made: with all offloads. The MTU of the link is the packets'.
    let seen = see("begin --rate 300mbit --mtu 1500\n probe segmented 35 1400 2000000\n end\n");
    assert_eq!(seen.code, "0", "{}", seen.said);
    let numbers: Vec<u32> = (0..35).collect();
    let expected = json!({"numbers": numbers, "bytes": 2_000_000});
    assert_eq!(seen.probes(1)[0], expected);
    for key in ["super_packets", "too_big", "overrun"] {
        assert_eq!(seen.there(key), 0.0, "{key}: {}", seen.report);
    }
    // 35 datagrams, and segments of 1448 bytes.
    assert!(seen.there("delivered") >= 35.0 + 1_382.0, "{}", seen.report);
    assert!(!seen.said.contains("warning"), "{}", seen.said);
}

#[test]
fn vlan_tags_are_carried_and_count_on_the_wire_and_not_in_the_mtu() {
    let seen = see("begin --rate 100mbit --mtu 1500\n probe tagged 300 1500\n end\n");
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert_eq!(seen.probes[0]["same"], 300, "{}", seen.report);
    // Header, tag and FCS around the packet; hosts may send a few packets of
    // their own.
    let others = seen.there("bytes") - 300.0 * (14.0 + 4.0 + 1500.0 + 4.0);
    assert!((0.0..1_000.0).contains(&others), "{}", seen.report);
    assert_eq!(seen.there("too_big"), 0.0);
}

#[test]
fn random_frames_do_no_harm_and_leave_no_memory_behind() {
    let seen = see(
        "resident() { awk '/^VmRSS/ { print $2 }' /proc/$emulator/status; }
        begin --rate 1gbit --mtu 1000 --too-big answer
        probe frames 100000\n resident\n probe frames 900000\n resident\n end\n",
    );
    assert_eq!(seen.code, "0", "{}", seen.said);
    let all = seen.there("arrived") + seen.there("overrun") + seen.there("super_packets");
    // Of such a flood the kernel of a busy machine drops some in front of the emulator.
    assert!(all >= 100_000.0, "{}", seen.report);
    assert!(seen.there("too_big") > 0.0, "{}", seen.report);
    // Of as few, one leaked frame in 10 would be 5 MB.
    let [before, after] = [0, 1].map(|probe| seen.probes[probe].as_u64().unwrap());
    assert!(after < before + 4_096, "{before} kB became {after} kB");
}

#[test]
fn after_kill_9_the_interfaces_are_as_before_and_frames_are_carried_again() {
    let seen = see("begin\n kill -9 $emulator\n wait $emulator || true
        ip -details link show e1 | grep -q 'promiscuity 0'
        begin\n probe udp 100 100 10 10\n end\n");
    assert_eq!(seen.probes[0]["received"], 100);
    assert_eq!(seen.code, "0", "{}", seen.said);
}

#[test]
fn a_recording_holds_every_frame_that_arrived() {
    let seen = see("begin --rate 1mbit --buffer 5kB --record r.csv
        probe udp 300 100 30 1\n end
        grep -c ',0,[0-9]*,[0-9]*,dropped,' r.csv
        grep -c '^[0-9]*,[0-9][0-9]*,0,' r.csv
        sed -n 2p r.csv | grep -q ^arrival_ps,left_ps,direction,size,flow,outcome,number
        \"$JUMBOLAB\" run replay --recording r.csv --json\n");
    assert_eq!(seen.probes[1].as_f64(), Some(seen.there("dropped")));
    let left = seen.there("arrived") - seen.there("waiting_frames");
    assert_eq!(seen.probes[2].as_f64(), Some(left));
    assert!(seen.there("dropped") > 0.0);
    for direction in 0..2 {
        let replayed = &seen.probes[3 + direction];
        assert_eq!(replayed["agreed"], replayed["compared"], "{replayed}");
    }
    assert_eq!(seen.probes[3]["compared"].as_f64(), Some(left));
}

#[test]
fn a_replay_makes_the_decisions_of_every_discipline_again() {
    for queue in [
        "red,min=2,max=6",
        "fq_codel,target=1ms,interval=10ms",
        "pie",
        "priority,class_queue=codel",
    ] {
        let seen = see(&format!(
            "begin --rate 5mbit --buffer 40packets --loss 2% --queue {queue} --record r.csv
            probe udp 2000 700 20 10\n end
            \"$JUMBOLAB\" run replay --recording r.csv --json\n"
        ));
        let replayed = &seen.probes[1];
        schema::check(replayed);
        assert_eq!(
            replayed["agreed"], replayed["compared"],
            "{queue}: {replayed}"
        );
        assert!(
            replayed["dropped"].as_u64() > Some(10),
            "{queue}: {replayed}"
        );
        assert!(replayed["lost"].as_u64() > Some(5), "{queue}: {replayed}");
    }
}

#[test]
fn a_live_link_takes_packets_out_of_bundles_and_says_how_many() {
    // Each bundle of 4 x 300 bytes takes 10 ms and more; they come every 200 us.
    for (distribution, is_front) in [("arriving", false), ("head", true)] {
        let seen = see(&format!(
            "begin --seed 1 --rate 1mbit --buffer 20packets --mtu 1500 \
            --queue mred,candidates={distribution},unit=frames,min=1,max=8,weight=0.2
            probe bundles 200 4 300\n end\n"
        ));
        assert_eq!(seen.code, "0", "{}", seen.said);
        let probe = |key: &str| seen.probes[0][key].as_f64().expect(key);
        // Each arriving bundle equals the sent one, except for inner packets
        // dropped at its front, whose lengths are 0.
        let [came, live, dead] = ["received", "live", "dead"].map(probe);
        assert_eq!(probe("right"), came, "{distribution}: {}", seen.probes[0]);
        assert_eq!(live + dead, 4.0 * came);
        assert!(
            live > dead && dead > 0.0,
            "{distribution}: {}",
            seen.probes[0]
        );
        // The link's counts equal the arrivals plus the inner packets dropped
        // from bundles that were later dropped whole.
        let inner_dropped = seen.there("inner_dropped");
        assert!(
            inner_dropped >= dead,
            "{distribution}: {inner_dropped} of {dead}"
        );
        assert!(
            is_front || inner_dropped == dead,
            "{distribution}: {inner_dropped} of {dead}"
        );
        assert!(came < 200.0, "{distribution}: {}", seen.report);
    }
}

#[test]
fn what_would_not_work_is_rejected_with_what_to_type() {
    let seen = see("reject() {
            code=0
            \"$@\" >report 2>said || code=$?
            test $code = 2
            tail -n 1 said >>rejections
        }
        reject setpriv --bounding-set=-net_raw \"$JUMBOLAB\" emulate --between e1 e2
        touch r.csv\n reject \"$JUMBOLAB\" emulate --between e1 e2 --record r.csv
        reject \"$JUMBOLAB\" emulate --between e1 e2 --duration 5s --record /dev/full
        ip link set e2 down\n reject \"$JUMBOLAB\" emulate --between e1 e2
        cp rejections said\n");
    let words = [
        "CAP_NET_RAW; type `sudo jumbolab emulate ...`",
        "--record r.csv: this file exists already",
        "--record /dev/full: no space left",
        "e2 is down; type: ip link set e2 up",
    ];
    assert_eq!(seen.said.lines().count(), words.len(), "{}", seen.said);
    for (line, words) in seen.said.lines().zip(words) {
        assert!(line.contains(words), "{line}");
    }
}
