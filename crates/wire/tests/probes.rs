//! Probes and their answers compared with other programs: Scapy must write the same
//! bytes, and tshark must find no fault in them.

#[path = "peers/capture.rs"]
mod capture;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

use jumbolab_wire::icmp_error::{Cause, IcmpError};
use jumbolab_wire::pcapng::LinkType;
use jumbolab_wire::probe::{Echo, Fragments, ProbePacket, Tcp, Transport};
use jumbolab_wire::protocol::ip::Addresses;
use tempfile::TempDir;

use capture::capture;

const V4: Addresses = Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]);
const V6: Addresses = Addresses::V6([
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
]);

/// Writes every packet of [`packets`], a line of hexadecimal digits each.
const SCAPY: &str = "\
from scapy.layers.inet import *
from scapy.layers.inet6 import *
from scapy.packet import Raw
v4 = dict(src='198.18.0.1', dst='198.18.0.2', ttl=5, id=0x0102, flags='DF', tos=0)
v6 = dict(src='2001:db8::1', dst='2001:db8::2', hlim=5, fl=0x12345)
data = bytes(range(1, 9)) + bytes(1392)
syn = dict(sport=50000, dport=443, seq=0x05060708, ack=0, flags='S', window=65535,
    options=[('MSS', 8960)])
probes = [IP(**v4)/ICMP(type=8, id=0x1122, seq=0x3344)/Raw(data),
    IP(**v4)/UDP(sport=50000, dport=33434)/Raw(data),
    IP(**v4)/TCP(**syn)/Raw(data),
    IPv6(**v6)/ICMPv6EchoRequest(id=0x1122, seq=0x3344, data=data),
    IPv6(**v6)/UDP(sport=50000, dport=33434)/Raw(data),
    IPv6(**v6)/TCP(**syn)/Raw(data)]
for probe in probes:
    whole = bytes(probe)
    print(whole.hex())
    if probe.version == 4:
        back = IP(src='198.18.9.9', dst='198.18.0.1', ttl=64, id=0, flags='DF', tos=0xc0)
        quote = Raw(whole[:548])
        errors = [ICMP(type=3, code=4, nexthopmtu=1400), ICMP(type=11, code=0),
            ICMP(type=3, code=3)]
    else:
        back = IPv6(src='2001:db8:9::9', dst='2001:db8::1', hlim=64)
        quote = Raw(whole[:1232])
        errors = [ICMPv6PacketTooBig(mtu=1400), ICMPv6TimeExceeded(code=0),
            ICMPv6DestUnreach(code=3)]
    for error in errors:
        print(bytes(back/error/quote).hex())
";

/// Every kind of probe, and behind each the errors about it.
fn packets() -> Vec<Vec<u8>> {
    let id = [1, 2, 3, 4, 5, 6, 7, 8];
    let echo = Transport::Echo(Echo {
        reply: false,
        identifier: 0x1122,
        sequence: 0x3344,
    });
    let udp = Transport::Udp {
        ports: [50_000, 33_434],
    };
    let tcp = Transport::Tcp(Tcp {
        ports: [50_000, 443],
        sequence: 0x0506_0708,
        acknowledgement: 0,
        flags: 2,
        window: 65_535,
        mss: Some(8_960),
    });
    let mut packets = Vec::new();
    for (addresses, from) in [
        (V4, Ipv4Addr::new(198, 18, 9, 9).into()),
        (V6, Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 9).into()),
    ] {
        for transport in [echo, udp, tcp] {
            let mut probe = ProbePacket {
                addresses,
                hop_limit: 5,
                flow_label: 0x12345,
                identification: 0x0102,
                dont_fragment: true,
                transport,
                data: &id,
                size: 1_400,
            };
            probe.size += u32::try_from(probe.headers()).unwrap();
            let mut bytes = vec![0; probe.buffer_len()];
            probe.emit(&mut bytes).unwrap();
            let causes = [
                Cause::TooBig { mtu: 1_400 },
                Cause::HopLimitExceeded,
                Cause::Unreachable { code: 3 },
            ];
            let errors = causes.map(|cause| {
                let error = IcmpError::about(&bytes, cause, from).unwrap();
                let mut bytes = vec![0; error.buffer_len()];
                error.emit(&mut bytes).unwrap();
                bytes
            });
            packets.push(bytes);
            packets.extend(errors);
        }
    }
    packets
}

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn scapy_writes_the_same_probes_and_errors() {
    // Debian's interpreter has Debian's packages.
    let written = run(Command::new("/usr/bin/python3").args(["-c", SCAPY]));
    let packets = packets();
    assert_eq!(written.lines().count(), packets.len());
    for (number, (line, bytes)) in written.lines().zip(&packets).enumerate() {
        let ours: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(ours, line, "packet {number}");
    }
}

#[test]
fn tshark_finds_no_fault_in_probes_errors_and_fragments() {
    let mut packets = packets();
    // The first error is longer than the fragments, and must not be divided.
    let divided: Vec<Vec<u8>> = packets
        .iter()
        .filter(|bytes| bytes[0] >> 4 == 6 && bytes[6] == 17)
        .flat_map(|bytes| {
            let fragments = Fragments::of(bytes, 600, 9).unwrap();
            fragments.map(|fragment| {
                let mut bytes = vec![0; fragment.buffer_len()];
                fragment.emit(&mut bytes).unwrap();
                bytes
            })
        })
        .collect();
    assert_eq!(divided.len(), 3);
    packets.extend(divided);
    let frames: Vec<Vec<u8>> = packets
        .iter()
        .map(|bytes| {
            let kind: [u8; 2] = match bytes[0] >> 4 {
                4 => [0x08, 0x00],
                _ => [0x86, 0xdd],
            };
            [&[2; 12][..], &kind, bytes].concat()
        })
        .collect();
    let folder = TempDir::new().unwrap();
    let instants = (0..).step_by(1_000);
    let file = capture(
        LinkType::Ethernet,
        instants.zip(frames.iter().map(Vec::as_slice)),
    );
    std::fs::write(folder.path().join("probes.pcapng"), file).unwrap();
    let tshark = |options: &[&str]| {
        run(Command::new("tshark")
            .args(["-r", "probes.pcapng", "-o", "ip.check_checksum:TRUE"])
            .args([
                "-o",
                "udp.check_checksum:TRUE",
                "-o",
                "tcp.check_checksum:TRUE",
            ])
            .args(options)
            .current_dir(folder.path()))
    };
    for wrong in [
        "_ws.malformed",
        "ip.checksum.status == 0",
        "icmp.checksum.status == 0",
        "icmpv6.checksum.status == 0",
    ] {
        assert_eq!(tshark(&["-Y", wrong]), "", "{wrong}");
    }
    let mtus = tshark(&[
        "-Y",
        "icmp.mtu or icmpv6.mtu",
        "-T",
        "fields",
        "-e",
        "icmp.mtu",
        "-e",
        "icmpv6.mtu",
    ]);
    assert_eq!(mtus.split_whitespace().collect::<Vec<_>>(), ["1400"; 6]);
    let whole = tshark(&[
        "-Y",
        "ipv6.reassembled.length",
        "-T",
        "fields",
        "-e",
        "ipv6.reassembled.length",
    ]);
    assert_eq!(whole.trim(), "1408");
}
