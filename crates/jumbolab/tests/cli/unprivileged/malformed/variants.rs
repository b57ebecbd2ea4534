//! The variants of a jumbogram, each with one error.

use std::net::Ipv6Addr;

use wire::jumbogram::{Answer, Packet, Sum, at};

use super::change::{PAYLOAD, insert, more_options, ordinary, put16, put32, resum, shift};

/// The source port, on which no socket listens.
const FROM: u16 = 7_771;

/// A jumbogram with one error.
pub(super) struct Variant {
    /// What is wrong.
    pub(super) name: &'static str,
    /// The reaction that the standard demands.
    pub(super) asked: Answer,
    /// The source of the demand: a key of docs/sources.md and a section.
    pub(super) source: &'static str,
    change: fn(&mut Vec<u8>),
}

impl Variant {
    /// The packet, from `address` to its own `port`.
    pub(super) fn bytes(&self, address: Ipv6Addr, port: u16) -> Vec<u8> {
        let packet = Packet {
            addresses: [address; 2],
            ports: [FROM, port],
            payload: PAYLOAD,
        };
        let mut bytes = vec![0; packet.head_len() + PAYLOAD as usize];
        packet.emit(Sum::default(), &mut bytes).unwrap();
        (self.change)(&mut bytes);
        bytes
    }
}

/// The answer that notifies the sender of a faulty field (Parameter Problem).
const fn parameter_problem(pointer: u32) -> Answer {
    Answer::ParameterProblem { code: 0, pointer }
}

const fn variant(
    name: &'static str,
    asked: Answer,
    source: &'static str,
    change: fn(&mut Vec<u8>),
) -> Variant {
    Variant {
        name,
        asked,
        source,
        change,
    }
}

const HDR: &str = "RFC2675 s3";
const UDP: &str = "RFC2675 s4";
const DROP: Answer = Answer::Discard;

