//! Captures of simulated links, read by tshark, which must find the same
//! packets, whole and fragmented, with valid checksums.

#[path = "capture/bundles.rs"]
mod bundles;
#[path = "cli/program.rs"]
mod program;

use std::process::{Command, Stdio};

use tempfile::TempDir;

use program::{Outcome, program};

const NETWORK: &str = "\
format = 1
name = \"captured\"
[network]
shape = \"pair\"
mtu = 1500
rate = \"100mbit\"
delay = \"1ms\"
[links.sender-receiver.watch]
capture = \"on\"
[traffic]
protocol = \"udp\"
size = \"60000B\"
message = \"3000B\"
echo = \"off\"
[sweep]
\"network.ip\" = [6, 4]
[trials]
repeat = 1
";

/// The output of tshark for the packets that match `filter`, one line each.
fn tshark(folder: &TempDir, trial: &str, filter: &str, fields: &[&str]) -> Vec<String> {
    let capture = format!("r/watch/{trial}-sender-receiver.pcapng");
    let output = Command::new("tshark")
        .args(["-r", &capture, "-Y", filter, "-T", "fields"])
        .args([
            "-o",
            "udp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
        ])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn captured(network: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("captured.toml"), network).unwrap();
    let mut command = program(folder.path());
    command.args(["run", "captured.toml", "--on", "sim", "-o", "r"]);
    Outcome::of(command.output().unwrap()).fine();
    folder
}

#[test]
fn tshark_finds_every_packet_of_a_simulated_link() {
    let folder = captured(NETWORK);
    // 20 datagrams of 3000 bytes, each in three packets.
    for (trial, version, length) in [("c00-r01", "ipv6", 1510), ("c01-r01", "ip", 1514)] {
        let all = tshark(&folder, trial, "frame", &["frame.len", "frame.time_epoch"]);
        assert_eq!(all.len(), 60, "{version}");
        let [first, second] = [&all[0], &all[1]].map(|line| {
            let (length, at) = line.split_once('\t').unwrap();
            let (_, nanos) = at.split_once('.').unwrap();
            (
                length.parse::<u64>().unwrap(),
                nanos.parse::<u64>().unwrap(),
            )
        });
        // Fragments are cut at multiples of eight bytes.
        assert_eq!(first.0, length, "{version}");
        // With FCS, preamble and gap each byte takes 80 ns at 100 Mbit/s.
        assert_eq!(second.1 - first.1, (length + 24) * 80, "{version}");
        let malformed = tshark(&folder, trial, "_ws.malformed", &["frame.number"]);
        assert_eq!(malformed, [""; 0], "{version}");
    }
}

