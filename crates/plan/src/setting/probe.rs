//! The investigation of a path by probes.

use link::Protocol;
use units::{Bytes, Span};

/// The investigation of the path from the sender to the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Who probes in place of this program; `None`: this program.
    pub peer: Option<Peer>,
    /// The size that the path should carry.
    pub up_to: Bytes,
    /// The protocols to probe with.
    pub protocols: Vec<Protocol>,
    /// Whether a STAMP reflector answers at the receiver.
    pub reflector: bool,
    /// Whether the receiver listens at the TCP port that is probed.
    pub listens: bool,
    /// The longest that the investigation takes.
    pub timeout: Span,
}

/// Another prober: a program, a kernel or a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// tracepath of iputils.
    Tracepath,
    /// A bisection by ping of iputils, whose packets must not be fragmented.
    Ping,
    /// A trace with path MTU discovery by scamper.
    Scamper,
    /// A connection of the kernel's TCP, which probes [RFC4821].
    TcpMtuProbing,
}

impl Peer {
    /// The program that it runs, and the Debian package that has it; `None`: it runs
    /// none.
    pub const fn program(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Tracepath => Some(("tracepath", "iputils-tracepath")),
            Self::Ping => Some(("ping", "iputils-ping")),
            Self::Scamper => Some(("scamper", "scamper")),
            Self::TcpMtuProbing => None,
        }
    }
}
