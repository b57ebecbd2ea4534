//! Bundles read by tshark with the dissector in docs/: it must find every field, with
//! and without inner drops, in every encapsulation.

#[path = "peers/capture.rs"]
mod capture;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

use jumbolab_wire::bundle::{Carried, Encapsulation, Packing, Piece, Unit};
use jumbolab_wire::datagram::Datagram;
use jumbolab_wire::pcapng::LinkType;
use jumbolab_wire::protocol::ip::Addresses;
use tempfile::TempDir;

use capture::capture;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/reference/jumbolab-bundle.lua"
);

const V4: Addresses = Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]);
const V6: Addresses = Addresses::V6([
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
]);

/// Each encapsulation with its EtherType and tshark's name of the protocol in front of the
/// bundle.
const ENCAPSULATIONS: [(Encapsulation, [u8; 2], &str); 5] = [
    (
        Encapsulation::Ip {
            addresses: V4,
            service: 0,
        },
        [0x08, 0x00],
        "eth:ethertype:ip",
    ),
    (
        Encapsulation::Ip {
            addresses: V6,
            service: 0,
        },
        [0x86, 0xdd],
        "eth:ethertype:ipv6",
    ),
    (
        Encapsulation::Udp {
            addresses: V4,
            service: 0,
            port: 49_152,
        },
        [0x08, 0x00],
        "eth:ethertype:ip:udp",
    ),
    (
        Encapsulation::Udp {
            addresses: V6,
            service: 0,
            port: 49_152,
        },
        [0x86, 0xdd],
        "eth:ethertype:ipv6:udp",
    ),
    (
        Encapsulation::Label {
            label: 1_000,
            class: 3,
        },
        [0x88, 0x47],
        "eth:ethertype:mpls",
    ),
];

/// A datagram of 20 or 21 bytes of payload over either version of IP.
fn inner(number: u16) -> Vec<u8> {
    let addresses = if number.is_multiple_of(2) { V4 } else { V6 };
    let length = 28 + number % 2;
    let datagram = Datagram::unfragmented(addresses, [40_000 + number, 9], length);
    let mut bytes = vec![0; datagram.packet_len()];
    datagram.emit(&mut bytes).unwrap();
    bytes
}

/// Frames with four packets each, first whole, then without those at `dead`.
fn frames(dead: &[u16]) -> Vec<Vec<u8>> {
    let packets: Vec<Vec<u8>> = (0..4).map(inner).collect();
    let pieces: Vec<Piece<'_>> = (0..)
        .zip(&packets)
        .map(|(number, bytes)| Piece {
            bytes,
            waited: 400 - 100 * number,
        })
        .collect();
    let mut frames = Vec::new();
    for (sequence, (encapsulation, kind, _)) in (7..).zip(ENCAPSULATIONS) {
        let packing = Packing {
            encapsulation,
            begins_within: false,
            ends_within: false,
            unit: match sequence % 2 {
                0 => Unit::Microsecond,
                _ => Unit::TenMicroseconds,
            },
            sequence,
        };
        let mut frame = [&[2; 12][..], &kind].concat();
        frame.resize(2_000, 0);
        let length = packing.emit(&pieces, &mut frame[14..]).unwrap();
        frame.truncate(14 + length);
        let mut inner_dropped = Carried::parse_frame(frame.clone()).unwrap();
        dead.iter().for_each(|index| {
            inner_dropped.discard(*index).unwrap();
        });
        frames.extend([frame, inner_dropped.parts().collect::<Vec<_>>().concat()]);
    }
    frames
}

/// A capture of `frames`, the first with the number 1.
fn captured(frames: &[Vec<u8>]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let instants = (0..).step_by(1_000);
    let packets = instants.zip(frames.iter().map(Vec::as_slice));
    let file = capture(LinkType::Ethernet, packets);
    std::fs::write(folder.path().join("bundles.pcapng"), file).unwrap();
    folder
}

