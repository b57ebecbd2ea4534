//! Builds queue disciplines from the keys in [`queue::DISCIPLINES`].

mod field;

use anyhow::{Result, anyhow, bail};
use keyfile::{Parsed, Value};
use queue::{BadSpec, Choice, Configured, Field, Limit, Packet, Reaction, Spec, View};
use tcp::React;
use units::{Bytes, Rate, Seed};

use super::keys::{queues, visit};

/// A written parameter of a discipline.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) discipline: &'static str,
    pub(super) name: &'static str,
    pub(super) value: &'a Value,
}

/// A planned queue.
pub(super) struct Planned {
    /// The reaction of sources to drop notifications; `None` if the queue sends
    /// none.
    pub(super) notices: Option<React>,
    spec: Result<Spec, BadSpec>,
    rate: Option<Rate>,
    /// The disciplines whose parameters have an effect: the chosen one, and
    /// that of its classes.
    used: Vec<&'static str>,
    /// Parameters of them without effect beside the others.
    idle: Vec<BadSpec>,
}

/// The reason why a queue cannot be built.
pub(super) struct BadQueue {
    /// The invalid parameter or key, if known.
    pub(super) key: String,
    /// The reason.
    pub(super) why: String,
}

impl Planned {
    /// The queue for `choice` and `given`, in front of a link of `rate`, with
    /// capacity `limit` and frames of at most `largest` octets.
    pub(super) fn new<'a>(
        choice: &Choice,
        given: impl Iterator<Item = Given<'a>> + Clone,
        (limit, largest): (Limit, Bytes),
        rate: Option<Rate>,
    ) -> Self {
        let mut used = vec![choice.name];
        let Configured {
            spec,
            notices,
            idle,
        } = choice.configure(limit, largest, &mut |discipline, key, mut field| {
            if !used.contains(&discipline) {
                used.push(discipline);
            }
            let own = |given: &Given<'_>| (given.discipline, given.name) == (discipline, key.name);
            let mut is_written = false;
            for Given { value, .. } in given.clone().filter(own) {
                is_written |= field::read(&mut field, value).is_ok();
            }
            is_written
        });
        Self {
            notices: notices.map(react),
            spec,
            rate,
            used,
            idle,
        }
    }

    /// Why the parameter `name` of `discipline` has no effect; `queue` was chosen.
    pub(super) fn idle(&self, discipline: &str, name: &str, queue: &str) -> Option<String> {
        if !self.used.contains(&discipline) {
            return Some(format!(
                "a parameter of {discipline}, and the queue is {queue}: write queue = \"{discipline}\" too, or leave it out"
            ));
        }
        let mut idle = self.idle.iter();
        let bad = idle.find(|bad| bad.key() == Some(name))?;
        Some(bad.to_string())
    }

    /// The specification of the queue, if it is valid.
    pub(super) fn spec(self) -> Result<Spec, BadQueue> {
        let built = self.spec.and_then(|spec| {
            spec.build::<Anything>(self.rate, Seed::new(0))?;
            Ok(spec)
        });
        built.map_err(|bad| {
            let whose = self.used.last().copied().unwrap_or_default();
            let key = match (bad, bad.key()) {
                (_, Some(name)) => format!("{whose}.{name}"),
                (BadSpec::NoRate(_), None) => "rate".to_owned(),
                (_, None) => "buffer".to_owned(),
            };
            let why = bad.to_string();
            BadQueue { key, why }
        })
    }
}

/// Checks that a key accepts `value`, and returns its canonical form. The value
/// itself stays as written.
pub(super) fn checked(mut field: Field<'_>, value: &Value) -> Parsed<Value> {
    let ((), canonical) = field::read(&mut field, value)?;
    Ok((value.clone(), canonical))
}

/// The discipline that `value` names.
pub(super) fn discipline(value: &Value) -> Parsed<&'static Choice> {
    let mut choice = Choice::usual();
    let ((), canonical) = field::choose(&mut choice, value)?;
    Ok((choice, canonical))
}

/// Parses a queue from `text`: the name of a discipline, then its parameters
/// (`red,min=5,max=15`). Parameters of class queues have their discipline as
/// prefix (`priority,each=red,red.min=5`). The capacity is `limit`, the largest
/// frame has `largest` octets, and the link has `rate`.
///
/// # Errors
/// One line of text with the expected form.
pub fn queue_of(text: &str, limit: Limit, rate: Option<Rate>, largest: Bytes) -> Result<Spec> {
    let mut parts = text.split(',');
    let name = parts.next().unwrap_or_default().trim();
    let choice = Choice::named(name)
        .ok_or_else(|| anyhow!("no such queue; write {}", queues().join(", ")))?;
    let mut given = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            anyhow!("`{part}` is no parameter; write NAME=VALUE, for instance red,min=5,max=15")
        })?;
        let (name, value) = (name.trim(), value.trim());
        let (discipline, own) = name.split_once('.').unwrap_or((choice.name, name));
        let parsed = plain_value(value);
        let Some((discipline, key, checked)) = parameter(discipline, own, &parsed) else {
            let mut own = Vec::new();
            visit(choice, |key, _| own.push(key.name));
            bail!("{name}: no such parameter; there are {}", own.join(", "));
        };
        checked.map_err(|why| anyhow!("{name}={value}: {why}"))?;
        given.push((name, discipline, key, parsed));
    }
    let parameters = given.iter().map(|(_, discipline, name, value)| Given {
        discipline,
        name,
        value,
    });
    let planned = Planned::new(choice, parameters, (limit, largest), rate);
    for (name, discipline, key, _) in &given {
        if !planned.used.contains(discipline) {
            bail!("{name}: a parameter of {discipline}, which is not selected");
        }
        if let Some(why) = planned.idle(discipline, key, choice.name) {
            bail!("{discipline}.{key}: {why}");
        }
    }
    if planned.notices.is_some() {
        bail!("mred.notify: only sources of the world `sim` understand it; write notify=off");
    }
    planned
        .spec()
        .map_err(|BadQueue { key, why }| anyhow!("{key}: {why}"))
}

/// The key `name` of `discipline`, if it exists, and the parsed `value`.
fn parameter(
    discipline: &str,
    name: &str,
    value: &Value,
) -> Option<(&'static str, &'static str, Parsed<Value>)> {
    let choice = Choice::named(discipline)?;
    let mut found = None;
    visit(choice, |key, field| {
        if key.name == name {
            found = Some((choice.name, key.name, checked(field, value)));
        }
    });
    found
}

const fn react(reaction: Reaction) -> React {
    match reaction {
        Reaction::Retransmit => React::Retransmit,
        Reaction::RetransmitAndReduce => React::RetransmitAndReduce,
    }
}

/// A packet for trying a queue before there are real ones.
struct Anything;

impl Packet for Anything {
    fn view(&self) -> View {
        View::default()
    }
}

/// A value as written on a command line.
fn plain_value(text: &str) -> Value {
    match (text.parse(), text.parse()) {
        (Ok(whole), _) => Value::Integer(whole),
        (_, Ok(number)) => Value::Float(number),
        _ => Value::Text(text.into()),
    }
}

#[cfg(test)]
mod tests;
