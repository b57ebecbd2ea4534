//! What a connection is like.

use units::Span;

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Recovery {
    /// Fast recovery that ends with the first new acknowledgement
    /// [RFC5681 s3.2].
    Reno,
    /// Fast recovery that lasts until everything is acknowledged that was sent
    /// when it began [RFC6582].
    NewReno,
    /// Recovery that knows from SACK what is missing [RFC6675].
    Sack,
}

/// How the window grows and what is left of it at a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Control {
    /// A segment a round trip, and half of it [RFC5681 s3.1].
    Reno,
    /// A cubic function of the time since the last loss, and 0.7 of it
    /// [RFC9438].
    Cubic,
}

/// Whose TCP it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Profile {
    /// That of the standards; numbers are octets.
    Standard,
    /// That of ns-2.35's one-way agents; numbers are segments [Ns2].
    Ns2,
}

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Acknowledging {
    /// Every segment.
    Each,
    /// Every second one, or after this time; at once what is out of order or
    /// fills a gap [RFC5681 s4.2].
    Delayed(Span),
}

/// A connection and both its ends.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settings {
    /// Whose TCP it is.
    pub profile: Profile,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// How the window grows. The profile ns-2 knows Reno's only.
    pub control: Control,
    /// The most octets of payload in a segment.
    pub segment: u32,
    /// Octets of options in every segment beside SACK: 12 with timestamps
    /// [RFC7323 Appendix A].
    pub options: u32,
    /// Segments of the first window [RFC6928 s2].
    pub initial_window: u32,
    /// Segments up to which the window doubles each round trip at first;
    /// `None`: until a loss.
    pub initial_threshold: Option<u32>,
    /// Segments that the receiver lets be under way.
    pub window: u32,
    /// Whether the first two duplicate acknowledgements let a new segment go
    /// [RFC3042].
    pub limited_transmit: bool,
    /// When the receiver acknowledges.
    pub acknowledging: Acknowledging,
    /// Whether the ends answer marks [RFC3168].
    pub ecn: bool,
    /// The time-out before anything was measured [RFC6298 s2].
    pub first_timeout: Span,
    /// The shortest time-out.
    pub shortest_timeout: Span,
    /// The longest time-out.
    pub longest_timeout: Span,
    /// The grain of the sender's clock: G of [RFC6298 s2].
    pub tick: Span,
    /// How far into a tick of the sender's clock time zero falls. Only the
    /// profile ns-2 counts in whole ticks.
    pub phase: Span,
}

impl Settings {
    /// TCP of the standards with SACK and Reno's growth: ten segments at first
    /// [RFC6928 s2], time-outs from 1 s to 60 s [RFC6298 s2], delayed
    /// acknowledgements after 40 ms at most, timestamps in every segment.
    pub const fn new(segment: u32) -> Self {
        Self {
            profile: Profile::Standard,
            recovery: Recovery::Sack,
            control: Control::Reno,
            segment,
            options: 12,
            initial_window: 10,
            initial_threshold: None,
            window: u32::MAX,
            limited_transmit: true,
            acknowledging: Acknowledging::Delayed(Span::from_millis(40)),
            ecn: false,
            first_timeout: Span::from_secs(1),
            shortest_timeout: Span::from_secs(1),
            longest_timeout: Span::from_secs(60),
            tick: Span::from_millis(1),
            phase: Span::ZERO,
        }
    }

    /// An agent of ns-2.35 as it is unless told otherwise, with a window of so
    /// many segments [Ns2]: every segment is acknowledged.
    pub const fn ns2(recovery: Recovery, segment: u32, window: u32) -> Self {
        Self {
            profile: Profile::Ns2,
            recovery,
            options: 0,
            initial_window: 2,
            initial_threshold: Some(window),
            window,
            acknowledging: Acknowledging::Each,
            first_timeout: Span::from_secs(3),
            shortest_timeout: Span::from_millis(200),
            tick: Span::from_millis(10),
            ..Self::new(segment)
        }
    }
}
