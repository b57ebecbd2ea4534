//! UDP-Lite and SCTP, where this kernel has them.

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::{Receiver, in_own_network};

/// Whether this kernel has a protocol, by its own list.
fn has(protocol: &str) -> bool {
    let listed = std::fs::read_to_string("/proc/net/protocols").unwrap();
    listed
        .lines()
        .any(|line| line.split_whitespace().next() == Some(protocol))
}

/// Whether this kernel has SCTP, after an attempt that makes the kernel load its module.
fn has_sctp(dir: &Dir) -> bool {
    dir.run("send 127.0.0.1 --port 1 --protocol sctp");
    has("SCTP")
}

#[test]
fn udp_lite_carries_all_sizes_both_ways_with_any_coverage() {
    let dir = Dir::new();
    if !has("UDP-Lite") {
        let outcome = dir.run("send ::1 --port 1 --protocol udplite");
        return outcome.rejected(&["--protocol udplite", "this kernel has no UDP-Lite"]);
    }
    let receiver = Receiver::start(&dir, "");
    for (host, options, bytes) in [
        ("127.0.0.1", "--message 100", 10_000),
        ("::1", "--checksum-coverage 8 --message 1", 100),
        (
            "127.0.0.1",
            "--checksum-coverage 40 --message 65507",
            6_550_700,
        ),
        (
            "::1",
            "--checksum-coverage 65535 --message 65527",
            6_552_700,
        ),
        (
            "::1",
            "--checksum-coverage 36 --reverse --message 100",
            10_000,
        ),
        (
            "127.0.0.1",
            "--checksum-coverage 8 --meter round-trip --gap 0s --message 64",
            6_400,
        ),
        (
            "::1",
            "--checksum-coverage 20 --meter round-trip --message 64",
            6_400,
        ),
    ] {
        let line = format!("{host} --protocol udplite {options} --packets 100 --json");
        let flow = receiver.send(&dir, &line).fine().json().remove(0);
        assert_eq!(flow["protocol"], "udplite", "{flow}");
        for (key, value) in [
            ("sent", 100),
            ("received", 100),
            ("received_bytes", bytes),
            ("lost", 0),
        ] {
            assert_eq!(flow.count(key), value, "{options}, {key}: {flow}");
        }
    }
    let said = receiver.stop().fine().stdout;
    assert_eq!(said.matches("flow: UDP-Lite, ").count(), 7, "{said}");
}

/// Sends through a firewall that drops packets of UDP-Lite whose checksum covers another number
/// of bytes than 8, and packets of more than 1000 bytes.
#[test]
fn the_coverage_is_in_the_header_and_losses_are_counted() {
    let dir = Dir::new();
    if !has("UDP-Lite") {
        return;
    }
    std::fs::write(dir.path().join("sizes.txt"), "100\n1200\n400\n").unwrap();
    let script = |coverage| {
        format!(
            "nft -f - <<RULES
table inet firewall {{
    chain in {{
        type filter hook input priority 0;
        udplite csumcov != 8 drop
        meta l4proto udplite meta length > 1000 drop
    }}
}}
RULES
            jumbolab recv >received 2>&1 &
            until grep -qs listening received; do sleep 0.01; done
            jumbolab send ::1 --protocol udplite --checksum-coverage {coverage} --message series:sizes.txt --packets 300 --json"
        )
    };
    let flow = in_own_network(&dir, &script(8)).fine().json().remove(0);
    for (key, value) in [
        ("sent", 300),
        ("received", 200),
        ("received_bytes", 50_000),
        ("lost", 100),
    ] {
        assert_eq!(flow.count(key), value, "{key}: {flow}");
    }
    let other = in_own_network(&dir, &script(9));
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(
        other.stderr.contains("no answer to UDP-Lite from port"),
        "{other:?}"
    );
}

