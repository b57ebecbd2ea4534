//! Queue disciplines as they are written: what they are called, what their
//! parameters mean, and what makes a queue of them.

mod mred;
mod parameters;

use anyhow::{Result, anyhow, bail};
use proto::tcp::React;
use queue::law::{Curve, Profile};
use queue::{
    AdaptiveRedSettings, BadSpec, CodelSettings, FqCodelSettings, Limit, Packet, PieSettings,
    RedSettings, RioSettings, Spec, Unit, View,
};
use units::{Bytes, Rate, Seed};

use super::quantity::word;
use super::tree::Value;
use mred::MredDraft;
#[cfg(test)]
pub(super) use parameters::Parameter;
pub(super) use parameters::{Change, parameters};

/// A discipline by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    DropTail,
    DropFront,
    Red,
    AdaptiveRed,
    Mred,
    Rio,
    Codel,
    Pie,
    FqCodel,
    Priority,
}

/// The names of all disciplines.
pub(super) const DISCIPLINES: &[(&str, Discipline)] = &[
    ("droptail", Discipline::DropTail),
    ("dropfront", Discipline::DropFront),
    ("red", Discipline::Red),
    ("ared", Discipline::AdaptiveRed),
    ("codel", Discipline::Codel),
    ("pie", Discipline::Pie),
    ("fq_codel", Discipline::FqCodel),
    ("priority", Discipline::Priority),
    ("rio", Discipline::Rio),
    ("mred", Discipline::Mred),
];

impl Discipline {
    /// How it is written, and how the table of its parameters is called.
    pub(super) fn name(self) -> &'static str {
        let named = DISCIPLINES.iter().find(|(_, other)| *other == self);
        named.map_or("", |(name, _)| name)
    }
}

/// A queue that is being planned: every discipline with its usual parameters,
/// until one is chosen.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    limit: Limit,
    drop_tail: Profile,
    drop_front: Profile,
    red: RedSettings,
    ared: AdaptiveRedSettings,
    mred: MredDraft,
    rio: RioSettings,
    codel: CodelSettings,
    pie: PieSettings,
    fq: FqCodelSettings,
    classes: u8,
    each: Discipline,
    /// Whether a threshold of RED was written in octets.
    octets: bool,
}

/// Why there cannot be such a queue.
pub(super) struct Trouble {
    /// The parameter or key that is at fault, as far as that can be told.
    pub(super) key: String,
    /// Why.
    pub(super) why: String,
}

impl Draft {
    /// The usual parameters where `limit` may wait and the largest frame has
    /// `largest` octets.
    pub(super) const fn new(limit: Limit, largest: Bytes) -> Self {
        Self {
            limit,
            drop_tail: Profile::Clean,
            drop_front: Profile::Clean,
            red: RedSettings::new(limit, largest),
            ared: AdaptiveRedSettings::new(limit, largest),
            mred: MredDraft::new(limit, largest),
            rio: RioSettings::new(limit, largest),
            codel: CodelSettings::new(limit, largest),
            pie: PieSettings::new(limit, largest),
            fq: FqCodelSettings::new(limit, largest),
            classes: 2,
            each: Discipline::DropTail,
            octets: false,
        }
    }

    pub(super) fn apply(&mut self, change: &Change) {
        change.make(self);
    }

    /// Whether parameters of `other` mean something where `discipline` is
    /// chosen.
    pub(super) fn uses(&self, discipline: Discipline, other: Discipline) -> bool {
        other == discipline || discipline == Discipline::Priority && other == self.each
    }

    /// The queue, in front of a link of `rate`.
    pub(super) fn spec(&self, discipline: Discipline, rate: Option<Rate>) -> Result<Spec, Trouble> {
        let spec = self.plain(discipline);
        if self.uses(discipline, Discipline::Red) && self.octets && self.red.unit != Unit::Bytes {
            return Err(Trouble {
                key: "red.max".into(),
                why: "octets are a threshold only where unit = \"bytes\"".into(),
            });
        }
        if self.uses(discipline, Discipline::Mred)
            && let Some(trouble) = self.mred.idle()
        {
            return Err(trouble);
        }
        match spec.build::<Anything>(rate, Seed::new(0)) {
            Ok(_) => Ok(spec),
            Err(bad) => Err(self.trouble(discipline, bad)),
        }
    }

    /// What sources do that the queue tells of what it drops, if it does.
    pub(super) fn notices(&self, discipline: Discipline) -> Option<React> {
        let is_used = self.uses(discipline, Discipline::Mred);
        self.mred.notices().filter(|_| is_used)
    }

    fn plain(&self, discipline: Discipline) -> Spec {
        let limit = self.limit;
        match discipline {
            Discipline::DropTail => Spec::DropTail {
                limit: within(limit, self.drop_tail),
            },
            Discipline::DropFront => Spec::DropFront {
                limit: within(limit, self.drop_front),
            },
            Discipline::Red => Spec::Red(self.red()),
            Discipline::AdaptiveRed => Spec::AdaptiveRed(self.ared.clone()),
            Discipline::Mred => self.mred.spec(),
            Discipline::Rio => Spec::Rio(self.rio.clone()),
            Discipline::Codel => Spec::Codel(self.codel.clone()),
            Discipline::Pie => Spec::Pie(self.pie.clone()),
            Discipline::FqCodel => Spec::FqCodel(self.fq.clone()),
            Discipline::Priority => Spec::Priority {
                classes: self.classes,
                each: Box::new(match self.each {
                    // It is refused as nested, once and not without an end.
                    Discipline::Priority => Spec::Priority {
                        classes: 1,
                        each: Box::new(Spec::DropTail { limit }),
                    },
                    each => self.plain(each),
                }),
            },
        }
    }

