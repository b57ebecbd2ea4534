//! What is wrong with a packet, and of what its sender is notified.

use core::fmt;

use super::{at, place};
use crate::protocol::ipv6::option::{self, Unknown, unknown};

/// Why octets are no packet that a node would take [RFC2675 s3] [RFC2675 s4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The headers reach further than the packet.
    #[error("the headers need {need} octets, {have} are there")]
    Truncated {
        /// Octets that they need.
        need: u64,
        /// Octets that are there.
        have: u64,
    },
    /// It is another version of IP.
    #[error("it is no IPv6")]
    Version,
    /// The packet says that it is longer than what the link carried.
    #[error("it says {says} octets behind the IPv6 header, {have} are there")]
    TooFew {
        /// What it says.
        says: u64,
        /// What is there.
        have: u64,
    },
    /// The IPv6 header says 0 octets, and no option says how many there are.
    #[error("the payload length is 0 and there is no Jumbo Payload option")]
    NoOption,
    /// There is the option, and the IPv6 header has a length as well.
    #[error("there are a payload length and a Jumbo Payload option at {option}")]
    BothLengths {
        /// Where the option begins, in octets from the IPv6 header on.
        option: u32,
    },
    /// The option says no more than the IPv6 header could.
    #[error("the Jumbo Payload option at {option} says {says} octets, which need none")]
    NeedsNone {
        /// Where the option begins.
        option: u32,
        /// What it says.
        says: u32,
    },
    /// There is a Fragment header as well.
    #[error("there are a Jumbo Payload option and a Fragment header at {header}")]
    Fragment {
        /// Where the Fragment header begins.
        header: u32,
    },
    /// The option's data are not of four octets.
    #[error("the Jumbo Payload option at {option} has {length} octets of data")]
    OptionLength {
        /// Where the option begins.
        option: u32,
        /// Octets of its data, as it says.
        length: u8,
    },
    /// The option does not begin at 4n + 2.
    #[error("the Jumbo Payload option at {option} begins elsewhere than at 4n + 2")]
    Misaligned {
        /// Where it begins.
        option: u32,
    },
    /// The option is there twice.
    #[error("there is a second Jumbo Payload option at {option}")]
    Twice {
        /// Where the second one begins.
        option: u32,
    },
    /// An option reaches out of its header.
    #[error("the option at {option} reaches out of its header")]
    Overrun {
        /// Where it begins.
        option: u32,
    },
    /// An option that nobody knows, and that says that this matters.
    #[error("the option at {option} has the unknown type {kind}")]
    UnknownOption {
        /// Where it begins.
        option: u32,
        /// Its type.
        kind: u8,
    },
    /// A hop-by-hop header stands elsewhere than behind the IPv6 header.
    #[error("octet {field} calls for a hop-by-hop header, which stands first or not at all")]
    LateHopByHop {
        /// Where it is called for.
        field: u32,
    },
    /// What is carried is no UDP.
    #[error("it carries protocol {0}")]
    NotUdp(u8),
    /// The UDP length is 0 and there is no Jumbo Payload option, below 8, above
    /// what there is, or not that of the jumbogram.
    #[error("the UDP length is {says}, and there are {have} octets")]
    UdpLength {
        /// What it says.
        says: u16,
        /// What is there.
        have: u64,
    },
}

/// What becomes of a packet that nobody takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It is dropped, and counted.
    Discard,
    /// Its sender is sent a Parameter Problem [RFC4443 s3.4].
    ParameterProblem {
        /// 0: a field of the header, 1: an unknown next header, 2: an unknown option.
        code: u8,
        /// The octet at fault, from the IPv6 header on.
        pointer: u32,
    },
}

impl Fault {
    /// What is asked for where the packet was for one host: [RFC2675 s3] lists
    /// four errors of which the sender is notified, [RFC8200 s4.1] and
    /// [RFC8200 s4.2] two more; the rest is dropped.
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

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discard => f.write_str("dropped"),
            Self::ParameterProblem { code, pointer } => {
                write!(f, "parameter problem {code} at {pointer}")
            }
        }
    }
}
