//! The parameters of queue disciplines: whose they are, what they are called,
//! and what their values mean.

use std::rc::Rc;

use queue::law::{Profile, Spread};
use queue::{Unit, Victim};

use super::{DISCIPLINES, Discipline, Draft, mred};
use crate::quantity::{float, number, probability, size, span, switch, word};
use crate::reader::Meaning;
use crate::tree::Value;

pub(super) const UNITS: &[(&str, Unit)] = &[
    ("frames", Unit::Frames),
    ("bytes", Unit::Bytes),
    ("inner", Unit::Inner),
];

pub(super) const SPREADS: &[(&str, Spread)] = &[
    ("independent", Spread::Independent),
    ("uniform", Spread::Uniform),
    ("wait", Spread::Wait),
];

const VICTIMS: &[(&str, Victim)] = &[
    ("arriving", Victim::Arriving),
    ("front", Victim::Front),
    ("random", Victim::Random),
];

pub(super) const PROFILES: &[(&str, Profile)] = &[("clean", Profile::Clean), ("ns2", Profile::Ns2)];

/// What a parameter of a discipline does to the queue that is being planned.
#[derive(Clone)]
pub(crate) struct Change(Rc<dyn Fn(&mut Draft)>);

impl Change {
    pub(super) fn make(&self, draft: &mut Draft) {
        (self.0)(draft);
    }
}

/// How a value is read.
pub(super) type Reads = fn(&Value) -> Meaning<Change>;

/// A parameter: whose it is, what it is called, what its values mean.
pub(crate) struct Parameter {
    pub(crate) discipline: Discipline,
    pub(crate) name: &'static str,
    pub(crate) meaning: Reads,
}

impl Parameter {
    /// Its key, below the table that has the key `queue`.
    pub(crate) fn key(&self) -> String {
        format!("{}.{}", self.discipline.name(), self.name)
    }
}

