//! MRED and DDF as they are written [Mulahuwaish].

use proto::tcp::React;
use queue::law::{Pick, Profile};
use queue::{Bounds, MredSettings, Over, Reading, Spec, Unit, Victims, When};
use queue::{Limit, SizeOf};
use units::{Bytes, Span};

use super::parameters::{PROFILES, Reads, SPREADS, UNITS, frames, set, threshold, weight};
use super::{Draft, Trouble, in_packets};
use crate::quantity::{probability, size, span_or, switch, word};
use crate::reader::Meaning;
use crate::tree::Value;

const READINGS: &[(&str, bool)] = &[("inner", false), ("paper", true)];

const WHENS: &[(&str, When)] = &[("average", When::Average), ("no-room", When::NoRoom)];

const OVERS: &[(&str, Over)] = &[
    ("arriving", Over::Arriving),
    ("head", Over::Head),
    ("queue", Over::Queue),
];

const SIZES: &[(&str, SizeOf)] = &[("live", SizeOf::Live), ("header", SizeOf::Header)];

const VICTIMS: &[(&str, Victims)] = &[("front", Victims::Front), ("spread", Victims::Spread)];

const PICKS: &[(&str, Pick)] = &[
    ("each", Pick::Each),
    ("round", Pick::Round),
    ("ceil", Pick::Ceil),
    ("binomial", Pick::Binomial),
];

/// Whether packets that are met are marked.
const ACTS: &[(&str, bool)] = &[("drop", false), ("mark", true)];

const REACTIONS: &[(&str, React)] = &[
    ("retransmit", React::Retransmit),
    ("retransmit + reduce", React::RetransmitAndReduce),
];

/// MRED that is being planned. What is left out depends on how the paper is
/// read, which may be written later: so both readings are kept.
#[derive(Clone, Debug)]
pub(super) struct MredDraft {
    inner: MredSettings,
    paper: MredSettings,
    is_paper: bool,
    has_bounds: bool,
    /// Whether a threshold was written in octets.
    octets: bool,
    /// Whether sources are told what it drops, where that was written, and what
    /// they do.
    notify: Option<bool>,
    react: Option<React>,
}

impl MredDraft {
    pub(super) const fn new(limit: Limit, mean_size: Bytes) -> Self {
        Self {
            inner: MredSettings::new(limit, mean_size),
            paper: MredSettings::paper(limit, mean_size),
            is_paper: false,
            has_bounds: false,
            octets: false,
            notify: None,
            react: None,
        }
    }

    /// What sources do that are told of drops, if they are.
    pub(super) fn notices(&self) -> Option<React> {
        let told = self.notify == Some(true);
        told.then(|| self.react.unwrap_or(React::Retransmit))
    }

    /// The queue; whatever cannot be, other than what MRED refuses itself.
    pub(super) fn spec(&self) -> Spec {
        let mut chosen = self.chosen().clone();
        if (chosen.profile, chosen.unit) == (Profile::Ns2, Unit::Bytes) {
            let (curve, limit) = (&mut chosen.curve, &mut chosen.limit);
            in_packets(chosen.mean_size, self.octets, curve, limit);
        }
        Spec::Mred(chosen)
    }

    /// What would be of no effect.
    pub(super) fn idle(&self) -> Option<Trouble> {
        let (key, why) = match self.chosen() {
            _ if self.has_bounds && !self.is_paper => (
                "mred.bounds",
                "only reading = \"paper\" keeps a share within bounds; write it too, or leave them out",
            ),
            chosen if self.octets && chosen.unit != Unit::Bytes => (
                "mred.max",
                "octets are a threshold only where unit = \"bytes\"",
            ),
            _ if self.react.is_some() && self.notify.is_none() => (
                "mred.react",
                "only who is told reacts: write notify = \"on\" too, or leave it out",
            ),
            _ => return None,
        };
        Some(Trouble {
            key: key.into(),
            why: why.into(),
        })
    }

    const fn chosen(&self) -> &MredSettings {
        match self.is_paper {
            true => &self.paper,
            false => &self.inner,
        }
    }

    fn both(&mut self, change: impl Fn(&mut MredSettings)) {
        change(&mut self.inner);
        change(&mut self.paper);
    }
}

