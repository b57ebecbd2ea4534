//! The settings of a connection.

use units::Span;

/// Loss recovery algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Recovery {
    /// No fast recovery: all outstanding segments count as lost, and slow start begins
    /// at the first missing one. Available in the profile ns-2 only [Ns2]; the
    /// standards demand fast recovery [RFC5681 s3.2].
    Tahoe,
    /// Fast recovery that ends with the first new acknowledgement
    /// [RFC5681 s3.2].
    Reno,
    /// Fast recovery that lasts until all data outstanding at its start are
    /// acknowledged [RFC6582].
    NewReno,
    /// Recovery that learns the missing segments from SACK [RFC6675].
    Sack,
}

/// Congestion control algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Control {
    /// Grows by a segment per round trip, and halves at a loss [RFC5681 s3.1].
    Reno,
    /// Grows by a cubic function of the time since the last loss, and is reduced to 0.7
    /// at a loss [RFC9438].
    Cubic,
    /// CUBIC as in Linux [Linux]. It uses the minimum round-trip time instead of the
    /// smoothed one, grows by at least a twentieth per round trip until the first loss,
    /// and keeps the same fairness to Reno above the last plateau as below it.
    LinuxCubic,
}

/// The quantity by which the window grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Counting {
    /// The number of acknowledgements, however much each acknowledges [RFC5681 s3.1].
    Acknowledgements,
    /// The acknowledged bytes, without a limit in slow start, in whole segments
    /// [RFC3465 s2].
    Bytes,
}

/// The end of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SlowStart {
    /// At the threshold, or at a loss [RFC5681 s3.1].
    Plain,
    /// Also when the train of acknowledgements is so long, or their delay so large,
    /// that the path is full [Ha2011]. Linux combines it with CUBIC.
    Hybrid,
}

/// The reduction of the window in a recovery with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reduction {
    /// Immediate: no segment is sent until enough have left the path [RFC6675 s5].
    AtOnce,
    /// In proportion to the delivered data [RFC6937].
    Proportional,
}

/// The implementation that is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Profile {
    /// The standards; sequence numbers count bytes.
    Standard,
    /// ns-2.35's one-way agents; sequence numbers count segments [Ns2].
    Ns2,
}

/// The timing of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Acknowledging {
    /// Every segment.
    Each,
    /// Every second segment, or after this time; segments out of order or filling a gap
    /// at once [RFC5681 s4.2].
    Delayed(Span),
}

/// The settings of both ends of a connection.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settings {
    /// The implementation that is modelled.
    pub profile: Profile,
    /// The loss recovery algorithm.
    pub recovery: Recovery,
    /// The congestion control algorithm. The profile ns-2 supports Reno only.
    pub control: Control,
    /// The quantity by which the window grows.
    pub counting: Counting,
    /// The end of slow start.
    pub slow_start: SlowStart,
    /// The reduction of the window in a recovery.
    pub reduction: Reduction,
    /// Whether SACK reports from before a timeout stay valid after it [RFC6675 s5.1],
    /// although a receiver may discard the data [RFC2018 s8].
    pub lasting_reports: bool,
    /// Maximum payload of a segment, in bytes.
    pub segment: u32,
    /// Bytes of options in every segment beside SACK: 12 with timestamps
    /// [RFC7323 Appendix A].
    pub options: u32,
    /// Initial window, in segments [RFC6928 s2].
    pub initial_window: u32,
    /// Initial slow-start threshold, in segments; `None`: until a loss.
    pub initial_ssthresh: Option<u32>,
    /// The receiver's window, in segments.
    pub window: u32,
    /// The receiver's initial window in bytes, if it is smaller: before the window
    /// scale is known it is at most 65 535 bytes [RFC7323 s2.2]. It then grows by
    /// twice the arriving data [Linux]. `None`: the full window from the start.
    pub first_room: Option<u32>,
    /// Whether each of the first two duplicate acknowledgements allows a new segment
    /// [RFC3042].
    pub limited_transmit: bool,
    /// The timing of acknowledgements.
    pub acknowledging: Acknowledging,
    /// The number of initial acknowledgements that are not delayed, because a sender in
    /// slow start waits for them [Linux].
    pub quick_acks: u32,
    /// Bytes per write of the sending application: segments that end a write have the
    /// PSH flag. `None`: the ends of writes are unknown.
    pub write: Option<u32>,
    /// Whether segments with the PSH flag are acknowledged at once, as in Linux after
    /// its application has read the data [Linux].
    pub quick_pushes: bool,
    /// Whether both ends use ECN [RFC3168].
    pub ecn: bool,
    /// The timeout before the first sample [RFC6298 s2].
    pub initial_rto: Span,
    /// The minimum timeout.
    pub min_rto: Span,
    /// The maximum timeout.
    pub max_rto: Span,
    /// Granularity of the sender's clock: G of [RFC6298 s2].
    pub tick: Span,
    /// Offset of time zero within a tick of the sender's clock. Only the profile ns-2
    /// counts whole ticks.
    pub phase: Span,
}

impl Settings {
    /// TCP of the standards with SACK and Reno's congestion control: an initial window
    /// of ten segments [RFC6928 s2], timeouts from 1 s to 60 s [RFC6298 s2],
    /// acknowledgements delayed by at most 40 ms, timestamps in every segment.
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
            initial_ssthresh: None,
            window: u32::MAX,
            first_room: None,
            limited_transmit: true,
            acknowledging: Acknowledging::Delayed(Span::from_millis(40)),
            quick_acks: 0,
            write: None,
            quick_pushes: false,
            ecn: false,
            initial_rto: Span::from_secs(1),
            min_rto: Span::from_secs(1),
            max_rto: Span::from_secs(60),
            tick: Span::from_millis(1),
            phase: Span::ZERO,
        }
    }

    /// TCP of Linux 6.18 with `control`, which is Reno or CUBIC [Linux].
    pub const fn linux(control: Control, segment: u32) -> Self {
        Self {
            control: match control {
                Control::Reno => Control::Reno,
                Control::Cubic | Control::LinuxCubic => Control::LinuxCubic,
            },
            counting: Counting::Bytes,
            slow_start: match control {
                Control::Reno => SlowStart::Plain,
                Control::Cubic | Control::LinuxCubic => SlowStart::Hybrid,
            },
            reduction: Reduction::Proportional,
            lasting_reports: true,
            quick_acks: 16,
            quick_pushes: true,
            first_room: Some(65_535),
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(120),
            ..Self::new(segment)
        }
    }

    /// An agent of ns-2.35 with its default settings and a window of `window` segments
    /// [Ns2]: it acknowledges every segment.
    pub const fn ns2(recovery: Recovery, segment: u32, window: u32) -> Self {
        Self {
            profile: Profile::Ns2,
            recovery,
            options: 0,
            initial_window: 2,
            initial_ssthresh: Some(window),
            window,
            acknowledging: Acknowledging::Each,
            initial_rto: Span::from_secs(3),
            min_rto: Span::from_millis(200),
            tick: Span::from_millis(10),
            ..Self::new(segment)
        }
    }
}
