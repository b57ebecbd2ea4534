//! The settings of a link.

use queue::Spec;
use units::{Bytes, Framing, Rate, Span};

/// The settings of one direction of a link. [`Link::new`](super::Link::new) checks
/// them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settings {
    /// The data rate; `None`: transmission takes no time.
    pub rate: Option<Rate>,
    /// Whether a frame takes the time of preamble and gap besides its bytes.
    pub ethernet: bool,
    /// The largest IP packet that the link carries.
    pub largest_packet: Option<Bytes>,
    /// The queue in front of the wire.
    pub queue: Spec,
    /// Propagation delay.
    pub delay: Span,
    /// Scale of the extra delay, which never changes the order of packets.
    /// [`Settings::jitter_distribution`] is its distribution.
    pub jitter: Span,
    /// Distribution of the extra delay.
    pub jitter_distribution: JitterDistribution,
    /// Probability that a frame is lost.
    pub loss: f64,
    /// Probability that a bit of a frame is wrong. One wrong bit loses the frame.
    pub bit_error_rate: f64,
    /// Probability that a frame is held back for [`Settings::hold`].
    pub reorder: f64,
    /// Time for which a frame is held back, while later ones overtake it.
    pub hold: Span,
    /// Probability that a frame arrives twice.
    pub duplicate: f64,
    /// Whether the far end forwards a frame after its header (cut-through) instead of
    /// after its last bit (store-and-forward).
    pub cut_through: bool,
    /// The treatment of packets that are too big.
    pub too_big: TooBig,
}

/// Distributions of the extra delay; none is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JitterDistribution {
    /// Uniform from 0 to the scale.
    #[default]
    Uniform,
    /// Normal with mean 0 and the scale as standard deviation, cut off below 0: the
    /// mean is sqrt(2 / pi) times the scale.
    Normal,
    /// Exponential with the scale as mean.
    Exponential,
}

impl JitterDistribution {
    /// An extra delay that at most one in 10^8 exceeds, at this scale.
    pub fn reach(self, scale: Span) -> Span {
        // 2 (1 - Phi(6)) is 2.0e-9, exp(-20) is 2.1e-9.
        scale
            * match self {
                Self::Uniform => 1,
                Self::Normal => 6,
                Self::Exponential => 20,
            }
    }
}

/// Treatments of a packet that is larger than the link carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TooBig {
    /// The packet is dropped silently, as on a wire.
    #[default]
    Drop,
    /// The packet is dropped and its sender notified, as by a router.
    Answer,
}

/// Invalid settings of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// A probability outside of 0 to 1.
    #[error("{0} is a probability; write a number from 0 to 1")]
    Probability(&'static str),
    /// Invalid settings of the queue.
    #[error(transparent)]
    Queue(#[from] queue::BadSpec),
}

impl Settings {
    /// A link of `rate` without delay and impairments.
    pub fn perfect(rate: Option<Rate>, queue: Spec) -> Self {
        Self {
            rate,
            ethernet: true,
            largest_packet: None,
            queue,
            delay: Span::default(),
            jitter: Span::default(),
            jitter_distribution: JitterDistribution::Uniform,
            loss: 0.0,
            bit_error_rate: 0.0,
            reorder: 0.0,
            hold: Span::default(),
            duplicate: 0.0,
            cut_through: false,
            too_big: TooBig::Drop,
        }
    }

    /// The transmission time of a frame with this number of bytes.
    pub fn busy(&self, frame: Bytes) -> Span {
        let serializer = self.wire_size(frame);
        self.rate
            .map_or(Span::ZERO, |rate| rate.serialise(serializer))
    }

    pub(super) fn check(&self) -> Result<(), BadSettings> {
        for (name, probability) in [
            ("loss", self.loss),
            ("bit_error_rate", self.bit_error_rate),
            ("reorder", self.reorder),
            ("duplicate", self.duplicate),
        ] {
            if !(0.0..=1.0).contains(&probability) {
                return Err(BadSettings::Probability(name));
            }
        }
        Ok(())
    }

    /// The bytes of wire that a frame takes, framing included.
    pub(super) fn wire_size(&self, frame: Bytes) -> Bytes {
        if self.ethernet {
            frame + Framing::PREAMBLE + Framing::GAP
        } else {
            frame
        }
    }

    /// The largest frame, without tags.
    pub(super) fn largest_frame(&self) -> Bytes {
        let around = match self.ethernet {
            true => Framing::MAC_HEADER + Framing::FCS,
            false => Bytes::ZERO,
        };
        // The limit leaves room for adding tags.
        let most = Bytes::new(u64::MAX / 2);
        self.largest_packet
            .map_or(most, |largest| largest.min(most) + around)
    }
}
