//! What a link is like.

use queue::Spec;
use units::{Bytes, Framing, Rate, Span};

/// One direction of a link. [`Link::new`](super::Link::new) checks it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settings {
    /// The rate at which bits follow each other; `None`: all at once.
    pub rate: Option<Rate>,
    /// Whether a frame takes preamble and gap besides its own octets.
    pub ethernet: bool,
    /// The largest IP packet that passes; larger ones are too big.
    pub largest_packet: Option<Bytes>,
    /// What waits in front of the wire, and who is dropped there.
    pub queue: Spec,
    /// How long a bit travels.
    pub delay: Span,
    /// The scale of the extra delay, which never changes the order: what of
    /// it, [`Settings::jitter_law`] says.
    pub jitter: Span,
    /// How the extra delay is distributed.
    pub jitter_law: JitterLaw,
    /// Probability of losing a frame.
    pub loss: f64,
    /// Probability of each bit of a frame being wrong, which loses the frame.
    pub bit_error_rate: f64,
    /// Probability of a frame being held back for [`Settings::hold`].
    pub reorder: f64,
    /// How long a frame is held back, while later ones overtake it.
    pub hold: Span,
    /// Probability of a frame arriving twice.
    pub duplicate: f64,
    /// Whether the far end begins to forward when the header is in, instead
    /// of storing the frame first.
    pub cut_through: bool,
    /// What becomes of a packet that is too big.
    pub too_big: TooBig,
}

/// A distribution of extra delays; none is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum JitterLaw {
    /// Uniform from 0 to the scale.
    #[default]
    Uniform,
    /// Normal about 0 with the scale as standard deviation, cut off below 0:
    /// the mean is sqrt(2 / pi) of the scale.
    Normal,
    /// Exponential with the scale as mean.
    Exponential,
}

impl JitterLaw {
    /// An extra delay that one in 10^8 at most exceeds, at this scale.
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

/// What becomes of a packet that is larger than the link carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TooBig {
    /// It is gone in silence, as on a wire.
    #[default]
    Drop,
    /// It is gone, and its sender is notified, as by a router.
    Answer,
}

/// Settings that no link can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// A probability outside of 0 to 1.
    #[error("{0} is a probability: from 0 to 1")]
    Probability(&'static str),
    /// A queue that there cannot be.
    #[error(transparent)]
    Queue(#[from] queue::BadSpec),
}

impl Settings {
    /// A perfect link of `rate`: nothing lost, nothing delayed.
    pub fn perfect(rate: Option<Rate>, queue: Spec) -> Self {
        Self {
            rate,
            ethernet: true,
            largest_packet: None,
            queue,
            delay: Span::default(),
            jitter: Span::default(),
            jitter_law: JitterLaw::Uniform,
            loss: 0.0,
            bit_error_rate: 0.0,
            reorder: 0.0,
            hold: Span::default(),
            duplicate: 0.0,
            cut_through: false,
            too_big: TooBig::Drop,
        }
    }

    /// For how long a frame of so many octets has the wire.
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

    /// The octets of wire that a frame takes from its neighbours.
    pub(super) fn wire_size(&self, frame: Bytes) -> Bytes {
        if self.ethernet {
            frame + Framing::PREAMBLE + Framing::GAP
        } else {
            frame
        }
    }

    /// The largest frame, tags not counted.
    pub(super) fn largest_frame(&self) -> Bytes {
        let around = match self.ethernet {
            true => Framing::MAC_HEADER + Framing::FCS,
            false => Bytes::ZERO,
        };
        // Tags are added to it.
        let most = Bytes::new(u64::MAX / 2);
        self.largest_packet
            .map_or(most, |largest| largest.min(most) + around)
    }
}
