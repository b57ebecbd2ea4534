//! The keys of MRED and DDF [Mulahuwaish].

use alloc::vec::Vec;

use units::Bytes;

use super::{Bounds, Candidates, Interpretation, MredSettings, MredTrigger, Share, SizeOf};
use crate::keys::{Field, Key, Keyed, Keys, Reaction, Word};
use crate::law::{Profile, Rounding};
use crate::red::in_packets;
use crate::{BadSpec, Limit, Selection, Unit};

impl Word for MredTrigger {
    const WORDS: &'static [(&'static str, Self)] =
        &[("average", Self::Average), ("no-room", Self::NoRoom)];
}

impl Word for Candidates {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("arriving", Self::Arriving),
        ("head", Self::Head),
        ("queue", Self::Queue),
    ];
}

impl Word for Share {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("same", Self::Same),
        ("weighted", Self::Weighted),
        ("own", Self::Own),
    ];
}

impl Word for SizeOf {
    const WORDS: &'static [(&'static str, Self)] =
        &[("live", Self::Live), ("header", Self::Header)];
}

impl Word for Selection {
    const WORDS: &'static [(&'static str, Self)] =
        &[("front", Self::Front), ("spread", Self::Spread)];
}

impl Word for Rounding {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("each", Self::Each),
        ("round", Self::Round),
        ("ceil", Self::Ceil),
        ("binomial", Self::Binomial),
    ];
}

/// [`Interpretation`] without its bounds, which have a key of their own.
#[derive(Clone, Copy, PartialEq)]
enum ReadAs {
    Inner,
    Letter,
}

impl Word for ReadAs {
    const WORDS: &'static [(&'static str, Self)] =
        &[("inner", Self::Inner), ("letter", Self::Letter)];
}

/// [`MredSettings::mark`].
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Drop,
    Mark,
}

impl Word for Act {
    const WORDS: &'static [(&'static str, Self)] = &[("drop", Self::Drop), ("mark", Self::Mark)];
}

/// MRED that is being set.
pub(crate) struct MredKeys {
    mred: MredSettings,
    /// Whether a threshold was written in bytes.
    bytes: bool,
    /// What was written and has no effect beside the other keys.
    idle: Vec<BadSpec>,
    /// Whether sources are notified of drops.
    notify: bool,
    reaction: Reaction,
}

impl Keyed for MredKeys {
    type Settings = MredSettings;
    const NAME: &'static str = "mred";
    const ABOUT: &'static str =
        "Of `mred` [Mulahuwaish], see [MRED and DDF](experiments.md#mred-and-ddf).";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self {
            mred: MredSettings::new(limit, largest),
            bytes: false,
            idle: Vec::new(),
            notify: false,
            reaction: Reaction::Retransmit,
        }
    }

    /// The defaults depend on the interpretation of the paper, so it comes first.
    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        self.interpretation(keys);
        self.inner_drop(keys);
        self.notifying(keys);
        self.law(keys);
    }

    fn settings(self) -> Result<MredSettings, BadSpec> {
        let mut mred = self.mred;
        if self.bytes && mred.unit != Unit::Bytes {
            return Err(BadSpec::Bytes);
        }
        if (mred.profile, mred.unit) == (Profile::Ns2, Unit::Bytes) {
            let (curve, limit) = (&mut mred.curve, &mut mred.limit);
            in_packets(mred.mean_size, self.bytes, curve, limit);
        }
        Ok(mred)
    }

    fn notices(&self) -> Option<Reaction> {
        self.notify.then_some(self.reaction)
    }

    fn idle(&self) -> Vec<BadSpec> {
        self.idle.clone()
    }
}

