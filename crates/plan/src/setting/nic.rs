//! The settings of the hosts' network cards.

use units::Span;

/// Settings of the network card of each host; absent ones stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicSetting {
    /// Frames in the ring of arriving frames.
    pub receive_ring: Option<u32>,
    /// Frames in the ring of departing frames.
    pub send_ring: Option<u32>,
    /// The delay of interrupts after arrivals.
    pub coalescing: Option<Coalescing>,
    /// The number of arrivals that trigger an interrupt in any case.
    pub coalescing_frames: Option<u32>,
}

/// The delay of interrupts after arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coalescing {
    /// The driver adapts it to the traffic.
    Adaptive,
    /// At most this long, in whole microseconds.
    Within(Span),
}

impl NicSetting {
    /// Whether anything is asked of the rings.
    pub const fn has_rings(&self) -> bool {
        self.receive_ring.is_some() || self.send_ring.is_some()
    }

    /// Whether anything is asked of the coalescing.
    pub const fn has_coalescing(&self) -> bool {
        self.coalescing.is_some() || self.coalescing_frames.is_some()
    }
}
