//! The settings of MRED and the interpretations of its paper.

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Span};

use super::Mred;
use crate::law::{Curve, Profile, Rounding, Spread};
use crate::settings::Settings;
use crate::{BadSpec, Discipline, Limit, Packet, RedSettings, Selection, Unit, Victim};

/// How the paper's prose is read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Interpretation {
    /// To the letter: a share of the packets of each waiting jumbo frame is
    /// dropped, within bounds, and one stays; a frame with one packet is no jumbo
    /// frame. A limit in frames is one in bytes, as many frames of the mean
    /// size: a frame that lost packets leaves room for others [Mulahuwaish s3].
    Letter(Bounds),
    /// The law decides about each sender's packet: a bundle of N gets N decisions
    /// at the same average.
    Inner,
}

/// The least and the largest share of a frame that is met
/// [Mulahuwaish s3].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bounds {
    /// From 0 to 1.
    pub low: f64,
    /// From [`Bounds::low`] to 1.
    pub high: f64,
}

impl Bounds {
    /// The only bounds that the paper prints, for the largest probability
    /// [Mulahuwaish s3.A].
    pub const PRINTED: Self = Self {
        low: 0.01,
        high: 0.5,
    };
}

/// Which share of a frame is met, with [`Interpretation::Letter`]: it is to be
/// "different from jumbo frame to another", of the number of its packets, their
/// average length and the average queue [Mulahuwaish s3], by no formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Share {
    /// The law's probability, the same of every frame.
    Same,
    /// The law's probability times the packets of the frame over those of an
    /// average one: a frame with more packets loses a larger share.
    Weighted,
    /// No probability: from [`Bounds::low`] at the lower threshold to
    /// [`Bounds::high`] at the upper one for the frame with the most in it, the
    /// number of its packets times their average length; in proportion less
    /// above the lower bound for a frame with less.
    Own,
}

/// When the law is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MredTrigger {
    /// At every arrival: the average decides.
    Average,
    /// At an arrival that finds no room; before that every frame is let in
    /// [Mulahuwaish s3].
    NoRoom,
}

/// In which frames packets are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Candidates {
    /// In the one that arrives.
    Arriving,
    /// In the one that has waited longest; where all of it is met, in the next.
    Head,
    /// Spread over the waiting frames, the oldest first, so that no frame loses
    /// all its packets while another has some left [Mulahuwaish s3].
    Queue,
}

/// The source of the number of packets in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SizeOf {
    /// Its header: the number of packets and their average length, which do not
    /// change when packets are dropped out of it [Mulahuwaish s3].
    Header,
    /// The packets that were not dropped.
    Live,
}

/// MRED's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MredSettings {
    /// The limit of the queue.
    pub limit: Limit,
    /// The unit of the thresholds.
    pub unit: Unit,
    /// The probability over the average.
    pub curve: Curve,
    /// As [`RedSettings::weight`].
    pub weight: f64,
    /// As [`RedSettings::mean_size`].
    pub mean_size: Bytes,
    /// How drops are spread over packets.
    pub spread: Spread,
    /// Whether the largest probability adapts [Floyd2001].
    pub adaptive: bool,
    /// The variant of RED. That of ns-2 checks the limit first and decides packet
    /// by packet.
    pub profile: Profile,
    /// How the paper is read.
    pub interpretation: Interpretation,
    /// The share of a frame that is dropped, as the paper is read.
    pub share: Share,
    /// When the law decides.
    pub trigger: MredTrigger,
    /// The frames that lose packets.
    pub candidates: Candidates,
    /// The source of the number of packets in a frame.
    pub size: SizeOf,
    /// Which packets of a frame are chosen.
    pub selection: Selection,
    /// How their number is drawn.
    pub rounding: Rounding,
    /// Whether chosen packets that support ECN are marked instead of dropped;
    /// beyond [`Curve::max`] they are dropped in any case
    /// [RFC3168 s7]. It needs a frame with an ECN field for each packet: the
    /// outer header has one for all [RFC3168 s5].
    pub mark: bool,
    /// The time that MRED takes for each frame that it judges, before the first
    /// drop. `None`: no time.
    pub mark_time: Option<Span>,
    /// The time that the drop of one packet takes; drops are done one after the
    /// other, and a frame that leaves earlier keeps the rest. `None`: no time.
    pub drop_time: Option<Span>,
}