impl MredKeys {
    fn interpretation(&mut self, keys: &mut Keys<'_, '_>) {
        let mut interpretation = ReadAs::Inner;
        keys.key(
            "interpretation",
            "The interpretation of the paper.",
            Field::Word(&mut interpretation),
        );
        let Bounds { mut low, mut high } = Bounds::PRINTED;
        let has_bounds = keys.show(
            Key::new(
                "bounds",
                r#"Only with `interpretation = "letter"`: smallest and largest share of a frame's packets."#,
            ),
            Field::Shares(&mut low, &mut high),
        );
        let mut share = Share::Own;
        let has_share = keys.show(
            Key::new(
                "share",
                r#"Only with `interpretation = "letter"`: the share. `own`: from the lower bound at `min` to the upper at `max` for the frame with the largest content, and in proportion less for others; `same`: RED's probability within `bounds`; `weighted`: this times the frame's packets over those of an average frame."#,
            )
            .or(r#"of `letter` `"own"`"#),
            Field::Word(&mut share),
        );
        match interpretation {
            ReadAs::Inner => {
                self.idle.extend(has_bounds.then_some(BadSpec::IdleBounds));
                self.idle.extend(has_share.then_some(BadSpec::IdleShare));
            }
            ReadAs::Letter => {
                self.mred = MredSettings {
                    interpretation: Interpretation::Letter(Bounds { low, high }),
                    share,
                    ..MredSettings::letter(self.mred.limit, self.mred.mean_size)
                };
                self.notify = true;
                self.reaction = Reaction::RetransmitAndReduce;
            }
        }
    }

    fn inner_drop(&mut self, keys: &mut Keys<'_, '_>) {
        let mred = &mut self.mred;
        keys.show(
            Key::new(
                "trigger",
                "Whether each arrival is decided on, or only one that finds no room.",
            )
            .or(r#"`"average"`; of `letter` `"no-room"`"#),
            Field::Word(&mut mred.trigger),
        );
        keys.show(
            Key::new(
                "candidates",
                "Which frames lose packets: the arriving one, the oldest, or all in the queue.",
            )
            .or(r#"`"arriving"`; of `letter` `"queue"`"#),
            Field::Word(&mut mred.candidates),
        );
        keys.show(
            Key::new(
                "size_source",
                "The number of packets of a frame: those left, or those in its header.",
            )
            .or(r#"`"live"`; of `letter` `"header"`"#),
            Field::Word(&mut mred.size),
        );
        keys.show(
            Key::new("rounding", "How many of N packets are picked at probability p: `each` one decision per packet, `round` pN rounded at random, `ceil` pN rounded up, `binomial` one draw per packet.")
                .or(r#"`"each"`; of `letter` `"round"`"#),
            Field::Word(&mut mred.rounding),
        );
        keys.key(
            "selection",
            "The packets at the front of a frame, or one of each flow first.",
            Field::Word(&mut mred.selection),
        );
        let mut act = Act::Drop;
        keys.key(
            "action",
            "Whether ECN-capable packets are marked up to `max` instead of dropped.",
            Field::Word(&mut act),
        );
        mred.mark = act == Act::Mark;
        for (name, meaning, span) in [
            (
                "mark_time",
                "Time to decide on each frame, before the first drop.",
                &mut mred.mark_time,
            ),
            (
                "drop_time",
                "Time to drop each packet, one after the other from the head of the queue. A frame that leaves earlier keeps its packets; an arrival without room brings drops forward.",
                &mut mred.drop_time,
            ),
        ] {
            let key = Key::new(name, meaning).or(r#"`"none"`; of `letter` `"1us"`"#);
            keys.show(key, Field::SpanOrNone(span));
        }
    }

    fn notifying(&mut self, keys: &mut Keys<'_, '_>) {
        let is_written = keys.show(
            Key::new("notify", "Whether TCP sources are notified of drops, by packets of 56 bytes (IPv6: 96) over the reverse path.")
                .or(r#"`"off"`; of `letter` `"on"`"#)
                .for_sources(),
            Field::Switch(&mut self.notify),
        );
        let reacts = keys.show(
            Key::new("reaction", "The source's reaction: retransmit at once and ignore duplicates; or also reduce the window, once per flight.")
                .or(r#"`"retransmit"`; of `letter` `"retransmit + reduce"`"#)
                .for_sources(),
            Field::Word(&mut self.reaction),
        );
        let is_idle = reacts && !is_written && !self.notify;
        self.idle.extend(is_idle.then_some(BadSpec::IdleReaction));
    }

    /// Those of RED, but for who is dropped.
    fn law(&mut self, keys: &mut Keys<'_, '_>) {
        const AS_OF_RED: &str = "As of `red`.";
        let Self { mred, bytes, .. } = self;
        keys.show(
            Key::new("unit", AS_OF_RED).or(r#"`"inner"`; of `letter` `"frames"`"#),
            Field::Word(&mut mred.unit),
        );
        for (name, length) in [("min", &mut mred.curve.min), ("max", &mut mred.curve.max)] {
            keys.key(name, AS_OF_RED, Field::Threshold { length, bytes });
        }
        let curve = &mut mred.curve;
        keys.key(
            "max_probability",
            AS_OF_RED,
            Field::Probability(&mut curve.max_probability),
        );
        keys.key("gentle", AS_OF_RED, Field::Switch(&mut curve.gentle));
        keys.key("weight", AS_OF_RED, Field::Weight(&mut mred.weight));
        keys.key("mean_size", AS_OF_RED, Field::Size(&mut mred.mean_size));
        keys.key("drop_spacing", AS_OF_RED, Field::Word(&mut mred.spread));
        keys.key("adaptive", AS_OF_RED, Field::Switch(&mut mred.adaptive));
        keys.key("profile", AS_OF_RED, Field::Word(&mut mred.profile));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has no effect with the key `share` written as `share`, and no other key.
    fn with_share(share: &str) -> Vec<BadSpec> {
        let mut mred = MredKeys::usual(Limit::Packets(9), Bytes::new(1_500));
        let mut visitor = |_, key: &Key, field: Field<'_>| match (key.name, field) {
            ("share", Field::Word(word)) => word.choose(share),
            _ => false,
        };
        mred.keys(&mut Keys::new(MredKeys::NAME, &mut visitor));
        mred.idle()
    }

    #[test]
    fn a_share_has_no_effect_without_the_letter() {
        for share in ["own", "same", "weighted"] {
            assert_eq!(with_share(share), [BadSpec::IdleShare]);
        }
    }
}
