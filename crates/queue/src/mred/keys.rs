//! The keys of MRED and DDF [Mulahuwaish].

use units::Bytes;

use super::{Activation, Bounds, MredSettings, Over, Reading, Share, SizeOf};
use crate::keys::{Field, Key, Keyed, Keys, Reaction, Word};
use crate::law::{Pick, Profile};
use crate::red::in_packets;
use crate::{BadSpec, Limit, Unit, Victims};

impl Word for Activation {
    const WORDS: &'static [(&'static str, Self)] =
        &[("average", Self::Average), ("no-room", Self::NoRoom)];
}

impl Word for Over {
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

impl Word for Victims {
    const WORDS: &'static [(&'static str, Self)] =
        &[("front", Self::Front), ("spread", Self::Spread)];
}

impl Word for Pick {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("each", Self::Each),
        ("round", Self::Round),
        ("ceil", Self::Ceil),
        ("binomial", Self::Binomial),
    ];
}

/// [`Reading`] without its bounds, which have a key of their own.
#[derive(Clone, Copy, PartialEq)]
enum ReadAs {
    Inner,
    Paper,
}

impl Word for ReadAs {
    const WORDS: &'static [(&'static str, Self)] =
        &[("inner", Self::Inner), ("paper", Self::Paper)];
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
    /// Whether a threshold was written in octets.
    octets: bool,
    /// Whether bounds were written that the reading has no use for.
    has_idle_bounds: bool,
    /// Whether a kind of share was written that it has no use for.
    has_idle_share: bool,
    /// Whether sources are notified of drops.
    notify: bool,
    reaction: Reaction,
    /// Whether a reaction was written, and not whether sources are notified.
    has_idle_reaction: bool,
}

impl Keyed for MredKeys {
    type Settings = MredSettings;
    const NAME: &'static str = "mred";
    const ABOUT: &'static str = "Of `mred` [Mulahuwaish], see [MRED and DDF](#mred-and-ddf).";

    fn usual(limit: Limit, largest: Bytes) -> Self {
        Self {
            mred: MredSettings::new(limit, largest),
            octets: false,
            has_idle_bounds: false,
            has_idle_share: false,
            notify: false,
            reaction: Reaction::Retransmit,
            has_idle_reaction: false,
        }
    }

    /// The defaults depend on the reading of the paper, so it comes first.
    fn keys(&mut self, keys: &mut Keys<'_, '_>) {
        self.reading(keys);
        self.inner_drop(keys);
        self.notifying(keys);
        self.law(keys);
    }

    fn settings(self) -> Result<MredSettings, BadSpec> {
        let mut mred = self.mred;
        if self.has_idle_bounds {
            return Err(BadSpec::IdleBounds);
        }
        if self.has_idle_share {
            return Err(BadSpec::IdleShare);
        }
        if self.octets && mred.unit != Unit::Bytes {
            return Err(BadSpec::Octets);
        }
        if self.has_idle_reaction {
            return Err(BadSpec::IdleReaction);
        }
        if (mred.profile, mred.unit) == (Profile::Ns2, Unit::Bytes) {
            let (curve, limit) = (&mut mred.curve, &mut mred.limit);
            in_packets(mred.mean_size, self.octets, curve, limit);
        }
        Ok(mred)
    }

    fn notices(&self) -> Option<Reaction> {
        self.notify.then_some(self.reaction)
    }
}

impl MredKeys {
    fn reading(&mut self, keys: &mut Keys<'_, '_>) {
        let mut reading = ReadAs::Inner;
        keys.key(
            "reading",
            "How the paper is read.",
            Field::Word(&mut reading),
        );
        let Bounds { mut low, mut high } = Bounds::PRINTED;
        let has_bounds = keys.show(
            Key::new(
                "bounds",
                r#"Least and largest share of the packets of a frame, with `reading = "paper"` alone."#,
            ),
            Field::Shares(&mut low, &mut high),
        );
        let mut share = Share::Same;
        let has_share = keys.show(
            Key::new(
                "share",
                r#"With `reading = "paper"` alone, that share: `same`: RED's probability within `bounds`; `weighted`: that times the packets of the frame over those of an average one; `own`: from the lower bound at `min` to the upper at `max` for the frame with the most packets, and in proportion nearer to the lower bound for a frame with fewer."#,
            ),
            Field::Word(&mut share),
        );
        match reading {
            ReadAs::Inner => {
                self.has_idle_bounds = has_bounds;
                self.has_idle_share = has_share && share != Share::Same;
            }
            ReadAs::Paper => {
                self.mred = MredSettings {
                    reading: Reading::Paper(Bounds { low, high }),
                    share,
                    ..MredSettings::paper(self.mred.limit, self.mred.mean_size)
                };
            }
        }
    }