/// Sends through a firewall that changes a byte in the middle of each large packet of UDP-Lite.
#[test]
fn changed_bits_arrive_beyond_the_coverage_alone() {
    let dir = Dir::new();
    if !has("UDP-Lite") {
        return;
    }
    for (coverage, received) in [(8, 100), (200, 100), (400, 0), (65535, 0)] {
        let script = format!(
            "nft -f - <<RULES
table inet damage {{
    chain out {{
        type filter hook output priority 0
        meta l4proto udplite meta length > 500 @th,2400,8 set 0xff
    }}
}}
RULES
            jumbolab recv >received 2>&1 &
            until grep -qs listening received; do sleep 0.01; done
            jumbolab send ::1 --protocol udplite --checksum-coverage {coverage} --message 600 --packets 100 --json"
        );
        let flow = in_own_network(&dir, &script).json().remove(0);
        let found = ["sent", "received", "lost"].map(|key| flow.count(key));
        assert_eq!(found, [100, received, 100 - received], "{coverage}: {flow}");
    }
}

#[test]
fn sctp_carries_whole_messages_or_the_kernel_is_named_that_lacks_it() {
    let dir = Dir::new();
    if !has_sctp(&dir) {
        for options in ["", "--sctp-streams 4 --unordered", "--reverse"] {
            dir.run(&format!("send ::1 --port 1 --protocol sctp {options}"))
                .rejected(&[
                    "--protocol sctp: this kernel has no SCTP",
                    "modprobe sctp",
                    "linux-image-amd64",
                ]);
        }
        return;
    }
    let receiver = Receiver::start(&dir, "");
    for options in [
        "--message 1",
        "--message 65536",
        "--message uniform:1,65536 --sctp-streams 7",
        "--message 3000 --sctp-streams 3 --unordered",
        "--message 3000 --sctp-streams 3 --reverse",
        "--message 64 --meter round-trip --gap 0s",
        "--message 20000 --meter round-trip --sctp-streams 2",
    ] {
        for host in ["127.0.0.1", "::1"] {
            let line = format!("{host} --protocol sctp {options} --packets 50 --json");
            let flow = receiver.send(&dir, &line).fine().json().remove(0);
            assert_eq!(flow["protocol"], "sctp", "{flow}");
            let [sent, received] = ["sent_bytes", "received_bytes"].map(|key| flow.count(key));
            assert_eq!(sent, received, "{options}: {flow}");
            for (key, value) in [("sent", 50), ("received", 50), ("lost", 0)] {
                assert_eq!(flow.count(key), value, "{options}, {key}: {flow}");
            }
        }
    }
    receiver.stop().fine();
}

#[test]
fn a_protocol_that_no_system_has_is_named_with_another() {
    let dir = Dir::new();
    let words = [
        "--protocol dccp",
        "Linux removed DCCP in version 6.16",
        "write udp",
    ];
    dir.run("send ::1 --port 1 --protocol dccp")
        .rejected(&words);
    let text = "[flows.a]\nprotocol = \"dccp\"\n";
    std::fs::write(dir.path().join("my.toml"), text).unwrap();
    dir.run("send ::1 --flow-file my.toml")
        .rejected(&["my.toml:2", "dccp", "6.16"]);
}

#[test]
fn a_flow_in_a_file_has_the_keys_of_its_protocol() {
    let dir = Dir::new();
    if !has("UDP-Lite") {
        return;
    }
    let text = "[flows.lite]\nprotocol = \"udplite\"\nchecksum_coverage = 8\n[flows.other]\nprotocol = \"udp\"\n";
    std::fs::write(dir.path().join("my.toml"), text).unwrap();
    let receiver = Receiver::start(&dir, "");
    let sent = receiver.send(&dir, "::1 --flow-file my.toml --packets 20 --json");
    let flows = sent.fine().json();
    let protocols: Vec<_> = flows.iter().map(|flow| &flow["protocol"]).collect();
    assert_eq!(protocols, ["udplite", "udp"]);
    receiver.stop().fine();
}
