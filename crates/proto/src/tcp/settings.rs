//! What a connection is like.

use units::Span;

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Recovery {
    /// No fast recovery: everything outstanding counts as lost, and slow start
    /// begins at the first segment that is missing. Only the profile ns-2 has it
    /// [Ns2]; the standards ask for fast recovery [RFC5681 s3.2].
    Tahoe,
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
    /// The same as Linux has it: what the standard takes the smoothed round
    /// trip for it takes the shortest one for, it grows by a twentieth a round
    /// trip at least until the first loss, and is as fair to Reno above the
    /// last plateau as below it [Linux].
    LinuxCubic,
}

/// What the window grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Counting {
    /// Acknowledgements, however much each of them acknowledges
    /// [RFC5681 s3.1].
    Acknowledgements,
    /// What is acknowledged, without a limit in slow start; by whole segments
    /// [RFC3465 s2].
    Octets,
}

/// When slow start ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SlowStart {
    /// At the threshold, or with a loss [RFC5681 s3.1].
    Plain,
    /// Also once acknowledgements come so closely for so long, or so late,
    /// that the path is full [Ha2011]. Linux has it with CUBIC.
    Hybrid,
}

/// How the window comes down in a recovery with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reduction {
    /// At once: nothing is sent until so much has left the path
    /// [RFC6675 s5].
    AtOnce,
    /// In proportion to what is delivered [RFC6937].
    Proportional,
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
    /// What it grows by.
    pub counting: Counting,
    /// When slow start ends.
    pub slow_start: SlowStart,
    /// How it comes down in a recovery.
    pub reduction: Reduction,
    /// Whether what SACK reported before a time-out still counts after it
    /// [RFC6675 s5.1], although a receiver may change its mind [RFC2018 s8].
    pub lasting_reports: bool,
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
    /// Segments that the receiver lets be in flight.
    pub window: u32,
    /// Octets that it lets be in flight at first, where that is less: a window
    /// before the scale is known is no larger than 65 535 octets
    /// [RFC7323 s2.2]. It opens by twice what arrives [Linux]. `None`: it is
    /// open from the beginning.
    pub first_room: Option<u32>,
    /// Whether the first two duplicate acknowledgements let a new segment go
    /// [RFC3042].
    pub limited_transmit: bool,
    /// When the receiver acknowledges.
    pub acknowledging: Acknowledging,
    /// How many acknowledgements are not delayed at first: a sender that
    /// starts slowly waits for them [Linux].
    pub quick_acks: u32,
    /// Octets that the sender's program writes in one go: segments in which a
    /// write ends say so. `None`: nobody knows where writes end.
    pub write: Option<u32>,
    /// Whether those are acknowledged at once, as Linux does once its program
    /// has read what came [Linux].
    pub quick_pushes: bool,
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
            counting: Counting::Acknowledgements,
            slow_start: SlowStart::Plain,
            reduction: Reduction::AtOnce,
            lasting_reports: false,
            segment,
            options: 12,
            initial_window: 10,
            initial_threshold: None,
            window: u32::MAX,
            first_room: None,
            limited_transmit: true,
            acknowledging: Acknowledging::Delayed(Span::from_millis(40)),
            quick_acks: 0,
            write: None,
            quick_pushes: false,
            ecn: false,
            first_timeout: Span::from_secs(1),
            shortest_timeout: Span::from_secs(1),
            longest_timeout: Span::from_secs(60),
            tick: Span::from_millis(1),
            phase: Span::ZERO,
        }
    }

    /// TCP as Linux 6.18 has it with `control`, which is Reno or CUBIC [Linux].
    pub const fn linux(control: Control, segment: u32) -> Self {
        Self {
            control: match control {
                Control::Reno => Control::Reno,
                Control::Cubic | Control::LinuxCubic => Control::LinuxCubic,
            },
            counting: Counting::Octets,
            slow_start: match control {
                Control::Reno => SlowStart::Plain,
                Control::Cubic | Control::LinuxCubic => SlowStart::Hybrid,
            },
            reduction: Reduction::Proportional,
            lasting_reports: true,
            quick_acks: 16,
            quick_pushes: true,
            first_room: Some(65_535),
            shortest_timeout: Span::from_millis(200),
            longest_timeout: Span::from_secs(120),
            ..Self::new(segment)
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