/// All variants, grouped by the violated rule.
pub(super) const VARIANTS: &[Variant] = &[
    // The option states a length that the IPv6 header could state.
    variant("the option says 0 bytes", parameter_problem(44), HDR, |o| {
        put32(o, at::JUMBO_LENGTH, 0)
    }),
    variant("the option says 8 bytes", parameter_problem(44), HDR, |o| {
        put32(o, at::JUMBO_LENGTH, 8)
    }),
    variant(
        "the option says 1280 bytes",
        parameter_problem(44),
        HDR,
        |o| put32(o, at::JUMBO_LENGTH, 1_280),
    ),
    variant(
        "the option says 65 535 bytes",
        parameter_problem(44),
        HDR,
        |o| put32(o, at::JUMBO_LENGTH, 65_535),
    ),
    variant(
        "the option says 1280 bytes, the IPv6 header as well",
        parameter_problem(44),
        HDR,
        |o| {
            put32(o, at::JUMBO_LENGTH, 1_280);
            put16(o, at::LENGTH, 1_280);
        },
    ),
    // The IPv6 header has a length as well.
    variant(
        "the IPv6 header says 8 bytes as well",
        parameter_problem(42),
        HDR,
        |o| put16(o, at::LENGTH, 8),
    ),
    variant(
        "the IPv6 header says 1280 bytes as well",
        parameter_problem(42),
        HDR,
        |o| put16(o, at::LENGTH, 1_280),
    ),
    variant(
        "the IPv6 header says 65 535 bytes as well",
        parameter_problem(42),
        HDR,
        |o| put16(o, at::LENGTH, 65_535),
    ),
    // The packet has a Fragment header.
    variant(
        "there is a Fragment header, of all of it",
        parameter_problem(48),
        HDR,
        |o| insert(o, 44, [17, 0, 0, 0, 0, 0, 0, 1]),
    ),
    variant(
        "there is a Fragment header, of the first part",
        parameter_problem(48),
        HDR,
        |o| insert(o, 44, [17, 0, 0, 1, 0, 0, 0, 2]),
    ),
    variant(
        "there is a Fragment header, of a later part",
        parameter_problem(48),
        HDR,
        |o| insert(o, 44, [17, 0, 8, 0, 0, 0, 0, 3]),
    ),
    variant(
        "there is a Fragment header behind destination options",
        parameter_problem(56),
        HDR,
        |o| {
            insert(o, 44, [17, 0, 0, 1, 0, 0, 0, 4]);
            insert(o, 60, [44, 0, 1, 4, 0, 0, 0, 0]);
            put32(o, at::JUMBO_LENGTH, PAYLOAD + 32);
        },
    ),
    // Neither the option nor the header states a length.
    variant(
        "there is padding in the place of the option",
        parameter_problem(4),
        HDR,
        |o| {
            o[at::OPTION..at::UDP].copy_from_slice(&[1, 4, 0, 0, 0, 0]);
        },
    ),
    variant(
        "there is a router alert in the place of the option",
        parameter_problem(4),
        HDR,
        |o| {
            o[at::OPTION..at::UDP].copy_from_slice(&[5, 2, 0, 0, 1, 0]);
        },
    ),
    // The form of the option itself.
    variant("the option has 0 bytes of data", DROP, "RFC2675 s2", |o| {
        o[at::OPTION + 1] = 0
    }),
    variant("the option has 3 bytes of data", DROP, "RFC2675 s2", |o| {
        o[at::OPTION + 1] = 3
    }),
    variant("the option has 5 bytes of data", DROP, "RFC2675 s2", |o| {
        o[at::OPTION + 1] = 5
    }),
    variant(
        "the option has 255 bytes of data",
        DROP,
        "RFC2675 s2",
        |o| o[at::OPTION + 1] = 255,
    ),
    variant("the option begins at 4n + 3", DROP, "RFC2675 s2", |o| {
        shift(o, 1)
    }),
    variant("the option begins at 4n", DROP, "RFC2675 s2", |o| {
        shift(o, 2)
    }),
    variant("the option begins at 4n + 1", DROP, "RFC2675 s2", |o| {
        shift(o, 3)
    }),
    // The stated length exceeds the packet.
    variant(
        "the option says one byte too many",
        DROP,
        "RFC2675 s2",
        |o| put32(o, at::JUMBO_LENGTH, PAYLOAD + 17),
    ),
    variant(
        "the option says 1000 bytes too many",
        DROP,
        "RFC2675 s2",
        |o| put32(o, at::JUMBO_LENGTH, PAYLOAD + 1_016),
    ),
    variant("the option says 2^31 bytes", DROP, "RFC2675 s2", |o| {
        put32(o, at::JUMBO_LENGTH, 1 << 31)
    }),
    variant("the option says 2^32 - 1 bytes", DROP, "RFC2675 s2", |o| {
        put32(o, at::JUMBO_LENGTH, u32::MAX)
    }),
    variant(
        "nothing is there but half of the options",
        DROP,
        "RFC8200 s4.3",
        |o| o.truncate(at::JUMBO_LENGTH),
    ),
    variant(
        "the IPv6 header says 4 bytes, half of the options",
        DROP,
        "RFC8200 s4.3",
        |o| put16(o, at::LENGTH, 4),
    ),
    // The stated length is too small: the checksum covers other bytes.
    variant("the option says eight bytes too few", DROP, UDP, |o| {
        put32(o, at::JUMBO_LENGTH, PAYLOAD + 8)
    }),
    // UDP.
    variant("the checksum is wrong", DROP, "RFC8200 s8.1", |o| {
        o[at::CHECKSUM] ^= 0x10
    }),
    variant("there is no checksum", DROP, "RFC8200 s8.1", |o| {
        put16(o, at::CHECKSUM, 0)
    }),
    variant(
        "one byte of the payload is wrong",
        DROP,
        "RFC8200 s8.1",
        |o| {
            let last = o.len() - 1;
            o[last] = 1;
        },
    ),
    variant(
        "the checksum is over a length modulo 2^16",
        DROP,
        UDP,
        |o| resum(o, |length| length & 0xffff),
    ),
    variant(
        "the checksum is over the length of the options as well",
        DROP,
        UDP,
        |o| resum(o, |length| length + 8),
    ),
    variant("the UDP length is 1", DROP, UDP, |o| {
        put16(o, at::UDP_LENGTH, 1)
    }),
    variant("the UDP length is 7", DROP, UDP, |o| {
        put16(o, at::UDP_LENGTH, 7)
    }),
    variant("the UDP length is 8", DROP, UDP, |o| {
        put16(o, at::UDP_LENGTH, 8)
    }),
    variant(
        "the UDP length is the true one modulo 2^16",
        DROP,
        UDP,
        |o| put16(o, at::UDP_LENGTH, 72),
    ),
    variant("the UDP length is 65 535", DROP, UDP, |o| {
        put16(o, at::UDP_LENGTH, 65_535)
    }),
    // Other headers and options around the option.
    variant(
        "there is an unknown option 0x9e besides",
        Answer::ParameterProblem {
            code: 2,
            pointer: 48,
        },
        "RFC8200 s4.2",
        |o| more_options(o, [0x9e, 6, 0, 0, 0, 0, 0, 0]),
    ),
    variant(
        "there is an unknown option 0xde besides",
        Answer::ParameterProblem {
            code: 2,
            pointer: 48,
        },
        "RFC8200 s4.2",
        |o| more_options(o, [0xde, 6, 0, 0, 0, 0, 0, 0]),
    ),
    variant(
        "there is an unknown option 0x5e besides",
        DROP,
        "RFC8200 s4.2",
        |o| more_options(o, [0x5e, 6, 0, 0, 0, 0, 0, 0]),
    ),
    variant(
        "there are hop-by-hop options a second time",
        Answer::ParameterProblem {
            code: 1,
            pointer: 40,
        },
        "RFC8200 s4.1",
        |o| insert(o, 0, [17, 0, 1, 4, 0, 0, 0, 0]),
    ),
    variant(
        "the option is among the destination's",
        Answer::ParameterProblem {
            code: 2,
            pointer: 42,
        },
        "RFC8200 s4.2",
        ordinary,
    ),
    variant(
        "the option is among the destination's, without a length",
        DROP,
        "RFC8200 s3",
        |o| o[at::NEXT] = 60,
    ),
    variant(
        "there is no option and no header for it",
        DROP,
        "RFC8200 s3",
        |o| {
            o.drain(at::OPTIONS..at::UDP);
            o[at::NEXT] = 17;
        },
    ),
    variant("the version is 4", DROP, "RFC8200 s3", |o| o[0] = 0x40),
];
