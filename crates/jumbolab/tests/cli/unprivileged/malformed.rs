//! Malformed jumbograms, each with one error: what the kernel does with them, and what the
//! parser of `wire` says.

mod change;
mod variants;

use std::fs;
use std::net::Ipv6Addr;

use serde_json::{Value, json};
use wire::jumbogram::{Answer, Head, Sum};
use wire::protocol::icmpv6;

use crate::harness::Dir;
use variants::VARIANTS;

/// Sends the packets inside of a namespace.
const SENDER: &str = include_str!("../malformed.py");

/// The port of the receiver in it.
const PORT: u16 = 4_000;

/// Variants that Linux treats otherwise than required: it assumes that a packet without a
/// length fills the frame. Of 65 600 bytes, modulo 2^16, it delivers 64.
const OTHERWISE: [&str; 2] = [
    "there is padding in the place of the option",
    "there is a router alert in the place of the option",
];

#[test]
fn linux_treats_every_malformed_jumbogram_as_the_standards_ask_but_for_two() {
    let dir = Dir::new();
    let packets = dir.path().join("packets");
    fs::create_dir(&packets).unwrap();
    for (number, variant) in VARIANTS.iter().enumerate() {
        let bytes = variant.bytes(Ipv6Addr::LOCALHOST, PORT);
        fs::write(packets.join(format!("{number:02}")), bytes).unwrap();
    }
    dir.write("malformed.py", SENDER);
    // An MTU that all variants fit.
    let script = "ip link set lo mtu 100000; python3 malformed.py";
    let output = dir.in_namespaces(script).fine();
    let lines = output.stdout.lines();
    let seen: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert_eq!((VARIANTS.len(), seen.len()), (46, 46));
    for (variant, seen) in VARIANTS.iter().zip(&seen) {
        if OTHERWISE.contains(&variant.name) {
            let flaw = json!({"error": null, "counters": [], "delivered": 64});
            assert_eq!(*seen, flaw, "{}", variant.name);
            continue;
        }
        let case = format!("{} [{}]: {seen}", variant.name, variant.source);
        assert_eq!(seen["delivered"], Value::Null, "{case}");
        match variant.asked {
            Answer::Discard => {
                assert_eq!(seen["error"], Value::Null, "{case}");
                assert_ne!(seen["counters"], json!([]), "not counted: {case}");
            }
            Answer::ParameterProblem { code, pointer } => {
                let error = json!([icmpv6::PARAMETER_PROBLEM, code, pointer]);
                assert_eq!(seen["error"], error, "{case}");
            }
        }
    }
    let counters = |name: &str| {
        let place = VARIANTS.iter().position(|variant| variant.name == name);
        seen[place.unwrap()]["counters"].clone()
    };
    for (name, expected) in [
        ("the option says 65 535 bytes", json!(["Ip6InHdrErrors"])),
        ("the option has 3 bytes of data", json!(["Ip6InHdrErrors"])),
        (
            "the checksum is over a length modulo 2^16",
            json!(["Udp6InErrors", "Udp6InCsumErrors"]),
        ),
    ] {
        assert_eq!(counters(name), expected, "{name}");
    }
}

#[test]
fn the_parser_objects_to_every_malformed_jumbogram_as_the_standards_ask() {
    for variant in VARIANTS {
        let bytes = variant.bytes(Ipv6Addr::LOCALHOST, PORT);
        let whole = bytes.len() as u64;
        let found = Head::parse(&bytes, whole).and_then(|head| head.udp(&bytes));
        let answer = match found {
            Err(fault) => fault.answer(),
            Ok(udp) => {
                let sum = Sum::default().with(&bytes[udp.payload as usize..]);
                assert!(!udp.packet.holds(udp.header, sum), "{}", variant.name);
                Answer::Discard
            }
        };
        assert_eq!(answer, variant.asked, "{}", variant.name);
    }
}
