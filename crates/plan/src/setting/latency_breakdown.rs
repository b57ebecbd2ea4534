//! Single round trips, stamped at every stage that can be stamped.

use units::{Bytes, Span, Transport};

/// Messages that the receiver echoes whole, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyBreakdown {
    pub protocol: Transport,
    /// Bytes of a message, and of its echo.
    pub message: Bytes,
    /// The number of round trips.
    pub messages: u32,
    /// Whether the programs copy received data out of the kernel.
    pub copy: bool,
    /// Whether datagrams have checksums.
    pub checksum: bool,
    /// The deliberate extra time, if any.
    pub inject: Option<Inject>,
    /// SO_SNDBUF; `None` leaves the kernel's autotuning.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF; `None` leaves the kernel's autotuning.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on [RFC9293 s3.7.4].
    pub nagle: bool,
    /// The time that an end waits for the other.
    pub timeout: Span,
}

/// A known extra time at a known point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inject {
    pub point: InjectionPoint,
    /// The extra time.
    pub span: Span,
}

/// The points at which time can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionPoint {
    /// In the sender, just before it writes.
    Send,
    /// On the first emulated link, in the forward direction.
    Wire,
    /// In the receiver, between its wake-up and its read.
    Receive,
    /// In the receiver, between its read and its echo.
    Echo,
}

impl LatencyBreakdown {
    /// The extra delay of the first link in the forward direction.
    pub fn on_the_wire(&self) -> Span {
        let wire = self
            .inject
            .filter(|inject| inject.point == InjectionPoint::Wire);
        wire.map_or(Span::ZERO, |inject| inject.span)
    }
}
