//! `jumbolab predict`: what its commands print, what they refuse, and the octets of its
//! stacks against those that the kernel sends.

use std::fs;

use model::Stack;
use serde_json::Value;
use units::Bytes;

use crate::harness::Dir;

/// Sends a message for each line of its input, and prints the frames.
const SENDER: &str = include_str!("overlays.py");

#[test]
fn each_question_has_its_table() {
    let dir = Dir::new();
    for (line, row) in [
        (
            "overhead",
            "tcp+ts [RFC9293 s3.1] [RFC7323 s3.2] 32 1460 3960 8960",
        ),
        ("overhead", "9000 8928 110 98.78 8940"),
        (
            "limit --rate 1gbit",
            "1 Gbit/s 1500 1428 1538 81274 928.5 Mbit/s 92.85 12.30",
        ),
        (
            "limit --mtu 1500",
            "800 Gbit/s 1500 1428 1538 65019506 742.8 Gbit/s 92.85 0.01538",
        ),
        ("--size 5MB", "4000 1273 3928 5140030 41.12 95.4"),
        (
            "arithmetic 2019",
            "2019-frames-1500 3333 3502 frames not reproduced 5 MB / 1428 octets of payload",
        ),
    ] {
        let text = dir.run(&format!("predict {line}")).fine().stdout;
        let row: Vec<&str> = row.split(' ').collect();
        let has = |line: &str| line.split_whitespace().collect::<Vec<_>>() == row;
        assert!(text.lines().any(has), "{line}: {text}");
    }
}

#[test]
fn a_file_counts_by_its_size_and_its_drawing_is_written() {
    let dir = Dir::new();
    dir.write("photo.png", &"x".repeat(14_280));
    let outcome = dir.run("predict --file photo.png --mtu 1500 --plot p.svg --json");
    let line: Value = serde_json::from_str(&outcome.fine().stdout).unwrap();
    assert_eq!(
        (&line["size"], &line["frames"]),
        (&14_280.into(), &10.into()),
        "{line}"
    );
    let picture = fs::read_to_string(dir.path().join("p.svg")).unwrap();
    assert!(picture.contains("<svg ") && picture.ends_with("</svg>\n"));
}

#[test]
fn what_cannot_be_predicted_is_refused_in_one_line() {
    let dir = Dir::new();
    dir.write("photo.png", "x");
    for (line, words) in [
        ("", "predict: write overhead, limit"),
        ("--from results", "--from results: not built yet"),
        ("--file nothing.png", "--file nothing.png: No such file"),
        ("--file .", "--file .: is no regular file"),
        ("--size 5M", "--size 5M: 5M may count in thousands"),
        ("--size 5MB --rate 1", "--rate 1: 1 has no unit"),
        (
            "--file photo.png --plot p.png",
            "--plot p.png: is drawn as SVG",
        ),
        (
            "overhead --stack eth,tcp",
            "--stack eth,tcp: tcp does not follow eth",
        ),
        (
            "overhead --stack eth,ipv4,tcp+sack=9",
            "the number is from 1 to 4",
        ),
        (
            "overhead --mtu 1279",
            "--mtu 1279: leaves an MTU of 1279 to ipv6",
        ),
        (
            "overhead --mtu 70 --stack eth,ipv4,tcp+options=40+ts",
            "`tcp+options=40+ts`: 52 octets",
        ),
        ("overhead --mtu 65536", "--mtu 65536: no length field"),
        ("overhead --mtu -1", "unexpected argument"),
        ("limit --rate 0bit", "--rate 0bit: a rate of zero"),
        (
            "optimal --loss 0.1",
            "--loss 0.1: write a share of frames in per cent",
        ),
        ("optimal --loss 100%", "nothing arrives if every frame"),
        ("optimal --ber 2", "--ber 2: write a probability"),
        ("optimal --rtt 0s", "--rtt: a round trip takes some time"),
        (
            "optimal --mix tv",
            "--mix tv: is neither web, nfs nor voip, and as a file",
        ),
        (
            "optimal --mtu 1000",
            "--mtu 1000: leaves an MTU of 1000 to ipv6",
        ),
        (
            "optimal --largest 70000",
            "--largest 70000: no length field",
        ),
        ("arithmetic 2018", "there is no paper 2018; write mred-ddf"),
    ] {
        let outcome = dir.run(&format!("predict {line}"));
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
        if !words.starts_with("unexpected") {
            assert_eq!(
                outcome.stderr.lines().count(),
                1,
                "{line}: {}",
                outcome.stderr
            );
        }
    }
    assert!(!dir.path().join("p.png").exists());
}

/// VXLAN, segment routing, extension headers, and options of IPv4 and TCP. This
/// kernel has no other tunnel; the tests of `model` compare those with the sizes that
/// their standards state.
#[test]
fn the_kernel_sends_as_many_octets_as_the_stack_says() {
    let dir = Dir::new();
    dir.write("overlays.py", SENDER);
    // Neighbours are static and addresses are not generated, so that no other frame is
    // sent.
    let script = "
        sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.addr_gen_mode=1 \
            net.ipv6.conf.all.seg6_enabled=1
        far=02:00:00:00:00:02
        ip link add d0 type veth peer name d1 address $far
        for end in d0 d1; do ip link set $end up; done
        ip addr add 192.0.2.1/24 dev d0
        ip addr add fd00::1/64 dev d0 nodad
        ip neigh add 192.0.2.2 lladdr $far dev d0
        ip neigh add fd00::2 lladdr $far dev d0
        ip link add v4 type vxlan id 4 dev d0 local 192.0.2.1 remote 192.0.2.2 dstport 4789
        ip link add v6 type vxlan id 6 dev d0 local fd00::1 remote fd00::2 dstport 4789
        for number in 4 6; do
            ip link set v$number up
            ip addr add 198.51.$number.1/24 dev v$number
            ip addr add fd0$number::1/64 dev v$number nodad
            ip neigh add 198.51.$number.2 lladdr $far dev v$number
            ip neigh add fd0$number::2 lladdr $far dev v$number
        done
        ip -6 route add fd09::/64 encap seg6 mode encap segs fd00::2 dev d0
        python3 overlays.py
    ";
    let outcome = dir.in_namespaces(script).fine();
    let mut lines = outcome.stdout.lines();
    for outer in ["ipv4", "ipv6"] {
        let stack: Stack = format!("eth,{outer},udp,vxlan,eth").parse().unwrap();
        let left = stack.largest(Bytes::new(1500)).unwrap().payload;
        assert_eq!(
            lines.next(),
            Some(left.get().to_string().as_str()),
            "{outer}"
        );
    }
    let mut stacks = 0;
    for line in lines {
        let [words, payload, frame] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let stack: Stack = words.parse().unwrap();
        let payload = Bytes::new(payload.parse().unwrap());
        let sizes = stack.with_payload(payload, Bytes::new(1500)).unwrap();
        // A capture is without padding and check sequence.
        let captured = sizes.packet + Bytes::new(14);
        assert_eq!(captured.get().to_string(), frame, "{line}");
        stacks += 1;
    }
    assert_eq!(stacks, 13, "{}", outcome.stdout);
}