impl MredSettings {
    /// RED's usual parameters [`RedSettings::new`], counting senders' packets;
    /// the arriving bundle loses its first packets.
    pub const fn new(limit: Limit, mean_size: Bytes) -> Self {
        let red = RedSettings::new(limit, mean_size);
        Self {
            limit,
            unit: Unit::Inner,
            curve: red.curve,
            weight: red.weight,
            mean_size,
            spread: red.spread,
            adaptive: red.adaptive,
            profile: red.profile,
            interpretation: Interpretation::Inner,
            share: Share::Same,
            trigger: MredTrigger::Average,
            candidates: Candidates::Arriving,
            size: SizeOf::Live,
            selection: Selection::Front,
            rounding: Rounding::Each,
            mark: false,
            mark_time: None,
            drop_time: None,
        }
    }

    /// The settings that the paper states: thresholds in frames, no drop while
    /// there is room, then a share of its own of each waiting frame, within its
    /// bounds; marking takes time, and dropping after it [Mulahuwaish s3].
    pub const fn letter(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            unit: Unit::Frames,
            interpretation: Interpretation::Letter(Bounds::PRINTED),
            share: Share::Own,
            trigger: MredTrigger::NoRoom,
            candidates: Candidates::Queue,
            size: SizeOf::Header,
            rounding: Rounding::Round,
            mark_time: Some(Self::MOMENT),
            drop_time: Some(Self::MOMENT),
            ..Self::new(limit, mean_size)
        }
    }

    /// How long marking a frame or dropping a packet takes to the letter, which
    /// states that it takes time and not how much: that of a few hundred instructions.
    const MOMENT: Span = Span::from_micros(1);

    /// How much may wait.
    pub(super) const fn capacity(&self) -> Limit {
        match (self.interpretation, self.limit) {
            (Interpretation::Letter(_), Limit::Packets(frames)) => {
                let bytes = self.mean_size.get().saturating_mul(frames as u64);
                Limit::Bytes(Bytes::new(bytes))
            }
            (_, limit) => limit,
        }
    }

    /// The RED that it is where nothing is bundled, read as inner packets with
    /// [`MredTrigger::Average`], no drop time and every pick that goes by the spread.
    pub const fn red(&self) -> RedSettings {
        RedSettings {
            limit: self.limit,
            unit: self.unit,
            curve: self.curve,
            weight: self.weight,
            mean_size: self.mean_size,
            spread: self.spread,
            adaptive: self.adaptive,
            ecn: self.mark,
            victim: match self.candidates {
                Candidates::Arriving => Victim::Arriving,
                Candidates::Head | Candidates::Queue => Victim::Front,
            },
            profile: self.profile,
        }
    }

    /// Whether there can be such a queue.
    ///
    /// # Errors
    /// Where a parameter is out of its range, or two do not go together.
    pub fn check(&self) -> Result<(), BadSpec> {
        self.red().check()?;
        if let Interpretation::Letter(Bounds { low, high }) = self.interpretation {
            BadSpec::check_probability("the lower bound", low)?;
            BadSpec::check_probability("the upper bound", high)?;
            if low > high {
                return Err(BadSpec::Bounds);
            }
        }
        for (name, span) in [("mark_time", self.mark_time), ("drop_time", self.drop_time)] {
            if let Some(span) = span {
                BadSpec::check_span(name, span)?;
            }
        }
        let by_packet =
            self.rounding == Rounding::Each || self.interpretation != Interpretation::Inner;
        if self.profile == Profile::Ns2 && !by_packet {
            return Err(BadSpec::Rounding);
        }
        Ok(())
    }
}

impl Settings for MredSettings {
    fn limit(&self) -> Limit {
        self.capacity()
    }

    fn limit_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn build<P: Packet + 'static>(
        &self,
        rate: Option<Rate>,
        seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
        let rate = rate.ok_or(BadSpec::NoRate("MRED"))?;
        Ok(Box::new(Mred::new(self, rate, seed)?))
    }
}
