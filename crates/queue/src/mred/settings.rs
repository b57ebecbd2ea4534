//! What there is to choose about MRED.

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed, Span};

use super::Mred;
use crate::law::{Curve, Pick, Profile, Spread};
use crate::settings::Settings;
use crate::{BadSpec, Discipline, Limit, Packet, RedSettings, Unit, Victim, Victims};

/// How the paper's prose is read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reading {
    /// To the letter: of each frame that waits a share of its packets is met,
    /// the law's probability kept within bounds [Mulahuwaish s3].
    Paper(Bounds),
    /// The packet of a sender is what the law decides about: a bundle of N meets
    /// N decisions at the same average.
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

/// Which share of a frame is met, with [`Reading::Paper`]: it is to be
/// "different from jumbo frame to another" [Mulahuwaish s3], by no formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Share {
    /// The law's probability, the same of every frame.
    Same,
    /// The law's probability times the packets of the frame over those of an
    /// average one: a frame with more packets loses a larger share.
    Weighted,
    /// No probability: from [`Bounds::low`] at the lower threshold to
    /// [`Bounds::high`] at the upper one for the frame with the most packets,
    /// and in proportion less above the lower bound for a frame with fewer.
    Own,
}

/// When the law is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Activation {
    /// At every arrival: the average decides.
    Average,
    /// At an arrival that finds no room; before that every frame is let in
    /// [Mulahuwaish s3].
    NoRoom,
}

/// In which frames packets are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Over {
    /// In the one that arrives.
    Arriving,
    /// In the one that has waited longest; where all of it is met, in the next.
    Head,
    /// Spread over those that wait, from the oldest on, so that none dies whole
    /// while another has packets to spare [Mulahuwaish s3].
    Queue,
}

/// What is believed of how much is in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SizeOf {
    /// Its header: the number of packets and their average length, which do not
    /// change when packets are dropped out of it [Mulahuwaish s3].
    Header,
    /// What lives.
    Live,
}

/// MRED's parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MredSettings {
    /// How much may wait.
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
    /// Whose RED decides. As in ns-2, no room comes before everything else, and
    /// the law is asked packet by packet.
    pub profile: Profile,
    /// How the paper is read.
    pub reading: Reading,
    /// Which share of a frame is met, as the paper is read.
    pub share: Share,
    /// When the law is asked.
    pub when: Activation,
    /// In which frames packets are met.
    pub over: Over,
    /// What is believed of how much is in a frame.
    pub size: SizeOf,
    /// Which packets of a frame are met.
    pub victims: Victims,
    /// How many.
    pub pick: Pick,
    /// Whether packets that are met are marked, where they can be, instead of
    /// dropped; beyond [`Curve::max`] they are dropped all the same
    /// [RFC3168 s7]. It takes a frame that says so of each of its packets: the
    /// ECN field of an outer header is one for all [RFC3168 s5].
    pub mark: bool,
    /// How long the drop of one packet takes, after those that are due before
    /// it; a frame that leaves before its turn keeps the rest. `None`: no time.
    pub drop_time: Option<Span>,
}

impl MredSettings {
    /// RED's usual parameters [`RedSettings::new`], counting packets of senders;
    /// the arriving bundle loses its first.
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
            reading: Reading::Inner,
            share: Share::Same,
            when: Activation::Average,
            over: Over::Arriving,
            size: SizeOf::Live,
            victims: Victims::Front,
            pick: Pick::Each,
            mark: false,
            drop_time: None,
        }
    }

    /// What the paper says, as far as it says it: frames are counted, nothing
    /// happens while there is room, then shares within its bounds are taken of
    /// the frames that wait [Mulahuwaish s3].
    pub const fn paper(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            unit: Unit::Frames,
            reading: Reading::Paper(Bounds::PRINTED),
            when: Activation::NoRoom,
            over: Over::Queue,
            size: SizeOf::Header,
            pick: Pick::Round,
            ..Self::new(limit, mean_size)
        }
    }

    /// The RED that it is where nothing is bundled, read as inner packets with
    /// [`Activation::Average`], no drop time and every pick that goes by the spread.
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
            victim: match self.over {
                Over::Arriving => Victim::Arriving,
                Over::Head | Over::Queue => Victim::Front,
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
        if let Reading::Paper(Bounds { low, high }) = self.reading {
            BadSpec::check_probability("the lower bound", low)?;
            BadSpec::check_probability("the upper bound", high)?;
            if low > high {
                return Err(BadSpec::Bounds);
            }
        }
        if let Some(span) = self.drop_time {
            BadSpec::check_span("drop_time", span)?;
        }
        let by_packet = self.pick == Pick::Each || self.reading != Reading::Inner;
        if self.profile == Profile::Ns2 && !by_packet {
            return Err(BadSpec::Pick);
        }
        Ok(())
    }
}

impl Settings for MredSettings {
    fn limit(&self) -> Limit {
        self.limit
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