    fn inner_drop(&mut self, keys: &mut Keys<'_, '_>) {
        let mred = &mut self.mred;
        keys.show(
            Key::new(
                "when",
                "Whether the law is asked at each arrival, or only at one that finds no room.",
            )
            .or(r#"`"average"`; of `paper` `"no-room"`"#),
            Field::Word(&mut mred.when),
        );
        keys.show(
            Key::new("over", "Which frames lose packets: the one that arrives, the one that has waited longest, or all that wait.")
                .or(r#"`"arriving"`; of `paper` `"queue"`"#),
            Field::Word(&mut mred.over),
        );
        keys.show(
            Key::new("size", "How many packets a frame is taken to have: those left, or as many as its header says.")
                .or(r#"`"live"`; of `paper` `"header"`"#),
            Field::Word(&mut mred.size),
        );
        keys.show(
            Key::new("pick", "How many of N packets a probability p is: `each` by a decision of its own, `round` pN up or down at random, `ceil` up, `binomial` each by a draw of its own.")
                .or(r#"`"each"`; of `paper` `"round"`"#),
            Field::Word(&mut mred.pick),
        );
        keys.key(
            "victims",
            "Of a frame the packets in front, or one of each flow first.",
            Field::Word(&mut mred.victims),
        );
        let mut act = Act::Drop;
        keys.key(
            "act",
            "Whether packets that can be marked are marked, up to `max`.",
            Field::Word(&mut act),
        );
        mred.mark = act == Act::Mark;
        keys.key(
            "drop_time",
            "How long the drop of each packet takes; a frame that leaves before its turn keeps the rest.",
            Field::SpanOrNone(&mut mred.drop_time),
        );
    }

    fn notifying(&mut self, keys: &mut Keys<'_, '_>) {
        let is_written = keys.show(
            Key::new("notify", "Whether sources of TCP are notified of the packets that this queue drops, by packets of 56 octets (over IPv6 96) that travel back as any others.")
                .for_sources(),
            Field::Switch(&mut self.notify),
        );
        let reacts = keys.show(
            Key::new("react", "What they do: retransmit at once what they are notified of, and take duplicates for nothing new; or also bring the window down, once for what is in flight.")
                .for_sources(),
            Field::Word(&mut self.reaction),
        );
        self.has_idle_reaction = reacts && !is_written;
    }

    /// Those of RED, but for who is dropped.
    fn law(&mut self, keys: &mut Keys<'_, '_>) {
        const AS_OF_RED: &str = "As of `red`.";
        let Self { mred, octets, .. } = self;
        keys.show(
            Key::new("unit", AS_OF_RED).or(r#"`"inner"`; of `paper` `"frames"`"#),
            Field::Word(&mut mred.unit),
        );
        for (name, length) in [("min", &mut mred.curve.min), ("max", &mut mred.curve.max)] {
            keys.key(name, AS_OF_RED, Field::Threshold { length, octets });
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
        keys.key("spread", AS_OF_RED, Field::Word(&mut mred.spread));
        keys.key("adaptive", AS_OF_RED, Field::Switch(&mut mred.adaptive));
        keys.key("profile", AS_OF_RED, Field::Word(&mut mred.profile));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings with the key `share` written as `share`, and no other key.
    fn with_share(share: &str) -> Result<MredSettings, BadSpec> {
        let mut mred = MredKeys::usual(Limit::Packets(9), Bytes::new(1_500));
        let mut visitor = |_, key: &Key, field: Field<'_>| match (key.name, field) {
            ("share", Field::Word(word)) => word.choose(share),
            _ => false,
        };
        mred.keys(&mut Keys::new(MredKeys::NAME, &mut visitor));
        mred.settings()
    }

    #[test]
    fn a_share_is_refused_where_it_would_have_no_effect() {
        assert_eq!(with_share("own"), Err(BadSpec::IdleShare));
        assert!(with_share("same").is_ok(), "the default");
    }
}
