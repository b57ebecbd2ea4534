//! What is kept of a simulated link besides figures.

use units::Span;

/// What is kept of every packet on a link. Whatever it is, it changes no
/// figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// What waits when packets come.
    pub queue: bool,
    /// Of `queue`, only the first packet of each such time; `None`: every one.
    pub interval: Option<Span>,
    /// Packets that are dropped, and why.
    pub drops: bool,
    /// How long the packets of each flow wait.
    pub delays: bool,
    /// The headers of all packets on the wire.
    pub capture: bool,
}

impl Watched {
    /// Whether anything is kept.
    pub fn is_any(&self) -> bool {
        self.queue || self.drops || self.delays || self.capture
    }
}
