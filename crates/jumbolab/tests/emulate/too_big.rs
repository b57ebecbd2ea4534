//! Whether a kernel learns the path MTU from a link that is narrower than its interfaces.

use super::{Seen, see};

/// Sends a datagram of `size` bytes over a link that carries 1400.
#[track_caller]
fn probe_path_mtu(ip: u8, size: usize, options: &str) -> Seen {
    let seen = see(&format!(
        "ip -n a -6 address add fd00::1/64 dev eth0 nodad
        ip -n b -6 address add fd00::2/64 dev eth0 nodad
        begin --mtu 1400 {options}\n probe path_mtu {ip} {size}\n end\n"
    ));
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert_eq!(seen.probes[0]["before"], 1500);
    assert_eq!(seen.probes[0]["received"], 5);
    assert_eq!(seen.there("too_big"), 1.0, "{}", seen.report);
    seen
}

#[test]
fn a_socket_that_is_notified_of_a_packet_too_big_knows_the_path_mtu() {
    for (ip, size) in [(4, 1401 - 28), (6, 1401 - 48)] {
        let seen = probe_path_mtu(ip, size, "--too-big answer");
        assert_eq!(seen.probes[0]["after"], 1400, "IPv{ip}");
        assert_eq!(seen.there("answered"), 1.0, "{}", seen.report);
    }
}

#[test]
fn a_socket_that_is_not_notified_knows_no_path_mtu() {
    for (ip, size) in [(4, 1500 - 28), (6, 1500 - 48)] {
        // Packets in the other direction are not answered on this link.
        let seen = probe_path_mtu(ip, size, "--reverse-option too-big=answer");
        assert_eq!(seen.probes[0]["after"], 1500, "IPv{ip}");
        assert_eq!(seen.there("answered"), 0.0, "{}", seen.report);
    }
}

#[test]
fn a_flood_of_what_is_too_big_is_answered_a_hundred_times_a_second() {
    let seen = see("begin --mtu 1000 --too-big answer
        ip netns exec a python3 -c \"
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, 10, 3)
for _ in range(5_000):
    sender.sendto(bytes(1400), ('10.0.0.2', 9000))\"
        probe udp 10 100 1 1\n end\n");
    let (too_big, answered) = (seen.there("too_big"), seen.there("answered"));
    let seconds = seen.report["elapsed_s"].as_f64().unwrap();
    // A busy kernel drops some of a flood before the link sees them.
    assert!((1_000.0..=5_000.0).contains(&too_big), "{}", seen.report);
    // A burst of ten, and a hundred a second.
    assert!(
        (10.0..=11.0 + 100.0 * seconds).contains(&answered),
        "{}",
        seen.report
    );
}
