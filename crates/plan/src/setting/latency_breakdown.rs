//! Round trips one by one, of which all is stamped that can be.

use units::{Bytes, Span, Transport};

/// Messages that are echoed whole, each once the one before it is back.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyBreakdown {
    /// The transport.
    pub protocol: Transport,
    /// Octets of a message, and of its echo.
    pub message: Bytes,
    /// How many round trips are taken apart.
    pub messages: u32,
    /// Whether the programs copy what they receive out of the kernel.
    pub copy: bool,
    /// Whether datagrams have checksums.
    pub checksum: bool,
    /// What is made longer on purpose.
    pub inject: Option<Inject>,
    /// SO_SNDBUF; `None` leaves the kernel's autotuning.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF; `None` leaves the kernel's autotuning.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on [RFC9293 s3.7.4].
    pub nagle: bool,
    /// How long an end waits for the other.
    pub timeout: Span,
}

/// A known time at a known point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inject {
    /// Where.
    pub point: InjectionPoint,
    /// How much.
    pub span: Span,
}

/// Where time can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionPoint {
    /// In the sender, just before it writes.
    Send,
    /// On the first emulated link, on the way there.
    Wire,
    /// In the receiver, between its wake-up and its read.
    Receive,
    /// In the receiver, between its read and its echo.
    Echo,
}

impl LatencyBreakdown {
    /// By how much the way there is longer on its first link.
    pub fn on_the_wire(&self) -> Span {
        let wire = self
            .inject
            .filter(|inject| inject.point == InjectionPoint::Wire);
        wire.map_or(Span::ZERO, |inject| inject.span)
    }
}