/// The output of tshark with additional `options`.
fn tshark(folder: &TempDir, options: &[&str]) -> String {
    let output = Command::new("tshark")
        .args(["-X", &format!("lua_script:{SCRIPT}")])
        .args(["-r", "bundles.pcapng", "-d", "mpls.label==1000,jumbolab"])
        .args(["-o", "udp.check_checksum:TRUE"])
        .args(["-o", "ip.check_checksum:TRUE"])
        .args(options)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("Lua"), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The values of a field, by frame.
fn values(folder: &TempDir, field: &str) -> Vec<String> {
    let text = tshark(folder, &["-T", "fields", "-e", field]);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_field_of_bundles_whole_and_with_inner_drops_is_printed() {
    let folder = captured(&frames(&[0, 1]));
    let all =
        |field: &str, whole: &dyn Fn(usize) -> String, inner_dropped: &dyn Fn(usize) -> String| {
            let found = values(&folder, field);
            let pairs =
                (0..ENCAPSULATIONS.len()).flat_map(|place| [whole(place), inner_dropped(place)]);
            assert_eq!(found, pairs.collect::<Vec<_>>(), "{field}");
        };
    let same = |field: &str, value: &dyn Fn(usize) -> String| all(field, value, value);
    let always = |field: &str, whole: &str, inner_dropped: &str| {
        all(field, &|_| whole.to_owned(), &|_| inner_dropped.to_owned());
    };
    // IPv4 with 28 bytes behind its header, IPv6 with 29: 48 and 69.
    always("jumbolab.count", "4", "4");
    always("jumbolab.average", "58", "58");
    always("jumbolab.version", "1", "1");
    same("jumbolab.unit", &|place| ((7 + place) % 2).to_string());
    same("jumbolab.sequence", &|place| (7 + place).to_string());
    always("jumbolab.length", "48,69,48,69", "0,0,48,69");
    always("jumbolab.waited", "400,300,200,100", "400,300,200,100");
    same("jumbolab.waited_us", &|place| {
        ["400,300,200,100", "4000,3000,2000,1000"][(7 + place) % 2].to_owned()
    });
    always("jumbolab.dropped", "", "0,1");
    always("jumbolab.live", "4", "2");
    always("jumbolab.live_bytes", "234", "117");
    always("jumbolab.inner", "0,1,2,3", "2,3");
    // The inner packets are dissected, too, behind the UDP ports of the encapsulation.
    for (place, ports) in values(&folder, "udp.srcport").iter().enumerate() {
        let inside = [["40000,40001,40002,40003", "40002,40003"][place % 2]];
        let around = ENCAPSULATIONS[place / 2]
            .2
            .ends_with("udp")
            .then_some("49152");
        let expected: Vec<&str> = around.into_iter().chain(inside).collect();
        assert_eq!(*ports, expected.join(","), "{place}");
    }
}

#[test]
fn tshark_finds_bundles_behind_every_encapsulation_and_nothing_wrong_with_them() {
    // Drops of odd length in the middle swap the bytes of the sum over the rest.
    let folder = captured(&frames(&[1, 2]));
    for (place, protocols) in values(&folder, "frame.protocols").iter().enumerate() {
        let expected = ENCAPSULATIONS[place / 2].2;
        assert!(protocols.starts_with(expected), "{place}: {protocols}");
    }
    for wrong in [
        "_ws.malformed",
        "_ws.lua.error",
        "ip.checksum.status == 0",
        "udp.checksum.status == 0",
        "_ws.expert.severity == error",
        "jumbolab.bad_length",
        "jumbolab.padding",
        "not jumbolab",
    ] {
        assert_eq!(tshark(&folder, &["-Y", wrong]), "", "{wrong}");
    }
    let inner_dropped = tshark(
        &folder,
        &[
            "-Y",
            "jumbolab.inner_dropped",
            "-T",
            "fields",
            "-e",
            "frame.number",
        ],
    );
    assert_eq!(
        inner_dropped.split_whitespace().collect::<Vec<_>>(),
        ["2", "4", "6", "8", "10"]
    );
    let lines = tshark(&folder, &[]);
    for (line, number) in lines.lines().zip(0..) {
        let left = if number % 2 == 0 {
            "4 of 4 packets, 234"
        } else {
            "2 of 4 packets, 117"
        };
        let expected = format!("Bundle {}: {left} bytes", 7 + number / 2);
        assert!(line.ends_with(&expected), "{line}");
    }
}

#[test]
fn pieces_of_packets_are_shown_as_bytes_and_whole_packets_between_them_as_packets() {
    let mut frames = frames(&[0]);
    frames.truncate(2);
    // Both bits of the first bundle, whose header is behind Ethernet and IPv4.
    frames[0][14 + 20 + 4] |= 0xc0;
    let folder = captured(&frames);
    let within = "jumbolab.begins_within == 1 && jumbolab.ends_within == 1";
    let found = tshark(
        &folder,
        &["-Y", within, "-T", "fields", "-e", "frame.number"],
    );
    assert_eq!(found.trim(), "1");
    assert_eq!(values(&folder, "udp.srcport")[0], "40001,40002");
    assert_eq!(values(&folder, "jumbolab.inner")[0], "0,1,2,3");
    assert_eq!(values(&folder, "jumbolab.version"), ["1", "1"]);
    assert_eq!(tshark(&folder, &["-Y", "_ws.lua.error"]), "");
}

#[test]
fn what_does_not_agree_with_itself_is_called_so() {
    let mut frames = frames(&[0]);
    frames.truncate(1);
    let (version, entry, padded) = (14 + 20 + 4, 14 + 20 + 6, 14 + 20);
    for (at, byte, filter) in [
        (version, 0x40, "jumbolab.bad_version"),
        (entry, 0x7f, "jumbolab.bad_length"),
        (entry + 1, 40, "jumbolab.padding"),
        (padded, 0x40, "jumbolab.bad_length"),
    ] {
        let mut damaged = frames.clone();
        damaged[0][at] = byte;
        let folder = captured(&damaged);
        assert_ne!(tshark(&folder, &["-Y", filter]), "", "{filter}");
        assert_eq!(tshark(&folder, &["-Y", "_ws.lua.error"]), "", "{filter}");
    }
}
