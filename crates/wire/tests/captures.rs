//! Captures that Scapy and editcap wrote: what is read of them must be what tshark reads.

use std::path::Path;
use std::process::Command;

use jumbolab_wire::Error;
use jumbolab_wire::capture::{Capture, Packet};
use tempfile::TempDir;

/// Writes captures of one traffic, with the bytes of their numbers in both orders, and
/// with other link types.
const SCAPY: &str = "\
from scapy.layers.inet import *
from scapy.layers.inet6 import *
from scapy.layers.l2 import *
from scapy.utils import PcapWriter
def ip(size):
    return IP(src='198.18.0.1', dst='198.18.0.2')/UDP(sport=5, dport=6)/Raw(bytes(size - 28))
def ip6(size):
    return IPv6(src='2001:db8::1', dst='2001:db8::2')/UDP(sport=5, dport=6)/Raw(bytes(size - 48))
ethernet = lambda packet: Ether(dst='02:00:00:00:00:02', src='02:00:00:00:00:01')/packet
packets = [ethernet(ip(1400)), ethernet(ARP()), ethernet(Dot1Q(vlan=7)/ip(60)),
    ethernet(Dot1AD(vlan=7)/Dot1Q(vlan=8)/ip6(1280)), ethernet(ip6(9000))]
raw = [ip(1400), ip6(1300), ip(28)]
cooked = [CookedLinux(proto=0x0800)/ip(700), CookedLinux(proto=0x86dd)/ip6(800)]
for name, link, order, nano, content in [
    ('big', 1, '>', False, packets), ('little', 1, '<', False, packets),
    ('nano', 1, '<', True, packets), ('raw', 101, '>', True, raw),
    ('cooked', 113, '<', False, cooked)]:
    writer = PcapWriter(name + '.pcap', linktype=link, endianness=order, nano=nano)
    for number, packet in enumerate(content):
        packet.time = 1700000000 + number * 0.25
        writer.write(packet)
    writer.close()
";

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn read(path: &Path) -> Vec<Packet> {
    let file = std::fs::read(path).unwrap();
    let mut capture = Capture::of(*file.first_chunk().unwrap()).unwrap();
    let (mut packets, mut rest, mut given) = (Vec::new(), file.as_slice(), 0);
    while !rest.is_empty() {
        match capture.next(&rest[..given]) {
            Err(Error::Truncated { need, .. }) => given = need,
            other => {
                let record = other.unwrap();
                packets.extend(record.packet);
                rest = &rest[usize::try_from(record.length).unwrap()..];
                given = 0;
            }
        }
    }
    packets
}

/// Times in nanoseconds and sizes of the IP packets.
fn by_tshark(path: &Path) -> Vec<(u64, u32)> {
    let fields = ["frame.time_epoch", "ip.len", "ipv6.plen"];
    let text = run(Command::new("tshark")
        .arg("-r")
        .arg(path)
        .args(["-Y", "ip or ipv6", "-T", "fields"])
        .args(fields.iter().flat_map(|field| ["-e", field])));
    let packet = |line: &str| {
        let mut words = line.split('\t');
        let mut word = || words.next().unwrap_or_default();
        let (seconds, fraction) = word().split_once('.').unwrap();
        let nanos = format!("{seconds}{fraction:0<9}").parse().unwrap();
        let v4 = word().parse().ok();
        let size = v4.unwrap_or_else(|| word().parse::<u32>().unwrap() + 40);
        (nanos, size)
    };
    text.lines().map(packet).collect()
}

#[test]
fn captures_of_other_programs_are_read_as_tshark_reads_them() {
    let folder = TempDir::new().unwrap();
    run(Command::new("/usr/bin/python3")
        .args(["-c", SCAPY])
        .current_dir(folder.path()));
    for name in ["big", "little", "nano", "raw", "cooked"] {
        let written = folder.path().join(format!("{name}.pcap"));
        let mut paths = vec![written.clone()];
        for (format, kept) in [
            ("pcapng", "9999"),
            ("pcapng", "60"),
            ("nsecpcap", "9999"),
            ("pcap", "80"),
        ] {
            let path = folder.path().join(format!("{name}-{format}-{kept}"));
            run(Command::new("editcap")
                .args(["-F", format, "-s", kept])
                .args([&written, &path]));
            paths.push(path);
        }
        for path in paths {
            let ours: Vec<(u64, u32)> = read(&path)
                .iter()
                .map(|packet| (packet.nanos.unwrap(), packet.size))
                .collect();
            assert!(ours.len() >= 2, "{}", path.display());
            assert_eq!(ours, by_tshark(&path), "{}", path.display());
        }
    }
}