    /// Whether a plain queue is as ns-2.35 has it.
    pub(super) fn is_ns2(&self, discipline: Discipline) -> bool {
        let profile = match discipline {
            Discipline::DropTail => self.drop_tail,
            Discipline::DropFront => self.drop_front,
            _ => Profile::Clean,
        };
        profile == Profile::Ns2
    }

    /// RED as it was asked for.
    fn red(&self) -> RedSettings {
        let mut red = self.red.clone();
        if (red.profile, red.unit) != (Profile::Ns2, Unit::Bytes) {
            return red;
        }
        in_packets(red.mean_size, self.octets, &mut red.curve, &mut red.limit);
        red
    }

    fn trouble(&self, discipline: Discipline, bad: BadSpec) -> Trouble {
        let whose = match discipline {
            Discipline::Priority => self.each,
            other => other,
        };
        let key = match bad {
            BadSpec::Empty | BadSpec::Small => "buffer".to_owned(),
            BadSpec::NoRate(_) => "rate".to_owned(),
            BadSpec::Nested => "priority.each".to_owned(),
            BadSpec::Thresholds => format!("{}.max", whose.name()),
            BadSpec::Weight => format!("{}.weight", whose.name()),
            BadSpec::Bounds => "mred.bounds".to_owned(),
            BadSpec::Pick => "mred.pick".to_owned(),
            BadSpec::Zero("classes") => "priority.classes".to_owned(),
            BadSpec::Probability(name) | BadSpec::Zero(name) | BadSpec::Negative(name) => {
                format!("{}.{name}", whose.name())
            }
        };
        let why = bad.to_string();
        Trouble { key, why }
    }

    fn set_red_min(&mut self, (min, octets): (f64, bool)) {
        self.red.curve.min = min;
        self.octets |= octets;
    }

    fn set_red_max(&mut self, (max, octets): (f64, bool)) {
        self.red.curve.max = max;
        self.octets |= octets;
    }
}

/// The queue that `text` asks for: the name of a discipline, then parameters
/// of it, `red,min=5,max=15`; those of the queues of classes with their
/// discipline, `priority,each=red,red.min=5`. At most `limit` waits, the
/// largest frame has `largest` octets, and the link behind it has `rate`.
///
/// # Errors
/// In one line, with what would be right.
pub fn queue_of(text: &str, limit: Limit, rate: Option<Rate>, largest: Bytes) -> Result<Spec> {
    let mut parts = text.split(',');
    let name = parts.next().unwrap_or_default().trim();
    let (discipline, _) = word(DISCIPLINES)(&Value::Text(name.into()))
        .map_err(|_| anyhow!("no such queue; write {}", names()))?;
    let all = parameters();
    let mut draft = Draft::new(limit, largest);
    let mut given = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            anyhow!("`{part}` is no parameter; write NAME=VALUE, for instance red,min=5,max=15")
        })?;
        let (name, value) = (name.trim(), value.trim());
        let key = match name.contains('.') {
            true => name.to_owned(),
            false => format!("{}.{name}", discipline.name()),
        };
        let Some(parameter) = all.iter().find(|parameter| parameter.key() == key) else {
            let own = all.iter().filter(|known| known.discipline == discipline);
            let own: Vec<&str> = own.map(|known| known.name).collect();
            bail!("{name}: no such parameter; there are {}", own.join(", "));
        };
        let meaning = (parameter.meaning)(&plain_value(value));
        let (change, _) = meaning.map_err(|why| anyhow!("{name}={value}: {why}"))?;
        draft.apply(&change);
        given.push((name, parameter.discipline));
    }
    let stranger = given
        .iter()
        .find(|(_, other)| !draft.uses(discipline, *other));
    if let Some((name, other)) = stranger {
        bail!(
            "{name}: a parameter of {}, which is not asked for",
            other.name()
        );
    }
    if draft.notices(discipline).is_some() {
        bail!("mred.notify: only sources of the world `sim` understand it; leave it out");
    }
    draft
        .spec(discipline, rate)
        .map_err(|Trouble { key, why }| anyhow!("{key}: {why}"))
}

/// How much may wait in a plain queue: of ns-2.35's, the last place is never
/// taken [Ns2].
fn within(limit: Limit, profile: Profile) -> Limit {
    match (profile, limit) {
        (Profile::Clean, limit) => limit,
        (Profile::Ns2, Limit::Packets(most)) => Limit::Packets(most.saturating_sub(1)),
        (Profile::Ns2, Limit::Bytes(most)) => {
            Limit::Bytes(Bytes::new(most.get().saturating_sub(1)))
        }
    }
}

/// In ns-2.35 thresholds and limit are numbers of packets even where the queue
/// is counted in octets: of packets of the mean size [Ns2]. Thresholds that were
/// written in `octets` stay.
fn in_packets(mean_size: Bytes, octets: bool, curve: &mut Curve, limit: &mut Limit) {
    let size = mean_size.get() as f64;
    if !octets {
        curve.min *= size;
        curve.max *= size;
    }
    if let Limit::Packets(packets) = *limit {
        *limit = Limit::Bytes(mean_size * u64::from(packets));
    }
}

/// A packet that a queue is tried with before there is any.
struct Anything;

impl Packet for Anything {
    fn view(&self) -> View {
        View::default()
    }
}

/// A value as it stands on a command line.
fn plain_value(text: &str) -> Value {
    match (text.parse(), text.parse()) {
        (Ok(whole), _) => Value::Integer(whole),
        (_, Ok(number)) => Value::Float(number),
        _ => Value::Text(text.into()),
    }
}

fn names() -> String {
    let names: Vec<&str> = DISCIPLINES.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
