//! The settings of a discovery.

use units::{IpMtu, IpVersion, Span};

/// Base size over IPv4, where the standard has no size that each path carries
/// [RFC8899 s5.1.2].
const BASE_V4: u64 = 1200;

/// How a discovery searches and waits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The smallest size to use (MIN_PLPMTU): that which each link carries.
    pub minimum: IpMtu,
    /// The size that most paths carry (BASE_PLPMTU).
    pub base: IpMtu,
    /// The largest size to search for (MAX_PLPMTU): at most the MTU of the interface.
    pub up_to: IpMtu,
    /// The accepted probability that a search takes ordinary loss for a limit.
    pub false_alarm: f64,
    /// The share of packets that paths lose whatever their size: up to this share the
    /// probability of a false alarm is kept.
    pub ordinary_loss: f64,
    /// The time without an answer after which a probe counts as lost (PROBE_TIMER).
    pub probe_timer: ProbeTimer,
    /// The time after which a search begins anew (PMTU_RAISE_TIMER).
    pub raise_after: Span,
    /// The time after which the found size is confirmed (CONFIRMATION_TIMER); `None` if
    /// what is sent besides is acknowledged.
    pub confirm_after: Option<Span>,
    /// Whether a size above a confirmed one is probed even if a router announced the
    /// confirmed size. The standard ends the search there [RFC8899 s5.2]; one more probe
    /// finds a router that announces too little.
    pub verifies_announced: bool,
}

/// The time without an answer after which a probe counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTimer {
    /// Always this time. A transport protocol waits for at least a second
    /// [RFC8899 s5.1.1].
    Fixed(Span),
    /// From measured round trips as retransmission timers are [RFC6298 s2], within
    /// bounds; the upper one before the first round trip. For diagnosis, which sends no
    /// data besides.
    FromRoundTrips {
        /// At least this time.
        least: Span,
        /// At most this time.
        most: Span,
    },
}

/// Settings that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// The sizes are not in order.
    #[error("write a largest size from {base} to {largest}", largest = IpMtu::LARGEST)]
    Sizes {
        /// The base size.
        base: u32,
    },
}

impl Settings {
    /// The settings of the standard [RFC8899 s5.1], for sizes up to `up_to` bytes.
    ///
    /// # Errors
    /// `up_to` is below the base size or above [`IpMtu::LARGEST`].
    pub fn new(version: IpVersion, up_to: u64) -> Result<Self, BadSettings> {
        let minimum = u64::from(version.smallest_mtu());
        let base = minimum.max(BASE_V4);
        let sizes = [minimum, base, up_to].map(|size| IpMtu::new(size, version));
        let [Ok(minimum), Ok(base), up_to] = sizes else {
            return Err(BadSettings::Sizes { base: 0 });
        };
        let bad = BadSettings::Sizes { base: base.get() };
        Ok(Self {
            minimum,
            base,
            up_to: up_to.ok().filter(|up_to| *up_to >= base).ok_or(bad)?,
            false_alarm: 0.01,
            ordinary_loss: 0.15,
            probe_timer: ProbeTimer::Fixed(Span::from_secs(16)),
            raise_after: Span::from_secs(600),
            confirm_after: None,
            verifies_announced: false,
        })
    }
}
