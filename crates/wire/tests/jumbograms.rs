//! Jumbograms beside other programs: Scapy, which the literature of jumbograms
//! names as its tool, must write the same octets, and tshark must read them.

use std::net::Ipv6Addr;
use std::process::{Command, Stdio};

use jumbolab_wire::jumbogram::{Head, Packet, Sum};
use jumbolab_wire::pcapng::{Block, LinkType};
use tempfile::TempDir;

/// Payloads: the smallest of a jumbogram, an odd one, and a large one.
const SIZES: [u32; 3] = [65_528, 70_001, 190_000];

/// Writes the packet of so many octets; Scapy leaves the padding, the
/// checksum and the next headers to itself.
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
    let mut octets = vec![0; packet.head_len()];
    let sum = Sum::default().with(&payload);
    packet.emit(sum, &mut octets).unwrap();
    octets.extend(payload);
    octets
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
        // Debian's own interpreter has Debian's packages.
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

#[test]
fn tshark_finds_the_length_and_a_checksum_that_holds() {
    let folder = TempDir::new().unwrap();
    let mut file = Vec::new();
    let mut put = |block: Block<'_>| {
        let begin = file.len();
        file.resize(begin + block.buffer_len(), 0);
        block.emit(&mut file[begin..]).unwrap();
    };
    put(Block::Section);
    put(Block::Interface {
        kind: LinkType::RawIp,
        name: "jumbo0",
        most: 0,
    });
    for size in SIZES {
        let octets = packet(size);
        put(Block::Packet {
            interface: 0,
            nanos: u64::from(size),
            octets: &octets,
            length: u32::try_from(octets.len()).unwrap(),
        });
    }
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
