//! The keys of RED.

use units::Bytes;

use super::{AdaptiveRedSettings, RedSettings, Unit, Victim};
use crate::keys::{Field, Keyed, Keys, Word};
use crate::law::{Curve, Profile};
use crate::{BadSpec, Limit};

impl Word for Unit {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("frames", Self::Frames),
        ("bytes", Self::Bytes),
        ("inner", Self::Inner),
    ];
}

impl Word for Victim {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("arriving", Self::Arriving),
        ("front", Self::Front),
        ("random", Self::Random),
    ];
}

/// RED that is being set.
pub(crate) struct RedKeys {
    red: RedSettings,
    /// Whether a threshold was written in bytes.
    bytes: bool,
}

impl Keyed for RedKeys {
    type Settings = RedSettings;
    const NAME: &'static str = "red";
    const ABOUT: &'static str = "Of `red` [Floyd1993].";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self {
            red: RedSettings::new(limit, largest),
            bytes: false,
        }
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        let Self { red, bytes } = self;
        keys.key(
            "unit",
            "Unit of the average queue; `inner`: packets in bundles.",
            Field::Word(&mut red.unit),
        );
        keys.key(
            "min",
            r#"The average queue from which packets are dropped; a size with `unit = "bytes"`."#,
            Field::Threshold {
                length: &mut red.curve.min,
                bytes,
            },
        );
        keys.key(
            "max",
            "The average queue at which `max_probability` is reached.",
            Field::Threshold {
                length: &mut red.curve.max,
                bytes,
            },
        );
        keys.key(
            "max_probability",
            "Probability of a drop at `max`.",
            Field::Probability(&mut red.curve.max_probability),
        );
        keys.key(
            "gentle",
            "Whether the probability rises to 1 at twice `max`, instead of being 1 from `max` on.",
            Field::Switch(&mut red.curve.gentle),
        );
        keys.key(
            "weight",
            "Weight of an arrival in the average.",
            Field::Weight(&mut red.weight),
        );
        keys.key(
            "mean_size",
            "Mean size of a packet, by which the average ages while the link is idle.",
            Field::Size(&mut red.mean_size),
        );
        keys.key(
            "drop_spacing",
            "Distribution of the gaps between drops.",
            Field::Word(&mut red.spread),
        );
        keys.key(
            "adaptive",
            "Whether `max_probability` adapts to the load.",
            Field::Switch(&mut red.adaptive),
        );
        keys.key(
            "ecn",
            "Whether ECN-capable packets are marked up to `max` instead of dropped.",
            Field::Switch(&mut red.ecn),
        );
        keys.key(
            "drop_position",
            "Which packet is dropped.",
            Field::Word(&mut red.victim),
        );
        keys.key(
            "profile",
            "`ns2`: as ns-2.35, where thresholds and limits in packets count packets of `mean_size` if the unit is bytes.",
            Field::Word(&mut red.profile),
        );
    }

    fn settings(self) -> Result<RedSettings, BadSpec> {
        let Self { mut red, bytes } = self;
        if bytes && red.unit != Unit::Bytes {
            return Err(BadSpec::Bytes);
        }
        if (red.profile, red.unit) == (Profile::Ns2, Unit::Bytes) {
            in_packets(red.mean_size, bytes, &mut red.curve, &mut red.limit);
        }
        Ok(red)
    }
}

impl Keyed for AdaptiveRedSettings {
    type Settings = Self;
    const NAME: &'static str = "ared";
    const ABOUT: &'static str = "Of `ared` [Floyd2001]: RED that finds its parameters itself.";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self::new(limit, largest)
    }

    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        keys.key(
            "target",
            "The target of the queueing delay.",
            Field::Span(&mut self.target),
        );
        keys.key(
            "mean_size",
            "Mean size of a packet.",
            Field::Size(&mut self.mean_size),
        );
        keys.key(
            "ecn",
            "Whether ECN-capable packets are marked instead of dropped.",
            Field::Switch(&mut self.ecn),
        );
    }

    fn settings(self) -> Result<Self, BadSpec> {
        Ok(self)
    }
}

/// In ns-2.35 thresholds and limit are numbers of packets even where the queue
/// is counted in bytes: of packets of the mean size [Ns2]. Thresholds that were
/// written in `bytes` stay.
pub(crate) fn in_packets(mean_size: Bytes, bytes: bool, curve: &mut Curve, limit: &mut Limit) {
    let size = mean_size.get() as f64;
    if !bytes {
        curve.min *= size;
        curve.max *= size;
    }
    if let Limit::Packets(packets) = *limit {
        *limit = Limit::Bytes(mean_size * u64::from(packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_written_in_bytes_only_where_the_unit_is_bytes() {
        for (unit, bytes, rejected) in [
            (Unit::Frames, false, None),
            (Unit::Frames, true, Some(BadSpec::Bytes)),
            (Unit::Inner, false, None),
            (Unit::Inner, true, Some(BadSpec::Bytes)),
            (Unit::Bytes, false, None),
            (Unit::Bytes, true, None),
        ] {
            let mut keys = RedKeys::usual(Limit::Packets(10), Bytes::new(1_500));
            keys.red.unit = unit;
            keys.bytes = bytes;
            assert_eq!(keys.settings().err(), rejected, "{unit:?} {bytes}");
        }
    }
}
