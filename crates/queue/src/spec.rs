//! A discipline as it is written down, and the list of all.

use alloc::boxed::Box;

use units::{Bytes, Rate, Seed};

use crate::drop_front::DropFrontKeys;
use crate::drop_tail::DropTailKeys;
use crate::mred::MredKeys;
use crate::priority::PriorityKeys;
use crate::red::RedKeys;
use crate::settings::Settings;
use crate::{
    AdaptiveRedSettings, BadSpec, Choice, CodelSettings, Discipline, DropFront, DropTail,
    FqCodelSettings, Limit, MredSettings, Packet, PieSettings, Priority, RedSettings, RioSettings,
    Unit,
};

/// Makes [`Spec`] and [`DISCIPLINES`] of a list: what has the keys of each
/// discipline, and the settings that it comes to. Those without settings here
/// are variants that [`Spec`] has anyway.
macro_rules! disciplines {
    ($($keys:ty $(=> $variant:ident($settings:ident))?,)*) => {
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
            /// See [`Priority`].
            Priority {
                /// The number of classes.
                classes: u8,
                /// The queue of each class.
                each: Box<Self>,
            },
            $($(
                #[doc = concat!("See [`", stringify!($settings), "`].")]
                $variant($settings),
            )?)*
        }

        /// The disciplines that can be asked for by name, the usual one first.
        pub const DISCIPLINES: &[Choice] = &[$(Choice::of::<$keys>()),*];

        $($(
            impl From<$settings> for Spec {
                fn from(settings: $settings) -> Self {
                    Self::$variant(settings)
                }
            }
        )?)*

        impl Spec {
            /// How much may wait in it, or in each of its classes.
            pub fn limit_of_class(&self) -> Limit {
                match self {
                    Self::DropTail { limit } | Self::DropFront { limit } => *limit,
                    Self::Priority { each, .. } => each.limit_of_class(),
                    $($(Self::$variant(settings) => settings.limit(),)?)*
                }
            }

            /// The same, to be changed.
            pub fn limit_of_class_mut(&mut self) -> &mut Limit {
                match self {
                    Self::DropTail { limit } | Self::DropFront { limit } => limit,
                    Self::Priority { each, .. } => each.limit_of_class_mut(),
                    $($(Self::$variant(settings) => settings.limit_mut(),)?)*
                }
            }

            /// The discipline, empty, in front of a link of `rate` (`None`: bits
            /// take no time); whatever chance decides follows from `seed`.
            ///
            /// # Errors
            /// Where there cannot be such a queue, or not without a rate.
            pub fn build<P: Packet + 'static>(
                &self,
                rate: Option<Rate>,
                seed: Seed,
            ) -> Result<Box<dyn Discipline<P>>, BadSpec> {
                Ok(match self {
                    Self::DropTail { limit } => {
                        BadSpec::check_limit(*limit, Bytes::ZERO)?;
                        Box::new(DropTail::new(*limit))
                    }
                    Self::DropFront { limit } => {
                        BadSpec::check_limit(*limit, Bytes::ZERO)?;
                        Box::new(DropFront::new(*limit))
                    }
                    Self::Priority { each, .. } if matches!(**each, Self::Priority { .. }) => {
                        return Err(BadSpec::Nested);
                    }
                    Self::Priority { classes, each } => {
                        Box::new(Priority::new(*classes, each, rate, seed)?)
                    }
                    $($(Self::$variant(settings) => settings.build(rate, seed)?,)?)*
                })
            }
        }
    };
}

// In the order of the documents.
disciplines! {
    DropTailKeys,
    DropFrontKeys,
    RedKeys => Red(RedSettings),
    AdaptiveRedSettings => AdaptiveRed(AdaptiveRedSettings),
    CodelSettings => Codel(CodelSettings),
    PieSettings => Pie(PieSettings),
    FqCodelSettings => FqCodel(FqCodelSettings),
    PriorityKeys,
    RioSettings => Rio(RioSettings),
    MredKeys => Mred(MredSettings),
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

    /// The thresholds of the average queue in frames, min and max; `None` where the
    /// discipline has none, finds them itself or counts something else.
    pub fn thresholds(&self) -> Option<[f64; 2]> {
        let (unit, curve) = match self {
            Self::Red(red) => (red.unit, red.curve),
            Self::Mred(mred) => (mred.unit, mred.curve),
            Self::Rio(rio) => (Unit::Frames, rio.outside),
            _ => return None,
        };
        (unit == Unit::Frames).then_some([curve.min, curve.max])
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
}
