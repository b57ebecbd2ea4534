//! A discipline as it is written down.

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed};

use crate::{
    AdaptiveRedSettings, BadSpec, Codel, CodelSettings, Discipline, DropFront, DropTail, FqCodel,
    FqCodelSettings, Limit, Mred, MredSettings, Packet, Pie, PieSettings, Priority, Red,
    RedSettings, Rio, RioSettings,
};

/// A discipline and its parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Spec {
    /// See [`DropTail`].
    DropTail {
        /// How much may wait.
        limit: Limit,
    },
    /// See [`DropFront`].
    DropFront {
        /// How much may wait.
        limit: Limit,
    },
    /// See [`Red`].
    Red(RedSettings),
    /// [`Red`] that adapts and finds its parameters from the link's rate.
    AdaptiveRed(AdaptiveRedSettings),
    /// See [`Mred`].
    Mred(MredSettings),
    /// See [`Rio`].
    Rio(RioSettings),
    /// See [`Codel`].
    Codel(CodelSettings),
    /// See [`Pie`].
    Pie(PieSettings),
    /// See [`FqCodel`].
    FqCodel(FqCodelSettings),
    /// See [`Priority`].
    Priority {
        /// How many classes there are.
        classes: u8,
        /// What the queue of each class is like.
        each: Box<Self>,
    },
}

impl Spec {
    /// Drop-tail as ns-2.35 has it, which never lets the last of its `frames`
    /// places be taken [Ns2].
    pub const fn ns2_drop_tail(frames: u32) -> Self {
        let limit = Limit::Packets(frames.saturating_sub(1));
        Self::DropTail { limit }
    }

    /// Drop-from-front as ns-2.35's drop-tail does it, with the same place
    /// that is never taken [Ns2].
    pub const fn ns2_drop_front(frames: u32) -> Self {
        let limit = Limit::Packets(frames.saturating_sub(1));
        Self::DropFront { limit }
    }

    /// How much may wait in it: in all classes together, where it has some.
    pub fn limit(&self) -> Limit {
        match self {
            Self::Priority { classes, each } => match each.limit() {
                Limit::Bytes(most) => Limit::Bytes(most * u64::from(*classes)),
                Limit::Packets(most) => Limit::Packets(most.saturating_mul((*classes).into())),
            },
            simple => simple.limit_of_class(),
        }
    }

    /// How much may wait in it, or in each of its classes.
    pub fn limit_of_class(&self) -> Limit {
        match self {
            Self::DropTail { limit } | Self::DropFront { limit } => *limit,
            Self::Red(settings) => settings.limit,
            Self::AdaptiveRed(settings) => settings.limit,
            Self::Mred(settings) => settings.limit,
            Self::Rio(settings) => settings.limit,
            Self::Codel(settings) => settings.limit,
            Self::Pie(settings) => settings.limit,
            Self::FqCodel(settings) => settings.codel.limit,
            Self::Priority { each, .. } => each.limit_of_class(),
        }
    }

    /// The same, to be changed.
    pub fn limit_of_class_mut(&mut self) -> &mut Limit {
        match self {
            Self::DropTail { limit } | Self::DropFront { limit } => limit,
            Self::Red(settings) => &mut settings.limit,
            Self::AdaptiveRed(settings) => &mut settings.limit,
            Self::Mred(settings) => &mut settings.limit,
            Self::Rio(settings) => &mut settings.limit,
            Self::Codel(settings) => &mut settings.limit,
            Self::Pie(settings) => &mut settings.limit,
            Self::FqCodel(settings) => &mut settings.codel.limit,
            Self::Priority { each, .. } => each.limit_of_class_mut(),
        }
    }

    /// The discipline, empty, in front of a link of `rate` (`None`: bits take
    /// no time); whatever chance decides follows from `seed`.
    ///
    /// # Errors
    /// Where there cannot be such a queue, or not without a rate.
    pub fn build<P: Packet + 'static>(
        &self,
        rate: Option<Rate>,
        seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
        let needed = |name| rate.ok_or(BadSpec::NoRate(name));
        Ok(match self {
            Self::DropTail { limit } => {
                BadSpec::check_limit(*limit, Bytes::ZERO)?;
                Box::new(DropTail::new(*limit))
            }
            Self::DropFront { limit } => {
                BadSpec::check_limit(*limit, Bytes::ZERO)?;
                Box::new(DropFront::new(*limit))
            }
            Self::Red(settings) => Box::new(Red::new(settings, needed("RED")?, seed)?),
            Self::AdaptiveRed(settings) => {
                let rate = needed("adaptive RED")?;
                if settings.mean_size == Bytes::ZERO {
                    return Err(BadSpec::Zero("mean_size"));
                }
                Box::new(Red::new(&settings.settings(rate), rate, seed)?)
            }
            Self::Mred(settings) => Box::new(Mred::new(settings, needed("MRED")?, seed)?),
            Self::Rio(settings) => Box::new(Rio::new(settings, needed("RIO")?, seed)?),
            Self::Codel(settings) => Box::new(Codel::new(settings)?),
            Self::Pie(settings) => Box::new(Pie::new(settings, needed("PIE")?, seed)?),
            Self::FqCodel(settings) => Box::new(FqCodel::new(settings, seed)?),
            Self::Priority { each, .. } if matches!(**each, Self::Priority { .. }) => {
                return Err(BadSpec::Nested);
            }
            Self::Priority { classes, each } => {
                Box::new(Priority::new(*classes, each, rate, seed)?)
            }
        })
    }
}
