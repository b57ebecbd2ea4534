//! Faults of packets, and the error messages that their senders get.

use super::{at, place};
use crate::protocol::ipv6::option::{self, Unknown, unknown};

/// Reasons for which a node rejects a packet [RFC2675 s3] [RFC2675 s4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The headers exceed the packet.
    #[error("the headers need {need} bytes, {have} are there")]
    Truncated {
        /// Bytes that the headers need.
        need: u64,
        /// Bytes present.
        have: u64,
    },
    /// The version of IP is not 6.
    #[error("it is not IPv6")]
    Version,
    /// The packet claims to be longer than the bytes that the link carried.
    #[error("it claims {says} bytes behind the IPv6 header, {have} are there")]
    TooFew {
        /// The claimed length, in bytes.
        says: u64,
        /// Bytes present.
        have: u64,
    },
    /// The payload length is 0, and no option states the length.
    #[error("the payload length is 0 and there is no Jumbo Payload option")]
    NoOption,
    /// The option is present, and the payload length is not 0.
    #[error("there are a payload length and a Jumbo Payload option at {option}")]
    BothLengths {
        /// Offset of the option, from the IPv6 header on.
        option: u32,
    },
    /// The option states a length that the IPv6 header could state.
    #[error(
        "the Jumbo Payload option at {option} states {says} bytes, for which it is not allowed"
    )]
    NeedsNone {
        /// Offset of the option.
        option: u32,
        /// The length in the option.
        says: u32,
    },
    /// The packet also has a Fragment header.
    #[error("there are a Jumbo Payload option and a Fragment header at {header}")]
    Fragment {
        /// Offset of the Fragment header.
        header: u32,
    },
    /// The option's data do not have four bytes.
    #[error("the Jumbo Payload option at {option} has {length} bytes of data")]
    OptionLength {
        /// Offset of the option.
        option: u32,
        /// The length of the data in the option.
        length: u8,
    },
    /// The option's offset is not of the form 4n + 2.
    #[error("the Jumbo Payload option at {option} does not begin at 4n + 2")]
    Misaligned {
        /// Offset of the option.
        option: u32,
    },
    /// The option occurs twice.
    #[error("there is a second Jumbo Payload option at {option}")]
    Twice {
        /// Offset of the second option.
        option: u32,
    },
    /// An option exceeds its header.
    #[error("the option at {option} exceeds its header")]
    Overrun {
        /// Offset of the option.
        option: u32,
    },
    /// An unknown option whose type forbids to skip it.
    #[error("the option at {option} has the unknown type {kind}")]
    UnknownOption {
        /// Offset of the option.
        option: u32,
        /// Type of the option.
        kind: u8,
    },
    /// A hop-by-hop header is not the first header behind that of IPv6.
    #[error("byte {field} announces a hop-by-hop header, which must be the first")]
    LateHopByHop {
        /// Offset of the next-header field that announces it.
        field: u32,
    },
    /// The payload is not UDP.
    #[error("it carries protocol {0}")]
    NotUdp(u8),
    /// The UDP length is 0 without the Jumbo Payload option, below 8, above the bytes
    /// present, or not that of the jumbogram.
    #[error("the UDP length is {says}, and there are {have} bytes")]
    UdpLength {
        /// The length in the UDP header.
        says: u16,
        /// Bytes present.
        have: u64,
    },
}

/// The response of a node to a rejected packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// Drop the packet and count it.
    Discard,
    /// Send a Parameter Problem to the sender [RFC4443 s3.4].
    ParameterProblem {
        /// 0: a field of the header; 1: an unknown next header; 2: an unknown option.
        code: u8,
        /// Offset of the byte at fault, from the IPv6 header on.
        pointer: u32,
    },
}

impl Fault {
    /// The response that the standards require for a packet to one host. [RFC2675 s3]
    /// lists four errors that are reported to the sender, [RFC8200 s4.1] and
    /// [RFC8200 s4.2] two more; all others are silent drops.
    pub const fn answer(&self) -> Answer {
        let (code, pointer) = match *self {
            Self::NoOption => (0, place(at::LENGTH)),
            Self::BothLengths { option } => (0, option),
            Self::NeedsNone { option, .. } => (0, option + place(option::field::DATA)),
            Self::Fragment { header } => (0, header),
            Self::LateHopByHop { field } => (1, field),
            Self::UnknownOption { option, kind } if matches!(unknown(kind), Unknown::Tell) => {
                (2, option)
            }
            _ => return Answer::Discard,
        };
        Answer::ParameterProblem { code, pointer }
    }
}