/// Every parameter of every discipline.
pub(crate) fn parameters() -> Vec<Parameter> {
    let mut all = Vec::new();
    let mut of = |discipline, list: &[(&'static str, Reads)]| {
        all.extend(list.iter().map(|&(name, meaning)| Parameter {
            discipline,
            name,
            meaning,
        }));
    };
    of(
        Discipline::DropTail,
        &[("profile", |v| {
            set(word(PROFILES)(v), |d, profile| d.drop_tail = profile)
        })],
    );
    of(
        Discipline::DropFront,
        &[("profile", |v| {
            set(word(PROFILES)(v), |d, profile| d.drop_front = profile)
        })],
    );
    of(
        Discipline::Red,
        &[
            ("unit", |v| set(word(UNITS)(v), |d, unit| d.red.unit = unit)),
            ("min", |v| set(threshold(v), Draft::set_red_min)),
            ("max", |v| set(threshold(v), Draft::set_red_max)),
            ("max_probability", |v| {
                set(probability(v), |d, p| d.red.curve.max_probability = p)
            }),
            ("gentle", |v| {
                set(switch(v), |d, on| d.red.curve.gentle = on)
            }),
            ("weight", |v| {
                set(weight(v), |d, weight| d.red.weight = weight)
            }),
            ("mean_size", |v| {
                set(size(v), |d, size| d.red.mean_size = size)
            }),
            ("spread", |v| {
                set(word(SPREADS)(v), |d, spread| d.red.spread = spread)
            }),
            ("adaptive", |v| set(switch(v), |d, on| d.red.adaptive = on)),
            ("ecn", |v| set(switch(v), |d, on| d.red.ecn = on)),
            ("victim", |v| {
                set(word(VICTIMS)(v), |d, victim| d.red.victim = victim)
            }),
            ("profile", |v| {
                set(word(PROFILES)(v), |d, profile| d.red.profile = profile)
            }),
        ],
    );
    of(
        Discipline::AdaptiveRed,
        &[
            ("target", |v| {
                set(span(v), |d, target| d.ared.target = target)
            }),
            ("mean_size", |v| {
                set(size(v), |d, size| d.ared.mean_size = size)
            }),
            ("ecn", |v| set(switch(v), |d, on| d.ared.ecn = on)),
        ],
    );
    of(Discipline::Mred, mred::PARAMETERS);
    of(
        Discipline::Rio,
        &[
            ("inside_min", |v| {
                set(frames(v), |d, n| d.rio.inside.min = n)
            }),
            ("inside_max", |v| {
                set(frames(v), |d, n| d.rio.inside.max = n)
            }),
            ("inside_max_probability", |v| {
                set(probability(v), |d, p| d.rio.inside.max_probability = p)
            }),
            ("outside_min", |v| {
                set(frames(v), |d, n| d.rio.outside.min = n)
            }),
            ("outside_max", |v| {
                set(frames(v), |d, n| d.rio.outside.max = n)
            }),
            ("outside_max_probability", |v| {
                set(probability(v), |d, p| d.rio.outside.max_probability = p)
            }),
            ("gentle", |v| {
                set(switch(v), |d, on| {
                    (d.rio.inside.gentle, d.rio.outside.gentle) = (on, on);
                })
            }),
            ("weight", |v| {
                set(weight(v), |d, weight| d.rio.weight = weight)
            }),
            ("mean_size", |v| {
                set(size(v), |d, size| d.rio.mean_size = size)
            }),
            ("spread", |v| {
                set(word(SPREADS)(v), |d, spread| d.rio.spread = spread)
            }),
            ("ecn", |v| set(switch(v), |d, on| d.rio.ecn = on)),
        ],
    );
    of(
        Discipline::Codel,
        &[
            ("target", |v| {
                set(span(v), |d, target| d.codel.target = target)
            }),
            ("interval", |v| {
                set(span(v), |d, span| d.codel.interval = span)
            }),
            ("ecn", |v| set(switch(v), |d, on| d.codel.ecn = on)),
        ],
    );
    of(
        Discipline::Pie,
        &[
            ("target", |v| {
                set(span(v), |d, target| d.pie.target = target)
            }),
            ("update", |v| {
                set(span(v), |d, update| d.pie.update = update)
            }),
            ("burst", |v| set(span(v), |d, burst| d.pie.burst = burst)),
            ("alpha", |v| set(frames(v), |d, alpha| d.pie.alpha = alpha)),
            ("beta", |v| set(frames(v), |d, beta| d.pie.beta = beta)),
            ("mean_size", |v| {
                set(size(v), |d, size| d.pie.mean_size = size)
            }),
            ("derandomise", |v| {
                set(switch(v), |d, on| d.pie.derandomise = on)
            }),
            ("ecn_below", |v| {
                set(probability(v), |d, p| d.pie.ecn = (p > 0.0).then_some(p))
            }),
        ],
    );
    of(
        Discipline::FqCodel,
        &[
            ("target", |v| {
                set(span(v), |d, target| d.fq.codel.target = target)
            }),
            ("interval", |v| {
                set(span(v), |d, span| d.fq.codel.interval = span)
            }),
            ("ecn", |v| set(switch(v), |d, on| d.fq.codel.ecn = on)),
            ("queues", |v| {
                set(count(v, u16::MAX.into()), |d, queues: u16| {
                    d.fq.queues = queues
                })
            }),
            ("quantum", |v| {
                set(size(v), |d, quantum| d.fq.quantum = quantum)
            }),
        ],
    );
    of(
        Discipline::Priority,
        &[
            ("classes", |v| {
                set(count(v, 8), |d, classes: u8| d.classes = classes)
            }),
            ("each", |v| {
                set(word(DISCIPLINES)(v), |d, each| d.each = each)
            }),
        ],
    );
    all
}

/// The change that a value makes.
pub(super) fn set<T: Copy + 'static>(
    meaning: Meaning<T>,
    change: impl Fn(&mut Draft, T) + 'static,
) -> Meaning<Change> {
    let (value, canonical) = meaning?;
    let change = Change(Rc::new(move |draft: &mut Draft| change(draft, value)));
    Ok((change, canonical))
}

/// A length of a queue: a number, or octets with their unit.
pub(super) fn threshold(value: &Value) -> Meaning<(f64, bool)> {
    if let Value::Text(_) = value {
        let (size, canonical) = size(value)?;
        return Ok(((size.get() as f64, true), canonical));
    }
    let (frames, canonical) = frames(value)?;
    Ok(((frames, false), canonical))
}

/// A number from 0 on.
pub(super) fn frames(value: &Value) -> Meaning<f64> {
    match float(value) {
        Some(number) if number >= 0.0 => Ok((number, value.clone())),
        _ => Err("write a number from 0 on".into()),
    }
}

pub(super) fn weight(value: &Value) -> Meaning<f64> {
    match float(value) {
        Some(weight) if weight > 0.0 && weight <= 1.0 => Ok((weight, value.clone())),
        _ => Err("write what one arrival counts: above 0, at most 1, for instance 0.002".into()),
    }
}

fn count<T: TryFrom<i64>>(value: &Value, most: i64) -> Meaning<T> {
    let (count, canonical) = number(1, most)(value)?;
    let count = T::try_from(count).map_err(|_| format!("write a number from 1 to {most}"))?;
    Ok((count, canonical))
}
