//! Queues as people write them: in the keys of [`queue::DISCIPLINES`], or in one text.

mod field;

use keyfile::{Parsed, Value};
use queue::{BadSpec, Choice, Configured, DISCIPLINES, Field, Limit, Packet, Reaction, Spec, View};
use units::{BadText, Bytes, Rate, Seed};

/// A capacity and a largest frame for listing keys, which do not depend on them.
pub const ANY: (Limit, Bytes) = (Limit::Packets(1_000), Bytes::new(1518));

/// A written parameter of a discipline.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub discipline: &'static str,
    pub name: &'static str,
    pub value: &'a Value,
}

/// A planned queue.
pub struct Planned {
    /// The reaction of sources to drop notifications; `None` if the queue sends
    /// none.
    pub notices: Option<Reaction>,
    spec: Result<Spec, BadSpec>,
    rate: Option<Rate>,
    /// The disciplines whose parameters have an effect: the chosen one, and
    /// that of its classes.
    used: Vec<&'static str>,
    /// Parameters of them without effect beside the others.
    idle: Vec<BadSpec>,
}

/// The reason why a queue cannot be built.
pub struct BadQueue {
    /// The invalid parameter or key, if known.
    pub key: String,
    /// The reason.
    pub why: String,
}

impl Planned {
    /// The queue for `choice` and `given`, in front of a link of `rate`, with
    /// capacity `limit` and frames of at most `largest` bytes.
    pub fn new<'a>(
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
            notices,
            spec,
            rate,
            used,
            idle,
        }
    }

    /// Why the parameter `name` of `discipline` has no effect; `queue` was chosen.
    pub fn idle(&self, discipline: &str, name: &str, queue: &str) -> Option<String> {
        if !self.used.contains(&discipline) {
            return Some(format!(
                "a parameter of {discipline}, and the queue is {queue}; write queue = \"{discipline}\" too, or leave it out"
            ));
        }
        let mut idle = self.idle.iter();
        let bad = idle.find(|bad| bad.key() == Some(name))?;
        Some(bad.to_string())
    }

    /// The specification of the queue, if it is valid.
    pub fn spec(self) -> Result<Spec, BadQueue> {
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
pub fn checked(mut field: Field<'_>, value: &Value) -> Parsed<Value> {
    let ((), canonical) = field::read(&mut field, value)?;
    Ok((value.clone(), canonical))
}

/// The discipline that `value` names.
pub fn discipline(value: &Value) -> Parsed<&'static Choice> {
    let mut choice = Choice::usual();
    let ((), canonical) = field::choose(&mut choice, value)?;
    Ok((choice, canonical))
}

/// Parses a queue from `text`: the name of a discipline, then its parameters
/// (`red,min=5,max=15`). Parameters of class queues have their discipline as
/// prefix (`priority,class_queue=red,red.min=5`). The capacity is `limit`, the largest
/// frame has `largest` bytes, and the link has `rate`.
///
/// # Errors
/// One line of text with the expected form.
pub fn queue_of(
    text: &str,
    limit: Limit,
    rate: Option<Rate>,
    largest: Bytes,
) -> Result<Spec, String> {
    let mut parts = text.split(',');
    let name = parts.next().unwrap_or_default().trim();
    let choice = Choice::named(name)
        .ok_or_else(|| format!("no such queue; write {}", queues().join(", ")))?;
    let mut given = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            format!("`{part}` is no parameter; write NAME=VALUE, for instance red,min=5,max=15")
        })?;
        let (name, value) = (name.trim(), value.trim());
        let (discipline, own) = name.split_once('.').unwrap_or((choice.name, name));
        let parsed = plain_value(value);
        let Some((discipline, key, checked)) = parameter(discipline, own, &parsed) else {
            let mut own = Vec::new();
            visit(choice, |key, _| own.push(key.name));
            return Err(format!(
                "{name}: no such parameter; write one of {}",
                own.join(", ")
            ));
        };
        checked.map_err(|why| format!("{name}={value}: {why}"))?;
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
            return Err(format!(
                "{name}: a parameter of {discipline}, which is not selected"
            ));
        }
        if let Some(why) = planned.idle(discipline, key, choice.name) {
            return Err(format!("{discipline}.{key}: {why}"));
        }
    }
    if planned.notices.is_some() {
        return Err(
            "mred.notify: only sources of the backend `sim` understand it; write notify=off".into(),
        );
    }
    planned
        .spec()
        .map_err(|BadQueue { key, why }| format!("{key}: {why}"))
}

/// The capacity of a queue: a size, or a number of packets.
///
/// # Errors
/// One line that says what to write.
pub fn buffer(text: &str) -> Result<Limit, String> {
    let Some(packets) = units::text::packets(text) else {
        let size = text.parse().map_err(|bad: BadText| bad.to_string());
        return size.map(Limit::Bytes);
    };
    match packets.parse() {
        Ok(packets @ 1..) => Ok(Limit::Packets(packets)),
        _ => Err("write a number of packets of at least 1, for instance \"35 packets\"".into()),
    }
}

/// The names of all disciplines.
pub fn queues() -> Vec<&'static str> {
    DISCIPLINES.iter().map(|choice| choice.name).collect()
}

/// Shows the keys of `choice` to `visitor`, each with its default.
pub fn visit(choice: &Choice, mut visitor: impl FnMut(&queue::Key, Field<'_>)) {
    let (limit, largest) = ANY;
    choice.configure(limit, largest, &mut |discipline, key, field| {
        // Skips the parameters of the class queues.
        if discipline == choice.name {
            visitor(key, field);
        }
        false
    });
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
