//! Jumbograms compared with other programs: Scapy and SendIP, the tools named in the
//! literature on jumbograms, must write the same bytes, and tshark must read them.

#[path = "peers/capture.rs"]
mod capture;

use std::net::Ipv6Addr;
use std::process::{Command, Stdio};

use jumbolab_wire::jumbogram::{Head, Packet, Sum};
use jumbolab_wire::pcapng::LinkType;
use tempfile::TempDir;

use capture::capture;

/// Payload sizes: the smallest jumbogram, an odd size, and a large one.
const SIZES: [u32; 3] = [65_528, 70_001, 190_000];

/// Writes the packet of the given size; Scapy computes padding, checksum and next
/// headers.
const SCAPY: &str = "\
import sys
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, Jumbo
from scapy.packet import Raw
size = int(sys.argv[1])
payload = bytes(place * 7 % 251 for place in range(size))
packet = (IPv6(src='2001:db8::1', dst='2001:db8::2', plen=0, hlim=64)
    / IPv6ExtHdrHopByHop(options=[Jumbo(jumboplen=size + 16)])
    / UDP(sport=50000, dport=7770, len=0) / Raw(payload))
sys.stdout.buffer.write(bytes(packet))
";

fn packet(size: u32) -> Vec<u8> {
    let packet = Packet {
        addresses: [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end)),
        ports: [50_000, 7_770],
        payload: size,
    };
    let payload: Vec<u8> = (0..u64::from(size))
        .map(|place| u8::try_from(place * 7 % 251).unwrap())
        .collect();
    let mut bytes = vec![0; packet.head_len()];
    let sum = Sum::default().with(&payload);
    packet.emit(sum, &mut bytes).unwrap();
    bytes.extend(payload);
    bytes
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    output.stdout
}

#[test]
fn scapy_writes_the_same_jumbograms_and_what_it_writes_is_read() {
    for size in SIZES {
        // Debian's interpreter has Debian's packages.
        let mut scapy = Command::new("/usr/bin/python3");
        let theirs = run(scapy.args(["-c", SCAPY, &size.to_string()]));
        let ours = packet(size);
        assert_eq!(theirs.len(), ours.len());
        assert_eq!(theirs[..56], ours[..56], "{size}");
        assert!(theirs == ours, "{size}");
        let head = Head::parse(&theirs, theirs.len() as u64).unwrap();
        let udp = head.udp(&theirs).unwrap();
        assert_eq!((head.option, udp.packet.payload), (Some(42), size));
        let sum = Sum::default().with(&theirs[udp.payload as usize..]);
        assert!(udp.packet.holds(udp.header, sum));
    }
}

/// Bytes of an IPv6 header, and the offset of its hop limit [RFC8200 s3].
const IPV6: usize = 40;
const HOP_LIMIT: usize = 7;

/// Sends the content of `behind` with SendIP, behind an IPv6 header, to a socket in the
/// same namespace, and writes the received bytes to `arrived`. Debian's SendIP has no
/// hop-by-hop options, so they are plain data to it.
const SENDIP: &str = "\
import socket, subprocess
there = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
there.bind(('2001:db8::2', 7770))
subprocess.run(['sendip', '-v', '-p', 'ipv6', '-6s', '2001:db8::1', '-6n', '0', '-6l', '0',
    '-f', 'behind', '2001:db8::2'], check=True)
there.settimeout(10)
open('arrived', 'wb').write(there.recv(1 << 20))
";

#[test]
fn sendip_writes_the_same_header_and_the_kernel_delivers_what_it_sends() {
    for size in SIZES {
        let folder = TempDir::new().unwrap();
        let mut ours = packet(size);
        std::fs::write(folder.path().join("behind"), &ours[IPV6..]).unwrap();
        // A private namespace whose loopback has the addresses.
        let script = "\
            ip link set lo up mtu 400000 && \
            ip -6 address add 2001:db8::1/64 dev lo nodad && \
            ip -6 address add 2001:db8::2/64 dev lo nodad && \
            exec /usr/bin/python3 -c \"$0\"";
        let text = run(Command::new("unshare")
            .args(["-Urn", "sh", "-c", script, SENDIP])
            .current_dir(folder.path()));
        let theirs = dumped(&String::from_utf8(text).unwrap());
        assert_eq!(theirs.len(), ours.len());
        ours[HOP_LIMIT] = theirs[HOP_LIMIT];
        assert_eq!(theirs[..IPV6], ours[..IPV6], "{size}");
        assert!(theirs == ours, "{size}");
        let arrived = std::fs::read(folder.path().join("arrived")).unwrap();
        assert!(ours.ends_with(&arrived), "{size}");
        assert_eq!(arrived.len(), size as usize);
    }
}

/// The bytes of the packet that SendIP prints: lines of up to four in hexadecimal
/// digits, and the same as text.
fn dumped(text: &str) -> Vec<u8> {
    let lines = text
        .lines()
        .skip_while(|line| *line != "Final packet data:")
        .skip(1);
    let bytes = |line: &str| -> Option<Vec<u8>> {
        let (digits, _) = line.split_once("   ")?;
        let bytes = digits.split(' ');
        bytes
            .map(|pair| u8::from_str_radix(pair, 16).ok())
            .collect()
    };
    lines.map_while(bytes).flatten().collect()
}

#[test]
fn tshark_finds_the_length_and_a_checksum_that_holds() {
    let folder = TempDir::new().unwrap();
    let packets = SIZES.map(packet);
    let packets = SIZES.iter().zip(&packets);
    let packets = packets.map(|(size, bytes)| (u64::from(*size), &bytes[..]));
    let file = capture(LinkType::RawIp, packets);
    std::fs::write(folder.path().join("jumbograms.pcapng"), file).unwrap();
    let fields = ["ipv6.opt.jumbo", "frame.len", "udp.checksum.status"];
    let text = run(Command::new("tshark")
        .args(["-r", "jumbograms.pcapng", "-T", "fields"])
        .args(["-o", "udp.check_checksum:TRUE"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .current_dir(folder.path()));
    let text = String::from_utf8(text).unwrap();
    let lines = SIZES.map(|size| format!("{}\t{}\t1\n", size + 16, size + 56));
    assert_eq!(text, lines.concat());
}
