//! The investigation of a path by probes.

use link::Protocol;
use units::{Bytes, Span};

/// The investigation of the path from the sender to the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
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
