//! Recordings of a simulated link.

use units::Span;

/// The per-packet recordings of a link. They do not affect any result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The queue state at each arrival.
    pub queue: bool,
    /// The sampling interval of `queue`: only the first arrival in each
    /// interval is recorded; `None`: every arrival.
    pub interval: Option<Span>,
    /// Dropped packets, with the reason.
    pub drops: bool,
    /// The waiting times of the packets of each flow.
    pub delays: bool,
    /// The headers of all packets on the link.
    pub capture: bool,
}

impl Watched {
    /// Whether anything is recorded.
    pub fn is_any(&self) -> bool {
        self.queue || self.drops || self.delays || self.capture
    }
}