#[test]
fn addresses_ports_and_fragments_are_those_of_the_network() {
    let folder = captured(NETWORK);
    let fields = [
        "ipv6.src",
        "ipv6.dst",
        "ipv6.fraghdr.offset",
        "ipv6.fraghdr.more",
    ];
    let packets = tshark(&folder, "c00-r01", "ipv6", &fields);
    let place = |packet: usize| {
        packets[packet]
            .split('\t')
            .skip(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(
        packets[0].starts_with("2001:db8::1\t2001:db8::2\t"),
        "{}",
        packets[0]
    );
    let offsets: Vec<String> = (0..3)
        .map(|packet| place(packet).split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(offsets, ["0", "181", "362"], "{packets:?}");
    let fields = ["ip.src", "ip.dst", "ip.frag_offset", "ip.checksum.status"];
    let packets = tshark(&folder, "c01-r01", "ip", &fields);
    assert_eq!(
        packets[0], "198.18.0.1\t198.18.0.2\t0\t1",
        "1: the checksum holds"
    );
}

const CONNECTION: &str = "\
format = 1
name = \"captured\"
[network]
shape = \"pair\"
rate = \"10mbit\"
delay = \"5ms\"
buffer = \"20 packets\"
[links.sender-receiver.watch]
capture = \"on\"
[host]
congestion = \"reno\"
[traffic]
kind = \"flows\"
duration = \"2s\"
[flows.a]
protocol = \"tcp\"
[flows.b]
protocol = \"tcp\"
bytes = \"200kB\"
[sweep]
\"tcp.agent\" = [\"standard\", \"sack1\"]
\"network.ip\" = [4, 6]
[trials]
repeat = 1
";

#[test]
fn tshark_reads_segments_as_tcp_and_finds_nothing_wrong_with_them() {
    let folder = captured(CONNECTION);
    for (trial, options) in [
        ("c00-r01", 12),
        ("c01-r01", 12),
        ("c02-r01", 0),
        ("c03-r01", 0),
    ] {
        let all = tshark(&folder, trial, "frame", &["frame.number"]);
        let tcp = tshark(&folder, trial, "tcp", &["frame.number"]);
        assert!(all.len() > 1_000 && all == tcp, "{trial}: {}", all.len());
        for wrong in [
            "_ws.malformed",
            "tcp.checksum.status == 0",
            // Payload is not captured: sums without any can be verified.
            "tcp.len == 0 && tcp.checksum.status != 1",
            "_ws.expert.severity == error",
        ] {
            assert_eq!(
                tshark(&folder, trial, wrong, &["frame.number"]),
                [""; 0],
                "{wrong}"
            );
        }
        let opened = tshark(
            &folder,
            trial,
            "tcp.flags.syn == 1",
            &["tcp.flags", "tcp.hdr_len"],
        );
        let header = 20 + options;
        let of = |flags: &str| format!("{flags}\t{header}");
        let [syn, answer] = [of("0x0002"), of("0x0012")];
        let count = |line: &String| opened.iter().filter(|one| *one == line).count();
        assert_eq!(
            (count(&syn), count(&answer), opened.len()),
            (2, 2, 4),
            "{opened:?}"
        );
        // Two queues of 20 packets drop some of two flows' segments.
        let sacks = tshark(
            &folder,
            trial,
            "tcp.options.sack_le",
            &["tcp.ack", "tcp.options.sack_le"],
        );
        assert!(!sacks.is_empty());
        for line in &sacks {
            let (ack, edges) = line.split_once('\t').unwrap();
            let ack: u64 = ack.parse().unwrap();
            let newest: u64 = edges.split(',').next().unwrap().parse().unwrap();
            assert!(newest > ack, "{trial}: {line}");
        }
        // Each byte of the shorter flow that was sent, once.
        let last = tshark(
            &folder,
            trial,
            "tcp.dstport == 49153 && tcp.len > 0",
            &["tcp.nxtseq"],
        );
        let ends = last.iter().map(|end| end.parse::<u64>().unwrap()).max();
        let most = 200_001 + if options == 0 { 1_460 } else { 0 };
        assert!(
            (200_001..most + 1).contains(&ends.unwrap()),
            "{trial}: {ends:?}"
        );
    }
}

#[test]
fn tshark_names_the_jumbograms_that_were_carried() {
    let line = "send --jumbogram --message 190000 --packets 2 --capture jumbograms.pcapng";
    check_named(line, "jumbograms.pcapng", 2);
}

#[test]
fn tshark_names_a_jumbogram_in_the_capture_that_a_run_wrote() {
    let line = "run jumbograms -o r --set carrier=packet --set size=1452,190000 --repeat 1";
    check_named(line, "r/files/c01-r01/arrival.pcapng", 1);
}

/// `line` writes to `capture` at least `least` jumbograms of 190 000 bytes or more,
/// and nothing else; over loopback a packet is seen as it leaves, too.
#[track_caller]
fn check_named(line: &str, capture: &str, least: usize) {
    let folder = TempDir::new().unwrap();
    let output = program(folder.path())
        .args(line.split_whitespace())
        .output()
        .unwrap();
    Outcome::of(output).fine();
    let output = Command::new("tshark")
        .args(["-r", capture, "-Y", "ipv6.opt.jumbo == 190016"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() >= least, "{text}");
    let named = |line: &str| line.contains("Len=190000") && line.ends_with("Jumbogram]");
    assert!(text.lines().all(named), "{text}");
}