/// Its parameters: those of RED, but for who is dropped, and its own.
pub(super) const PARAMETERS: &[(&str, Reads)] = &[
    ("reading", |v| {
        set(word(READINGS)(v), |d, paper| d.mred.is_paper = paper)
    }),
    ("bounds", |v| {
        set(bounds(v), |d, bounds| {
            d.mred.paper.reading = Reading::Paper(bounds);
            d.mred.has_bounds = true;
        })
    }),
    ("when", |v| {
        set(word(WHENS)(v), |d, when| d.mred.both(|m| m.when = when))
    }),
    ("over", |v| {
        set(word(OVERS)(v), |d, over| d.mred.both(|m| m.over = over))
    }),
    ("size", |v| {
        set(word(SIZES)(v), |d, size| d.mred.both(|m| m.size = size))
    }),
    ("pick", |v| {
        set(word(PICKS)(v), |d, pick| d.mred.both(|m| m.pick = pick))
    }),
    ("victims", |v| {
        set(word(VICTIMS)(v), |d, victims| {
            d.mred.both(|m| m.victims = victims);
        })
    }),
    ("act", |v| {
        set(word(ACTS)(v), |d, mark| d.mred.both(|m| m.mark = mark))
    }),
    ("drop_time", |v| {
        set(span_or("none")(v), |d: &mut Draft, time: Option<Span>| {
            d.mred.both(|m| m.drop_time = time);
        })
    }),
    ("notify", |v| {
        set(switch(v), |d, on| d.mred.notify = Some(on))
    }),
    ("react", |v| {
        set(word(REACTIONS)(v), |d, react| d.mred.react = Some(react))
    }),
    ("unit", |v| {
        set(word(UNITS)(v), |d, unit| d.mred.both(|m| m.unit = unit))
    }),
    ("min", |v| {
        set(threshold(v), |d, (min, octets)| {
            d.mred.both(|m| m.curve.min = min);
            d.mred.octets |= octets;
        })
    }),
    ("max", |v| {
        set(threshold(v), |d, (max, octets)| {
            d.mred.both(|m| m.curve.max = max);
            d.mred.octets |= octets;
        })
    }),
    ("max_probability", |v| {
        set(probability(v), |d, p| {
            d.mred.both(|m| m.curve.max_probability = p);
        })
    }),
    ("gentle", |v| {
        set(switch(v), |d, on| d.mred.both(|m| m.curve.gentle = on))
    }),
    ("weight", |v| {
        set(weight(v), |d, weight| d.mred.both(|m| m.weight = weight))
    }),
    ("mean_size", |v| {
        set(size(v), |d, size| d.mred.both(|m| m.mean_size = size))
    }),
    ("spread", |v| {
        set(word(SPREADS)(v), |d, spread| {
            d.mred.both(|m| m.spread = spread);
        })
    }),
    ("adaptive", |v| {
        set(switch(v), |d, on| d.mred.both(|m| m.adaptive = on))
    }),
    ("profile", |v| {
        set(word(PROFILES)(v), |d, profile| {
            d.mred.both(|m| m.profile = profile);
        })
    }),
];

/// `0.01..0.5`.
fn bounds(value: &Value) -> Meaning<Bounds> {
    const EXAMPLE: &str = "write the least and the largest share of a frame's packets, from 0 to 1, for instance \"0.01..0.5\"";
    let Value::Text(text) = value else {
        return Err(EXAMPLE.into());
    };
    let (low, high) = text.split_once("..").ok_or(EXAMPLE)?;
    let share = |text: &str| -> Result<f64, String> {
        let number = text.trim().parse().map_err(|_| EXAMPLE)?;
        let (share, _) = frames(&Value::Float(number)).map_err(|_| EXAMPLE)?;
        if share > 1.0 {
            return Err(EXAMPLE.into());
        }
        Ok(share)
    };
    let (low, high) = (share(low)?, share(high)?);
    match low <= high {
        true => Ok((Bounds { low, high }, Value::Text(format!("{low}..{high}")))),
        false => Err("the lower bound is above the upper one; swap them".into()),
    }
}
